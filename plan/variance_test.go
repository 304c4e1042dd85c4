package plan

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

func TestVarianceAgainstEnumeration(t *testing.T) {
	samples := []float64{1, 2.5, 2.5, 7}
	e := exact(t, sample(t, samples...), 3)
	for p := range allPolicies(3, 1) {
		latencies, costs := outcomes(samples, 3, p)
		if got, err := e.LatencyVariance(p); err != nil || !near(got, variance(latencies), 1e-9) {
			t.Errorf("%+v: latency %v, want %v (%v)", p, got, variance(latencies), err)
		}
		if got, err := e.CostVariance(p); err != nil || !near(got, variance(costs), 1e-9) {
			t.Errorf("%+v: cost %v, want %v (%v)", p, got, variance(costs), err)
		}
	}
}

// Far out in a power tail, where a moment's integrand is the product of what overflows and what underflows.
func TestCostVarianceOfPareto(t *testing.T) {
	for _, r := range []Rule{Policy{50, 1, Keep}, Policy{50, 1, Kill}, Policy{3, 2, Keep}, Timeout{After: 5, Clones: 1, Times: 1}} {
		a, err := exact(t, laws.Pareto{Alpha: 2, Xm: 2}, 100).Assess(r, 0)
		if err != nil || !(a.CostDeviation > 0.05 && a.CostDeviation < 0.5) {
			t.Errorf("%+v: %+v (%v)", r, a, err)
		}
	}
}

func variance(values []float64) float64 {
	var mean, squares float64
	for _, x := range values {
		mean += x / float64(len(values))
	}
	for _, x := range values {
		squares += (x - mean) * (x - mean) / float64(len(values))
	}
	return squares
}

// Of an exponential law min(X, t) and what follows make n C a sum of s+… independent gaps again: with all attempts exponential the machine
// time of a kept or killed job is that of n attempts in sequence, whatever the fork, so that Var C = 1/(n μ²).
func TestCostVarianceOfExponentials(t *testing.T) {
	const n = 40
	e := exact(t, laws.Exponential{Mu: 2}, n)
	for _, p := range []Policy{{1, 1, Keep}, {7, 3, Keep}, {20, 2, Kill}, {39, 1, Keep}, {40, 2, Keep}, {}} {
		if got, err := e.CostVariance(p); err != nil || !near(got, 1/(4.0*n), 1e-7) {
			t.Errorf("%+v: %v, want %v (%v)", p, got, 1/(4.0*n), err)
		}
	}
}

// Of an exponential law, and of a killed shifted one, fork and maximum are sums of independent gaps:
// Var T = Σ_{s<i<=n} 1/(iμ)² + Σ_{i<=s} 1/(i(r+1)μ)².
func TestVarianceOfExponentials(t *testing.T) {
	const n = 50
	for _, c := range []struct {
		l    laws.Law
		mode Original
	}{{laws.Exponential{Mu: 2}, Keep}, {laws.Exponential{Mu: 2}, Kill}, {laws.ShiftedExp{Delta: 3, Mu: 2}, Kill}} {
		e := exact(t, c.l, n)
		for _, s := range []int{1, 5, 20, 49, 50} {
			for r := 1; r <= 3; r++ {
				var want float64
				for i := 1; i <= n; i++ {
					rate := 2 * float64(i)
					if i <= s {
						rate *= float64(r + 1)
					}
					want += 1 / (rate * rate)
				}
				if got, err := e.LatencyVariance(Policy{s, r, c.mode}); err != nil || !near(got, want, 1e-8) {
					t.Errorf("%s s=%d r=%d %v: %v, want %v (%v)", c.l, s, r, c.mode, got, want, err)
				}
			}
		}
	}
	heavy := exact(t, laws.Pareto{Alpha: 0.8, Xm: 1}, n)
	for _, p := range []Policy{{}, {5, 1, Keep}, {1, 2, Kill}} {
		if got, err := heavy.LatencyVariance(p); err != nil || !math.IsInf(got, 1) {
			t.Errorf("%+v of a tail without variance: %v, %v", p, got, err)
		}
	}
}
