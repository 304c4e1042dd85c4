package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// story is a hand-worked example: jobs on machines of one slot, and every attempt but the first of its task, in order, as world.clones prints it.
type story struct {
	name, policy string
	entry        *kit.Entry // instead of policy, for one that the registry does not have
	machines     int
	limits       *sched.Limits // nil for none
	jobs         []*sched.JobSpec
	lasts        []sched.Time // of the tasks' first attempts; the last one for all that follow
	again        sched.Time   // of all other attempts
	reports      sched.Time   // between progress reports, 0 for none
	rate         bool         // the driver tells rates instead
	want         []string
}

func (s *story) run(t *testing.T) *world {
	t.Helper()
	l := sched.NoLimits()
	if s.limits != nil {
		l = *s.limits
	}
	var w *world
	if s.entry != nil {
		w = newWorld(t, built(s.entry, ""), l)
	} else {
		w = on(t, s.policy, l)
	}
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

func tellAll(t *testing.T, stories []story) {
	for i := range stories {
		s := &stories[i]
		t.Run(s.name, func(t *testing.T) {
			if diff := cmp.Diff(s.want, s.run(t).clones()); diff != "" {
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
