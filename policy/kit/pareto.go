package kit

import "math"

// Pareto is the law of one attempt's duration as SCA and ESE see it: survival (mu/x)^alpha from mu on. The view
// offers a mean and a standard deviation; the law has these. With a standard deviation of 0 alpha is infinite, every
// duration is mu, and clones are of no use.
//
// The shortest of c attempts has tail index c alpha, and the longest of m
// such is mu m! G(1-1/x)/G(m+1-1/x), x = c alpha.
type Pareto struct{ Alpha, Mu float64 }

// FitPareto returns the law with a mean of more than 0 and a standard deviation. alpha is above 2, for the variance
// is finite.
func FitPareto(mean, sd float64) Pareto {
	if sd <= 0 {
		return Pareto{math.Inf(1), mean}
	}
	alpha := 1 + math.Hypot(1, mean/sd) // sd^2/mean^2 = 1/(alpha (alpha-2))
	return Pareto{alpha, mean * (alpha - 1) / alpha}
}

// Shortest returns the mean duration of a task with c attempts.
func (p Pareto) Shortest(c int) float64 {
	x := float64(c) * p.Alpha
	if math.IsInf(x, 1) {
		return p.Mu
	}
	return p.Mu * x / (x - 1)
}

// Longest returns the mean duration of m tasks at once with c attempts each.
func (p Pareto) Longest(c, m int) float64 {
	x := 1 / (float64(c) * p.Alpha)
	if x == 0 {
		return p.Mu
	}
	a, _ := math.Lgamma(float64(m) + 1)
	b, _ := math.Lgamma(1 - x)
	d, _ := math.Lgamma(float64(m) + 1 - x)
	return p.Mu * math.Exp(a+b-d)
}

// Cost is SCA's objective for a job of m tasks: its flow time and gamma times its machine time.
func (p Pareto) Cost(c, m int, gamma float64) float64 {
	return p.Longest(c, m) + gamma*float64(m)*float64(c)*p.Shortest(c)
}

// StragglerAge returns sigma*, in means: how much longer than a mean a task may have left before a duplicate saves
// machine time. It is the root of w = 2 E[min(w, x)] for a duration x of mean 1: what is left against the time that
// two attempts take together until the first ends. For alpha = 2 it is 1 + 1/sqrt 2.
//
// E[min(w, x)] = mu + mu/(alpha-1) (1-(mu/w)^(alpha-1)) for w >= mu. Where that is flat, w is 2.
func (p Pareto) StragglerAge() float64 {
	if math.IsInf(p.Alpha, 1) {
		return 2
	}
	mu := (p.Alpha - 1) / p.Alpha // of the law with mean 1
	// the right side is concave and at most 2, so iteration from above converges downwards
	w := 2.0
	for range 200 {
		next := 2 * (mu + mu/(p.Alpha-1)*-math.Expm1((p.Alpha-1)*math.Log(mu/w)))
		if math.Abs(next-w) < 1e-12 {
			break
		}
		w = next
	}
	return w
}
