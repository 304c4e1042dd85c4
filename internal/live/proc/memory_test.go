//go:build linux

package proc

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// needing has the stages of a rig need so many gigabytes, of a host.
func needing(h *Host, needs ...int64) func(*Config) {
	return func(c *Config) {
		c.Host = h
		for _, need := range needs {
			c.Limits = append(c.Limits, jobfile.Limits{Memory: need << 30})
		}
	}
}

// began waits for the report that an attempt has begun.
func (r *rig) began(a live.Attempt) {
	r.t.Helper()
	if rep := r.report(); rep.Kind != sched.AttemptBegan || rep.Attempt != a.ID {
		r.t.Fatalf("a report %+v, want the beginning of attempt %d", rep, a.ID)
	}
}

// procOf returns an attempt that has not ended.
func (r *rig) procOf(a live.Attempt) *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.procs[a.ID]
}

// An attempt that needs more memory than is left waits until there is enough, and smaller ones behind it do, too. What needs nothing passes.
func TestMemoryWaits(t *testing.T) {
	h := newTestHost(t, HostConfig{Memory: 10 << 30})
	hold := `until [ -e $TAILCUT_OUTPUT/go ]; do sleep 0.01; done`
	r := newRig(t, needing(h, 6, 5, 1, 0), hold, hold, hold, "true")
	letGo := func(a live.Attempt) {
		if err := os.WriteFile(r.f.Attempt(a)+"/go", nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	first := r.begin(0, 0, 0)
	r.began(first)
	large, small := r.begin(1, 0, 0), r.begin(2, 0, 0)
	free := r.begin(3, 0, 0)
	if rep := r.end(free); rep.Exit != 0 {
		t.Fatalf("%+v", rep)
	}
	for _, a := range []live.Attempt{large, small} {
		if pid := r.procOf(a).leader(); pid != 0 {
			t.Errorf("attempt %d has begun", a.ID)
		}
	}
	letGo(first)
	var told []string
	for range 3 { // the next begins while the last is being cleared away
		rep := r.report()
		told = append(told, fmt.Sprint(rep.Kind, rep.Attempt))
	}
	slices.Sort(told)
	if want := fmt.Sprint([]string{"attempt-began 2", "attempt-began 3", "attempt-done 1"}); fmt.Sprint(told) != want {
		t.Errorf("told %v, want %v", told, want)
	}
	letGo(large)
	letGo(small)
	r.report()
	r.report()
}

// One that was killed while it waited is in nobody's way, and nothing is told of it.
func TestMemoryKilledWhileWaiting(t *testing.T) {
	h := newTestHost(t, HostConfig{Memory: 10 << 30})
	r := newRig(t, needing(h, 6, 20, 4), "sleep 100", "true", "true")
	first := r.begin(0, 0, 0)
	r.began(first)
	never := r.begin(1, 0, 0)
	next := r.begin(2, 0, 0)
	r.Kill(never.ID)
	r.began(next)
	r.end(next)
	r.Kill(first.ID)
	over := r.begin(1, 1, 0) // needs more than there is: alone it may
	r.began(over)
	r.end(over)
}

// A closed job leaves nothing in the queue, though others hold the memory.
func TestMemoryOfAClosedJob(t *testing.T) {
	h := newTestHost(t, HostConfig{Memory: 10 << 30})
	holder, waiter := newRig(t, needing(h, 10), "sleep 100"), newRig(t, needing(h, 5), "true")
	holder.began(holder.begin(0, 0, 0))
	waiter.begin(0, 0, 0)
	waiter.close()
	queued := make(chan int, 1)
	h.keeper.order(func() { queued <- len(h.ledger.queue) }) // the ledger is the keeper's
	if n := <-queued; n != 0 {
		t.Errorf("%d attempts are in the queue", n)
	}
}

// Whatever needs what, and whoever kills whom: the sum holds, everybody who was not killed begins, in order, and ends.
func TestMemoryStorm(t *testing.T) {
	const total = 100 << 30
	h := newTestHost(t, HostConfig{Memory: total})
	random := rand.New(rand.NewPCG(16, 4))
	var rigs []*rig
	needs := []int64{10, 35, 60, 120}
	for range 3 {
		rigs = append(rigs, newRig(t, func(c *Config) {
			needing(h, needs...)(c)
			for s := range c.Work.Array.Stages {
				c.Work.Array.Stages[s].Tasks = 1000
			}
		}, "true", "sleep 0.01", "true", "true"))
	}
	var order []sched.AttemptID
	killed, begun := map[sched.AttemptID]bool{}, map[sched.AttemptID]bool{}
	next, left := sched.AttemptID(0), 0
	check := func() {
		answer := make(chan error, 1)
		h.keeper.order(func() {
			sum, n := int64(0), 0
			for _, r := range rigs {
				r.mu.Lock()
				for _, p := range r.procs {
					if hasEnded(p) || p.leader() == 0 {
						continue
					}
					sum += p.reserved
					n++
				}
				r.mu.Unlock()
			}
			var err error
			if h.ledger.taken != sum || sum > total && n > 1 {
				err = fmt.Errorf("%d taken, %d by %d attempts that run", h.ledger.taken, sum, n)
			}
			answer <- err
		})
		if err := <-answer; err != nil {
			t.Error(err)
		}
	}
	hear := func() {
		switch rep := rigs[0].report(); {
		case rep.Kind == sched.AttemptBegan:
			begun[rep.Attempt] = true
			for len(order) > 0 && killed[order[0]] && order[0] != rep.Attempt {
				order = order[1:]
			}
			if len(order) == 0 || order[0] != rep.Attempt {
				t.Errorf("attempt %d has begun, the next is %v", rep.Attempt, order)
				return
			}
			order = order[1:]
		case !begun[rep.Attempt]:
			t.Errorf("an end of what has not begun: %+v", rep)
		default:
			if !killed[rep.Attempt] {
				left--
			}
			delete(begun, rep.Attempt)
		}
	}
	for i := range 150 {
		r := rigs[random.IntN(len(rigs))]
		stage := random.IntN(len(needs))
		r.next = next
		a := r.begin(stage, i, 0)
		next, left, order = a.ID, left+1, append(order, a.ID)
		if random.IntN(5) == 0 {
			r.Kill(a.ID)
			killed[a.ID] = true
			left--
		}
		check()
		if random.IntN(2) == 0 && left > 3 {
			hear()
		}
	}
	for left > 0 {
		hear()
	}
	check()
}

func hasEnded(p *process) bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}
