package rule

import "fmt"

// Spark is Apache Spark 4.0.1's speculation (core, scheduler/TaskSetManager.scala,
// TaskSetManager.checkSpeculatableTasks; spark.speculation.*): every Interval,
// once the share Quantile of a stage's tasks is done, a task with one attempt that has run for longer than Multiplier
// times the median of the durations of those done, and than MinRuntime, gets a second attempt. The median of n is
// sorted[n/2], as Spark's PercentileHeap has it.
type Spark[T Ticks] struct {
	Quantile, Multiplier float64
	Interval, MinRuntime T // an Interval of 0 looks all the time
}

// Validate returns an error unless the parameters are in Spark's range.
func (r Spark[T]) Validate() error {
	switch {
	case !(r.Quantile >= 0 && r.Quantile <= 1):
		return fmt.Errorf("the quantile of Spark is from 0 to 1, got %g", r.Quantile)
	case !(r.Multiplier >= 0):
		return fmt.Errorf("the multiplier of Spark is at least 0, got %g", r.Multiplier)
	case !(r.Interval >= 0 && r.MinRuntime >= 0):
		return fmt.Errorf("the times of Spark are at least 0, got %g and %g", float64(r.Interval), float64(r.MinRuntime))
	}
	return nil
}

// Seconds returns the rule, whose times are in nanoseconds, in seconds.
func (r Spark[T]) Seconds() Spark[float64] {
	return Spark[float64]{r.Quantile, r.Multiplier, seconds(r.Interval), seconds(r.MinRuntime)}
}

// Need returns how many of so many tasks have to be done before any is judged. A single task never is.
func (r Spark[T]) Need(tasks int) int { return max(1, int(r.Quantile*float64(tasks))) }

// Limit returns the age above which an attempt is too old; ok is false if none ever is.
func (r Spark[T]) Limit(median T) (limit T, ok bool) {
	limit, ok = times(r.Multiplier, median)
	return max(limit, r.MinRuntime), ok
}

// Check returns the first check, not before now, that finds an attempt too old that reaches the limit at due.
func (r Spark[T]) Check(due, now T) T {
	t := next(max(due, now), r.Interval)
	if t <= due { // it has to be older than the limit
		t += r.Interval
	}
	return t
}
