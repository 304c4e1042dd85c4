package laws

import "math"

// Expect returns E[g(X)] for X of law l, and a bound of its error. It is +Inf or
// -Inf if the upper tail makes it diverge.
//
// Of a law that is all atoms it is the finite sum. Otherwise it is the integral
// of g(Quantile(u)) over u, by the trapezoid rule after a substitution that makes
// both ends fall double exponentially (Takahasi and Mori, "Double exponential
// formulas for numerical integration", 1974), halving the step until two
// results agree. A quantile function that is smooth inside (0, 1) gives 12 digits
// in a few hundred evaluations, however singular at its ends; one with jumps or
// kinks, such as that of a mixture of laws with different supports, converges
// only in proportion to the step, and says so in the error. Beyond a survival of
// 1e-300 the tail is continued as the power law it ends in.
func Expect(l Law, g func(x float64) float64) (value, errorBound float64) {
	return expectOrder(l, g, 1, 1)
}

func numericMean(l Law) float64 {
	mean, _ := Expect(l, func(x float64) float64 { return x })
	return mean
}

func numericVariance(l Law) float64 {
	mean := numericMean(l)
	if math.IsInf(mean, 0) {
		return math.Inf(1)
	}
	variance, _ := Expect(l, func(x float64) float64 { return (x - mean) * (x - mean) })
	return variance
}

const (
	// farLogit bounds the logit log(u/q) of the quantiles looked at: 1e-300.
	farLogit = 690.0
	// firstStep and lastStep bound the step of the trapezoid rule.
	firstStep, lastStep = 1.0 / 8, 1.0 / 1024
	// enough is the agreement, relative to E|g|, at which halving stops.
	enough = 1e-13
)

// expectOrder returns E[g(X_{k:n})] and a bound of its error, as Expect does.
func expectOrder(l Law, g func(x float64) float64, k, n int) (value, errorBound float64) {
	if atoms := atomsOf(l); len(atoms) > 0 {
		return sumOrder(atoms, g, k, n)
	}
	r := newRankLogit(k, n)
	far := func(sign float64) float64 {
		w := sign * farLogit
		for math.Abs(w) > 1 {
			if x := g(quantileAtLogit(l, w)); !math.IsInf(x, 0) && !math.IsNaN(x) {
				break
			}
			w /= 2
		}
		return w
	}
	left, right := far(-1), far(1)

	// The tail beyond right: g grows there as exp(a w), the density falls as
	// exp(-(n-k+1) w).
	end := g(quantileAtLogit(l, right))
	before := g(quantileAtLogit(l, right-8))
	growth := 0.0
	if end != 0 && before != 0 {
		growth = math.Log(math.Abs(end)/math.Abs(before)) / 8
	}
	fall := r.above - growth
	if fall <= 1e-6 {
		return math.Copysign(math.Inf(1), end), 0
	}
	tail := end * r.density(right) / fall

	// w = mode + width sinh(t), with t a multiple of the step.
	from := math.Asinh((left - r.mode) / r.width)
	to := math.Asinh((right - r.mode) / r.width)
	var sum, size, norm float64
	add := func(t float64) {
		w := r.mode + r.width*math.Sinh(t)
		weight := r.density(w) * r.width * math.Cosh(t)
		if weight == 0 {
			return
		}
		term := g(quantileAtLogit(l, w)) * weight
		sum += term
		size += math.Abs(term)
		norm += weight
	}
	estimate := func(step float64) float64 { return (sum*step + tail) / (norm * step) }
	for i := math.Ceil(from / firstStep); i*firstStep <= to; i++ {
		add(i * firstStep)
	}
	value = estimate(firstStep)
	for step := firstStep / 2; step >= lastStep; step /= 2 {
		first := math.Ceil(from / step)
		if math.Mod(first, 2) == 0 {
			first++ // even multiples were added by the coarser steps
		}
		for i := first; i*step <= to; i += 2 {
			add(i * step)
		}
		last := value
		value = estimate(step)
		scale := (size*step + math.Abs(tail)) / (norm * step)
		errorBound = math.Abs(value-last) + 1e-14*scale
		if math.Abs(value-last) <= enough*scale {
			break
		}
	}
	return value, errorBound
}

// quantileAtLogit returns the value of l at log(u/(1-u)) = w.
func quantileAtLogit(l Law, w float64) float64 {
	if w <= 0 {
		return l.Quantile(1 / (1 + math.Exp(-w)))
	}
	return l.InvSurvival(1 / (1 + math.Exp(w)))
}

// rankLogit is the density of the logit of U_{k:n}, the k-th smallest of n
// uniform numbers, up to a factor: u^k q^(n-k+1) with q = 1-u, divided by its
// value at the mode u0 = k/(n+1).
type rankLogit struct {
	below, above float64 // k and n-k+1
	u0, q0       float64
	mode         float64 // log(u0/q0)
	width        float64 // about the standard deviation
}

func newRankLogit(k, n int) rankLogit {
	a, b := float64(k), float64(n-k+1)
	return rankLogit{below: a, above: b, u0: a / (a + b), q0: b / (a + b),
		mode: math.Log(a / b), width: math.Sqrt(1/a + 1/b)}
}

// density forms u/u0 and q/q0 from the distance to the mode, so that powers in
// the millions do not amplify the rounding of u.
func (r rankLogit) density(w float64) float64 {
	d := w - r.mode
	return math.Exp(-r.below*logBlend(r.q0, r.u0, -d) - r.above*logBlend(r.u0, r.q0, d))
}

// logBlend returns log(q + p exp(d)) for p+q = 1.
func logBlend(p, q, d float64) float64 {
	if d > 30 {
		return d + math.Log(p) + math.Log1p(q/p*math.Exp(-d))
	}
	return math.Log1p(p * math.Expm1(d))
}
