package plan

import (
	"sort"

	"github.com/tailcut/tailcut/plan/rule"
)

// Flink is the rule of Apache Flink 1.20.1's speculation (rule.Flink has file and function), its times in seconds.
// Since all tasks are of one age, it is one fork.
type Flink rule.Flink[float64]

// FlinkDefaults returns the defaults of Flink 1.20.1: flink-core, SlowTaskDetectorOptions.java, CHECK_INTERVAL and
// EXECUTION_TIME_BASELINE_*; BatchExecutionOptions.java, SPECULATIVE_MAX_CONCURRENT_EXECUTIONS.
func FlinkDefaults() Flink {
	return Flink{Ratio: 0.75, Multiplier: 1.5, LowerBound: 60, Interval: 1, Executions: 2}
}

// Validate returns an error unless the settings are in Flink's range.
func (r Flink) Validate(int) error { return rule.Flink[float64](r).Validate() }

func (r Flink) play(j *playing) { j.fork(r.at(j.sorted), r.Executions-1, Keep) }

// at returns the moment at which all running tasks are cloned, +Inf if never.
func (r Flink) at(sorted []float64) float64 {
	flink, n := rule.Flink[float64](r), len(sorted)
	var from, baseline float64
	if need := sort.Search(n, func(done int) bool { return flink.Enough(done, n) }); need > 0 {
		from = sorted[need-1]
	}
	if k := flink.Shortest(n); k > 0 {
		baseline = sorted[k-1]
	}
	limit, _ := flink.Limit(baseline)
	return flink.Check(limit, from)
}
