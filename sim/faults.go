package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// Faults says how machines fail: each on its own, or racks of them at once, after an exponentially distributed time of
// work, for an exponentially distributed time of repair. The zero value is machines that never fail.
type Faults struct {
	MTBF sched.Time // mean time of work
	MTTR sched.Time // mean time of repair
	Rack int        // machines, numbered on end, that fail and come back together; 0 means 1
}

// ParseFaults reads mtbf=SPAN,mttr=SPAN, and rack=N; "" and "none" are no faults.
func ParseFaults(spec string) (Faults, error) {
	var f Faults
	if spec == "" || spec == "none" {
		return f, nil
	}
	seen := map[string]bool{}
	for _, pair := range strings.Split(spec, ",") {
		key, value, _ := strings.Cut(pair, "=")
		if seen[key] {
			return f, fmt.Errorf("%s: expected once, it is given twice", key)
		}
		seen[key] = true
		if key == "rack" {
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return f, fmt.Errorf("rack: expected a number of machines, at least 1, got %q", value)
			}
			f.Rack = n
			continue
		}
		into := map[string]*sched.Time{"mtbf": &f.MTBF, "mttr": &f.MTTR}[key]
		if into == nil {
			return f, fmt.Errorf("unknown parameter %q; expected mtbf=SPAN,mttr=SPAN,rack=N", key)
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
	next  queue // by rack: its next failure or the end of its repair
	state []rackState
	count int // of machines
}

type rackState struct {
	spell uint32
	down  bool
}

// newFaultPlan returns the plan of machines that all work at begin, nil if none ever fails.
func newFaultPlan(f Faults, machines int, begin sched.Time, seed uint64) *faultPlan {
	if f.MTBF == 0 {
		return nil
	}
	p := &faultPlan{Faults: f, seed: seed, count: machines}
	p.Rack = max(1, f.Rack)
	p.state = make([]rackState, (machines+p.Rack-1)/p.Rack)
	p.next.grow(len(p.state))
	for r := range p.state {
		p.schedule(uint32(r), begin)
	}
	return p
}

// schedule draws when a rack's present state ends. It takes at least a nanosecond, so that time goes on.
func (p *faultPlan) schedule(r uint32, now sched.Time) {
	st := &p.state[r]
	why, mean := forUp, p.MTBF
	if st.down {
		why, mean = forRepair, p.MTTR
	}
	span := exponential(draw(p.seed, why, r, st.spell, 0)) * mean.Seconds()
	if end := now + max(1, sched.FromSeconds(span)); end > now {
		p.next.push(uint64(r), end)
	}
}

// due appends the machines whose state ends at t to those that come back or go, each in ascending order.
func (p *faultPlan) due(t sched.Time, back, gone []sched.MachineID) (_, _ []sched.MachineID) {
	for p.next.next() <= t {
		r := uint32(p.next.pop())
		st := &p.state[r]
		to := &back
		if st.down = !st.down; st.down {
			to = &gone
		} else {
			st.spell++
		}
		for m := int(r) * p.Rack; m < min(p.count, (int(r)+1)*p.Rack); m++ {
			*to = append(*to, sched.MachineID(m))
		}
		p.schedule(r, t)
	}
	return back, gone
}
