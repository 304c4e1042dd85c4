package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// A job that may lose tasks runs the others, is not published, and tries just the lost ones when it is opened again.
func TestRunKeepsGoing(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		d := newDisk()
		h := header(2, 1, 6, 6)
		h.Job.MaxFailed = sched.Unlimited
		h.Job.Edges = []sched.Edge{{From: 0, To: 1, Kind: sched.Pointwise}}
		broken := newFake(t, d, func(a Attempt) fate { return fate{takes: 10 * ms, fails: a.Stage == 0 && a.Index%3 == 1} })
		s := finish(t, create(t, path, h, never), broken)
		if s.State != "failed" || len(s.Failed) != 2 || s.Unfinished != 2 || s.Attempts != 4+2*2+4 || d.result != nil {
			t.Fatalf("summary: %+v, published %v", s, d.result)
		}
		for i, f := range s.Failed {
			if f.Last.Index != 3*i+1 || f.Attempts != 2 || f.Last.Number != 1 || f.Failure == nil || f.Failure.Note != "attempt 1 broke" {
				t.Errorf("failed: %+v", f)
			}
		}
		r := reopen(t, path, never)
		if !r.Retried || r.Recovered != 8 {
			t.Errorf("opened again: retried %v, %d recovered", r.Retried, r.Recovered)
		}
		cured := newFake(t, d, alike(10*ms))
		if s := finish(t, r, cured); s.State != "succeeded" || s.Attempts != 12+4 || len(s.Failed) > 0 || s.Unfinished > 0 || len(d.result) != 12 {
			t.Errorf("cured: %+v, %d published", s, len(d.result))
		}
		mustReplay(t, path, never)
	})
}

// A run that halts softly starts nothing after the failure that is one too many, and kills nothing.
func TestRunHaltsSoon(t *testing.T) {
	for _, after := range []int{0, 1} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			story(t, func(t *testing.T, path string) {
				d := newDisk()
				h := header(1, 0, 20)
				h.Machines[0].Slots = 3
				h.Job.MaxFailed = sched.Unlimited
				exec := newFake(t, d, func(a Attempt) fate {
					if a.Index <= after {
						return fate{takes: time.Duration(10+5*a.Index) * ms, fails: true}
					}
					return fate{takes: 100 * ms}
				})
				r := create(t, path, h, never)
				r.HaltSoon(after)
				s := finish(t, r, exec)
				if s.State != "failed" || len(s.Failed) != after+1 || s.Unfinished != 20-3-after || s.Attempts != 3+after || d.result != nil {
					t.Errorf("summary: %+v", s)
				}
				if slices.Contains(exec.log, "kill 0/0#0") {
					t.Errorf("attempts were killed: %v", exec.log)
				}
				r = reopen(t, path, never)
				if !r.Retried || r.Recovered != 2 {
					t.Errorf("opened again: retried %v, %d recovered", r.Retried, r.Recovered)
				}
				cured := newFake(t, d, alike(10*ms))
				if s := finish(t, r, cured); s.State != "succeeded" || len(d.result) != 20 {
					t.Errorf("cured: %+v, %d published", s, len(d.result))
				}
				mustReplay(t, path, never)
			})
		})
	}
}

// A run that is stopped after tasks have failed for good tries them again when it is opened.
func TestRunForgivesAfterInterruption(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		d := newDisk()
		h := header(2, 0, 4)
		h.Job.MaxFailed = sched.Unlimited
		exec := newFake(t, d, func(a Attempt) fate {
			if a.Index == 0 {
				return fate{takes: 10 * ms, fails: true}
			}
			return fate{takes: 900 * ms}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		if err := errors.Join(create(t, path, h, never).Loop(ctx, exec, Watcher{}), exec.Close()); err != nil {
			t.Fatal(err)
		}
		r := reopen(t, path, never)
		if !r.Retried || r.State() != sched.JobActive {
			t.Fatalf("opened again: retried %v, state %v", r.Retried, r.State())
		}
		if s := finish(t, r, newFake(t, d, alike(10*ms))); s.State != "succeeded" || len(d.result) != 4 {
			t.Errorf("cured: %+v, %d published", s, len(d.result))
		}
		mustReplay(t, path, never)
	})
}
