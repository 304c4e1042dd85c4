package live

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// crowd counts the attempts that run, and keeps when they began.
type crowd struct {
	mu     sync.Mutex
	runs   map[int]int // by stage
	most   int
	starts []time.Time
	began  time.Time
	check  func(runs map[int]int) // after every start
	takes  func(Attempt) time.Duration
	exec   *fake
}

func newCrowd(t *testing.T, takes func(Attempt) time.Duration) *crowd {
	c := &crowd{runs: map[int]int{}, began: time.Now(), takes: takes}
	c.exec = newFake(t, newDisk(), func(a Attempt) fate {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.runs[a.Stage]++
		c.starts = append(c.starts, time.Now())
		c.most = max(c.most, c.all())
		if c.check != nil {
			c.check(c.runs)
		}
		return fate{takes: c.takes(a), then: func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.runs[a.Stage]--
		}}
	})
	return c
}

func (c *crowd) all() (n int) {
	for _, k := range c.runs {
		n += k
	}
	return n
}

func (c *crowd) running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all()
}

func each(d time.Duration) func(Attempt) time.Duration {
	return func(Attempt) time.Duration { return d }
}

func TestGateDelay(t *testing.T) {
	for name, slots := range map[string]int{"one slot": 1, "many": 8} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, path string) {
				c := newCrowd(t, each(70*ms))
				h := header(1, 0, 6)
				h.Machines[0].Slots = slots
				r := create(t, path, h, never)
				r.Hold(Gate{Delay: 50 * time.Millisecond})
				if s := finish(t, r, c.exec); s.State != "succeeded" || s.Attempts != 6 {
					t.Errorf("summary: %+v", s)
				}
				want := 50 * ms
				if slots == 1 {
					want = 70 * ms
				}
				for i := 1; i < len(c.starts); i++ {
					if gap := c.starts[i].Sub(c.starts[i-1]); gap < want || gap > want+2*ms {
						t.Errorf("start %d came after %v, want %v", i, gap, want)
					}
				}
				mustReplay(t, path, never)
			})
		})
	}
}

// Attempts of 3 bytes, of which 10 are there: three at once, whatever the slots.
func TestGateMemory(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		c := newCrowd(t, each(10*ms))
		h := header(1, 0, 20)
		h.Machines[0].Slots = 8
		r := create(t, path, h, never)
		r.Hold(Gate{Memory: []int64{3}, Budget: 10})
		if s := finish(t, r, c.exec); s.State != "succeeded" || c.most != 3 || s.Flow > sched.Time(100*ms) {
			t.Errorf("%d ran at once, summary: %+v", c.most, s)
		}
		mustReplay(t, path, never)
	})
	// One that needs more than there is runs alone.
	story(t, func(t *testing.T, path string) {
		c := newCrowd(t, each(10*ms))
		r := create(t, path, header(2, 0, 5), never)
		r.Hold(Gate{Memory: []int64{30}, Budget: 10})
		if s := finish(t, r, c.exec); s.State != "succeeded" || c.most != 1 {
			t.Errorf("%d ran at once, summary: %+v", c.most, s)
		}
		mustReplay(t, path, never)
	})
}

// Whatever stages need, on whatever machines, all that run never need more than there is, but for one that runs alone;
// and the job comes to its end.
func TestGateMixedMemory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		needs := rapid.SliceOfN(rapid.Int64Range(0, 9), 2, 4).Draw(rt, "needs")
		budget := rapid.Int64Range(1, 20).Draw(rt, "budget")
		machines, slots := rapid.IntRange(1, 3).Draw(rt, "machines"), rapid.IntRange(1, 5).Draw(rt, "slots")
		var takes []int
		for range 40 {
			takes = append(takes, rapid.IntRange(1, 30).Draw(rt, "takes"))
		}
		patience := rapid.SampledFrom([]time.Duration{never, 10 * ms}).Draw(rt, "patience")
		story(t, func(t *testing.T, path string) {
			h := header(machines, 0, 1)
			h.Job.Stages, h.Job.Edges, h.Stages = nil, nil, nil
			for range needs { // all may run at once
				h.Stages = append(h.Stages, "stage")
				h.Job.Stages = append(h.Job.Stages, sched.StageSpec{Tasks: 6})
			}
			for i := range h.Machines {
				h.Machines[i].Slots = slots
			}
			r := create(t, path, h, patience)
			c := newCrowd(t, func(a Attempt) time.Duration {
				return time.Duration(takes[(a.Index*7+a.Stage+a.Number)%len(takes)]) * ms
			})
			r.Hold(Gate{Memory: needs, Budget: budget})
			c.check = func(map[int]int) { // of what the core has running: the fake learns late of a kill
				sum, v := int64(0), r.core.View()
				for s := range needs {
					sum += needs[s] * int64(v.Stage(sched.StageID(s)).Live)
				}
				if sum > budget && r.live() > 1 {
					t.Errorf("%d bytes are needed at once, of %d", sum, budget)
				}
			}
			if s := finish(t, r, c.exec); s.State != "succeeded" {
				t.Errorf("summary: %+v", s)
			}
			mustReplay(t, path, patience)
		})
	})
}

// Nothing starts while the machine is as busy as that, and the user is told once why.
func TestGateLoad(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		c := newCrowd(t, each(70*ms))
		h := header(1, 0, 12)
		h.Machines[0].Slots = 8
		r := create(t, path, h, never)
		others := func() float64 {
			if time.Since(c.began) < 2*time.Second {
				return 5
			}
			return 1
		}
		r.Hold(Gate{Load: 4, Read: func() (Reading, error) { return Reading{Load: others() + float64(c.running())}, nil }})
		var told []string
		err := r.Loop(t.Context(), c.exec, Watcher{Held: func(why string) { told = append(told, why) }})
		if err != nil {
			t.Fatal(err)
		}
		if first := c.starts[0].Sub(c.began); first < 2*time.Second || first > 3*time.Second || c.most != 3 {
			t.Errorf("began after %v, %d ran at once", first, c.most)
		}
		if len(told) != 1 || told[0] != "nothing starts: the load of the machine is 5.0, and --load 4 lets nothing start" {
			t.Errorf("told %q", told)
		}
		if err := c.exec.Close(); err != nil {
			t.Error(err)
		}
		mustReplay(t, path, never)
	})
}

// Each attempt takes memory as it goes. Nothing starts while less than 100 is free, and when less than 50 is, the
// youngest attempt gives way and runs again; that is no failure. The last one never gives way.
func TestGateMemFree(t *testing.T) {
	for name, takes := range map[string]int64{"fits": 60, "one at a time": 1000} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, path string) {
				var mu sync.Mutex
				since := map[sched.AttemptID]time.Time{}
				exec := newFake(t, newDisk(), nil)
				exec.fate = func(a Attempt) fate {
					mu.Lock()
					defer mu.Unlock()
					since[a.ID] = time.Now()
					return fate{takes: 3 * time.Second, then: func() {
						mu.Lock()
						defer mu.Unlock()
						delete(since, a.ID)
					}}
				}
				read := func() (Reading, error) {
					mu.Lock()
					defer mu.Unlock()
					free := int64(200)
					for id, at := range since {
						if exec.kills[id] == nil {
							delete(since, id)
						} else if time.Since(at) > time.Second {
							free -= takes
						}
					}
					return Reading{Free: max(0, free)}, nil
				}
				h := header(1, 0, 6)
				h.Machines[0].Slots = 6
				r := create(t, path, h, never)
				r.Hold(Gate{MemFree: 100, Read: read})
				var told []string
				if err := r.Loop(t.Context(), exec, Watcher{Held: func(why string) { told = append(told, why) }}); err != nil {
					t.Fatal(err)
				}
				s := r.Summary()
				if s.State != "succeeded" || s.Retries != 0 || s.Attempts != 6 {
					t.Errorf("summary: %+v", s)
				}
				if len(told) == 0 || !strings.Contains(told[0], "the youngest attempt was stopped") {
					t.Errorf("told %q", told)
				}
				if err := exec.Close(); err != nil {
					t.Error(err)
				}
				mustReplay(t, path, never)
			})
		})
	}
}

// The slots follow a file, beyond those that the run began with, too. No attempt ends in an instant in which they change.
func TestGateSlots(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		c := newCrowd(t, each(310*ms))
		most := map[int]int{}
		slots := func() int { return []int{2, 5, 1}[min(2, int(time.Since(c.began)/(3*time.Second)))] }
		c.check = func(map[int]int) { most[slots()] = max(most[slots()], c.all()) }
		r := create(t, path, header(1, 0, 75), never)
		r.Hold(Gate{Slots: func() (int, error) { return slots(), nil }})
		if s := finish(t, r, c.exec); s.State != "succeeded" || most[2] != 2 || most[5] != 5 || s.Flow < sched.Time(7400*ms) {
			t.Errorf("ran at once, by slots: %v, summary: %+v", most, s)
		}
		mustReplay(t, path, never)
	})
}

// A run that was broken off heeds the gate from its first attempt on.
func TestGateAfterRestart(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		c := newCrowd(t, each(50*ms))
		h := header(1, 0, 10)
		h.Machines[0].Slots = 4
		r := create(t, path, h, never)
		ctx, cancel := context.WithTimeout(t.Context(), 120*ms)
		if err := r.Loop(ctx, c.exec, Watcher{}); err != nil {
			t.Fatal(err)
		}
		cancel()
		c.exec.disk.forget()
		if err := c.exec.Close(); err != nil {
			t.Error(err)
		}
		again := newCrowd(t, each(50*ms))
		again.exec.disk = c.exec.disk
		r = reopen(t, path, never)
		r.Hold(Gate{Memory: []int64{1}, Budget: 2})
		if s := finish(t, r, again.exec); s.State != "succeeded" || again.most != 2 {
			t.Errorf("%d ran at once, summary: %+v", again.most, s)
		}
		mustReplay(t, path, never)
	})
}
