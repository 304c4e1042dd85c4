package sim

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// startSpy is greedy and keeps how long attempts took to get to work.
type startSpy struct {
	greedy
	told []sched.Time
}

func (p *startSpy) Observe(_ *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptDone {
		p.told = append(p.told, ev.Span)
	}
}

// A launch delay is told with the end of the attempt.
func TestLaunchDelayIsTold(t *testing.T) {
	p := &startSpy{}
	o := Options{Machines: 1, LaunchDelay: 3 * sched.Second, Limits: sched.NoLimits()}
	if _, err := new(Simulator).Run(t.Context(), load(t, `{"stages":[{"durations_seconds":[4]}]}`), p, o); err != nil {
		t.Fatal(err)
	}
	if len(p.told) != 1 || p.told[0] != 3*sched.Second {
		t.Errorf("told %v, want 3 s", p.told)
	}
}
