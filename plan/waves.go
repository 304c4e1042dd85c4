package plan

import (
	"math"

	"github.com/tailcut/tailcut/laws"
)

// Chance is a probability and what is known of it.
type Chance struct {
	P float64
	// Low and High hold it: with certainty where they are bounds, with a confidence of 95 % where jobs were sampled.
	// Both are P where it is exact.
	Low, High float64
	Samples   int // jobs that were played; 0 if none was
}

func exactly(p float64) Chance { return Chance{P: p, Low: p, High: p} }

// proven is the miss below which a bound stands for the chance.
const proven = 1e-6

// Waves returns the chance that a job is done by its deadline if only so many of its tasks, at least one, run at once.
// Each has clones beside its original that start with it, and when the first attempt ends, the next task takes its
// place: list scheduling (Graham, "Bounds on multiprocessing timing anomalies", 1969).
//
//	all tasks run at once                              exact: [Work.PoCD]
//	even the longest durations fit, or not the shortest  exact: 1 or 0
//	an exponential law                                 exact, by quadrature
//	a miss below 1e-6 by Bernstein's inequality        a bound
//	other jobs of up to 20,000 tasks                   played, 200 to 10,000 times
//	other jobs                                         bounds
//	several stages one after the other, all at once    exact up to a bound of the error: [ChainPoCD]
//	other jobs of several stages                       played, unless the durations settle it
//
// A job is played plays times at most, if that is not 0. The Age, Held and Launch of a job in waves are taken as 0:
// each attempt has 1-Progress of a task to do.
func (w Work) Waves(clones, atOnce, plays int) Chance {
	if len(w.Stages) > 0 {
		return w.stagesInWaves(clones, atOnce, plays)
	}
	if atOnce >= w.Tasks {
		return exactly(w.PoCD(clones))
	}
	s := w.shift(clones)
	switch waves := float64((w.Tasks + atOnce - 1) / atOnce); {
	case s.left <= 0 || waves*nanoseconds(s.law.Quantile(0)) > s.left:
		return exactly(0)
	case waves*nanoseconds(s.law.InvSurvival(0)) <= s.left:
		return exactly(1)
	}
	if exp, ok := s.law.(laws.Exponential); ok {
		return exactly(exponentialWaves(exp.Mu, w.Tasks, atOnce, s.left/1e9))
	}
	b := s.bounds()
	late := b.late(atOnce)
	low, high := max(0, 1-late), b.early(atOnce)
	switch {
	case late <= proven:
		return Chance{P: low, Low: low, High: high}
	case w.Tasks > played:
		return Chance{P: (low + high) / 2, Low: low, High: high}
	}
	n := s.plays()
	if plays > 0 {
		n = min(n, plays)
	}
	c := s.play(atOnce, n)
	c.Low, c.High = max(c.Low, low), min(c.High, high)
	c.P = min(max(c.P, c.Low), c.High)
	return c
}

// shift is a job whose tasks take turns.
type shift struct {
	tasks  int
	law    laws.Law // of what a task with its clones takes, seconds
	left   float64  // whole nanoseconds until the deadline, for a job of which nothing is done
	stages []Phase  // with such laws, of a job of several; its law is nil
}

func (w Work) shift(clones int) shift {
	left := w.Deadline - w.Elapsed
	if rest := 1 - min(max(w.Progress, 0), 1); left > 0 {
		left /= rest
	}
	s := shift{tasks: w.Tasks, left: nanoseconds(left)}
	if len(w.Stages) == 0 {
		s.law = laws.Min(w.Law, clones+1)
	}
	for _, t := range w.Stages {
		t.Law = laws.Min(t.Law, clones+1)
		s.stages = append(s.stages, t)
	}
	return s
}

// nanoseconds rounds a time in seconds; sums of them are exact up to 2⁵³, three months.
func nanoseconds(seconds float64) float64 { return math.Round(seconds * 1e9) }

// exponentialWaves returns the probability that n tasks of rate mu, g < n at once, are done within a time. The first
// n-g ends are those of a Poisson process of rate g·mu, so the last task starts after a time X of a Gamma law; then g
// tasks run, which have no memory:
//
//	P(T > t) = P(X > t) + ∫ f(x) (1-(1-e^(-mu(t-x)))^g) dx, from 0 to t
func exponentialWaves(mu float64, n, g int, t float64) float64 {
	const steps = 4096 // of Simpson's rule
	start := laws.Gamma{Shape: float64(n - g), Scale: 1 / (float64(g) * mu)}
	sd := laws.StdDev(start)
	lo, hi := max(0, start.Mean()-12*sd), min(t, start.Mean()+40*sd)
	if lo >= t {
		return 0
	}
	miss, h := 0.0, (hi-lo)/steps
	for i := range steps + 1 {
		x := lo + float64(i)*h
		weight := float64(2 + 2*(i%2))
		if i == 0 || i == steps {
			weight = 1
		}
		density := start.LogPDF(x)
		if math.IsInf(density, -1) {
			continue
		}
		late := -math.Expm1(float64(g) * logComplement(-mu*(t-x)))
		miss += weight * math.Exp(density) * late
	}
	return min(1, max(0, 1-miss*h/3-start.Survival(hi)))
}
