package policytest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// Story is a hand-worked example: jobs on machines of one slot, and every clone of a straggler, in order, as
// World.Clones prints it.
type Story struct {
	Name     string
	Policy   string // its specification
	Machines int
	Limits   *sched.Limits // nil for none
	Jobs     []*sched.JobSpec
	Lasts    []sched.Time // of the tasks' first attempts; the last one for all that follow
	Again    sched.Time   // of all other attempts
	Reports  sched.Time   // between progress reports, 0 for none
	Rate     bool         // the driver tells rates instead
	Want     []string     // "instant task number machine" of each clone: "1m0s t2 #1 m0"
}

// Run plays the story under the policy that build makes of its specification.
func (s *Story) Run(t *testing.T, build func(spec string) (sched.Policy, error)) *World {
	t.Helper()
	l := sched.NoLimits()
	if s.Limits != nil {
		l = *s.Limits
	}
	p, err := build(s.Policy)
	if err != nil {
		t.Fatal(err)
	}
	w := NewWorld(t, p, l)
	w.Machines(s.Machines)
	for _, spec := range s.Jobs {
		w.Submit(0, spec)
	}
	next := Lasts(s.Again, s.Lasts...)
	w.Fate = func(d *sched.Decision) Fate {
		f := next(d)
		f.Reports, f.Rate = s.Reports, s.Rate
		return f
	}
	w.Run()
	return w
}

// Tell plays stories under the policies that build makes of their specifications and compares the clones.
func Tell(t *testing.T, build func(spec string) (sched.Policy, error), stories []Story) {
	for i := range stories {
		s := &stories[i]
		t.Run(s.Name, func(t *testing.T) {
			if diff := cmp.Diff(s.Want, s.Run(t, build).Clones()); diff != "" {
				t.Errorf("clones (-want +got):\n%s", diff)
			}
		})
	}
}

// Build returns what makes a policy of an entry by its parameters, for Tell: the Policy of a story is then the
// parameters alone.
func Build(e *kit.Entry) func(params string) (sched.Policy, error) {
	return func(params string) (sched.Policy, error) {
		args, err := e.Parse(params)
		if err != nil {
			return nil, err
		}
		return e.New(args), nil
	}
}

// Repeat returns a duration n times, and others after it.
func Repeat(d sched.Time, n int, last ...sched.Time) (all []sched.Time) {
	for range n {
		all = append(all, d)
	}
	return append(all, last...)
}

// Lasts gives task t the duration originals[t], or the last one, and every later attempt that of clones.
func Lasts(clones sched.Time, originals ...sched.Time) func(*sched.Decision) Fate {
	return func(d *sched.Decision) Fate {
		if d.Number > 0 {
			return Fate{Lasts: clones}
		}
		return Fate{Lasts: originals[min(int(d.Task), len(originals)-1)]}
	}
}

// Rated is a fate with attempts that tell their rates when they start.
func Rated(fate func(*sched.Decision) Fate) func(*sched.Decision) Fate {
	return func(d *sched.Decision) Fate {
		f := fate(d)
		f.Rate = true
		return f
	}
}

// Tasks returns a job of one stage of n tasks.
func Tasks(n int) *sched.JobSpec { return &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: n}}} }
