package laws

import "math"

// TwoPoint is Hi with probability P and Lo otherwise (seconds), Lo <= Hi: a
// healthy and a slow machine. It has no density.
type TwoPoint struct{ Lo, Hi, P float64 }

// Validate returns an error unless Lo <= Hi, both finite, and P is a
// probability.
func (l TwoPoint) Validate() error {
	return check("twopoint", finite("lo", l.Lo), finite("hi", l.Hi),
		domain{"hi", l.Hi, l.Hi >= l.Lo, "at least lo=" + number(l.Lo)}, probability("p", l.P))
}

// CDF returns 0 below lo, 1-p from lo, 1 from hi.
func (l TwoPoint) CDF(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x >= l.Hi:
		return 1
	case x >= l.Lo:
		return 1 - l.P
	}
	return 0
}

// Survival returns 1 below lo, p from lo, 0 from hi.
func (l TwoPoint) Survival(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x >= l.Hi:
		return 0
	case x >= l.Lo:
		return l.P
	}
	return 1
}

// Quantile returns lo for u <= 1-p, hi above.
func (l TwoPoint) Quantile(u float64) float64 {
	switch {
	case improper(u):
		return math.NaN()
	case u <= 1-l.P && l.P < 1 || l.P == 0:
		return l.Lo
	}
	return l.Hi
}

// InvSurvival returns lo for q >= p, hi below.
func (l TwoPoint) InvSurvival(q float64) float64 {
	switch {
	case improper(q):
		return math.NaN()
	case q >= l.P && l.P < 1:
		return l.Lo
	}
	return l.Hi
}

// Mean returns lo + p(hi-lo).
func (l TwoPoint) Mean() float64 { return l.Lo + l.P*(l.Hi-l.Lo) }

// Variance returns p(1-p)(hi-lo)².
func (l TwoPoint) Variance() float64 { return l.P * (1 - l.P) * (l.Hi - l.Lo) * (l.Hi - l.Lo) }

// String returns the spec twopoint:lo=…,hi=…,p=….
func (l TwoPoint) String() string { return spec("twopoint", "lo", l.Lo, "hi", l.Hi, "p", l.P) }

func (l TwoPoint) residual(age float64) Law {
	if age >= l.Lo {
		if l.P == 0 {
			return nil
		}
		return Deterministic{Value: l.Hi - age}
	}
	return TwoPoint{Lo: l.Lo - age, Hi: l.Hi - age, P: l.P}
}

func (l TwoPoint) minimum(n int) Law {
	return TwoPoint{Lo: l.Lo, Hi: l.Hi, P: math.Pow(l.P, float64(n))}
}

func (l TwoPoint) maximum(n int) Law {
	return TwoPoint{Lo: l.Lo, Hi: l.Hi, P: -math.Expm1(float64(n) * math.Log1p(-l.P))}
}

func (l TwoPoint) atoms() []atom {
	return []atom{{l.Lo, 1 - l.P, l.P}, {l.Hi, 1, 0}}
}
