package rule

import (
	"fmt"
	"math"
)

// Flink is Apache Flink 1.20.1's speculation (flink-runtime, scheduler/slowtaskdetector,
// ExecutionTimeBasedSlowTaskDetector.findSlowTasks; slow-task-detector.*), without its weights by input bytes: every
// Interval, once the share Ratio of a stage's tasks is done, a task whose only attempt has run for at least LowerBound,
// and for at least Multiplier times the lower median of the first tasks done, is slow and gets more attempts, up to
// Executions at a time.
type Flink[T Ticks] struct {
	Ratio, Multiplier    float64
	LowerBound, Interval T   // an Interval of 0 looks all the time
	Executions           int // at least 1; Flink's default is 2
}

// Validate returns an error unless the parameters are in Flink's range.
func (r Flink[T]) Validate() error {
	switch {
	case !(r.Ratio >= 0 && r.Ratio <= 1):
		return fmt.Errorf("the ratio of Flink is from 0 to 1, got %g", r.Ratio)
	case !(r.Multiplier >= 0):
		return fmt.Errorf("the multiplier of Flink is at least 0, got %g", r.Multiplier)
	case !(r.LowerBound >= 0 && r.Interval >= 0):
		return fmt.Errorf("the times of Flink are at least 0, got %g and %g", float64(r.LowerBound), float64(r.Interval))
	case r.Executions < 1:
		return fmt.Errorf("the executions of Flink are at least 1, got %d", r.Executions)
	}
	return nil
}

// Seconds returns the rule, whose times are in nanoseconds, in seconds.
func (r Flink[T]) Seconds() Flink[float64] {
	return Flink[float64]{r.Ratio, r.Multiplier, seconds(r.LowerBound), seconds(r.Interval), r.Executions}
}

// Enough tells whether so many tasks are done that others are judged.
func (r Flink[T]) Enough(done, tasks int) bool { return float64(done)/float64(tasks) >= r.Ratio }

// Shortest returns how many of the shortest durations the baseline takes: it is the largest of them, or 0 if they are
// none. Flink calls it the median of the first tasks done, of which there are tasks × Ratio, rounded by Java's
// Math.round; as its code has it they are the shortest, not the first to end.
func (r Flink[T]) Shortest(tasks int) int {
	first := int(math.Floor(float64(tasks)*r.Ratio + 0.5))
	if first == 0 {
		return 0
	}
	return first/2 + 1
}

// Limit returns the age from which on an attempt is slow; ok is false if none ever is.
func (r Flink[T]) Limit(baseline T) (limit T, ok bool) {
	limit, ok = times(r.Multiplier, baseline)
	return max(limit, r.LowerBound), ok
}

// Check returns the first check, not before now, that finds an attempt slow that reaches the limit at due.
func (r Flink[T]) Check(due, now T) T { return next(max(due, now), r.Interval) }

// LastCheck returns the last check before now, 0 if there was none.
func (r Flink[T]) LastCheck(now T) T {
	if r.Interval == 0 || now <= 0 {
		return now
	}
	return max(0, next(now, r.Interval)-r.Interval)
}
