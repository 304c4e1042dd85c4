package laws

import (
	"math"
	"slices"
)

// SkewInterval returns the mean of independent measurements and its interval at a level of confidence such as 0.95,
// for measurements that may be skewed. It is the union of two: Student's, and the one that Hall's transformation
// corrects for skewness ("On the removal of skewness by transformation", JRSS B 54, 1992), in the form of Willink ("A
// confidence interval and test for the mean of an asymmetric distribution", Communications in Statistics 34, 2005):
//
//	a = μ₃/(6 √n s³)    G(r) = (∛(1+6a(r-a)) - 1)/(2a)    from mean - G(t) s/√n to mean - G(-t) s/√n
//
// Each of them alone covers too seldom where the other is wide; docs/explain/coverage.md has what both cover. The
// bounds are NaN if there are fewer than two measurements. With two there is no skewness, and Student's is returned.
func SkewInterval(x []float64, confidence float64) (mean, low, high float64) {
	mean, half := MeanInterval(x, confidence)
	n := float64(len(x))
	if half < 1e-12*math.Abs(mean) {
		half = 0 // and not what rounding leaves of equal measurements
	}
	low, high = mean-half, mean+half
	a := Skewness(x) * math.Sqrt(n-1) / (n - 2) / 6 // μ₃ and s without bias
	if n < 3 || !(math.Abs(a) > 1e-8) || half == 0 {
		return mean, low, high
	}
	t := studentQuantile(n-1, (1-confidence)/2)
	unit := half / t // s/√n
	g := func(r float64) float64 { return (math.Cbrt(1+6*a*(r-a)) - 1) / (2 * a) }
	return mean, min(low, mean-unit*g(t)), max(high, mean-unit*g(-t))
}

// Skewness returns the third moment about the mean of measurements over the cube of their deviation, both of the
// sample: 0 where they are all equal. With n of them it is at most (n-2)/√(n-1).
func Skewness(x []float64) float64 {
	mean, squares, cubes := 0.0, 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		d := v - mean
		squares += d * d / float64(len(x))
		cubes += d * d * d / float64(len(x))
	}
	if !(squares > 1e-24*mean*mean) {
		return 0
	}
	return cubes / math.Pow(squares, 1.5)
}

// MedianInterval returns the median of independent measurements and the interval of the median of their law, between
// two of the measurements. It holds with at least that confidence whatever the law is: fewer than k of n measurements
// are below the median with the probability that a fair coin shows fewer than k heads in n throws. The bounds are NaN
// if there are too few measurements: fewer than 6 with a confidence of 0.95.
func MedianInterval(x []float64, confidence float64) (median, low, high float64) {
	n := len(x)
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	k, below := 0, 0.0 // below is the probability of at most k-1 heads
	for {
		ways, _ := math.Lgamma(float64(n) + 1)
		with, _ := math.Lgamma(float64(k) + 1)
		without, _ := math.Lgamma(float64(n-k) + 1)
		p := math.Exp(ways - with - without - float64(n)*math.Ln2)
		if 2*(below+p) > 1-confidence {
			break
		}
		below += p
		k++
	}
	if k == 0 {
		return median, math.NaN(), math.NaN()
	}
	return median, sorted[k-1], sorted[n-k]
}

// TailExponent returns how steeply the survival of a law falls where one value in 10^6 to 10^9 is: the α of
// P(X > x) ~ x^-α for laws of that kind, more than 5 for exponential and most lognormal ones, +Inf for bounded laws.
// Means of values that have an α of 2 or less have no interval.
func TailExponent(l Law) float64 {
	near, far := l.InvSurvival(1e-6), l.InvSurvival(1e-9)
	if !(near > 0) || !(far > near) {
		return math.Inf(1)
	}
	return math.Log(1e3) / math.Log(far/near)
}
