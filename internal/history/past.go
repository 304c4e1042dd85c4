package history

import (
	"fmt"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// What Tailcut keeps of the runs of one name: a file of tailcut run, or what the controller of Kubernetes Jobs puts
// into a ConfigMap. Job is the name, Stage the stage's, Task the rank of a duration among those of its run, and Number
// that of the run, from 0. What clones cut off is kept beside the winners, without the task that it was an attempt of:
// its Task is its rank among those of its run that were cut off.

type past struct{}

func (past) read(in *lines, emit emit) error {
	in.notes = nil // the file appears whole or not at all
	s := newJSONStream(in)
	var d struct {
		Job  string `json:"job"`
		Runs []struct {
			Stages []struct {
				Name      string    `json:"name"`
				Durations []float64 `json:"durations_seconds"`
				Cut       []float64 `json:"cut_seconds"`
			} `json:"stages"`
		} `json:"runs"`
	}
	if err := s.decode("", &d); err != nil {
		return err
	}
	for i, r := range d.Runs {
		for j, st := range r.Stages {
			for k, seconds := range slices.Concat(st.Durations, st.Cut) {
				a := Record{Job: d.Job, Stage: st.Name, Task: k, Number: i, Duration: sched.FromSeconds(seconds)}
				field := "durations_seconds"
				if n := len(st.Durations); k >= n {
					field, k = "cut_seconds", k-n
					a.Task, a.Outcome = k%max(1, n), Killed
				}
				if !(seconds >= 0 && seconds <= 1e9) {
					in.number = 1 + s.c.at(s.d.InputOffset())
					return in.expected(fmt.Sprintf("runs[%d].stages[%d].%s[%d]", i, j, field, k), "seconds", fmt.Append(nil, seconds))
				}
				if err := emit(&a); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (past) finish(emit) error { return nil }
