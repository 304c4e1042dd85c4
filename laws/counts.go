package laws

import "math"

// AtLeast is how likely at least k of n throws succeed, each with probability p: the tail of the binomial law.
func AtLeast(k, n int, p float64) (sum float64) {
	for i := k; i <= n; i++ {
		sum += math.Exp(logChoose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-min(p, 1-1e-12)))
	}
	return sum
}

// DrawnAtLeast is how likely at least k of n things drawn without replacement are among own of all: the tail of the
// hypergeometric law. k is 0 or more, n and own are 0 to all. Its relative error is about 1e-15 times ln(all!).
func DrawnAtLeast(k, n, own, all int) (sum float64) {
	for i := max(k, n-(all-own)); i <= min(n, own); i++ { // no more than there are can be drawn from the others
		sum += math.Exp(logChoose(own, i) + logChoose(all-own, n-i) - logChoose(all, n))
	}
	return min(1, sum)
}

// logChoose is the logarithm of the number of ways to choose k of n, 0 <= k <= n.
func logChoose(n, k int) float64 {
	log := func(x int) float64 { l, _ := math.Lgamma(float64(x) + 1); return l }
	return log(n) - log(k) - log(n-k)
}
