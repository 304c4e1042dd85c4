package policy

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// TestReservation: E[(x-X)^+] of Pareto(120, 1.5) is x - 120 - 240 (1-sqrt(120/x)) from 120 on; x(c) is its inverse, and 120+c would be that of a law without spread.
func TestReservation(t *testing.T) {
	var r reservation
	for _, c := range []float64{0.1, 1, 5, 15, 60, 300, 2000} {
		x := r.of(laws.Pareto{Alpha: 1.5, Xm: 120}, drawing{c: c})
		if got := x - 120 - 240*(1-math.Sqrt(120/x)); math.Abs(got-c) > 0.03*c+0.05 {
			t.Errorf("c = %v: x = %v saves %v", c, x, got)
		}
		if x := r.of(laws.Deterministic{Value: 120}, drawing{c: c}); math.Abs(x-120-c) > 1e-9 {
			t.Errorf("c = %v: x = %v, want %v", c, x, 120+c)
		}
	}
}

// TestReservationRises: the less is left to do, the dearer is another attempt, so what was judged good stays so.
func TestReservationRises(t *testing.T) {
	for _, law := range []laws.Law{laws.Pareto{Alpha: 1.5, Xm: 120}, laws.Deterministic{Value: 120}, laws.TwoPoint{Lo: 0, Hi: 100, P: 0.5}, laws.Deterministic{}} {
		for _, d := range []drawing{{c: 15}, {15, 10}, {10, 10}} {
			var r reservation
			before := 0.0
			for rest := 1.0; rest > 0.01; rest -= 0.01 {
				x := r.of(law, d.by(rest))
				if !(x >= before) || math.IsInf(x, 1) {
					t.Fatalf("%v, %+v: with %v left x is %v, before it was %v", law, d, rest, x, before)
				}
				before = x
			}
		}
	}
}

// TestReservationIsNearlyBest: on one slot, where attempts draw their durations, are launched in 5 s and judged after 10, tasks take at most 1 % longer than by the
// best rule, which dynamic programming finds, whether they resume or not. In a stage that resumes, the rule for one that does not is more than 1 % behind.
func TestReservationIsNearlyBest(t *testing.T) {
	lognormal := func(cv float64) laws.Law {
		l, err := laws.LognormalOf(240, cv*240)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, law := range []laws.Law{lognormal(0.3), lognormal(1), laws.Pareto{Alpha: 2.5, Xm: 144}, laws.Pareto{Alpha: 1.5, Xm: 80}, laws.Uniform{Lo: 0, Hi: 480}, laws.Exponential{Mu: 1. / 240}} {
		for _, resumes := range []bool{true, false} {
			task := newDraws(law, resumes)
			by := func(d drawing) float64 {
				var r reservation
				return task.mean(func(x, rest, _ float64) bool { return x <= r.of(law, d.by(rest)) })
			}
			best := task.mean(func(x, rest, another float64) bool { return x*rest <= another })
			anew := by(drawing{c: drawsLaunch + drawsJudge})
			rule := anew
			if resumes {
				rule = by(drawing{drawsLaunch + drawsJudge, drawsJudge})
			}
			t.Logf("%v, resumes %v: best %.1f s, by the rule %.1f, by that for stages that do not resume %.1f", law, resumes, best, rule, anew)
			if rule > 1.01*best || rule < best {
				t.Errorf("%v, resumes %v: %v s, the best are %v", law, resumes, rule, best)
			}
			if resumes && anew <= 1.01*best {
				t.Errorf("%v: by the rule for stages that do not resume %v s, the best are %v", law, anew, best)
			}
		}
	}
}

const (
	drawsSteps  = 400 // of what is left of a task
	drawsLaunch = 5.0
	drawsJudge  = 10.0
)

// draws is a task on one slot, whose attempts draw durations of equal probability.
type draws struct {
	durations []float64
	resumes   bool
}

func newDraws(law laws.Law, resumes bool) *draws {
	const n = 64
	d := &draws{resumes: resumes}
	for i := range n {
		d.durations = append(d.durations, law.Quantile((float64(i)+0.5)/n))
	}
	return d
}

// mean returns the seconds that a task takes if an attempt of x seconds goes on where the rule says so, with a rest left of the task, or else another, which takes so
// many seconds from there.
func (d *draws) mean(goesOn func(x, rest, another float64) bool) float64 {
	if !d.resumes {
		return d.anew(goesOn)
	}
	var takes [drawsSteps + 1]float64
	for i := 1; i <= drawsSteps; i++ {
		rest := float64(i) / drawsSteps
		for _, x := range d.durations {
			if x*rest <= drawsJudge {
				takes[i] += x * rest
				continue
			}
			left := rest - drawsJudge/x
			k := min(int(left*drawsSteps), i-1)
			another := takes[k]
			if k+1 < i {
				another += (takes[k+1] - takes[k]) * (left*drawsSteps - float64(k))
			}
			if takes[i] += drawsJudge; goesOn(x, left, another) {
				takes[i] += x * left
			} else {
				takes[i] += another
			}
		}
		takes[i] = drawsLaunch + takes[i]/float64(len(d.durations))
	}
	return takes[drawsSteps]
}

// anew is mean where each attempt does all of the task: what another takes is the mean itself. x rest is what is left of x after it is judged.
func (d *draws) anew(goesOn func(x, rest, another float64) bool) (takes float64) {
	for range 1000 {
		sum := 0.0
		for _, x := range d.durations {
			switch {
			case x <= drawsJudge:
				sum += x
			case goesOn(x-drawsJudge, 1, takes):
				sum += x
			default:
				sum += drawsJudge + takes
			}
		}
		takes = drawsLaunch + sum/float64(len(d.durations))
	}
	return takes
}
