package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// A sample without ties, rounded to 200 values, is searched as it is itself.
func TestNearIsNear(t *testing.T) {
	t.Parallel()
	const tasks = 60
	rng := rand.New(rand.NewPCG(5, 6))
	values := make([]float64, 3000)
	for i := range values {
		values[i] = math.Exp(rng.NormFloat64())
	}
	l, err := laws.NewEmpirical(values)
	if err != nil {
		t.Fatal(err)
	}
	truth := exact(t, l, tasks)
	near, err := NewNear(Rounded(l, 200), tasks)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Policy{{1, 1, Keep}, {5, 2, Kill}, {20, 1, Keep}, {30, 0, Kill}, {50, 3, Keep}, {59, 2, Kill}} {
		want, got := evaluate(t, truth, p), evaluate(t, near, p)
		if math.Abs(got.Latency/want.Latency-1) > 2e-3 || math.Abs(got.Cost/want.Cost-1) > 2e-3 {
			t.Errorf("%+v: %+v, want %+v", p, got, want)
		}
		q, err := truth.LatencyQuantile(p, 0.9)
		n, errNear := near.LatencyQuantile(p, 0.9)
		if err != nil || errNear != nil || math.Abs(n/q-1) > 2e-2 {
			t.Errorf("%+v: quantile %v, want %v; %v %v", p, n, q, err, errNear)
		}
	}
	if _, err := NewNear(laws.Exponential{Mu: 1}, tasks); err == nil {
		t.Error("a law with a density was taken for a sample")
	}
}
