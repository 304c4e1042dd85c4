package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// The durations of a named job's tasks are kept from run to run, so that a deadline can be planned for before the first
// task is done: a file per name, with the last runs and of each stage some of its durations.

const (
	historySchema = "tailcut.history/v1"
	historyRuns   = 10   // kept
	historyTasks  = 1000 // durations kept of a stage in a run, at even ranks
	noHistory     = "none"
)

// jobHistory is what is kept of the runs of one name.
type jobHistory struct {
	Schema string       `json:"schema"`
	Job    string       `json:"job"`
	Runs   []historyRun `json:"runs"` // the latest last
}

type historyRun struct {
	Stages []historyStage `json:"stages"`
}

type historyStage struct {
	Name      string    `json:"name"`
	Durations []float64 `json:"durations_seconds"` // ascending
}

// historyFolder is where histories are if --history names no folder; "" if the system does not say.
func historyFolder() string {
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "tailcut", "history")
}

// historyPath returns the file of a name in a folder.
func historyPath(folder, name string) string {
	return filepath.Join(folder, url.PathEscape(name)+".json")
}

// readHistory reads a file of histories; there need not be one.
func readHistory(path string) (*jobHistory, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &jobHistory{}, nil
	}
	if err != nil {
		return nil, err
	}
	h := new(jobHistory)
	if err := json.Unmarshal(data, h); err != nil {
		return nil, fmt.Errorf("%s: not a history of a job: %w", path, err)
	}
	if h.Schema != historySchema {
		return nil, fmt.Errorf("%s: field schema: expected %q, not %q", path, historySchema, h.Schema)
	}
	for i, r := range h.Runs {
		for j, st := range r.Stages {
			for k, d := range st.Durations {
				if !(d >= 0 && d <= 1e9) {
					return nil, fmt.Errorf("%s: field runs[%d].stages[%d].durations_seconds[%d]: expected seconds, not %v", path, i, j, k, d)
				}
			}
		}
	}
	return h, nil
}

// estimate returns the mean and the standard deviation of the durations that are known of a stage; 0 if none are.
func (h *jobHistory) estimate(stage string) (mean, sd sched.Time) {
	n, m, sum := 0.0, 0.0, 0.0 // Welford
	for _, r := range h.Runs {
		for _, st := range r.Stages {
			if st.Name != stage {
				continue
			}
			for _, x := range st.Durations {
				n++
				d := x - m
				m += d / n
				sum += d * (x - m)
			}
		}
	}
	if n > 1 {
		sd = sched.Time(math.Round(math.Sqrt(sum/(n-1)) * 1e9))
	}
	return sched.Time(math.Round(m * 1e9)), sd
}

// add takes in a run: the durations of each stage's winners.
func (h *jobHistory) add(stages []string, durations [][]sched.Time) {
	var run historyRun
	for i, name := range stages {
		sorted := slices.Sorted(slices.Values(durations[i]))
		kept := min(len(sorted), historyTasks)
		st := historyStage{Name: name, Durations: make([]float64, kept)}
		for k := range kept {
			st.Durations[k] = sorted[(2*k+1)*len(sorted)/(2*kept)].Seconds()
		}
		run.Stages = append(run.Stages, st)
	}
	h.Runs = append(h.Runs, run)
	h.Runs = h.Runs[max(0, len(h.Runs)-historyRuns):]
}

// writeHistory replaces the file at once, so that whoever reads it finds the old or the new.
func writeHistory(path string, h *jobHistory) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(append(data, '\n'))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
