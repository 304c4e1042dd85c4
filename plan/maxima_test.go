package plan

import (
	"math"
	"math/rand/v2"
	"testing"
)

// maxima against its definition, in bands of every kind.
func TestMaximaAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range [][2]int{{0, 0}, {0, 5}, {1, 40}, {7, 7}, {60, 300}, {79, 200}, {80, 120}, {400, 700}, {500, 501}, {3000, 4100}, {9000, 9999}} {
		lo, hi := c[0], c[1]
		var m maxima
		for round := range 3 {
			m.reset(lo, hi)
			g, S := make([]float64, 400), make([]float64, 400)
			for i := range g {
				g[i], S[i] = rng.Float64(), math.Exp(-14*rng.Float64())
				if round == 1 { // all of a kind, so that nothing hides an error
					S[i] = S[0]
				}
				m.add(g[i], S[i])
			}
			m.add(1, 1)
			m.add(1, 0)
			for s := lo; s <= hi; s++ {
				want := 0.0
				if s > 0 {
					want = 1
				}
				for i := range g {
					want -= g[i] * math.Expm1(float64(s)*math.Log1p(-S[i]))
				}
				if got := m.at(s); math.Abs(got-want) > 3e-13*want {
					t.Fatalf("[%d, %d] round %d: at %d %v, want %v", lo, hi, round, s, got, want)
				}
			}
		}
	}
}

// The binomial band against its definition by logarithms, and its sum.
func TestBinomial(t *testing.T) {
	for _, n := range []int{0, 1, 2, 10, 1000, 100000} {
		for _, p := range []float64{0, 1e-12, 0.001, 0.3, 0.5, 0.999, 1} {
			b := binomial(n, p, 1-p, negligible, nil)
			var sum float64
			for i, x := range b.pmf {
				k := float64(b.lo + i)
				sum += x
				if p == 0 || p == 1 {
					continue
				}
				lg := func(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }
				want := math.Exp(lg(float64(n)) - lg(k) - lg(float64(n)-k) + k*math.Log(p) + (float64(n)-k)*math.Log1p(-p))
				if math.Abs(x-want) > 1e-9*want && x > 1e-17 {
					t.Fatalf("n=%d p=%v: P(%v) = %v, want %v", n, p, k, x, want)
				}
			}
			if math.Abs(sum-1) > 1e-12 || b.hi() > n {
				t.Fatalf("n=%d p=%v: sum %v, up to %d", n, p, sum, b.hi())
			}
		}
	}
}
