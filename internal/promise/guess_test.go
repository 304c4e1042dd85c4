package promise

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// A job of which nothing is known takes as long as the others do, and comes nearer to its own attempts with each of them.
func TestGuessed(t *testing.T) {
	var two powers
	two.add(math.Log(1))
	two.add(math.Log(4))
	for _, c := range []struct {
		name      string
		others    powers
		own       []float64
		median    float64 // of the mean
		deviation float64
	}{
		{"nothing of its own: the others' geometric mean", two, nil, 2, math.Log(2)},
		{"one attempt of its own counts as much", two, []float64{8}, 4, math.Log(2) / math.Sqrt2},
		{"three", two, []float64{7, 8, 9}, 2 * math.Pow(4, 0.75), math.Log(2) / 2},
		{"no others", powers{}, []float64{8}, 8, guessDeviation / math.Sqrt2},
	} {
		l := guessed(c.others, &Durations{Own: Run{Ended: c.own}})
		if median := l.mean * math.Exp(-l.deviation*l.deviation/2); math.Abs(median-c.median) > 1e-9 || math.Abs(l.deviation-c.deviation) > 1e-9 {
			t.Errorf("%s: median %v and deviation %v, want %v and %v", c.name, median, l.deviation, c.median, c.deviation)
		}
	}
	if l := guessed(powers{}, nil); l != nil {
		t.Errorf("of nothing %v was guessed", l)
	}
}

// A job behind one of a new name has about the chance that it has behind one like itself.
func TestChanceBehindUnknown(t *testing.T) {
	l := mustParse(t, "uniform:lo=0.8,hi=1.2")
	spec := sched.JobSpec{Deadline: 60 * sched.Second, Stages: []sched.StageSpec{{Tasks: 20}}}
	w := newWorld(t, 1, "fifo", 2, []sched.JobSpec{spec, spec}, []laws.Law{l, l})
	p, err := w.state("fifo", []*Durations{{}, runs(w.rng, l, 5, 20)}).Foresee(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if p[0].Chance != nil || p[1].Chance == nil || *p[1].Chance < 0.9 {
		t.Errorf("got %+v, want nothing for the job of a new name, and a chance above 0.9 for the other: 20 s of work and 20 s behind it, with a minute to go", p)
	}
}
