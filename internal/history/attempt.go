package history

import (
	"fmt"

	"github.com/tailcut/tailcut/sched"
)

// Record is one execution of a task, as its log tells it.
type Record struct {
	Job, Stage string // as the log names them; either may be "", and stages are names within a job
	StageName  string // what people call the stage, "" if that is its only name
	Task       int    // number of the task within the stage, as the log counts
	Number     int    // of the attempt within the task, from 0
	// since 1970 in UTC or since the log's own beginning, whichever the log uses; 0 if it does not say
	Start    sched.Time
	Duration sched.Time // at least 0; of an attempt that has not ended, how long it was seen to run
	Outcome  Outcome
	// to what the log rounds its clock, 0 if that is finer than a millisecond: durations differ from the truth by less
	Resolution sched.Time

	Speculative  bool // whether the log calls the attempt a clone
	Host         string
	InputBytes   int64 // read from storage; 0 if the log does not say
	ShuffleBytes int64 // read from tasks of earlier stages; 0 if the log does not say
	Executor     string
	Metrics

	written float64 // seconds as the log has them, where these may be finer or longer than Duration
}

// Seconds returns the duration in seconds. Of plain numbers it is what is written there, which may be finer than a
// nanosecond.
func (a *Record) Seconds() float64 {
	if a.written != 0 {
		return a.written
	}
	return a.Duration.Seconds()
}

// Outcome says how an attempt ended.
type Outcome uint8

// The outcomes. Of an attempt that was killed or still runs, Duration is a lower bound of what it would have needed: a
// right-censored observation. A failed attempt says little about what a good one needs. One that reached a time limit,
// or that somebody cancelled, was ended because of how long it took, or with all that ran then; nobody knows which, and
// what it would have needed, or its clone, is not to be had from it.
const (
	Succeeded Outcome = iota
	Failed
	Killed
	Running
	TimedOut
	Cancelled
)

var outcomeNames = [...]string{"succeeded", "failed", "killed", "running", "timed out", "cancelled"}

// String returns the outcome in lower case.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome-%d", uint8(o))
}

// maxInstant bounds instants and durations, so that sums of a few of them do not overflow: 73 years, until 2043 for
// instants since 1970.
const maxInstant = sched.Never / 4

// span returns the time from start to end, 0 if clocks put the end before the start.
func span(start, end sched.Time) sched.Time { return max(0, end-start) }
