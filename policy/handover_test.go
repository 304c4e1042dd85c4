package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// Any policy can go on where any other left off, with other slots: the job that one has begun the next one finishes.
func TestHandOver(t *testing.T) {
	names := Names()
	for i, first := range names {
		second := names[(i*7+3)%len(names)]
		t.Run(fmt.Sprintf("%s to %s", first, second), func(t *testing.T) {
			handOver(t, first, second)
		})
	}
}

func handOver(t *testing.T, first, second string) {
	fresh := func(spec string) sched.Policy {
		spec, err := ForOneJob(spec, "2s")
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		if sched.Paces(p) {
			t.Skip("a live run refuses it")
		}
		return p
	}
	core := sched.New(fresh(first), sched.DefaultLimits())
	for range 3 {
		if _, err := core.AddMachine(0, 2); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := core.Submit(&sched.JobSpec{
		Retries: 1, Deadline: 5 * sched.Second, Stages: []sched.StageSpec{{Tasks: 20}, {Tasks: 5}}, Edges: []sched.Edge{{From: 0, To: 1}},
	}); err != nil {
		t.Fatal(err)
	}
	ends := map[sched.AttemptID]sched.Time{}
	wake := sched.Never
	advance := func(now sched.Time, facts ...sched.Event) {
		decisions, err := core.Advance(now, facts)
		if err != nil {
			t.Fatal(err)
		}
		if err := core.Check(); err != nil {
			t.Fatal(err)
		}
		for _, d := range decisions {
			switch d.Kind {
			case sched.Launch:
				ends[d.Attempt] = d.At + sched.Time(1+int(d.Task)%4+(int(d.Number)+1)%3)*sched.Second
			case sched.Kill, sched.Commit:
				delete(ends, d.Attempt)
			case sched.Wake:
				wake = d.At
			}
		}
	}
	machines := func(now sched.Time, kind sched.EventKind, n int) (facts []sched.Event) {
		for m := range n {
			facts = append(facts, sched.Event{At: now, Kind: kind, Machine: sched.MachineID(m)})
		}
		return facts
	}
	until := func(limit sched.Time) {
		for v := core.View(); v.Job(0).State == sched.JobActive; {
			next, id := min(wake, limit), sched.AttemptID(0)
			for _, a := range slices.SortedFunc(maps.Keys(ends), cmp.Compare) {
				if ends[a] <= next {
					next, id = ends[a], a
				}
			}
			switch {
			case id == 0 && next == limit:
				return
			case id == 0:
				wake = sched.Never
				advance(max(next, v.Now()))
			default:
				delete(ends, id)
				advance(max(next, v.Now()), sched.Event{At: max(next, v.Now()), Kind: sched.AttemptDone, Attempt: id})
			}
		}
	}
	advance(0, append(machines(0, sched.MachineJoined, 3), sched.Event{Kind: sched.JobArrived})...)
	until(7 * sched.Second)
	advance(8*sched.Second, machines(8*sched.Second, sched.MachineLost, 3)...)
	done := core.View().Job(0).Unfinished
	if done == 25 || done == 0 {
		t.Fatalf("%d of 25 tasks are unfinished when the first ends", done)
	}
	if err := core.HandOver(&sched.HandOver{Policy: fresh(second), Limits: sched.DefaultLimits(), Retries: 3, Deadline: 30 * sched.Second, Slots: []int{1, 4, 2}}); err != nil {
		t.Fatal(err)
	}
	wake = sched.Never
	advance(9*sched.Second, machines(9*sched.Second, sched.MachineJoined, 2)...)
	until(1000 * sched.Second)
	if s := core.View().Job(0).State; s != sched.JobSucceeded {
		t.Errorf("the job is in state %v, with %d tasks unfinished", s, core.View().Job(0).Unfinished)
	}
}
