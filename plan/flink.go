package plan

import (
	"fmt"
	"math"
)

// Flink is what Apache Flink's speculation does (slow-task-detector.*, ExecutionTimeBasedSlowTaskDetector): once the
// share Ratio of the tasks is done, a task that has run for Multiplier times the lower median of the first of them, and
// for LowerBound, gets clones up to Executions attempts. Since all tasks are of one age that is one fork.
type Flink struct {
	Ratio, Multiplier    float64
	LowerBound, Interval float64 // seconds
	Executions           int     // attempts of a task at a time, at least 1
}

// FlinkDefaults returns the defaults of Flink 1.16 and later.
func FlinkDefaults() Flink {
	return Flink{Ratio: 0.75, Multiplier: 1.5, LowerBound: 60, Interval: 1, Executions: 2}
}

// Validate returns an error unless the settings are in Flink's range.
func (r Flink) Validate(int) error {
	switch {
	case !(r.Ratio >= 0 && r.Ratio <= 1):
		return fmt.Errorf("the ratio of Flink is from 0 to 1, got %g", r.Ratio)
	case !(r.Multiplier >= 0):
		return fmt.Errorf("the multiplier of Flink is at least 0, got %g", r.Multiplier)
	case !(r.LowerBound >= 0 && r.Interval >= 0):
		return fmt.Errorf("the times of Flink are at least 0, got %g and %g", r.LowerBound, r.Interval)
	case r.Executions < 1:
		return fmt.Errorf("the executions of Flink are at least 1, got %d", r.Executions)
	}
	return nil
}

func (r Flink) play(j *job) { j.fork(r.at(j.sorted), r.Executions-1, Keep) }

// at returns the moment at which all running tasks are cloned, +Inf if never.
func (r Flink) at(sorted []float64) float64 {
	n := float64(len(sorted))
	need := int(math.Ceil(r.Ratio * n))
	var from, median float64
	if need > 0 {
		from = sorted[need-1]
	}
	if first := int(math.Floor(r.Ratio*n + 0.5)); first > 0 { // Java's Math.round
		median = sorted[min(first/2, need-1)]
	}
	t := max(from, r.Multiplier*median, r.LowerBound)
	if r.Interval > 0 {
		t = math.Ceil(t/r.Interval) * r.Interval
	}
	return t
}
