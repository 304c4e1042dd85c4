package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

func TestHistoryKeepsTheLastRuns(t *testing.T) {
	path := historyPath(t.TempDir(), "a/../b c")
	for run := range historyRuns + 3 {
		h, err := readHistory(path)
		if err != nil {
			t.Fatal(err)
		}
		h.Schema = historySchema
		many := make([]sched.Time, 2*historyTasks+1)
		for i := range many {
			many[len(many)-1-i] = sched.Time(i) * sched.Time(1e9)
		}
		h.add([]string{"one", "many", "none"}, [][]sched.Time{{sched.Time(run) * sched.Time(1e9)}, many, nil})
		if err := writeHistory(path, h); err != nil {
			t.Fatal(err)
		}
	}
	h, err := readHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Runs) != historyRuns || len(h.Runs[0].Stages[1].Durations) != historyTasks {
		t.Errorf("%d runs, %d durations", len(h.Runs), len(h.Runs[0].Stages[1].Durations))
	}
	for stage, want := range map[string]string{
		"one":  "7.5 3.02765035", // 3 to 12: variance 82.5/9
		"none": "0 0", "other": "0 0",
	} {
		mean, sd := h.estimate(stage)
		if got := fmt.Sprintf("%.9g %.9g", mean.Seconds(), sd.Seconds()); got != want {
			t.Errorf("%s: %s, want %s", stage, got, want)
		}
	}
	if mean, _ := h.estimate("many"); mean < sched.Time(999e9) || mean > sched.Time(1001e9) { // ranks are even: the mean of 0 to 2000 is 1000
		t.Errorf("many: mean %v", mean)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".new-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func FuzzReadHistory(f *testing.F) {
	f.Add([]byte(`{"schema":"tailcut.history/v1","runs":[{"stages":[{"name":"map","durations_seconds":[1,2.5]}]}]}`))
	f.Add([]byte(`{"schema":"tailcut.history/v2"}`))
	f.Add([]byte(`{"schema":"tailcut.history/v1","runs":[{"stages":[{"name":"map","durations_seconds":[1e300]}]}]}`))
	path := filepath.Join(f.TempDir(), "history")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		h, err := readHistory(path)
		if err != nil {
			return
		}
		for _, r := range h.Runs {
			for _, st := range r.Stages {
				if mean, sd := h.estimate(st.Name); mean < 0 || sd < 0 {
					t.Errorf("mean %v, standard deviation %v", mean, sd)
				}
			}
		}
	})
}
