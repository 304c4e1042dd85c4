package sched

import (
	"math"
	"time"
)

// Time is an instant in nanoseconds since the run began, or a span in nanoseconds. Drivers own the clock.
// The range is 292 years.
type Time int64

// Spans, and the latest instant, which stands for "never".
const (
	Nanosecond  Time = 1
	Millisecond Time = 1e6
	Second      Time = 1e9
	Never       Time = math.MaxInt64
)

// Seconds returns t in seconds.
func (t Time) Seconds() float64 { return float64(t) / 1e9 }

// String prints t as time.Duration does, "never" for Never.
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return time.Duration(t).String()
}

// FromSeconds rounds s seconds to the nearest nanosecond. Values beyond the range, and +Inf, give Never; NaN gives 0.
func FromSeconds(s float64) Time {
	switch ns := math.Round(s * 1e9); {
	case ns != ns:
		return 0
	case ns >= math.MaxInt64:
		return Never
	case ns <= math.MinInt64:
		return math.MinInt64
	default:
		return Time(ns)
	}
}
