package sim_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// steered simulates with another policy after every so many steps, and returns the jobs, how often that was, and how
// many attempts policies killed.
func steered(t *testing.T, every int, specs ...string) (res *sim.Result, changes, kills int) {
	t.Helper()
	build := func(i int) sched.Policy {
		p, err := policy.New(specs[i%len(specs)], uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	steps := 0
	kept := map[sched.AttemptID]bool{}
	o := sim.Options{Machines: 10, Limits: sched.DefaultLimits(), Progress: sim.Progress{Every: 2 * sched.Second}, Seed: 3, Check: true}
	o.Watch = func(_ *sched.View, _ []sched.Event, decisions []sched.Decision) {
		for i := range decisions {
			d := &decisions[i]
			if d.Kind != sched.Kill || d.Reason >= sched.SiblingWon {
				continue
			}
			if kills++; kept[d.Attempt] {
				t.Errorf("%s ends attempt %v, which ran when it was made to decide", specs[changes%len(specs)], d.Attempt)
			}
		}
	}
	if every > 0 {
		o.Steer = func(c *sched.Core, _ []sched.Event) (sched.Policy, error) {
			if steps++; steps%every != 0 {
				return nil, nil
			}
			changes++
			clear(kept)
			for _, a := range c.Snapshot().Attempts {
				kept[a.ID] = true
			}
			return build(changes), nil
		}
	}
	res, err := sim.Run(context.Background(), workload(t, 60, 6, 10), build(0), o)
	if err != nil {
		t.Fatal(err)
	}
	return res, changes, kills
}

// TestSteer: whoever goes on decides as the one before would have if it is the same policy and learns nothing, and no
// attempt ends because of a change.
func TestSteer(t *testing.T) {
	for _, spec := range []string{"fifo", "srpt", "fair"} {
		want, _, _ := steered(t, 0, spec)
		got, changes, _ := steered(t, 7, spec)
		if !reflect.DeepEqual(got.Jobs, want.Jobs) || changes == 0 {
			t.Errorf("%s: other jobs after %d changes", spec, changes)
		}
	}
	killed := 0
	for _, specs := range [][]string{{"auto", "srew:slot=0s,preempt=true"}, {"maxsrpt", "auto", "mantri"}} {
		res, changes, kills := steered(t, 40, specs...)
		if killed += kills; len(res.Jobs) != 60 || changes < 5 {
			t.Errorf("%v: %d jobs, %d changes", specs, len(res.Jobs), changes)
		}
	}
	if killed == 0 {
		t.Error("nobody kills anything")
	}
}
