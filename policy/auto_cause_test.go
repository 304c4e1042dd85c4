package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestCauses: in worlds in which tasks are slow for one cause the clones show which. What the last of forty jobs has shown
// depends on few clones, so it is a mean over worlds.
func TestCauses(t *testing.T) {
	t.Parallel()
	const worlds = 10
	for _, c := range []struct {
		name   string
		lasts  func(own float64, r *rand.Rand) float64
		cause  int
		least  float64
		futile bool
	}{
		{"anew", func(_ float64, r *rand.Rand) float64 { return drawPareto(r) }, byChance, 0.5, false},
		{"pace", func(own float64, r *rand.Rand) float64 {
			if r.Float64() < 0.3 {
				return 8 * own
			}
			return own
		}, byPace, 0.4, false},
		{"again", func(own float64, _ *rand.Rand) float64 { return own }, bySize, 0.5, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mean tally
			futile, won := 0, 0
			for seed := range uint64(worlds) {
				p := autoOn(t, "auto")
				w := policytest.NewWorld(t, p, sched.NoLimits())
				w.Fate = func(d *sched.Decision) policytest.Fate {
					own := drawPareto(rand.New(rand.NewPCG(seed, uint64(d.Task))))
					r := rand.New(rand.NewPCG(seed, uint64(d.Task)<<16+uint64(d.Number)+1))
					return policytest.Fate{Lasts: sched.FromSeconds(c.lasts(own, r))}
				}
				w.Machines(20)
				for range 40 {
					w.Submit(0, policytest.Tasks(30))
				}
				w.Run()
				got := p.causes.of(39)
				if sum := got[byChance] + got[byPace] + got[bySize]; math.Abs(sum-1) > 1e-9 {
					t.Errorf("the causes sum to %v", sum)
				}
				for i := range mean {
					mean[i] += got[i] / worlds
				}
				if p.redraw.futile {
					futile++
				}
				if p.redraw.wins > 0 {
					won++
				}
			}
			t.Logf("by chance, by pace, by size: %.2f; clones are futile in %d of %d, and have won in %d", mean, futile, worlds, won)
			if mean[c.cause] < c.least {
				t.Errorf("cause %d has %.2f, want at least %v", c.cause, mean[c.cause], c.least)
			}
			if c.futile && (futile < worlds || won > 0) || !c.futile && futile > 0 {
				t.Errorf("clones are futile in %d of %d, and have won in %d", futile, worlds, won)
			}
		})
	}
}

// drawPareto draws from Pareto's law of index 1.5 from 1 on.
func drawPareto(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -1/1.5) }

// TestCauseOfOne: what a single clone says.
func TestCauseOfOne(t *testing.T) {
	var past sample
	past.reset()
	for i := range 31 {
		past.add(1 + float64(i)/100)
	}
	for _, c := range []struct {
		name      string
		y, d      float64
		won, done bool
		more      int // the cause that it speaks for
		less      int // and that it speaks against
	}{
		{"a winner as long as other tasks", 1.1, 20, true, false, byChance, bySize},
		{"a winner that is a part of a long task", 10, 50, true, false, byPace, bySize},
		{"as long as its task, longer than others", 15, 16, false, true, bySize, byChance},
		{"it would have won if it were as others", 3, 60, false, true, bySize, byChance},
	} {
		var own causes
		before := own.of(0)
		own.ends(&past, 0, c.y, c.d, c.won, c.done)
		after := own.of(0)
		if after[c.more] <= before[c.more] || after[c.less] >= before[c.less] {
			t.Errorf("%s: causes from %.3f to %.3f", c.name, before, after)
		}
	}
	var own causes
	own.ends(&past, 0, 0.01, 50, false, true)
	if own.all != (tally{}) {
		t.Errorf("a clone that has just begun says %v", own.all)
	}
}

// TestPaced compares with all pairs of a time left and a pace.
func TestPaced(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		var left, got timeLeft
		n := 1 + r.IntN(8)
		x := 0.0
		for range n {
			x += r.ExpFloat64()
			left.put(x, 1/float64(n))
		}
		age, young, least := 3*r.Float64(), r.Float64(), float64(r.IntN(2))*r.Float64()
		mean, weight := 0.0, 0.0
		for i, x := range left.x {
			for _, share := range paceAt {
				if clone := max(least, (age+x)*share) - young; clone > 0 {
					mean += left.w[i] * min(x, clone)
					weight += left.w[i]
				}
			}
		}
		if mean /= weight; weight == 0 {
			mean = left.mean()
		}
		got.paced(&left, age, young, least)
		if math.Abs(got.mean()-mean) > 1e-9 {
			t.Fatalf("mean %v, want %v", got.mean(), mean)
		}
		for i := 1; i < len(got.x); i++ {
			if got.x[i] < got.x[i-1] {
				t.Fatalf("not ascending: %v", got.x)
			}
		}
	}
}

// TestAutoNobodyIsSlow: slots are idle and tasks report. Where all take about the same time there is no slow machine from
// which a clone would be saved, so there are no clones; one that takes five times as long has one.
func TestAutoNobodyIsSlow(t *testing.T) {
	const s = sched.Second
	for _, tasks := range []int{2, 5, 10, 30} {
		for _, slow := range []bool{false, true} {
			w := on(t, "auto", sched.DefaultLimits())
			w.Machines(2 * tasks)
			w.Submit(0, policytest.Tasks(tasks))
			r := rand.New(rand.NewPCG(uint64(tasks), 123))
			w.Fate = func(d *sched.Decision) policytest.Fate {
				f := policytest.Fate{Lasts: sched.FromSeconds(10 + 0.1*r.Float64()), Reports: s / 2}
				if slow && d.Task == 1 && d.Number == 0 {
					f.Lasts *= 5
				}
				return f
			}
			w.Run()
			clones, end := len(w.Clones()), w.Core.View().Now()
			if !slow && clones > 0 {
				t.Errorf("%d tasks that take the same time have %d clones", tasks, clones)
			}
			if slow && (clones == 0 || end > 13*s) {
				t.Errorf("%d tasks, one of them slow: %d clones, done after %v", tasks, clones, end)
			}
		}
	}
}
