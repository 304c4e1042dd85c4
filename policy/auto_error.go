package policy

import "math"

// errorLaw is the law of e, the logarithm of promised by real time left. Reports that promise too little are often much
// further off than those that promise too much: what is normal beside the time left has a long tail below 0 in its
// logarithm. So e has a deviation to either side of its mode m, as two halves of normal laws have that meet there:
//
//	density ~ exp(-(e-m)^2 / 2 low^2) below m, exp(-(e-m)^2 / 2 high^2) above
//
// With the sums of squares S below m and T above it, of n errors, m is where S^(1/3) + T^(1/3) is least, and
//
//	low^2 = S^(2/3) (S^(1/3) + T^(1/3)) / n    high^2 = T^(2/3) (S^(1/3) + T^(1/3)) / n
//
// Source: S. John, The three-parameter two-piece normal family of distributions and its fitting, Communications in
// Statistics 11 (1982), Section 4.
type errorLaw struct {
	n               [errorBins]float64 // how often e was in each bin, by what one more counts
	one             float64            // what one more counts: as much more than the one before as those before fade
	seen            int
	mode, low, high float64
}

const (
	mostError = 5.0
	errorBins = 101 // so that one is about 0
	errorStep = 2 * mostError / errorBins
	mostOne   = 1e9
	errorFits = 16 // errors between two fits, once there are as many
)

// errorAt is the error that a bin stands for.
func errorAt(bin int) float64 { return (float64(bin)+0.5)*errorStep - mostError }

// add takes in an error, of at most mostError. fade is what all that were known lose.
func (l *errorLaw) add(e, fade float64) {
	l.one = max(1, l.one) / fade
	if l.one > mostOne {
		for i := range l.n {
			l.n[i] /= l.one
		}
		l.one = 1
	}
	l.n[min(errorBins-1, int((e+mostError)/errorStep))] += l.one
	if l.seen++; l.seen <= errorFits || l.seen%errorFits == 0 {
		l.fit()
	}
}

// errorSums are the number of errors, their sum, and the sum of their squares.
type errorSums [3]float64

func (m *errorSums) add(n, e float64) {
	m[0] += n
	m[1] += n * e
	m[2] += n * e * e
}

// about is the sum of squares about an error.
func (m *errorSums) about(e float64) float64 { return max(0, m[2]-2*e*m[1]+e*e*m[0]) }

// halfNormal is the mean of half of a normal law, in its deviations.
const halfNormal = 0.798

// fit finds the law of what is known, and of trustPrior errors more: the halves of a normal law about 0.
func (l *errorLaw) fit() {
	const n, mean = trustPrior / 2., halfNormal * trustError
	below := errorSums{n, -n * mean, n * trustError * trustError}
	above := errorSums{n, n * mean, n * trustError * trustError}
	all := float64(trustPrior)
	one := max(1, l.one)
	for i, n := range l.n {
		above.add(n/one, errorAt(i))
		all += n / one
	}
	least := math.Inf(1)
	for i, n := range l.n {
		e := errorAt(i)
		s, t := math.Cbrt(below.about(e)), math.Cbrt(above.about(e))
		if s+t < least {
			least = s + t
			l.mode, l.low, l.high = e, s*math.Sqrt((s+t)/all), t*math.Sqrt((s+t)/all)
		}
		below.add(n/one, e)
		above.add(-n/one, e)
	}
}

// law returns the mode, and the deviations of errors below and above it, of a report whose variance is more than the
// usual one, the square of sd, by so much.
func (l *errorLaw) law(more, sd float64) (mode, low, high float64) {
	if l.high == 0 { // nothing has been fitted
		l.fit()
	}
	share := 1.0
	if sd > 0 {
		share = math.Sqrt(max(0, 1+more/(sd*sd)))
	}
	return l.mode, share * l.low, share * l.high
}
