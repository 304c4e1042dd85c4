package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// weighed is first come, first served with a load that sees all events.
type weighed struct {
	sched.Policy
	load load
}

func (p *weighed) Observe(v *sched.View, ev *sched.Event) {
	p.load.observe(v, ev)
	p.Policy.Observe(v, ev)
}

// TestLoad: the busier the slots are with what wins, the more jobs are expected before none waits, and no more than have
// come. Attempts that hang are no work.
func TestLoad(t *testing.T) {
	for _, c := range []struct {
		name      string
		lasts     sched.Time // of the tasks of ten jobs, two each, one job each 20 s, on two slots
		low, high float64    // expected while three jobs wait
	}{
		{"idle", sched.Second, 0, 0.3},
		{"busy for half of the time", 10 * sched.Second, 2, 4},
		{"never idle", 30 * sched.Second, 8, 10},
		{"hanging", 1000 * sched.Second, 0, 0},
	} {
		fifo, err := New("fifo", 1)
		if err != nil {
			t.Fatal(err)
		}
		p := &weighed{Policy: fifo}
		w := policytest.NewWorld(t, p, sched.DefaultLimits())
		w.Machines(2)
		for j := range sched.Time(10) {
			w.Submit(20*sched.Second*j, policytest.Tasks(2))
		}
		w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: c.lasts} }
		for w.Step() && w.Core.View().Now() < 180*sched.Second {
		}
		if got := p.load.come(3); got < c.low || got > c.high {
			t.Errorf("%s: %.2f jobs, want %v to %v", c.name, got, c.low, c.high)
		}
	}
}

// TestAutoPaysForJobsToCome: machines are slow for a time, nothing reports, and the slots are nearly always in use. There
// hardly a clone is worth its slot, as each job that comes waits for it. So auto is about as good as fifo.
func TestAutoPaysForJobsToCome(t *testing.T) {
	t.Parallel()
	flow := flowBeside(t, "auto", "fifo", "synth:jobs=100;tasks=10;law=lognormal:mean=10,sd=8;arrivals=poisson:rate=0.153846;known=false",
		"machine", 5, sim.Options{Machines: 20, Slots: 1, Limits: sched.DefaultLimits()})
	t.Logf("flow time %.3f of fifo's", flow)
	if flow > 1.15 {
		t.Errorf("flow time %.3f of fifo's, want 1.15 at most", flow)
	}
}
