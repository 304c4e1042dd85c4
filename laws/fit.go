package laws

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Fitted is a law fitted by maximum likelihood.
type Fitted struct {
	Law           Law
	Parameters    int
	LogLikelihood float64 // Σ log f(x) of complete observations + Σ log S(x) of censored ones
	AIC           float64 // 2 Parameters - 2 LogLikelihood (Akaike 1974): the least is the best
	family        *fitFamily
}

// fitFamily is a family that can be fitted.
type fitFamily struct {
	name       string
	parameters int
	positive   bool // wants positive observations
	fromLeast  bool // its law begins at the least observation
	fit        func([]Observation) (Law, error)
}

// fitFamilies are in the order of the spec syntax.
var fitFamilies = []fitFamily{
	{"exp", 1, false, false, fitExponential},
	{"gamma", 2, true, false, fitGamma},
	{"lognormal", 2, true, false, fitLognormal},
	{"pareto", 2, true, true, fitPareto},
	{"shiftedexp", 2, false, true, fitShiftedExp},
	{"weibull", 2, true, false, fitWeibull},
}

// Fit returns the law of a family that is likeliest to give the observations, which are durations >= 0, some of them
// censored. The families are exp, gamma, lognormal, pareto, shiftedexp and weibull. It is an error if there are fewer
// than two complete observations that differ, or one is 0 or negative where the family has none such.
//
// The estimates are closed forms, or the roots of one equation to 1e-10; of censored gamma and lognormal laws, whose
// likelihood is climbed, to about 1e-6.
func Fit(family string, observations []Observation) (Fitted, error) {
	i := slices.IndexFunc(fitFamilies, func(f fitFamily) bool { return f.name == family })
	if i < 0 {
		return Fitted{}, fmt.Errorf("%q cannot be fitted; valid: exp, gamma, lognormal, pareto, shiftedexp, weibull", family)
	}
	f := &fitFamilies[i]
	sorted, err := sortObservations(observations)
	if err != nil {
		return Fitted{}, err
	}
	if v := sorted[0].Value; v < 0 || v == 0 && f.positive {
		return Fitted{}, fmt.Errorf("%s wants positive observations, got %s", family, number(v))
	}
	values := completeOf(sorted)
	if values[0] == values[len(values)-1] {
		return Fitted{}, fmt.Errorf("a fit wants two complete observations that differ, got %d of %s", len(values), number(values[0]))
	}
	l, err := f.fit(sorted)
	if err == nil {
		err = validate(l)
	}
	if err != nil {
		return Fitted{}, err
	}
	out := Fitted{Law: l, Parameters: f.parameters, LogLikelihood: logLikelihood(l, sorted), family: f}
	out.AIC = 2*float64(f.parameters) - 2*out.LogLikelihood
	return out, nil
}

// FitAll fits every family that takes the observations, the least AIC first.
func FitAll(observations []Observation) []Fitted {
	var out []Fitted
	for _, f := range fitFamilies {
		if fitted, err := Fit(f.name, observations); err == nil && !math.IsNaN(fitted.AIC) {
			out = append(out, fitted)
		}
	}
	slices.SortStableFunc(out, func(a, b Fitted) int { return cmp.Compare(a.AIC, b.AIC) })
	return out
}

func logLikelihood(l Law, observations []Observation) float64 {
	var sum float64
	for _, x := range observations {
		if x.Censored {
			sum += logOf(l.Survival(x.Value), l.CDF(x.Value))
		} else {
			sum += logDensity(l, x.Value)
		}
	}
	return sum
}

// completeOf returns the values of the complete observations.
func completeOf(observations []Observation) []float64 {
	var values []float64
	for _, x := range observations {
		if !x.Censored {
			values = append(values, x.Value)
		}
	}
	return values
}

// excess returns the number of complete observations and the sum of g over all of them, g being 0 below its corner.
func excess(observations []Observation, g func(float64) float64) (complete, sum float64) {
	for _, x := range observations {
		if !x.Censored {
			complete++
		}
		sum += max(0, g(x.Value))
	}
	return complete, sum
}

// fitExponential: μ = d/Σx, d being the number of complete observations.
func fitExponential(observations []Observation) (Law, error) {
	d, sum := excess(observations, func(x float64) float64 { return x })
	return Exponential{Mu: d / sum}, nil
}

// fitShiftedExp: Δ is the least complete observation, since the likelihood grows with Δ up to there, and μ = d/Σ(x-Δ)+.
func fitShiftedExp(observations []Observation) (Law, error) {
	delta := slices.Min(completeOf(observations))
	d, sum := excess(observations, func(x float64) float64 { return x - delta })
	return ShiftedExp{Delta: delta, Mu: d / sum}, nil
}

// fitPareto: the logarithms are shifted exponential.
func fitPareto(observations []Observation) (Law, error) {
	xm := slices.Min(completeOf(observations))
	d, sum := excess(observations, func(x float64) float64 { return math.Log(x / xm) })
	return Pareto{Alpha: d / sum, Xm: xm}, nil
}

// fitWeibull: k is the root of Σ x^k log x / Σ x^k - 1/k - mean log x of the complete ones, which increases with k, and
// λ^k = Σ x^k / d.
func fitWeibull(observations []Observation) (Law, error) {
	var largest, meanLog, d float64
	for _, x := range observations {
		largest = max(largest, x.Value)
	}
	for _, x := range observations {
		if !x.Censored {
			d++
			meanLog += math.Log(x.Value / largest)
		}
	}
	meanLog /= d
	sums := func(k float64) (s0, s1, s2 float64) {
		for _, x := range observations {
			y := math.Log(x.Value / largest)
			p := math.Exp(k * y)
			s0, s1, s2 = s0+p, s1+p*y, s2+p*y*y
		}
		return s0, s1, s2
	}
	k := solve(math.SmallestNonzeroFloat64, math.MaxFloat64, 1, func(k float64) (float64, float64) {
		s0, s1, s2 := sums(k)
		mean := s1 / s0
		g := mean - 1/k - meanLog
		return g, k - g/(s2/s0-mean*mean+1/(k*k))
	})
	s0, _, _ := sums(k)
	return Weibull{Shape: k, Scale: largest * math.Pow(s0/d, 1/k)}, nil
}

// fitLognormal: mean and deviation of the logarithms, if none is censored.
func fitLognormal(observations []Observation) (Law, error) {
	var mean, squares float64
	n := float64(len(observations))
	for _, x := range observations {
		mean += math.Log(x.Value) / n
	}
	for _, x := range observations {
		d := math.Log(x.Value) - mean
		squares += d * d / n
	}
	start := Lognormal{Mu: mean, Sigma: math.Sqrt(squares)}
	if len(completeOf(observations)) == len(observations) {
		return start, nil
	}
	return climb(observations, start.Mu, math.Log(start.Sigma), func(a, b float64) Law {
		return Lognormal{Mu: a, Sigma: math.Exp(b)}
	})
}

// fitGamma: the root of log k - ψ(k) = log mean - mean log, and θ = mean/k, if none is censored.
func fitGamma(observations []Observation) (Law, error) {
	var mean, meanLog float64
	n := float64(len(observations))
	for _, x := range observations {
		mean += x.Value / n
	}
	for _, x := range observations {
		meanLog += math.Log(x.Value/mean) / n
	}
	k := solve(math.SmallestNonzeroFloat64, math.MaxFloat64, -0.5/meanLog, func(k float64) (float64, float64) {
		g := mathext.Digamma(k) - math.Log(k) - meanLog
		return g, k - g/(mathext.Zeta(2, k)-1/k)
	})
	start := Gamma{Shape: k, Scale: mean / k}
	if len(completeOf(observations)) == len(observations) {
		return start, nil
	}
	return climb(observations, math.Log(start.Shape), math.Log(start.Scale), func(a, b float64) Law {
		return Gamma{Shape: math.Exp(a), Scale: math.Exp(b)}
	})
}

// climb maximises the likelihood from a start by a simplex, twice, since the first may end in a fold.
func climb(observations []Observation, a, b float64, law func(a, b float64) Law) (Law, error) {
	unlikely := func(a, b float64) float64 {
		if l := law(a, b); validate(l) == nil {
			if v := -logLikelihood(l, observations); !math.IsNaN(v) {
				return v
			}
		}
		return math.Inf(1)
	}
	for range 2 {
		v, ok := descend(unlikely, a, b)
		if !ok {
			return nil, fmt.Errorf("the likelihood of %s has no maximum that can be found", law(a, b))
		}
		a, b = v.x[0], v.x[1]
	}
	return law(a, b), nil
}
