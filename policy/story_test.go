package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// story is a hand-worked example: jobs on machines of one slot, and every attempt but the first of its task, in order, as world.clones prints it.
type story struct {
	name, policy string
	machines     int
	limits       *sched.Limits // nil for none
	jobs         []*sched.JobSpec
	lasts        []sched.Time // of the tasks' first attempts; the last one for all that follow
	again        sched.Time   // of all other attempts
	reports      sched.Time   // between progress reports, 0 for none
	rate         bool         // the driver tells rates instead
	want         []string
}

// run plays the story under the policy that build makes of its specification.
func (s *story) run(t *testing.T, build func(spec string) (sched.Policy, error)) *world {
	t.Helper()
	l := sched.NoLimits()
	if s.limits != nil {
		l = *s.limits
	}
	p, err := build(s.policy)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, p, l)
	w.machines(s.machines)
	for _, spec := range s.jobs {
		w.submit(0, spec)
	}
	next := lasts(s.again, s.lasts...)
	w.fate = func(d *sched.Decision) fate {
		f := next(d)
		f.reports, f.rate = s.reports, s.rate
		return f
	}
	w.run()
	return w
}

// tell plays stories under the policies that build makes of their specifications and compares the clones.
func tell(t *testing.T, build func(spec string) (sched.Policy, error), stories []story) {
	for i := range stories {
		s := &stories[i]
		t.Run(s.name, func(t *testing.T) {
			if diff := cmp.Diff(s.want, s.run(t, build).clones()); diff != "" {
				t.Errorf("clones (-want +got):\n%s", diff)
			}
		})
	}
}

func repeat(d sched.Time, n int, last ...sched.Time) (all []sched.Time) {
	for range n {
		all = append(all, d)
	}
	return append(all, last...)
}

// lasts gives task t the duration originals[t], or the last one, and every later attempt that of clones.
func lasts(clones sched.Time, originals ...sched.Time) func(*sched.Decision) fate {
	return func(d *sched.Decision) fate {
		if d.Number > 0 {
			return fate{lasts: clones}
		}
		return fate{lasts: originals[min(int(d.Task), len(originals)-1)]}
	}
}

func tasks(n int) *sched.JobSpec { return &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: n}}} }
