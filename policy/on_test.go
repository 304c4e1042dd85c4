package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// on returns a world under the policy of a specification.
func on(tb testing.TB, spec string, l sched.Limits) *policytest.World {
	tb.Helper()
	p, err := New(spec, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return policytest.NewWorld(tb, p, l)
}

// build is New with a seed that stays.
func build(spec string) (sched.Policy, error) { return New(spec, 1) }

func played(t *testing.T, s *policytest.Story) *policytest.World { return s.Run(t, build) }

func tellAll(t *testing.T, stories []policytest.Story) { policytest.Tell(t, build, stories) }

// steadyOn is NewSteady for a specification.
func steadyOn(tb testing.TB, spec string, machines, jobs, tasks, sites int) *policytest.Steady {
	p, err := New(spec, 1)
	if err != nil {
		tb.Fatal(err)
	}
	e, _ := Find(spec)
	return policytest.NewSteady(tb, p, e.Progress, machines, jobs, tasks, sites)
}
