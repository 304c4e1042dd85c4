package laws

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Empirical is the law of a value drawn from a finite sample, each with equal
// probability. It has no density. Make one with [NewEmpirical] or
// [NewEmpiricalCounts]; the zero value is no law.
//
// A probability j/m with m the sample's size belongs to the j-th smallest
// sample exactly: Quantile(float64(j)/float64(m)) is never its neighbour.
type Empirical struct {
	values []float64 // distinct, increasing
	upTo   []int     // upTo[i] samples are <= values[i]; the last is their number
	guide  []int32   // guide[b] is where the search for sample number b*size/len(guide)+1 begins
}

// NewEmpirical returns the law of the samples, in any order and with repeats.
// It copies them. It is an error if there are none or one is not finite.
func NewEmpirical(samples []float64) (*Empirical, error) {
	sorted := slices.Clone(samples)
	slices.Sort(sorted)
	var values []float64
	var counts []int
	for i, v := range sorted {
		if i > 0 && v == sorted[i-1] {
			counts[len(counts)-1]++
			continue
		}
		values = append(values, v)
		counts = append(counts, 1)
	}
	return NewEmpiricalCounts(values, counts)
}

// NewEmpiricalCounts returns the law of a sample that holds counts[i] >= 1 times
// values[i]; the values must be finite and strictly increasing. It copies both.
func NewEmpiricalCounts(values []float64, counts []int) (*Empirical, error) {
	if len(values) == 0 || len(values) != len(counts) {
		return nil, fmt.Errorf("empirical wants at least one value and a count for each, got %d values and %d counts",
			len(values), len(counts))
	}
	l := &Empirical{values: slices.Clone(values), upTo: make([]int, len(counts))}
	total := 0
	for i, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return nil, fmt.Errorf("values of empirical must be finite numbers, got %s", number(v))
		case i > 0 && v <= values[i-1]:
			return nil, fmt.Errorf("values of empirical must increase, got %s after %s", number(v), number(values[i-1]))
		case counts[i] < 1 || counts[i] > math.MaxInt32-total:
			return nil, fmt.Errorf("counts of empirical must be at least 1 and sum to less than 2^31, got %d", counts[i])
		}
		total += counts[i]
		l.upTo[i] = total
	}
	l.index()
	return l, nil
}

// index builds the guide table of Chen and Asau ("On generating random variates
// from an empirical distribution", AIIE Transactions 6, 1974): as many equal
// ranges of ranks as values, so that a search looks at two values on average.
func (l *Empirical) index() {
	d, m := len(l.values), l.Size()
	l.guide = make([]int32, d)
	i := 0
	for b := range l.guide {
		for l.upTo[i] < 1+int(int64(b)*int64(m)/int64(d)) {
			i++
		}
		l.guide[b] = int32(i)
	}
}

// Size returns the number of samples m, repeats included.
func (l *Empirical) Size() int { return l.upTo[len(l.upTo)-1] }

// Distinct returns the number of distinct values d.
func (l *Empirical) Distinct() int { return len(l.values) }

// Value returns the i-th distinct value, 0 <= i < Distinct(), in increasing
// order, how many samples equal it, and how many are at most as large.
func (l *Empirical) Value(i int) (value float64, count, upTo int) {
	return l.values[i], l.count(i), l.upTo[i]
}

// Rank returns the j-th smallest sample, 1 <= j <= Size(), in constant time on
// average.
func (l *Empirical) Rank(j int) float64 {
	if j < 1 || j > l.Size() {
		panic(fmt.Sprintf("laws: rank %d of %d samples", j, l.Size()))
	}
	b := int(int64(j-1) * int64(len(l.guide)) / int64(l.Size()))
	i := int(l.guide[b])
	for l.upTo[i] < j {
		i++
	}
	return l.values[i]
}

func (l *Empirical) count(i int) int {
	if i == 0 {
		return l.upTo[0]
	}
	return l.upTo[i] - l.upTo[i-1]
}

// atMost returns the number of samples <= x.
func (l *Empirical) atMost(x float64) int {
	i := sort.Search(len(l.values), func(i int) bool { return l.values[i] > x })
	if i == 0 {
		return 0
	}
	return l.upTo[i-1]
}

// CDF returns the share of samples <= x.
func (l *Empirical) CDF(x float64) float64 {
	if math.IsNaN(x) {
		return x
	}
	return float64(l.atMost(x)) / float64(l.Size())
}

// Survival returns the share of samples > x.
func (l *Empirical) Survival(x float64) float64 {
	if math.IsNaN(x) {
		return x
	}
	return float64(l.Size()-l.atMost(x)) / float64(l.Size())
}

// Quantile returns the j-th smallest sample with j the least that has j/m >= u.
func (l *Empirical) Quantile(u float64) float64 {
	if improper(u) {
		return math.NaN()
	}
	m := float64(l.Size())
	j := math.Ceil(u * m)
	// u*m is rounded; the comparison with the ratio is what CDF would say.
	for j > 1 && (j-1)/m >= u {
		j--
	}
	for j/m < u {
		j++
	}
	return l.Rank(max(1, int(j)))
}

// InvSurvival returns the j-th smallest sample with j the least that has
// (m-j)/m <= q.
func (l *Empirical) InvSurvival(q float64) float64 {
	if improper(q) {
		return math.NaN()
	}
	m := float64(l.Size())
	above := math.Floor(q * m)
	for (above+1)/m <= q {
		above++
	}
	for above/m > q {
		above--
	}
	return l.Rank(max(1, int(m-above)))
}

// Mean returns the mean of the samples.
func (l *Empirical) Mean() float64 {
	var sum float64
	for i, v := range l.values {
		sum += v * float64(l.count(i))
	}
	return sum / float64(l.Size())
}

// Variance returns the mean of the squared deviations from the mean: of the
// sample as a law, so divided by m and not by m-1.
func (l *Empirical) Variance() float64 {
	mean := l.Mean()
	var sum float64
	for i, v := range l.values {
		sum += (v - mean) * (v - mean) * float64(l.count(i))
	}
	return sum / float64(l.Size())
}

// String returns the spec empirical:values=(1 2x3 5), where 2x3 is three times
// the value 2. It lists every distinct value.
func (l *Empirical) String() string {
	var b strings.Builder
	b.WriteString("empirical:values=(")
	for i, v := range l.values {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(number(v))
		if c := l.count(i); c > 1 {
			b.WriteString("x" + strconv.Itoa(c))
		}
	}
	return b.String() + ")"
}

// residual is the law of the samples above age, less age.
func (l *Empirical) residual(age float64) Law {
	var values []float64
	var counts []int
	for i, v := range l.values {
		if v > age {
			values = append(values, v-age)
			counts = append(counts, l.count(i))
		}
	}
	return mergeEqual(values, counts)
}

// truncated is the law of the samples within [lo, hi].
func (l *Empirical) truncated(lo, hi float64) Law {
	var values []float64
	var counts []int
	for i, v := range l.values {
		if lo <= v && v <= hi {
			values = append(values, v)
			counts = append(counts, l.count(i))
		}
	}
	return mergeEqual(values, counts)
}

// mergeEqual returns the law of values that do not decrease, nil if there are
// none: a subtraction may have made neighbours equal.
func mergeEqual(values []float64, counts []int) Law {
	if len(values) == 0 {
		return nil
	}
	kept := 0
	for i := 1; i < len(values); i++ {
		if values[i] == values[kept] {
			counts[kept] += counts[i]
			continue
		}
		kept++
		values[kept], counts[kept] = values[i], counts[i]
	}
	l, err := NewEmpiricalCounts(values[:kept+1], counts[:kept+1])
	if err != nil {
		return nil
	}
	return l
}

func (l *Empirical) atoms() []atom {
	m := float64(l.Size())
	out := make([]atom, len(l.values))
	for i, v := range l.values {
		out[i] = atom{v, float64(l.upTo[i]) / m, float64(l.Size()-l.upTo[i]) / m}
	}
	return out
}
