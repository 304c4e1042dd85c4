package laws

import "math"

// conditional is the law of X given above < X <= hi. Truncated and Residual are
// made of it. All four end probabilities are kept, because each of its functions
// is a difference that must be taken on the side where it does not cancel.
type conditional struct {
	of        Law
	above, hi float64
	fa, sa    float64 // CDF and survival at above
	fh, sh    float64 // CDF and survival at hi
	mass      float64 // P(above < X <= hi) > 0
}

func newConditional(of Law, above, hi float64) conditional {
	c := conditional{of: of, above: above, hi: hi,
		fa: of.CDF(above), sa: of.Survival(above), fh: of.CDF(hi), sh: of.Survival(hi)}
	switch {
	case c.sa <= 0.5:
		c.mass = c.sa - c.sh
	case c.fh <= 0.5:
		c.mass = c.fh - c.fa
	default:
		c.mass = (0.5 - c.fa) + (0.5 - c.sh)
	}
	return c
}

func (c conditional) cdf(x float64) float64 {
	switch {
	case x <= c.above:
		return 0
	case x >= c.hi:
		return 1
	}
	if f := c.of.CDF(x); f <= 0.5 {
		return (f - c.fa) / c.mass
	}
	return max(0, c.sa-c.of.Survival(x)) / c.mass
}

func (c conditional) survival(x float64) float64 {
	switch {
	case x <= c.above:
		return 1
	case x >= c.hi:
		return 0
	}
	if s := c.of.Survival(x); s <= 0.5 {
		return (s - c.sh) / c.mass
	}
	return max(0, c.fh-c.of.CDF(x)) / c.mass
}

// value returns the value whose conditional CDF is u and survival is q = 1-u.
func (c conditional) value(u, q float64) float64 {
	if improper(u) || improper(q) {
		return math.NaN()
	}
	x := at(c.of, min(1, c.fa+u*c.mass), min(1, c.sh+q*c.mass))
	return min(max(x, c.above), c.hi)
}

func (c conditional) logPDF(x float64) float64 {
	if x <= c.above || x > c.hi {
		return math.Inf(-1)
	}
	return logDensity(c.of, x) - math.Log(c.mass)
}

// atoms returns those of the law within the bounds, less shift.
func (c conditional) atoms(shift float64) []atom {
	var out []atom
	for _, a := range atomsOf(c.of) {
		if a.value > c.above && a.value <= c.hi {
			out = append(out, atom{a.value - shift, c.cdf(a.value), c.survival(a.value)})
		}
	}
	return out
}
