package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestCalibration: what clones are believed to save is what they have saved, no clone counts twice, and what began
// without a forecast counts nothing.
func TestCalibration(t *testing.T) {
	row := func(k, gen uint32) sched.AttemptID { return sched.AttemptID(uint64(gen)<<32 | uint64(k)) }
	for _, c := range []struct {
		name string
		wins func(k uint32) bool
		want float64
	}{
		{"all win", func(uint32) bool { return true }, 1},
		{"as expected", func(k uint32) bool { return k%2 == 0 }, 1},
		{"half as often", func(k uint32) bool { return k%4 == 0 }, 0.52},
		{"none", func(uint32) bool { return false }, 0.04},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k calibration
			if k.share() != 1 {
				t.Errorf("a share of %v before anything is known", k.share())
			}
			for n := range uint32(10_000) {
				a := row(n%7, n+1)
				k.starts(a, &want{wins: 0.5, saved: 1})
				k.ends(row(n%7, n), true) // an earlier attempt, whose row this is now
				k.ends(row(n%7+7, n+1), true)
				k.ends(a, c.wins(n))
			}
			if got := k.share(); math.Abs(got-c.want) > 0.01 {
				t.Errorf("a share of %v, want %v", got, c.want)
			}
		})
	}
}

// TestForecast compares the chance that a new attempt is done first with what is drawn.
func TestForecast(t *testing.T) {
	r := rand.New(rand.NewPCG(116, 1))
	for range 50 {
		var a, b timeLeft
		for _, l := range []*timeLeft{&a, &b} {
			n := 1 + r.IntN(6)
			for range n {
				l.insert(float64(r.IntN(8)), 1/float64(n))
			}
		}
		want := 0.0
		for i, x := range a.x {
			for k, y := range b.x {
				if x < y {
					want += a.w[i] * b.w[k]
				}
			}
		}
		if got := a.before(&b); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v before %v: %v, want %v", a, b, got, want)
		}
	}
	// At the age of 9 with 1 left a clone of any pace is too late, with 2 all but the quickest, with 21 only the slowest.
	for left, want := range map[float64]float64{1: 0, 2: 0.25, 21: 0.75, 100: 1} {
		l := timeLeft{x: []float64{left}, w: []float64{1}}
		if got := l.passed(9, 0); got != want {
			t.Errorf("with %v left a clone of another pace is done first with a chance of %v, want %v", left, got, want)
		}
		if got := l.passed(9, left); got != 0 {
			t.Errorf("with %v left, which is no more than any task takes, a clone of another pace is done first with a chance of %v", left, got)
		}
	}
}

// TestKept: where durations have a bound, tasks that seem slow are nearly done, and auto learns how little clones save;
// where one in ten takes eight times as long, it keeps believing in them.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		lasts       func(r *rand.Rand) float64
		least, most float64
	}{
		{"bounded", func(r *rand.Rand) float64 { return 5 + 10*r.Float64() }, 0, 0.35},
		{"slow tenth", func(r *rand.Rand) float64 {
			if r.IntN(10) == 0 {
				return 80 * (0.9 + 0.2*r.Float64())
			}
			return 10 * (0.9 + 0.2*r.Float64())
		}, 0.8, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := autoOn(t, "auto")
			w := policytest.NewWorld(t, p, sched.DefaultLimits())
			w.Machines(40)
			w.Fate = func(d *sched.Decision) policytest.Fate {
				return policytest.Fate{Lasts: sched.FromSeconds(c.lasts(rand.New(rand.NewPCG(uint64(d.Task), uint64(d.Number)))))}
			}
			at, r := 0.0, rand.New(rand.NewPCG(116, 2))
			for range 300 {
				w.Submit(sched.FromSeconds(at), policytest.Tasks(30))
				at += r.ExpFloat64() * 30 * 12 / (0.8 * 40)
			}
			w.Run()
			if got := p.kept.share(); got < c.least || got > c.most {
				t.Errorf("clones save %.2f of what is expected after 300 jobs and %d clones, want %v to %v", got, len(w.Clones()), c.least, c.most)
			} else {
				t.Logf("%.2f, %d clones", got, len(w.Clones()))
			}
		})
	}
}

// TestAutoLoneClones: a task that is alone in its stage has as many clones in idle slots as it may have, from its start,
// once others have shown that durations differ. When many jobs need the slots, all of them end at once.
func TestAutoLoneClones(t *testing.T) {
	const lone, begins, comes = 30, 1000 * sched.Second, 1005 * sched.Second
	w := on(t, "auto", sched.DefaultLimits())
	w.Machines(4)
	for range lone {
		w.Submit(0, policytest.Tasks(1))
	}
	w.Submit(begins, policytest.Tasks(1))
	for range lone {
		w.Submit(comes, policytest.Tasks(1))
	}
	w.Fate = func(d *sched.Decision) policytest.Fate {
		if d.Task >= lone {
			return policytest.Fate{Lasts: 10 * sched.Second}
		}
		return policytest.Fate{Lasts: sched.FromSeconds(10 * rand.New(rand.NewPCG(uint64(d.Task), uint64(d.Number))).ExpFloat64())}
	}
	var began []sched.Time
	for w.Step() {
		v := w.Core.View()
		for n := int(v.Task(lone).Live); n > len(began); {
			began = append(began, v.Now())
		}
		if v.Now() == comes && v.Task(lone).Live != 1 {
			t.Errorf("%d attempts where tasks wait", v.Task(lone).Live)
		}
	}
	if most := sched.DefaultLimits().Attempts; len(began) != most || began[most-1] > begins+sched.Second/100 {
		t.Errorf("its attempts began at %v", began)
	}
}
