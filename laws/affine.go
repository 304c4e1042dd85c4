package laws

import "math"

// Affine is the law of shift + scale X: a machine that is slower by a factor,
// after a constant start-up. Make one with [NewAffine].
type Affine struct {
	of           Law
	scale, shift float64
}

// NewAffine returns the law of shift + scale X for X of law l. It is an error
// unless scale is positive and finite and shift finite.
func NewAffine(l Law, scale, shift float64) (Law, error) {
	if err := check("affine", positive("scale", scale), finite("shift", shift)); err != nil {
		return nil, err
	}
	return Affine{of: l, scale: scale, shift: shift}, nil
}

func (a Affine) inner(x float64) float64 { return (x - a.shift) / a.scale }

func (a Affine) outer(y float64) float64 { return a.shift + a.scale*y }

// CDF returns F((x-shift)/scale).
func (a Affine) CDF(x float64) float64 { return a.of.CDF(a.inner(x)) }

// Survival returns S((x-shift)/scale).
func (a Affine) Survival(x float64) float64 { return a.of.Survival(a.inner(x)) }

// Quantile returns shift + scale Q(u).
func (a Affine) Quantile(u float64) float64 { return a.outer(a.of.Quantile(u)) }

// InvSurvival returns shift + scale InvSurvival(q).
func (a Affine) InvSurvival(q float64) float64 { return a.outer(a.of.InvSurvival(q)) }

// LogPDF returns log f((x-shift)/scale) - log scale.
func (a Affine) LogPDF(x float64) float64 {
	return logDensity(a.of, a.inner(x)) - math.Log(a.scale)
}

// Mean returns shift + scale E[X].
func (a Affine) Mean() float64 { return a.outer(a.of.Mean()) }

// Variance returns scale² Var[X].
func (a Affine) Variance() float64 { return a.scale * a.scale * a.of.Variance() }

// String returns the spec affine:scale=…,shift=…,of=(…).
func (a Affine) String() string {
	return spec("affine", "scale", a.scale, "shift", a.shift, "of", a.of)
}

func (a Affine) minimum(n int) Law { return Affine{Min(a.of, n), a.scale, a.shift} }

func (a Affine) maximum(n int) Law { return Affine{Max(a.of, n), a.scale, a.shift} }

func (a Affine) orderMean(k, n int) float64 {
	mean, _ := OrderMean(a.of, k, n)
	return a.outer(mean)
}

func (a Affine) atoms() []atom {
	out := atomsOf(a.of)
	for i := range out {
		out[i].value = a.outer(out[i].value)
	}
	return out
}
