// Package rule states what systems and papers do about stragglers, each once: the parameters and their ranges, and
// when a task deserves another attempt. The policies of package policy follow these rules in a cluster, event by
// event, in nanoseconds; the planner evaluates the same for a job whose tasks all start at once, in seconds. Both ask
// here.
//
// A rule knows neither tasks nor slots, only numbers of tasks and times. What is about a cluster alone (on which
// machine a clone starts, who goes first) is the policies'.
package rule

import "math"

// Ticks are instants and spans, counted in nanoseconds or as a number of seconds. All of one rule have one unit.
type Ticks interface{ ~int64 | ~float64 }

// seconds returns a time of whole nanoseconds in seconds.
func seconds[T Ticks](t T) float64 { return float64(t) / 1e9 }

// whole says whether times of the type are whole numbers.
func whole[T Ticks]() bool { return T(1)/2 == 0 }

// times returns a multiple of a time; whole numbers are rounded down. ok is false if it is beyond their range.
func times[T Ticks](factor float64, t T) (product T, ok bool) {
	x := factor * float64(t)
	if whole[T]() && x >= math.MaxInt64 {
		return 0, false
	}
	return T(x), true
}

// next returns the first multiple of step that is not before t, which is not negative; t itself if step is 0.
func next[T Ticks](t, step T) T {
	switch {
	case step == 0:
		return t
	case whole[T]():
		return (t + step - 1) / step * step
	}
	return T(math.Ceil(float64(t)/float64(step))) * step
}
