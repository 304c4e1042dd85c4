package sim_test

import (
	"context"
	"testing"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// A job of four tasks of 10 s on machines that come and go: when it is done tells how many there were.
func TestMachinesComeAndGo(t *testing.T) {
	const s = sched.Second
	for name, c := range map[string]struct {
		present []sim.Present
		want    sched.Time
	}{
		"always four":                {nil, 10 * s},
		"one, then four":             {[]sim.Present{{At: 0, Machines: 1}, {At: 2 * s, Machines: 4}}, 12 * s},
		"none for a while":           {[]sim.Present{{At: 5 * s, Machines: 4}}, 15 * s},
		"go while they work":         {[]sim.Present{{At: 0, Machines: 2}, {At: 5 * s, Machines: 1}}, 30 * s},
		"come back":                  {[]sim.Present{{At: 0, Machines: 2}, {At: 5 * s, Machines: 1}, {At: 12 * s, Machines: 2}}, 22 * s},
		"back before they have gone": {[]sim.Present{{At: 0, Machines: 2}, {At: 5 * s, Machines: 1}, {At: 6 * s, Machines: 2}}, 20 * s},
		"gone and there is nobody":   {[]sim.Present{{At: 0, Machines: 4}, {At: 5 * s, Machines: 0}, {At: 50 * s, Machines: 1}}, 10 * s},
	} {
		w := &trace.Workload{Names: []string{""}, Durations: []sched.Time{10 * s, 10 * s, 10 * s, 10 * s}}
		w.Stages = []trace.StageRow{{Tasks: 4, Law: -1}}
		w.Jobs = []trace.JobRow{{Stages: 1}}
		p, err := policy.New("fifo", 1)
		if err != nil {
			t.Fatal(err)
		}
		res, err := sim.Run(context.Background(), w, p, sim.Options{
			Machines: 4, Present: c.present, Limits: sched.DefaultLimits(), Check: true,
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := res.Jobs[0].Completion; got != c.want {
			t.Errorf("%s: done at %v, expected %v", name, got, c.want)
		}
	}
}

// Slots of another class stay, and what cannot be is said.
func TestPresenceOfClasses(t *testing.T) {
	const s = sched.Second
	w := &trace.Workload{Names: []string{""}, Classes: []string{"", "driver"}, Durations: []sched.Time{10 * s, 3 * s}}
	w.Stages = []trace.StageRow{{Tasks: 1, Law: -1}, {Tasks: 1, FirstTask: 1, Law: -1, Class: 1}}
	w.Jobs = []trace.JobRow{{Stages: 2, Edges: 1}}
	w.Edges = []trace.Edge{{From: 0, To: 1}}
	p, err := policy.NewPerClass("fifo/fifo", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	o := sim.Options{Machines: 2, More: []int{1}, Present: []sim.Present{{At: s, Machines: 1}}, Limits: sched.DefaultLimits(), Check: true}
	res, err := sim.Run(context.Background(), w, p, o)
	if err != nil || res.Jobs[0].Completion != 14*s {
		t.Errorf("%v, %v", res, err)
	}
	for _, wrong := range [][]sim.Present{{{Machines: 3}}, {{Machines: 0}}, {{At: s, Machines: 1}, {Machines: 1}}} {
		o.Present = wrong
		if _, err := sim.Run(context.Background(), w, p, o); err == nil {
			t.Errorf("%v: no error", wrong)
		}
	}
}
