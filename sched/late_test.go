package sched

import (
	"math"
	"testing"
)

func TestParseLate(t *testing.T) {
	for text, want := range map[string]Late{"": {}, "hard": {Kind: LateHard}, "drop": {Kind: LateDrop}, "soft:0.25": {LateSoft, 0.25}} {
		got, err := ParseLate(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q: %v (%q), %v", text, got, got.String(), err)
		}
	}
	for _, text := range []string{"late", "soft", "soft:", "soft:0", "soft:-1", "soft:inf", "soft:nan", "drop:1", "Hard"} {
		if got, err := ParseLate(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestWorth: a job of value 10, due after 100 s, at a cost of 2 a minute is worth nothing five minutes later.
func TestWorth(t *testing.T) {
	s := Second
	for _, c := range []struct {
		name string
		late Late
		at   Time
		want float64
		ends Time
	}{
		{"in time", Late{}, 100 * s, 10, 100 * s},
		{"not said, and late", Late{}, 100*s + 1, 0, 100 * s},
		{"hard", Late{Kind: LateHard}, 101 * s, 0, 100 * s},
		{"soft, in time", Late{LateSoft, 2}, 99 * s, 10, 400 * s},
		{"soft, a minute late", Late{LateSoft, 2}, 160 * s, 8, 400 * s},
		{"soft, an hour late", Late{LateSoft, 2}, 3700 * s, 0, 400 * s},
		{"soft for hardly anything", Late{LateSoft, 1e-300}, 3700 * s, 10, Never - 1},
	} {
		job := Job{Deadline: 100 * s, Value: 10, Late: c.late}
		if got := job.Worth(c.at); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: worth %v, want %v", c.name, got, c.want)
		}
		if got := job.Until(); got != c.ends {
			t.Errorf("%s: worth something until %v, want %v", c.name, got, c.ends)
		}
	}
	if job := (Job{Deadline: Never, Value: 1, Late: Late{LateSoft, 1}}); job.Until() != Never || job.Worth(1e18) != 1 {
		t.Error("without a deadline a job is not late")
	}
}

// TestDrop: the core asks to be called at the deadline of a job that is to be dropped, and ends it then; other jobs that
// are late, and one that ends at that very instant, stay.
func TestDrop(t *testing.T) {
	w := newWorld(t, NoLimits(), 2)
	var ids []JobID
	for _, late := range []Late{{Kind: LateDrop}, {Kind: LateHard}, {Kind: LateDrop}} {
		spec := tasks(1)
		spec.Deadline, spec.Late = 10, late
		id, err := w.Submit(&spec)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	wakes := func(out []Decision) (at Time) {
		for _, d := range out {
			if d.Kind == Wake {
				at = d.At
			}
		}
		return at
	}
	out, err := w.Advance(1, []Event{{At: 1, Kind: JobArrived, Job: ids[0]}, {At: 1, Kind: JobArrived, Job: ids[1]}})
	if err != nil || wakes(out) != 10 {
		t.Fatalf("%v, %v; want a call at 10", out, err)
	}
	if _, err := w.Advance(9, []Event{{At: 9, Kind: JobArrived, Job: ids[2]}, {At: 9, Kind: JobChanged, Job: ids[2], Deadline: 12}}); err != nil {
		t.Fatal(err)
	}
	if out, err = w.Advance(10, nil); err != nil || wakes(out) != 12 {
		t.Fatalf("%v, %v; want a call at 12", out, err)
	}
	if a, b := w.View().Job(ids[0]).State, w.View().Job(ids[1]).State; a != JobStopped || b != JobActive {
		t.Errorf("at the deadline the job to drop is %v, the other %v", a, b)
	}
	if _, err := w.Advance(11, []Event{{At: 11, Kind: JobChanged, Job: ids[2]}}); err != nil { // no deadline any more
		t.Fatal(err)
	}
	if _, err := w.Advance(20, nil); err != nil || w.View().Job(ids[2]).State != JobActive {
		t.Errorf("%v, without a deadline the job is %v", err, w.View().Job(ids[2]).State)
	}
}
