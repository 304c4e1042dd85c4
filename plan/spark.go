package plan

import (
	"fmt"
	"math"
)

// Spark is what Apache Spark's speculation does (spark.speculation.*, TaskSetManager): once the share Quantile of the
// tasks is done, a task that has run longer than Multiplier times the median of those done, and than MinRuntime, gets
// one clone. Since all tasks are of one age, that is a fork with one clone and a late start: at the first check that
// finds both conditions fulfilled. Its judgement of efficiency by records read is left out; every task counts as
// inefficient.
type Spark struct {
	Quantile, Multiplier float64
	Interval, MinRuntime float64 // seconds
}

// Spark4 returns the defaults since Spark 4.
func Spark4() Spark { return Spark{Quantile: 0.9, Multiplier: 3, Interval: 0.1, MinRuntime: 0.1} }

// Spark3 returns the defaults before Spark 4.
func Spark3() Spark { return Spark{Quantile: 0.75, Multiplier: 1.5, Interval: 0.1, MinRuntime: 0.1} }

// SparkThresholds returns settings that clone by age alone, which a fork at a number of tasks cannot express: half of
// the tasks done, and multipliers from 1.2 to 8.
func SparkThresholds() []Spark {
	var all []Spark
	for _, multiplier := range []float64{1.2, 1.5, 2, 2.5, 3, 4, 6, 8} {
		r := Spark4()
		r.Quantile, r.Multiplier = 0.5, multiplier
		all = append(all, r)
	}
	return all
}

// Validate returns an error unless the settings are in Spark's range.
func (r Spark) Validate(int) error {
	switch {
	case !(r.Quantile >= 0 && r.Quantile <= 1):
		return fmt.Errorf("the quantile of Spark is from 0 to 1, got %g", r.Quantile)
	case !(r.Multiplier >= 0):
		return fmt.Errorf("the multiplier of Spark is at least 0, got %g", r.Multiplier)
	case !(r.Interval >= 0 && r.MinRuntime >= 0):
		return fmt.Errorf("the times of Spark are at least 0, got %g and %g", r.Interval, r.MinRuntime)
	}
	return nil
}

func (r Spark) play(j *job) { j.fork(r.at(j.sorted), 1, Keep) }

// at returns the moment at which all running tasks are cloned, +Inf if never: the first check t with enough tasks done
// and t > multiplier × the median of those done, which is sorted[done/2] as Spark has it. The median only moves when a
// task is done.
func (r Spark) at(sorted []float64) float64 {
	n := len(sorted)
	for done := max(1, int(r.Quantile*float64(n))); done < n; done++ {
		threshold := max(r.Multiplier*sorted[done/2], r.MinRuntime)
		if t := r.check(sorted[done-1], threshold); t < sorted[done] {
			return t
		}
	}
	return math.Inf(1)
}

// check returns the first check that is not before from and after threshold; with no interval it is one of the two.
func (r Spark) check(from, threshold float64) float64 {
	if r.Interval == 0 {
		return max(from, threshold)
	}
	t := math.Ceil(max(from, threshold)/r.Interval) * r.Interval
	if t <= threshold {
		t += r.Interval
	}
	return t
}
