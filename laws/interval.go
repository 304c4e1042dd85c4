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

// studentQuantile returns the t that Student's law with nu degrees of freedom exceeds with probability q in (0, 0.5),
// from P(|T| > t) = I(nu/(nu+t²); nu/2, 1/2). Its relative error is below 1e-9; it is NaN unless nu is positive.
func studentQuantile(nu, q float64) float64 {
	if !(nu > 0) {
		return math.NaN()
	}
	x := mathext.InvRegIncBeta(nu/2, 0.5, 2*q)
	return math.Sqrt(nu * (1 - x) / x)
}
