package kit

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// ending starts what waits and keeps the ends of what runs.
type ending struct {
	Ends
	order Order
}

func (p *ending) Observe(v *sched.View, ev *sched.Event) {
	p.Ends.Observe(v, ev)
	p.order.Observe(v, ev)
}

func (p *ending) Decide(v *sched.View, act *sched.Actions) { p.order.Fill(v, act) }

// An attempt that says at the first instant of all that it has done everything ends then: its end is known.
func TestEndAtTheFirstInstant(t *testing.T) {
	p := &ending{order: OrderOf(ByArrival)}
	c := sched.New(p, sched.NoLimits())
	m, _ := c.AddMachine(0, 1)
	j, err := c.Submit(&sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Advance(0, []sched.Event{{Kind: sched.MachineJoined, Machine: m}, {Kind: sched.JobArrived, Job: j}}); err != nil {
		t.Fatal(err)
	}
	a, _ := c.View().FirstAttempt(0)
	if _, known := p.Of(a); known {
		t.Error("an end is known before any report")
	}
	if _, err := c.Advance(0, []sched.Event{{Kind: sched.AttemptProgress, Attempt: a, Progress: 1, Rate: 0.1}}); err != nil {
		t.Fatal(err)
	}
	if end, known := p.Of(a); !known || end != 0 {
		t.Errorf("the end is %v, known: %v", end, known)
	}
}
