package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan/rule"
)

// The bounds hold the figures of the sample itself, of every policy, and the cells are as small as they are said to be.
func TestBracketHoldsTheSample(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]func(rng *rand.Rand) float64{
		"lognormal":   func(rng *rand.Rand) float64 { return math.Exp(rng.NormFloat64()) },
		"pareto":      func(rng *rand.Rand) float64 { return math.Pow(rng.Float64(), -1/1.1) },
		"uniform":     func(rng *rand.Rand) float64 { return rng.Float64() },
		"with zeros":  func(rng *rand.Rand) float64 { return max(0, rng.NormFloat64()) },
		"ties":        func(rng *rand.Rand) float64 { return math.Round(30*rng.ExpFloat64()) + 1 },
		"two heights": func(rng *rand.Rand) float64 { return 1 + 1e6*float64(rng.IntN(2)) + rng.Float64() },
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, size := range []int{30, 100} {
			values := make([]float64, size)
			for i := range values {
				values[i] = draw(rng)
			}
			l, err := laws.NewEmpirical(values)
			if err != nil {
				t.Fatal(err)
			}
			for _, tasks := range []int{1, 2, 7, 20} {
				b, err := NewBracket(l, tasks, 16)
				if err != nil {
					t.Fatal(err)
				}
				if d := b.high.law.(*laws.Empirical).Distinct(); d > 16 {
					t.Errorf("%s: %d values", name, d)
				}
				grid := exact(t, l, tasks).Grid(3)
				for p := range Policies(tasks, 3) {
					want := evaluate(t, grid, p)
					low, high, err := b.Bounds(p)
					slack := 1e-9 * (want.Latency + want.Cost)
					if err != nil || want.Latency < low.Latency-slack || want.Latency > high.Latency+slack || want.Cost < low.Cost-slack || want.Cost > high.Cost+slack {
						t.Fatalf("%s, %d values, %d tasks, %+v: %+v is not from %+v to %+v, %v", name, size, tasks, p, want, low, high, err)
					}
					if got := evaluate(t, b, p); got.Latency < low.Latency || got.Latency > high.Latency || got.Cost < low.Cost || got.Cost > high.Cost {
						t.Fatalf("%s: %+v is not from %+v to %+v", name, got, low, high)
					}
				}
				holdsRules(t, name, exact(t, l, tasks), b)
			}
		}
	}
}

// Of many durations the bounds are near: this is how near the manual says.
func TestBracketIsNear(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, 100_000)
	for i := range values {
		values[i] = math.Exp(rng.NormFloat64())
	}
	l, err := laws.NewEmpirical(values)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBracket(l, 1000, 2000)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Policy{{50, 1, Keep}, {500, 4, Keep}, {50, 2, Kill}, {1000, 1, Keep}} {
		low, high, err := b.Bounds(p)
		if err != nil || high.Latency > 1.01*low.Latency || high.Cost > 1.01*low.Cost {
			t.Errorf("%+v: from %+v to %+v, %v", p, low, high, err)
		}
	}
	if s := b.Step(); s > 0.005 {
		t.Errorf("durations are rounded by %g", s)
	}
}

// holdsRules checks the bounds of quantiles, and of time-outs.
func holdsRules(t *testing.T, name string, e *Exact, b *Bracket) {
	t.Helper()
	typical := e.law.Quantile(0.7)
	rules := []Rule{Policy{}, SingleFork(rule.Fork{P: 0.3, R: 1}, e.tasks)}
	for s := 1; s <= e.tasks; s += 1 + e.tasks/5 {
		rules = append(rules, Policy{s, 1, Keep}, Policy{s, 2, Kill}, Policy{s, 0, Kill})
	}
	if typical > 0 {
		rules = append(rules, Timeout{typical, 1, Keep, 1}, Timeout{typical, 0, Kill, 3}, Timeout{2 * typical, 2, Kill, 1})
	}
	for _, r := range rules {
		// no probability of a few draws from 30 or 200: at one, rounding decides which value is the quantile
		for _, u := range []float64{0.0513, 0.4871, 0.9893} {
			want, err := e.Assess(r, u)
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.Assess(r, u)
			slack := 1e-9 * (want.Latency + want.Cost + want.Quantile)
			low, high, errBounds := b.Bounds(r)
			if err != nil || errBounds != nil || want.Latency < low.Latency-slack || want.Latency > high.Latency+slack ||
				want.Cost < low.Cost-slack || want.Cost > high.Cost+slack {
				t.Fatalf("%s, %d tasks, %+v: %+v is not from %+v to %+v, %v, %v", name, e.tasks, r, want.Outcome, low, high, err, errBounds)
			}
			if want.Quantile < got.QuantileLow-slack || want.Quantile > got.QuantileHigh+slack || got.Quantile < got.QuantileLow || got.Quantile > got.QuantileHigh {
				t.Fatalf("%s, %d tasks, %+v: the %g quantile %v, said to be %v, is not from %v to %v", name, e.tasks, r, u,
					want.Quantile, got.Quantile, got.QuantileLow, got.QuantileHigh)
			}
		}
	}
	if _, err := b.Assess(Forks{{2, 1, Keep}}, 0); e.tasks > 1 && err == nil {
		t.Errorf("%s: several forks have bounds", name)
	}
}
