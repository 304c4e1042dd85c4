package laws

import "math"

// Uniform is the law with constant density between Lo and Hi (seconds),
// Lo < Hi. Valid range is [Lo, Hi].
type Uniform struct{ Lo, Hi float64 }

// Validate returns an error unless Lo < Hi, both finite.
func (l Uniform) Validate() error {
	return check("uniform", finite("lo", l.Lo), finite("hi", l.Hi),
		domain{"hi", l.Hi, l.Hi > l.Lo && !math.IsInf(l.Hi-l.Lo, 1), "greater than lo=" + number(l.Lo)})
}

// CDF returns (x-lo)/(hi-lo), clamped to [0, 1].
func (l Uniform) CDF(x float64) float64 {
	return max(0, min(1, (x-l.Lo)/(l.Hi-l.Lo)))
}

// Survival returns (hi-x)/(hi-lo), clamped to [0, 1].
func (l Uniform) Survival(x float64) float64 {
	return max(0, min(1, (l.Hi-x)/(l.Hi-l.Lo)))
}

// Quantile returns lo + u(hi-lo).
func (l Uniform) Quantile(u float64) float64 {
	if improper(u) {
		return math.NaN()
	}
	return min(l.Hi, l.Lo+u*(l.Hi-l.Lo))
}

// InvSurvival returns hi - q(hi-lo).
func (l Uniform) InvSurvival(q float64) float64 {
	if improper(q) {
		return math.NaN()
	}
	return max(l.Lo, l.Hi-q*(l.Hi-l.Lo))
}

// LogPDF returns -log(hi-lo) within [lo, hi], -Inf outside.
func (l Uniform) LogPDF(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x < l.Lo || x > l.Hi:
		return math.Inf(-1)
	}
	return -math.Log(l.Hi - l.Lo)
}

// Mean returns (lo+hi)/2.
func (l Uniform) Mean() float64 { return l.Lo + (l.Hi-l.Lo)/2 }

// Variance returns (hi-lo)²/12.
func (l Uniform) Variance() float64 { return (l.Hi - l.Lo) * (l.Hi - l.Lo) / 12 }

// String returns the spec uniform:lo=…,hi=….
func (l Uniform) String() string { return spec("uniform", "lo", l.Lo, "hi", l.Hi) }

// residual is uniform over what is left.
func (l Uniform) residual(age float64) Law {
	return Uniform{Lo: max(0, l.Lo-age), Hi: l.Hi - age}
}

// orderMean returns lo + (hi-lo) k/(n+1).
func (l Uniform) orderMean(k, n int) float64 {
	return l.Lo + (l.Hi-l.Lo)*float64(k)/(float64(n)+1)
}
