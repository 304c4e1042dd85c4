package plan

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// longTails returns durations of which a few are long.
func longTails(rng *rand.Rand, n int) *laws.Empirical {
	values := make([]float64, n)
	for i := range values {
		values[i] = 1 + rng.Float64()
		if rng.Float64() < 0.15 {
			values[i] *= 1 + 20*rng.Float64()
		}
	}
	l, err := laws.NewEmpirical(values)
	if err != nil {
		panic(err)
	}
	return l
}

func goOn() error { return nil }

// On small jobs the search finds what trying all pairs finds, or what is nearly as soon.
func TestTwoForksAgainstAllPairs(t *testing.T) {
	const tasks, most = 24, 2
	same, found, worst := 0, 0, 1.0
	const instances = 20
	for seed := range uint64(instances) {
		l := longTails(rand.New(rand.NewPCG(seed, 1)), 12)
		e, err := NewExact(l, tasks)
		if err != nil {
			t.Fatal(err)
		}
		s, budget := newForkSearch(goOn, e, most), e.baseline().Cost
		best := math.Inf(1)
		for a := range Policies(tasks, most) {
			for b := range Policies(tasks, most) {
				if x := (twoForks{a, b}); !a.Baseline() && !b.Baseline() && s.allowed(x) {
					if o := s.of(x); o.Cost <= budget {
						best = min(best, o.Latency)
					}
				}
			}
		}
		x, ok := s.best(budget)
		if !ok {
			if !math.IsInf(best, 1) {
				t.Errorf("seed %d: two forks take %.3f, and none were found", seed, best)
			}
			continue
		}
		found++
		ratio := s.of(x).Latency / best
		if worst = max(worst, ratio); ratio < 1+1e-9 {
			same++
		}
	}
	t.Logf("the optimum in %d of %d, at worst %.2f %% more", same, found, 100*(worst-1))
	if found < instances/2 || same < found*3/4 || worst > 1.05 {
		t.Errorf("the optimum in %d of %d, at worst %.2f %% more", same, found, 100*(worst-1))
	}
}

// What is returned is valid, within the limits on clones, and found by the simulation to cost what the limit says.
func TestTwoForks(t *testing.T) {
	l := longTails(rand.New(rand.NewPCG(5, 1)), 1000)
	e, err := NewExact(l, 1000)
	if err != nil {
		t.Fatal(err)
	}
	base := e.baseline()
	found, err := TwoForks(goOn, l, 1000, 3, base.Cost)
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	m, err := NewSimulate(l, 1000, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if err := f.Validate(1000); err != nil {
			t.Error(err)
		}
		played, err := m.Evaluate(f)
		if err != nil {
			t.Fatal(err)
		}
		limit := f.limit(e)
		t.Logf("%+v: limit %.3f at %.4f, played %.3f ± %.3f at %.4f ± %.4f; no clones %.3f at %.4f",
			f, limit.Latency, limit.Cost, played.Latency, played.LatencyError, played.Cost, played.CostError, base.Latency, base.Cost)
		if math.Abs(played.Cost-limit.Cost) > 5*played.CostError+0.01*limit.Cost || math.Abs(played.Latency-limit.Latency) > 5*played.LatencyError+0.02*limit.Latency {
			t.Errorf("%+v: limit %+v, played %+v", f, limit, played)
		}
	}
	enough := errors.New("enough")
	if _, err := TwoForks(func() error { return enough }, l, 1000, 3, base.Cost); err != enough {
		t.Error(err, "it goes on when it is told to stop")
	}
}

// The difference of two rules on the same jobs is that of their means, with an error of its own.
func TestVersus(t *testing.T) {
	l := longTails(rand.New(rand.NewPCG(7, 1)), 200)
	m, err := NewSimulate(l, 100, 200, 3)
	if err != nil {
		t.Fatal(err)
	}
	a, b := Forks{{Stragglers: 30, Clones: 1}, {Stragglers: 5, Clones: 2}}, Policy{Stragglers: 30, Clones: 1}
	both, err := m.AssessAll([]Rule{a, b}, 0)
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Versus(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(d.Latency-(both[0].Latency-both[1].Latency)) > 1e-9 || math.Abs(d.Cost-(both[0].Cost-both[1].Cost)) > 1e-9 {
		t.Errorf("%+v of %+v and %+v", d, both[0].Outcome, both[1].Outcome)
	}
	if apart := math.Hypot(both[0].LatencyError, both[1].LatencyError); !(d.LatencyError > 0 && d.LatencyError < apart) {
		t.Errorf("the error of the difference is %.3f, of two means that have nothing to do with each other %.3f", d.LatencyError, apart)
	}
	if _, err := m.Versus(a, slices.Clone(Forks{})); err == nil {
		t.Error("no forks are taken")
	}
}
