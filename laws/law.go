package laws

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Distribution is a law as probabilities of values.
type Distribution interface {
	// CDF returns P(X <= x), with full relative accuracy where it is small.
	CDF(x float64) float64
	// Survival returns P(X > x), with full relative accuracy where it is small.
	Survival(x float64) float64
}

// Inverse is a law as values of probabilities.
type Inverse interface {
	// Quantile returns the smallest x with CDF(x) >= u; at u = 0 the lower end
	// of the support. It is NaN outside [0, 1].
	Quantile(u float64) float64
	// InvSurvival returns the smallest x with Survival(x) <= q; at q = 0 the
	// upper end of the support. It equals Quantile(1-q) but keeps its digits
	// where 1-q rounds to 1. It is NaN outside [0, 1].
	InvSurvival(q float64) float64
}

// Moments are the first two moments of a law.
type Moments interface {
	// Mean returns E[X], +Inf if it diverges.
	Mean() float64
	// Variance returns E[(X-E[X])²], +Inf if E[X²] diverges.
	Variance() float64
}

// Law is a law of durations (seconds) or of factors (pure numbers). Its String
// is its canonical spec: [Parse] of it returns an equal law.
//
// A Law is immutable and may be shared.
type Law interface {
	Distribution
	Inverse
	Moments
	fmt.Stringer
}

// Density is implemented by laws that may have a density.
type Density interface {
	// LogPDF returns the natural logarithm of the density at x, in 1/seconds
	// for a duration: -Inf outside the support, NaN if the law, being built
	// from one that has atoms, has no density.
	LogPDF(x float64) float64
}

// Sample returns the value of l that belongs to the uniform number u in (0, 1):
// Quantile(u), taken from whichever side of the median is exact. It is
// increasing in u, so equal numbers give equally lucky values under any law.
func Sample(l Law, u float64) float64 { return at(l, u, 1-u) }

// StdDev returns the standard deviation of l, the square root of its variance.
func StdDev(l Law) float64 { return math.Sqrt(l.Variance()) }

// at returns the value of l whose CDF is u and whose survival is q = 1-u,
// reading the smaller of the two.
func at(l Law, u, q float64) float64 {
	if u <= q {
		return l.Quantile(u)
	}
	return l.InvSurvival(q)
}

// logDensity returns l.LogPDF(x), NaN if l has none.
func logDensity(l Law, x float64) float64 {
	if d, ok := l.(Density); ok {
		return d.LogPDF(x)
	}
	return math.NaN()
}

// logOf returns log(p) of a probability p whose complement is q, reading the
// smaller of the two.
func logOf(p, q float64) float64 {
	if p <= q {
		return math.Log(p)
	}
	return math.Log1p(-q)
}

// improper says that u is no probability; true for NaN.
func improper(u float64) bool { return !(u >= 0 && u <= 1) }

// number formats v so that it reads back as the same float64.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// spec formats a canonical spec from a name and pairs of key and value; a value
// is a float64, an int, or a Law, which is put in parentheses.
func spec(name string, pairs ...any) string {
	var b strings.Builder
	b.WriteString(name)
	for i := 0; i+1 < len(pairs); i += 2 {
		separator := ","
		if i == 0 {
			separator = ":"
		}
		fmt.Fprintf(&b, "%s%v=", separator, pairs[i])
		switch v := pairs[i+1].(type) {
		case float64:
			b.WriteString(number(v))
		case Law:
			b.WriteString("(" + v.String() + ")")
		default:
			fmt.Fprint(&b, v)
		}
	}
	return b.String()
}

// domain is one parameter's rule: ok says whether value obeys it.
type domain struct {
	key   string
	value float64
	ok    bool
	want  string
}

func positive(key string, v float64) domain {
	return domain{key, v, v > 0 && !math.IsInf(v, 1), "a positive finite number"}
}

func nonNegative(key string, v float64) domain {
	return domain{key, v, v >= 0 && !math.IsInf(v, 1), "a finite number >= 0"}
}

func finite(key string, v float64) domain {
	return domain{key, v, !math.IsInf(v, 0) && !math.IsNaN(v), "a finite number"}
}

func probability(key string, v float64) domain {
	return domain{key, v, !improper(v), "a probability in [0, 1]"}
}

// check returns the first broken rule as an error of one line, nil if none is.
func check(name string, rules ...domain) error {
	for _, d := range rules {
		if !d.ok {
			return fmt.Errorf("%s of %s must be %s, got %s", d.key, name, d.want, number(d.value))
		}
	}
	return nil
}

// valid says whether the parameters of l are in their domain. Laws made by
// constructors always are.
func valid(l Law) bool { return validate(l) == nil }

func validate(l Law) error {
	if v, ok := l.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}
