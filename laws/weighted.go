package laws

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// Weighted is one of finitely many values, each with a probability of its own,
// such as the estimate of [KaplanMeier]. It has no density. Make one with
// [NewWeighted]; the zero value is no law.
type Weighted struct {
	values, weights []float64 // values increase; weights as they were given
	cdf, survival   []float64
}

// NewWeighted returns the law of values, which must be finite and strictly
// increasing, with probabilities in proportion to weights, which must be
// positive and finite. It copies both.
func NewWeighted(values, weights []float64) (*Weighted, error) {
	if len(values) == 0 || len(values) != len(weights) {
		return nil, fmt.Errorf("weighted wants at least one value and a weight for each, got %d values and %d weights",
			len(values), len(weights))
	}
	l := &Weighted{
		values: append([]float64(nil), values...), weights: append([]float64(nil), weights...),
		cdf: make([]float64, len(values)), survival: make([]float64, len(values)),
	}
	var total float64
	for i, v := range values {
		switch w := weights[i]; {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return nil, fmt.Errorf("values of weighted must be finite numbers, got %s", number(v))
		case i > 0 && v <= values[i-1]:
			return nil, fmt.Errorf("values of weighted must increase, got %s after %s", number(v), number(values[i-1]))
		case !(w > 0) || math.IsInf(w, 1):
			return nil, fmt.Errorf("weights of weighted must be positive finite numbers, got %s", number(w))
		}
		total += weights[i]
	}
	if math.IsInf(total, 1) {
		return nil, fmt.Errorf("weights of weighted must have a finite sum")
	}
	var below, above float64
	last := len(values) - 1
	for i := range values {
		below += weights[i] / total
		l.cdf[i] = min(below, 1)
		l.survival[last-i] = min(above, 1)
		above += weights[last-i] / total
	}
	l.cdf[last] = 1
	return l, nil
}

// index returns how many values are at most x.
func (l *Weighted) index(x float64) int {
	return sort.Search(len(l.values), func(i int) bool { return l.values[i] > x })
}

// CDF returns the sum of the probabilities of the values up to x.
func (l *Weighted) CDF(x float64) float64 {
	if math.IsNaN(x) {
		return x
	}
	if i := l.index(x); i > 0 {
		return l.cdf[i-1]
	}
	return 0
}

// Survival returns the sum of the probabilities of the values beyond x.
func (l *Weighted) Survival(x float64) float64 {
	if math.IsNaN(x) {
		return x
	}
	if i := l.index(x); i > 0 {
		return l.survival[i-1]
	}
	return 1
}

// Quantile returns the least value whose CDF is at least u.
func (l *Weighted) Quantile(u float64) float64 {
	if improper(u) {
		return math.NaN()
	}
	return l.values[sort.SearchFloat64s(l.cdf, u)]
}

// InvSurvival returns the least value whose survival is at most q.
func (l *Weighted) InvSurvival(q float64) float64 {
	if improper(q) {
		return math.NaN()
	}
	return l.values[sort.Search(len(l.values)-1, func(i int) bool { return l.survival[i] <= q })]
}

// Mean returns the weighted mean of the values.
func (l *Weighted) Mean() float64 {
	mean, _ := sumOrder(l.atoms(), func(x float64) float64 { return x }, 1, 1)
	return mean
}

// Variance returns the weighted mean of the squared deviations from the mean.
func (l *Weighted) Variance() float64 {
	mean := l.Mean()
	variance, _ := sumOrder(l.atoms(), func(x float64) float64 { return (x - mean) * (x - mean) }, 1, 1)
	return variance
}

// String returns the spec weighted:values=(1 2x0.5 5), where 2x0.5 is the value
// 2 with weight 0.5, and 1 has weight 1. It lists every value.
func (l *Weighted) String() string {
	var b strings.Builder
	b.WriteString("weighted:values=(")
	for i, v := range l.values {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(number(v))
		if l.weights[i] != 1 {
			b.WriteString("x" + number(l.weights[i]))
		}
	}
	return b.String() + ")"
}

// parseWeights reads values separated by blanks, increasing, 2x0.5 being the
// value 2 with weight 0.5.
func parseWeights(s string) (*Weighted, error) {
	var values, weights []float64
	for _, field := range strings.Fields(s) {
		text, weight, given := strings.Cut(field, "x")
		v, err := strconv.ParseFloat(text, 64)
		w := 1.0
		if given && err == nil {
			w, err = strconv.ParseFloat(weight, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("values of weighted must be numbers like 2.5, or 2.5x0.3 with a weight, got %q", field)
		}
		values, weights = append(values, v), append(weights, w)
	}
	return NewWeighted(values, weights)
}

func (l *Weighted) atoms() []atom {
	out := make([]atom, len(l.values))
	for i, v := range l.values {
		out[i] = atom{v, l.cdf[i], l.survival[i]}
	}
	return out
}

// residual is the law of the values above age, less age.
func (l *Weighted) residual(age float64) Law {
	i := l.index(age)
	var values, weights []float64
	for j := i; j < len(l.values); j++ {
		if v := l.values[j] - age; len(values) == 0 || v > values[len(values)-1] {
			values, weights = append(values, v), append(weights, l.weights[j])
		} else { // the subtraction has made neighbours equal
			weights[len(weights)-1] += l.weights[j]
		}
	}
	if rest, err := NewWeighted(values, weights); err == nil {
		return rest
	}
	return nil
}
