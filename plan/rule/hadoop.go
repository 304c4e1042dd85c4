package rule

import (
	"fmt"
	"math"
)

// Hadoop is the speculation of Apache Hadoop 3.4.1 (hadoop-mapreduce-client-app, speculate/DefaultSpeculator.java,
// maybeScheduleASpeculation and speculationValue; mapreduce.job.speculative.*): every Retry, and
// only Rest after a scan that has asked for an attempt, the task of a stage that would be done last gets a second
// attempt if that would be done earlier and the number of tasks with two is below a limit.
type Hadoop[T Ticks] struct {
	Retry, Rest          T   // > 0
	MinAllowed           int // tasks with two attempts that are always allowed
	TotalCap, RunningCap float64
}

// hadoopGate is the share of the tasks that must be done, MINIMUM_COMPLETE_PROPORTION_TO_SPECULATE.
const hadoopGate = 0.05

// Validate returns an error unless the parameters are in Hadoop's range.
func (r Hadoop[T]) Validate() error {
	switch {
	case !(r.Retry > 0 && r.Rest > 0):
		return fmt.Errorf("the times between scans of Hadoop are positive, got %g and %g", float64(r.Retry), float64(r.Rest))
	case r.MinAllowed < 0 || !(r.TotalCap >= 0 && r.RunningCap >= 0):
		return fmt.Errorf("the limits of Hadoop are at least 0, got %d, %g and %g", r.MinAllowed, r.TotalCap, r.RunningCap)
	}
	return nil
}

// Seconds returns the rule, whose times are in nanoseconds, in seconds.
func (r Hadoop[T]) Seconds() Hadoop[float64] {
	return Hadoop[float64]{seconds(r.Retry), seconds(r.Rest), r.MinAllowed, r.TotalCap, r.RunningCap}
}

// Open tells whether a scan may ask for an attempt, of a stage with so many tasks, of which some are done, some run,
// and twice have two attempts. The limit is the largest of MinAllowed, TotalCap × tasks and RunningCap × running,
// rounded down.
func (r Hadoop[T]) Open(tasks, done, running, twice int) bool {
	if done < 1 || float64(done)/float64(tasks) < hadoopGate {
		return false
	}
	allowed := max(float64(r.MinAllowed), math.Floor(max(r.TotalCap*float64(tasks), r.RunningCap*float64(running))))
	return float64(twice) < allowed
}

// Gains tells whether an attempt started by a scan, expected to be done at anew, is worth it for a task that would be
// done at end.
func (r Hadoop[T]) Gains(anew, end T) bool { return anew < end }

// Scan returns the first scan, not before at, of a job that scans at from and every Retry after it.
func (r Hadoop[T]) Scan(from, at T) T {
	if at <= from {
		return from
	}
	return from + next(at-from, r.Retry)
}

// Rested returns from when on a job scans that has asked for an attempt in a scan at now.
func (r Hadoop[T]) Rested(now T) T { return now + r.Rest }
