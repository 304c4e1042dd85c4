package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// Faults says how machines fail: each on its own, after an exponentially distributed time of work, for an exponentially
// distributed time of repair. The zero value is machines that never fail.
type Faults struct {
	MTBF sched.Time // mean time of work
	MTTR sched.Time // mean time of repair
}

// ParseFaults reads mtbf=SPAN,mttr=SPAN; "" and "none" are no faults.
func ParseFaults(spec string) (Faults, error) {
	var f Faults
	if spec == "" || spec == "none" {
		return f, nil
	}
	for _, pair := range strings.Split(spec, ",") {
		key, value, _ := strings.Cut(pair, "=")
		into := map[string]*sched.Time{"mtbf": &f.MTBF, "mttr": &f.MTTR}[key]
		if into == nil {
			return f, fmt.Errorf("unknown parameter %q; expected mtbf=SPAN,mttr=SPAN", key)
		}
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return f, fmt.Errorf("%s: expected a positive duration such as 24h, got %q", key, value)
		}
		*into = sched.Time(d)
	}
	if f.MTBF == 0 || f.MTTR == 0 {
		return f, fmt.Errorf("expected mtbf=SPAN,mttr=SPAN, got %q", spec)
	}
	return f, nil
}

// faultPlan says when machines go and come back.
type faultPlan struct {
	Faults
	seed  uint64
	next  queue // by machine: its next failure or the end of its repair
	state []machineState
}

type machineState struct {
	spell uint32
	down  bool
}

// newFaultPlan returns the plan of machines that all work at begin, nil if none ever fails.
func newFaultPlan(f Faults, machines int, begin sched.Time, seed uint64) *faultPlan {
	if f.MTBF == 0 {
		return nil
	}
	p := &faultPlan{Faults: f, seed: seed, state: make([]machineState, machines)}
	p.next.grow(machines)
	for m := range machines {
		p.schedule(uint32(m), begin)
	}
	return p
}

// schedule draws when the machine's present state ends. It takes at least a nanosecond, so that time goes on.
func (p *faultPlan) schedule(m uint32, now sched.Time) {
	st := &p.state[m]
	why, mean := forUp, p.MTBF
	if st.down {
		why, mean = forRepair, p.MTTR
	}
	span := exponential(draw(p.seed, why, m, st.spell, 0)) * mean.Seconds()
	if end := now + max(1, sched.FromSeconds(span)); end > now {
		p.next.push(uint64(m), end)
	}
}

// due appends the machines whose state ends at t to those that come back or go, each in ascending order.
func (p *faultPlan) due(t sched.Time, back, gone []sched.MachineID) (_, _ []sched.MachineID) {
	for p.next.next() == t {
		m := uint32(p.next.pop())
		st := &p.state[m]
		if st.down = !st.down; st.down {
			gone = append(gone, sched.MachineID(m))
		} else {
			back = append(back, sched.MachineID(m))
			st.spell++
		}
		p.schedule(m, t)
	}
	return back, gone
}
