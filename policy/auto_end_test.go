package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// latest returns the mean of the latest of times that do not depend on each other, the slow and exact way.
func latest(all []timeLeft) (mean float64) {
	var at []float64
	for _, t := range all {
		at = append(at, t.x...)
	}
	slices.Sort(at)
	from := 0.0
	for _, x := range at {
		done := 1.0 // before x
		for _, t := range all {
			sum := 0.0
			for i, y := range t.x {
				if y < x {
					sum += t.w[i]
				}
			}
			done *= sum
		}
		mean += (x - from) * (1 - done)
		from = x
	}
	return mean
}

// someLaw is of a time around some mean.
func someLaw(r *rand.Rand, mean float64) (l timeLeft) {
	for range 1 + r.IntN(6) {
		l.insert(mean*math.Exp(r.NormFloat64()), 1)
	}
	for i := range l.w {
		l.w[i] = 1 / float64(len(l.w))
	}
	return l
}

// TestStageEnd compares what clones save on the grid with exact laws: each mean is off by less than the grid is wide.
func TestStageEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(105, 1))
	law := func(mean float64) timeLeft { return someLaw(r, mean) }
	for range 500 {
		e := &autoEye{renewal: law(1), remains: make([]remains, 16)}
		e.usual = e.renewal.mean()
		n, unseen := 1+r.IntN(8), r.IntN(3)
		var exact []timeLeft
		for k := range n {
			x := &e.remains[k]
			x.timeLeft = law(0.5)
			e.seen = append(e.seen, runner{left: x})
			exact = append(exact, x.timeLeft)
		}
		for range unseen {
			exact = append(exact, e.renewal)
		}
		e.end.frame(e.usual)
		e.end.find(e, &sched.Stage{Running: uint32(n + unseen)})
		was := latest(exact)
		best := 0.0
		for k := range n {
			var both timeLeft
			both.first(&exact[k], &e.renewal)
			exact[k] = both
			best = max(best, (was-latest(exact))/float64(k+1))
		}
		got, many := e.end.sooner(n)
		if off := gridStep - 1; math.Abs(got-best) > off*was {
			t.Errorf("%d tasks: a clone saves %v s, want %v of %v", n, got, best, was)
		}
		if got > 0 && (many < 1 || many > n) {
			t.Errorf("%d of %d tasks are to be cloned", many, n)
		}
	}
}

// TestStageEndLater does the same for what the end of a clone costs.
func TestStageEndLater(t *testing.T) {
	r := rand.New(rand.NewPCG(114, 1))
	for range 500 {
		e := &autoEye{renewal: someLaw(r, 1), remains: make([]remains, 16)}
		e.usual = e.renewal.mean()
		n := 1 + r.IntN(8)
		exact := make([]timeLeft, n)
		alone := make([]timeLeft, n) // without the clone
		for k := range n {
			clone := someLaw(r, 1)
			alone[k] = someLaw(r, 0.5)
			exact[k].first(&alone[k], &clone)
			e.remains[k].timeLeft = exact[k]
			e.seen = append(e.seen, runner{left: &e.remains[k]})
		}
		e.end.frame(e.usual)
		e.end.find(e, &sched.Stage{Running: uint32(n)})
		was := latest(exact)
		var before, without onGrid
		before.fill(1)
		for k := range n {
			with := exact[k]
			exact[k] = alone[k]
			late := latest(exact) - was
			exact[k] = with
			e.end.over(&alone[k], &without)
			if got := e.end.later(k, &before, &without); math.Abs(got-late) > (gridStep-1)*(was+late) {
				t.Errorf("task %d of %d: the end of a clone costs %v s, want %v of %v", k, n, got, late, was)
			}
			before.times(&e.end.seen[k])
		}
	}
}

// TestAutoRareStragglers: where slots are idle and some tasks were slow, those whose first clone may be slow, too, have
// another one in time, and those that have just begun have one.
func TestAutoRareStragglers(t *testing.T) {
	run := func(slow float64, seed uint64) (clones int, end float64) {
		w := on(t, "auto", sched.DefaultLimits())
		w.Machines(20)
		w.Submit(0, policytest.Tasks(40))
		w.Fate = func(d *sched.Decision) policytest.Fate {
			r := rand.New(rand.NewPCG(seed, uint64(d.Task)<<8+uint64(d.Number)))
			f := policytest.Fate{Lasts: sched.FromSeconds(1 + 0.01*r.Float64()), Starts: sched.FromSeconds(0.01 * r.ExpFloat64())}
			if r.Float64() < slow {
				f.Lasts *= 8
			}
			f.Lasts += f.Starts
			return f
		}
		w.Run()
		return len(w.Clones()), w.Core.View().Now().Seconds()
	}
	if n, _ := run(0, 1); n > 2 {
		t.Errorf("%d clones where no task is slow", n)
	}
	ends := make([]float64, 101)
	for seed := range ends {
		_, ends[seed] = run(0.1, uint64(seed))
	}
	slices.Sort(ends)
	if median := ends[len(ends)/2]; median > 3.3 {
		t.Errorf("the median job ends after %v s, want hardly more than three tasks one after the other", median)
	}
}

// TestOutlive: an original that has outlived all winners still counts once it has a clone, unless its stage reports.
func TestOutlive(t *testing.T) {
	w := on(t, "auto", sched.DefaultLimits())
	w.Machines(4)
	w.Submit(0, policytest.Tasks(4))
	w.Fate = func(d *sched.Decision) policytest.Fate {
		f := policytest.Fate{Lasts: sched.Second}
		if d.Task == 3 {
			f.Lasts = 20 * sched.Second
		}
		return f
	}
	for w.Core.View().Now() < 5*sched.Second && w.Step() {
	}
	if len(w.Clones()) == 0 {
		t.Fatal("the slow task has no clone")
	}
	if got := outlive(w.Core.View(), 0, 1, false, leastSeen); got < math.Log(4.9) {
		t.Errorf("the logarithms of ages by longest winner sum to %v, want that of the original at least", got)
	}
	if got := outlive(w.Core.View(), 0, 1, true, leastSeen); got > math.Log(4.5) {
		t.Errorf("the logarithms of ages by longest winner sum to %v in a stage that reports, want that of the clone alone", got)
	}
}

// TestAbove: while more tasks run longer than any winner did than have won, they count in the law of another attempt.
func TestAbove(t *testing.T) {
	for _, c := range []struct {
		quick int
		want  float64
	}{{3, 17}, {9, 11}, {10, 0}, {19, 0}} {
		w := on(t, "auto", sched.Limits{Attempts: 4}) // without clones
		w.Machines(20)
		w.Submit(0, policytest.Tasks(20))
		w.Submit(3*sched.Second, policytest.Tasks(1)) // for the clock to stop there
		w.Fate = func(d *sched.Decision) policytest.Fate {
			if int(d.Task) < c.quick {
				return policytest.Fate{Lasts: sched.Second}
			}
			return policytest.Fate{Lasts: 100 * sched.Second}
		}
		for w.Core.View().Now() < 3*sched.Second && w.Step() {
		}
		if got, _ := above(w.Core.View(), 0, 1, c.quick); got != c.want {
			t.Errorf("%d of 20 tasks have won: %v run longer, want %v", c.quick, got, c.want)
		}
	}
}
