package sim

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// choosy kills every attempt as soon as it may and launches another; between two it lets a nanosecond pass, or none.
type choosy struct{ patient bool }

func (choosy) Observe(*sched.View, *sched.Event) {}

func (p choosy) Decide(v *sched.View, act *sched.Actions) {
	if a, ok := v.FirstAttempt(0); ok && v.Rows().MayKill(a) {
		if err := act.Kill(a, sched.Replaced); err != nil {
			panic(err)
		}
	}
	if v.Task(0).State == sched.TaskPending {
		must(act.Launch(0, 0, 0, sched.Retry))
	}
	if p.patient {
		act.WakeAt(v.Now() + 1)
	}
}

// TestPolicyThatNeverEnds: what is told at the launch cannot make a policy launch and kill for ever at one instant; one that does so from
// instant to instant is stopped, with the reason.
func TestPolicyThatNeverEnds(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[10]}]}`)
	if r := simulate(t, w, choosy{}, Options{Machines: 1, Progress: Progress{Exact: true}}); r.End != 10*sched.Second || r.Jobs[0].Attempts != 1 {
		t.Errorf("over after %v and %d attempts", r.End, r.Jobs[0].Attempts)
	}
	_, err := Run(context.Background(), w, choosy{patient: true}, Options{Machines: 1, Limits: sched.DefaultLimits()})
	if !errors.Is(err, ErrStuck) || !strings.Contains(err.Error(), "killed 1000001 attempts and launched others, and no task was finished meanwhile") {
		t.Errorf("stuck with %v", err)
	}
}
