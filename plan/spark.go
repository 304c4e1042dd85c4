package plan

import (
	"math"

	"github.com/tailcut/tailcut/plan/rule"
)

// Spark is the rule of Apache Spark's speculation, its times in seconds. Since all tasks are of one age, it is a fork
// with one clone and a late start: at the first check that finds enough tasks done and the others too old. Its
// judgement of efficiency by records read is left out; every task counts as inefficient.
type Spark rule.Spark[float64]

// Spark4 returns the defaults of Spark 4.0.1: core, internal/config/package.scala, SPECULATION_QUANTILE, _MULTIPLIER,
// _INTERVAL and _MIN_THRESHOLD.
func Spark4() Spark { return Spark{Quantile: 0.9, Multiplier: 3, Interval: 0.1, MinRuntime: 0.1} }

// Spark3 returns those of Spark 3.5.6, whose SPECULATION_QUANTILE and _MULTIPLIER are smaller.
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
func (r Spark) Validate(int) error { return rule.Spark[float64](r).Validate() }

func (r Spark) play(j *playing) { j.fork(r.at(j.sorted), 1, Keep) }

// at returns the moment at which all running tasks are cloned, +Inf if never. The median only moves when a task is
// done.
func (r Spark) at(sorted []float64) float64 {
	spark, n := rule.Spark[float64](r), len(sorted)
	for done := spark.Need(n); done < n; done++ {
		limit, _ := spark.Limit(sorted[done/2])
		if t := spark.Check(limit, sorted[done-1]); t < sorted[done] {
			return t
		}
	}
	return math.Inf(1)
}
