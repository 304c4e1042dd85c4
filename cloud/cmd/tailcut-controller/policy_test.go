package main

import (
	"strings"
	"testing"

	"github.com/tailcut/tailcut/cloud/internal/kube"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// Policies are taken where they have something to decide.
func TestPoliciesOfPlaces(t *testing.T) {
	alone, pool := kube.Place{Classes: 1}, kube.Place{Shared: true, Classes: 1}
	classes, zones := kube.Place{Shared: true, Classes: 2}, kube.Place{Shared: true, Zones: true, Classes: 1}
	for _, c := range []struct {
		spec string
		at   kube.Place
		says string // "" if it is taken
	}{
		{"auto", alone, ""},
		{"capacity", alone, "has nothing to decide in a Job's pods"},
		{"capacity", pool, ""},
		{"maxsrpt", pool, "has nothing to decide in a pool, which has one class of slots"},
		{"maxsrpt", classes, ""},
		{"srpt/fair", classes, ""},
		{"srpt/fair", pool, "one for each of 1 classes"},
		{"geoclone", zones, ""},
		{"laps", pool, ""},
		{"none", pool, "none"},
	} {
		_, err := newPolicy(c.spec, "", false, c.at)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s at %+v: %v, want %q", c.spec, c.at, err, c.says)
		}
	}
}

// Tasks of 7 s, one at a time: without a slot in its specification, a policy with slots of time leaves nothing empty until a boundary.
func TestPoliciesDecideAtEvents(t *testing.T) {
	w, err := trace.Synthesize("synth:jobs=1;tasks=3;law=det:value=7", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []kube.Place{{Classes: 1}, {Shared: true, Classes: 1}} {
		for spec, takes := range map[string]sched.Time{"srew": 21 * sched.Second, "srew:beta=0.5": 21 * sched.Second, "srew:slot=5s": 27 * sched.Second} {
			p, err := newPolicy(spec, "", false, in)
			if err != nil {
				t.Fatal(err)
			}
			res, err := sim.Run(t.Context(), w, p, sim.Options{Machines: 1, Limits: sched.DefaultLimits(), Model: sim.StatedLaw})
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Jobs[0].Completion - res.Jobs[0].Arrival; got != takes {
				t.Errorf("%s at %+v: the job takes %v, want %v", spec, in, got, takes)
			}
		}
	}
}
