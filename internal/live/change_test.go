package live

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Attempts know what they are to do, and one that does something else goes on from nothing that was saved before.
func TestChangeOfWork(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		d := newDisk()
		h := header(1, 0, 3)
		h.Machines[0].Slots = 3
		h.Work = json.RawMessage(`"old"`)
		h.Job.MaxFailed = sched.Unlimited
		h.Job.Stages[0].Resumable = true
		old := newFake(t, d, func(a Attempt) fate {
			return fate{takes: time.Duration(1+a.Index) * 400 * ms, progress: []float64{0.5}}
		})
		r, err := Create(path, h, saver{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 700*ms) // task 0 is done, the others have saved half
		defer cancel()
		if err := errors.Join(r.Loop(ctx, old, Watcher{}), old.Close()); err != nil {
			t.Fatal(err)
		}

		reopen := func() *Run {
			r, err := Open(path, always(saver{}))
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r = reopen()
		s := &trace.Settings{Policy: h.Policy, Limits: h.Limits, Machines: r.Header.Machines, MaxFailed: sched.Unlimited, Command: json.RawMessage(`2`), Work: json.RawMessage(`"new"`)}
		if err := r.Change(s); err != nil {
			t.Fatal(err)
		}
		var began []Attempt
		finish(t, r, newFake(t, d, func(a Attempt) fate {
			began = append(began, a)
			return fate{takes: 100 * ms, progress: []float64{0.5}, fails: a.Index == 2}
		}))
		for _, a := range began {
			if a.Work != 1 || a.From > 0 {
				t.Errorf("an attempt after the change: %+v", a)
			}
		}
		r = reopen()
		if diff := cmp.Diff([]string{`"old"`, `"new"`}, texts(r.Works())); diff != "" || string(r.Header.Work) != `"new"` {
			t.Errorf("works (-want +got), the header has %s:\n%s", r.Header.Work, diff)
		}
		finish(t, r, newFake(t, d, func(a Attempt) fate {
			if a.Work != 1 || a.Index != 2 {
				t.Errorf("an attempt after another start: %+v", a)
			}
			return fate{takes: 100 * ms}
		}))
		var made []int
		for task := range sched.TaskID(3) {
			at, _ := r.job.winnerOf(task)
			made = append(made, r.job.records[at].Work)
		}
		if diff := cmp.Diff([]int{0, 1, 1}, made); diff != "" {
			t.Errorf("works of the winners (-want +got):\n%s", diff)
		}
		reopen()
	})
}

// saver lets tasks go on from what they have saved.
type saver struct{}

func (saver) Observe(*sched.View, *sched.Event) {}
func (saver) Decide(v *sched.View, act *sched.Actions) {
	for t, ok := v.PendingTask(0, 0); ok; t, ok = v.PendingTask(0, t+1) {
		if m, free := v.FreeMachine(0); free {
			_, _ = act.Launch(t, m, v.Task(t).Saved, sched.Resume)
		}
	}
}

func texts(works [][]byte) (all []string) {
	for _, text := range works {
		all = append(all, string(text))
	}
	return all
}
