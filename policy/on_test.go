package policy

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// on returns a world under the policy of a specification.
func on(tb testing.TB, spec string, l sched.Limits) *world {
	tb.Helper()
	p, err := New(spec, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return newWorld(tb, p, l)
}

// build is New with a seed that stays.
func build(spec string) (sched.Policy, error) { return New(spec, 1) }

func played(t *testing.T, s *story) *world { return s.run(t, build) }

func tellAll(t *testing.T, stories []story) { tell(t, build, stories) }

// steadyOn is newSteady for a specification.
func steadyOn(tb testing.TB, spec string, machines, jobs, tasks, sites int) *steady {
	p, err := New(spec, 1)
	if err != nil {
		tb.Fatal(err)
	}
	e, _ := Find(spec)
	return newSteady(tb, p, e.Progress, machines, jobs, tasks, sites)
}
