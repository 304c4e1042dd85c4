package workload

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/trace"
)

// readLogs reads a log, or all logs in a folder, as the jobs of one cluster. It returns nil for what is no log that can
// be played, and no folder.
func readLogs(path string) (*trace.Workload, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil // whoever reads workloads says why
	}
	if info.IsDir() {
		if w, err := readServed(path); w != nil || err != nil {
			return w, err
		}
	}
	one, notes, err := readLog(path, func() (*history.Log, error) { return history.Open(path, nil, "") })
	switch {
	case err != nil:
		return nil, err
	case one != nil:
		return played(path, []*replay.Rerun{one}, notes), nil
	case !info.IsDir():
		return nil, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var all []*replay.Rerun
	others, empty := 0, 0
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		name := filepath.Join(path, entry.Name())
		r, more, err := readLog(name, func() (*history.Log, error) { return history.OpenWithin(name) })
		switch {
		case errors.Is(err, errNothing):
			empty++
		case err != nil:
			return nil, err
		case r == nil:
			others++
		default:
			all = append(all, r)
			notes = append(notes, more...)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no log of Spark, Hadoop or a run of tailcut is in this folder", path)
	}
	if empty > 0 {
		notes = append(notes, fmt.Sprintf("%s: skipped %s in which no task has succeeded", path, show.Count(empty, "log")))
	}
	if others > 0 {
		notes = append(notes, fmt.Sprintf("%s: skipped %s that no log of Spark, Hadoop or a run is", path, show.Count(others, "file")))
	}
	return played(path, all, notes), nil
}

// errNothing is what is wrong with a log of which nothing can be played.
var errNothing = errors.New("expected tasks that have succeeded, and when they began")

// readLog returns nil for what is no log that can be played. A log in which nothing has ended is an error.
func readLog(path string, open func() (*history.Log, error)) (*replay.Rerun, []string, error) {
	log, err := open()
	if err != nil {
		return nil, nil, nil // whoever reads workloads says why
	}
	defer log.Close()
	if !replay.Readable(log.Format) {
		return nil, nil, nil
	}
	stages, _, err := history.Stages(log.Attempts(), "", "")
	if err != nil {
		return nil, nil, err
	}
	r := replay.New(filepath.Base(path), stages, log.Course(), 0)
	if r == nil {
		return nil, nil, fmt.Errorf("%s: %w", path, errNothing)
	}
	return r, log.Notes(), nil
}

// played makes a workload of logs, and notes on how many slots they ran.
func played(name string, logs []*replay.Rerun, notes []string) *trace.Workload {
	w := replay.Workload(name, logs)
	w.Notes = notes
	slots, told := 0, true
	for _, r := range logs {
		slots, told = slots+r.Slots, told && r.Source == replay.Told
	}
	how := "the most attempts that ran at once"
	if told {
		how = "as the log says"
		if len(logs) > 1 {
			how = "as the logs say, all together"
		}
	}
	_, _, took := w.Driven()
	note := fmt.Sprintf("%s: ran on %s, %s", name, show.Count(slots, "slot"), how)
	if took > 0 {
		note += fmt.Sprintf("; drivers took %s between stages, on slots of their own", show.Seconds(took))
	}
	w.Notes = append(w.Notes, note)
	return w
}
