package policy

import "math"

// pareto is the law of one attempt's duration as SCA and ESE see it: survival (mu/x)^alpha from mu on. The view offers
// a mean and a standard deviation; the law has these. With a standard deviation of 0 alpha is infinite, every duration
// is mu, and clones are of no use.
//
// The formulas are those of digest section 20: the shortest of c attempts has tail index c alpha, and the longest of m
// such is mu m! G(1-1/x)/G(m+1-1/x), x = c alpha.
type pareto struct{ alpha, mu float64 }

// fitPareto returns the law with a mean of more than 0 and a standard deviation. alpha is above 2, for the variance is
// finite.
func fitPareto(mean, sd float64) pareto {
	if sd <= 0 {
		return pareto{math.Inf(1), mean}
	}
	alpha := 1 + math.Hypot(1, mean/sd) // sd^2/mean^2 = 1/(alpha (alpha-2))
	return pareto{alpha, mean * (alpha - 1) / alpha}
}

// shortest returns the mean duration of a task with c attempts.
func (p pareto) shortest(c int) float64 {
	x := float64(c) * p.alpha
	if math.IsInf(x, 1) {
		return p.mu
	}
	return p.mu * x / (x - 1)
}

// longest returns the mean duration of m tasks at once with c attempts each.
func (p pareto) longest(c, m int) float64 {
	x := 1 / (float64(c) * p.alpha)
	if x == 0 {
		return p.mu
	}
	a, _ := math.Lgamma(float64(m) + 1)
	b, _ := math.Lgamma(1 - x)
	d, _ := math.Lgamma(float64(m) + 1 - x)
	return p.mu * math.Exp(a+b-d)
}

// cost is SCA's objective for a job of m tasks: its flow time and gamma times its machine time.
func (p pareto) cost(c, m int, gamma float64) float64 {
	return p.longest(c, m) + gamma*float64(m)*float64(c)*p.shortest(c)
}

// stragglerAge returns sigma*, in means: how much longer than a mean a task may have left before a duplicate saves
// machine time. It is the root of w = 2 E[min(w, x)] for a duration x of mean 1: what is left against the time that two
// attempts take together until the first ends. For alpha = 2 it is 1 + 1/sqrt 2.
//
// E[min(w, x)] = mu + mu/(alpha-1) (1-(mu/w)^(alpha-1)) for w >= mu. Where that is flat, w is 2.
func (p pareto) stragglerAge() float64 {
	if math.IsInf(p.alpha, 1) {
		return 2
	}
	mu := (p.alpha - 1) / p.alpha // of the law with mean 1
	// the right side is concave and at most 2, so iteration from above converges downwards
	w := 2.0
	for range 200 {
		next := 2 * (mu + mu/(p.alpha-1)*-math.Expm1((p.alpha-1)*math.Log(mu/w)))
		if math.Abs(next-w) < 1e-12 {
			break
		}
		w = next
	}
	return w
}
