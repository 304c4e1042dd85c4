package laws

import (
	"math"
	"math/big"
	"testing"
)

// TestCountTails compares with sums of exact rationals, far tails included.
func TestCountTails(t *testing.T) {
	choose := func(n, k int) *big.Int {
		if k < 0 || k > n {
			return new(big.Int)
		}
		return new(big.Int).Binomial(int64(n), int64(k))
	}
	float := func(num, den *big.Int) float64 {
		x, _ := new(big.Rat).SetFrac(num, den).Float64()
		return x
	}
	near := func(name string, got, want float64, all int) {
		t.Helper()
		lg, _ := math.Lgamma(float64(all) + 1)
		if math.Abs(got-want) > 4e-15*max(1, lg)*want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, c := range [][4]int{ // k, n, own, all
		{3, 3, 3, 12}, {3, 3, 8, 24}, {1, 2, 2, 4}, {0, 2, 2, 4}, {2, 2, 1, 4}, {0, 0, 0, 0}, {0, 0, 3, 5}, {5, 5, 5, 5},
		{0, 10, 50, 60}, {7, 40, 100, 1000}, {30, 40, 100, 1000}, {100, 100, 300, 3000}, {60, 100, 2000, 3000}, {4, 4, 1, 1000},
	} {
		k, n, own, all := c[0], c[1], c[2], c[3]
		sum := new(big.Int)
		for i := k; i <= n; i++ {
			sum.Add(sum, new(big.Int).Mul(choose(own, i), choose(all-own, n-i)))
		}
		near("drawn", DrawnAtLeast(k, n, own, all), float(sum, choose(all, n)), all)
	}
	for _, c := range []struct {
		k, n     int
		num, den int64
	}{{0, 1, 1, 2}, {1, 1, 1, 3}, {2, 3, 1, 4}, {7, 20, 3, 10}, {20, 20, 1, 10}, {300, 1000, 1, 10}} {
		sum, den := new(big.Int), new(big.Int).Exp(big.NewInt(c.den), big.NewInt(int64(c.n)), nil)
		for i := c.k; i <= c.n; i++ {
			term := new(big.Int).Exp(big.NewInt(c.num), big.NewInt(int64(i)), nil)
			term.Mul(term, new(big.Int).Exp(big.NewInt(c.den-c.num), big.NewInt(int64(c.n-i)), nil))
			sum.Add(sum, term.Mul(term, choose(c.n, i)))
		}
		near("at least", AtLeast(c.k, c.n, float64(c.num)/float64(c.den)), float(sum, den), c.n)
	}
}
