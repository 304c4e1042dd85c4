package plan

import (
	"fmt"

	"github.com/tailcut/tailcut/laws"
)

// Timeout gives a task clones when it has run for a time, whatever the others do. It needs no knowledge of the job, so
// it is what a client that waits for an answer can do, and its tasks are independent, so that all about it is exact.
//
// With Original Kill and no Clones it relaunches: a task that is not done in After is killed and started anew.
type Timeout struct {
	After    float64 // age of the task, seconds, > 0
	Clones   int     // r >= 0
	Original Original
	Times    int // how often, every After; at least 1
}

// maxTimes is the most time-outs of a task.
const maxTimes = 100

// Validate returns an error unless the time-out is positive and something happens then.
func (t Timeout) Validate(int) error {
	switch {
	case !(t.After > 0 && t.After < 1e300):
		return fmt.Errorf("a time-out is after a positive number of seconds, got %g", t.After)
	case t.Clones < 0:
		return fmt.Errorf("clones must not be negative, got %d", t.Clones)
	case t.Original > Kill:
		return fmt.Errorf("original must be keep or kill, got %d", t.Original)
	case t.Times < 1 || t.Times > maxTimes:
		return fmt.Errorf("a task has from 1 to %d time-outs, got %d", maxTimes, t.Times)
	}
	return nil
}

func (t Timeout) play(j *playing) {
	for i := 1; i <= t.Times; i++ {
		j.fork(float64(i)*t.After, t.Clones, t.Original)
	}
}

func (t Timeout) schedule(l laws.Law) *schedule {
	s := newSchedule(l)
	for i := 1; i <= t.Times; i++ {
		s.fork(float64(i)*t.After, t.Clones, t.Original)
	}
	return s
}
