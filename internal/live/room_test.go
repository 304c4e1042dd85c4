package live

import (
	"sync"
	"testing"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// A machine of eight slots has room for three attempts. None of the refusals is a failure, or a retry, or an attempt.
func TestRunRefused(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		var mu sync.Mutex // attempts end beside each other
		running := map[sched.AttemptID]bool{}
		exec := newFake(t, newDisk(), nil)
		exec.fate = func(a Attempt) fate {
			mu.Lock()
			defer mu.Unlock()
			for id := range running {
				if exec.kills[id] == nil {
					delete(running, id)
				}
			}
			if len(running) >= 3 {
				return fate{refused: true}
			}
			running[a.ID] = true
			return fate{takes: 10 * ms, then: func() {
				mu.Lock()
				defer mu.Unlock()
				delete(running, a.ID)
			}}
		}
		h := header(1, 0, 20)
		h.Machines[0].Slots = 8
		r := create(t, path, h, never)
		warned := 0
		if err := r.Loop(t.Context(), exec, Watcher{Short: func(string) { warned++ }}); err != nil {
			t.Fatal(err)
		}
		s := r.Summary()
		if s.State != "succeeded" || s.Attempts != 20 || s.Stages[0].Attempts != 20 || s.Retries != 0 || warned != 1 {
			t.Errorf("%d warnings, summary: %+v", warned, s)
		}
		if s.Flow < sched.Time(70*ms) || s.Flow > sched.Time(10*time.Second) {
			t.Errorf("took %v for 20 tasks of 10 ms, three at once", s.Flow)
		}
		if err := exec.Close(); err != nil {
			t.Error(err)
		}
		mustReplay(t, path, never)
	})
}

// A machine that refuses everything for a minute is asked ever more rarely, and then used as before.
func TestRunRefusedByAll(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		began, asked := time.Now(), 0
		exec := newFake(t, newDisk(), func(Attempt) fate {
			asked++
			return fate{takes: 10 * ms, refused: time.Since(began) < time.Minute}
		})
		s := finish(t, create(t, path, header(1, 0, 4), never), exec)
		if s.State != "succeeded" || s.Attempts != 4 || asked > 30 || s.Flow > sched.Time(2*time.Minute) {
			t.Errorf("asked %d times, summary: %+v", asked, s)
		}
		mustReplay(t, path, never)
	})
}

// Where attempts are refused, those beside them that fail are excused; one that fails alone is not.
func TestRunFailsForWantOfRoom(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		exec := newFake(t, newDisk(), func(a Attempt) fate {
			return fate{takes: 10 * ms, refused: a.Index == 1 && a.Number == 0, fails: a.Index == 0 && a.Number == 0}
		})
		h := header(1, 0, 3)
		h.Machines[0].Slots = 3
		if s := finish(t, create(t, path, h, never), exec); s.State != "succeeded" || s.Retries != 0 {
			t.Errorf("summary: %+v", s)
		}
		mustReplay(t, path, never)
	})
	story(t, func(t *testing.T, path string) {
		exec := newFake(t, newDisk(), func(a Attempt) fate {
			return fate{takes: 10 * ms, refused: a.Index == 1 && a.Number == 0, fails: a.Index == 0}
		})
		if s := finish(t, create(t, path, header(1, 2, 2), never), exec); s.State != "failed" {
			t.Errorf("summary: %+v", s)
		}
		mustReplay(t, path, never)
	})
}

// What can never begin is not tried again, whatever the job forgives; an attempt of the task that runs decides.
func TestRunDoomed(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		exec := newFake(t, newDisk(), func(a Attempt) fate { return fate{takes: 10 * ms, doomed: true} })
		s := finish(t, create(t, path, header(1, 5, 4), never), exec)
		if s.State != "failed" || s.Attempts != 2 || s.Retries != 0 || failureOf(s) == nil || failureOf(s).Kind != sched.AttemptDoomed {
			t.Errorf("summary: %+v", s)
		}
		mustReplay(t, path, never)
	})
	story(t, func(t *testing.T, path string) {
		exec := newFake(t, newDisk(), func(a Attempt) fate { return fate{takes: 100 * ms, doomed: a.Number > 0} })
		s := finish(t, create(t, path, header(1, 5, 1), 50*ms), exec)
		if s.State != "succeeded" || s.Clones != 1 {
			t.Errorf("summary: %+v", s)
		}
		mustReplay(t, path, 50*ms)
	})
}

// A disk has room for the work of two attempts at once. Who fails for want of it beside others is refused; who fails for
// want of it alone, as all do once five have run, fails the job at once.
func TestRunShortOfDisk(t *testing.T) {
	for _, fills := range []bool{false, true} {
		story(t, func(t *testing.T, path string) {
			var mu sync.Mutex
			running, ended := 0, 0
			exec := newFake(t, newDisk(), func(Attempt) fate {
				mu.Lock()
				defer mu.Unlock()
				short := running >= 2 || fills && ended >= 5
				running++
				return fate{takes: 10 * ms, fails: short, short: short, then: func() {
					mu.Lock()
					defer mu.Unlock()
					running--
					if !short {
						ended++
					}
				}}
			})
			h := header(1, 3, 20)
			h.Machines[0].Slots = 8
			s := finish(t, create(t, path, h, never), exec)
			if !fills && (s.State != "succeeded" || s.Attempts != 20 || s.Retries != 0) {
				t.Errorf("summary: %+v", s)
			}
			if fills && (s.State != "failed" || s.Retries != 0 || failureOf(s) == nil || failureOf(s).Kind != sched.AttemptDoomed) {
				t.Errorf("summary: %+v", s)
			}
			mustReplay(t, path, never)
		})
	}
}
