package kit

import (
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// idle does nothing.
type idle struct{}

func (idle) Observe(*sched.View, *sched.Event)  {}
func (idle) Decide(*sched.View, *sched.Actions) {}

// started is a core with so many free machines, and a task that waits.
func started(t *testing.T, machines int) (c *sched.Core, advance func(now sched.Time)) {
	c = sched.New(idle{}, sched.NoLimits())
	j, err := c.Submit(&sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	facts := []sched.Event{{Kind: sched.JobArrived, Job: j}}
	for range machines {
		m, err := c.AddMachine(0, 1)
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, sched.Event{Kind: sched.MachineJoined, Machine: m})
	}
	advance = func(now sched.Time) {
		if _, err := c.Advance(now, facts); err != nil {
			t.Fatal(err)
		}
		facts = nil
	}
	advance(0)
	return c, advance
}

// TestShunned compares with a search through all machines, of which there are few.
func TestShunned(t *testing.T) {
	r := rand.New(rand.NewPCG(117, 2))
	c, advance := started(t, 20)
	var s Shunned
	until, times := map[sched.MachineID]sched.Time{}, map[sched.MachineID]int{}
	now := sched.Time(0)
	for range 5000 {
		now += sched.Time(r.IntN(3))
		advance(now)
		m := sched.MachineID(r.IntN(20))
		switch r.IntN(8) {
		case 0:
			s.Quick(m)
			delete(until, m)
			delete(times, m)
		case 1, 2:
			s.Slow(c.View(), m, 10)
			if until[m] <= now {
				times[m] = min(times[m]+1, mostTimes)
			}
			until[m] = max(until[m], now+10<<(times[m]-1))
		}
		least := sched.Never
		for m := range sched.MachineID(20) {
			if x := until[m]; x <= now {
				least = 0
			} else {
				least = min(least, x)
			}
		}
		got, ok := s.Free(c.View(), 0)
		if x := until[got]; !ok || x > now && x > least {
			t.Fatalf("at %d: machine %d of %v", now, got, until)
		}
	}
}

// TestShunnedAmongMany checks that the machines that are not shunned are found behind very many that are, in a few searches.
func TestShunnedAmongMany(t *testing.T) {
	const machines = 10 * mostPassed
	c, _ := started(t, machines)
	var s Shunned
	for m := range sched.MachineID(machines - 1) {
		s.Slow(c.View(), m, sched.Second)
	}
	for n := range 12 {
		m, ok := s.Free(c.View(), 0)
		if !ok {
			t.Fatal("no machine is free")
		}
		if m == machines-1 {
			if n == 0 {
				t.Error("found at once: the search is not bounded")
			}
			if again, _ := s.Free(c.View(), 0); again != m {
				t.Errorf("then machine %d", again)
			}
			return
		}
	}
	t.Errorf("machine %d was never found", machines-1)
}
