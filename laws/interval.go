package laws

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// MeanInterval returns the mean of independent measurements and half the width of its interval at a level of
// confidence in (0, 1), such as 0.95: Student's, exact if the measurements are normal. half is NaN if there are fewer
// than two of them, mean if there is none.
func MeanInterval(x []float64, confidence float64) (mean, half float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v
	}
	mean /= n
	squares := 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return mean, studentQuantile(n-1, (1-confidence)/2) * math.Sqrt(squares/(n-1)/n)
}

// DifferenceInterval returns by how much the mean of y is above that of x, of independent measurements that vary alike,
// and half the width of its interval, Student's. half is NaN if there are fewer than three of them, or none on a side.
func DifferenceInterval(x, y []float64, confidence float64) (difference, half float64) {
	squares := 0.0
	mean := func(all []float64) (mean float64) {
		for _, v := range all {
			mean += v / float64(len(all))
		}
		for _, v := range all {
			squares += (v - mean) * (v - mean)
		}
		return mean
	}
	if len(x) == 0 || len(y) == 0 {
		return math.NaN(), math.NaN()
	}
	n, m := float64(len(x)), float64(len(y))
	difference = mean(y) - mean(x)
	return difference, studentQuantile(n+m-2, (1-confidence)/2) * math.Sqrt(squares/(n+m-2)*(1/n+1/m))
}

// ShareInterval is the interval of a share of which k of n were seen, with a confidence of 95 % (Wilson 1927). It wants
// n > 0.
func ShareInterval(k, n int) (low, high float64) {
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	low, high = max(0, middle-half), min(1, middle+half)
	if k == 0 {
		low = 0 // and not what rounding leaves
	}
	if k == n {
		high = 1
	}
	return low, high
}

// studentQuantile returns the t that Student's law with nu degrees of freedom exceeds with probability q in (0, 0.5),
// from P(|T| > t) = I(nu/(nu+t²); nu/2, 1/2). Its relative error is below 1e-9; it is NaN unless nu is positive.
func studentQuantile(nu, q float64) float64 {
	if !(nu > 0) {
		return math.NaN()
	}
	x := mathext.InvRegIncBeta(nu/2, 0.5, 2*q)
	return math.Sqrt(nu * (1 - x) / x)
}
