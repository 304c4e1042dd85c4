package policytest

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// HandOver checks that a policy can go on where another left off, with other slots: the job that the first has begun
// the second finishes. Where the first gives up jobs that miss their deadlines it begins one that has time enough.
// Policies that set the speed of machines take part in no hand-over.
func HandOver(t testing.TB, first, second func() sched.Policy) {
	t.Helper()
	if sched.Paces(first()) || sched.Paces(second()) {
		return
	}
	d := begin(t, first(), 5*sched.Second)
	if d.core.View().Job(0).State == sched.JobStopped {
		d = begin(t, first(), 1000*sched.Second)
	}
	if left := d.core.View().Job(0).Unfinished; left == 25 || left == 0 {
		t.Fatalf("%d of 25 tasks are unfinished when the first ends", left)
	}
	if err := d.core.HandOver(&sched.HandOver{Policy: second(), Limits: sched.DefaultLimits(), Retries: 3, Deadline: 30 * sched.Second, Slots: []int{1, 4, 2}}); err != nil {
		t.Fatal(err)
	}
	d.wake = sched.Never
	d.advance(9*sched.Second, machines(9*sched.Second, sched.MachineJoined, 2)...)
	d.until(1000 * sched.Second)
	if job := d.core.View().Job(0); job.State != sched.JobSucceeded {
		t.Errorf("the job is in state %v, with %d tasks unfinished", job.State, job.Unfinished)
	}
}

// begin runs a job with a deadline under a policy until all its machines are lost at 8 s.
func begin(t testing.TB, p sched.Policy, deadline sched.Time) *relay {
	t.Helper()
	d := &relay{TB: t, core: sched.New(p, sched.DefaultLimits()), ends: map[sched.AttemptID]sched.Time{}, wake: sched.Never}
	for range 3 {
		if _, err := d.core.AddMachine(0, 2); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.core.Submit(&sched.JobSpec{
		Retries: 1, Deadline: deadline, Stages: []sched.StageSpec{{Tasks: 20}, {Tasks: 5}}, Edges: []sched.Edge{{From: 0, To: 1}},
	}); err != nil {
		t.Fatal(err)
	}
	d.advance(0, append(machines(0, sched.MachineJoined, 3), sched.Event{Kind: sched.JobArrived})...)
	d.until(7 * sched.Second)
	d.advance(8*sched.Second, machines(8*sched.Second, sched.MachineLost, 3)...)
	return d
}

// relay drives the only job of a core.
type relay struct {
	testing.TB
	core *sched.Core
	ends map[sched.AttemptID]sched.Time // of what runs
	wake sched.Time
}

func (d *relay) advance(now sched.Time, facts ...sched.Event) {
	decisions, err := d.core.Advance(now, facts)
	if err != nil {
		d.Fatal(err)
	}
	if err := d.core.Check(); err != nil {
		d.Fatal(err)
	}
	for _, x := range decisions {
		switch x.Kind {
		case sched.Launch:
			d.ends[x.Attempt] = x.At + sched.Time(1+int(x.Task)%4+(int(x.Number)+1)%3)*sched.Second
		case sched.Kill, sched.Commit:
			delete(d.ends, x.Attempt)
		case sched.Wake:
			d.wake = x.At
		}
	}
}

// until goes on to an instant, or to the end of the job.
func (d *relay) until(limit sched.Time) {
	for v := d.core.View(); v.Job(0).State == sched.JobActive; {
		next, id := min(d.wake, limit), sched.AttemptID(0)
		for _, a := range slices.SortedFunc(maps.Keys(d.ends), cmp.Compare) {
			if d.ends[a] <= next {
				next, id = d.ends[a], a
			}
		}
		switch {
		case id == 0 && next == limit:
			return
		case id == 0:
			d.wake = sched.Never
			d.advance(max(next, v.Now()))
		default:
			delete(d.ends, id)
			d.advance(max(next, v.Now()), sched.Event{At: max(next, v.Now()), Kind: sched.AttemptDone, Attempt: id})
		}
	}
}

func machines(now sched.Time, kind sched.EventKind, n int) (facts []sched.Event) {
	for m := range n {
		facts = append(facts, sched.Event{At: now, Kind: kind, Machine: sched.MachineID(m)})
	}
	return facts
}
