package rule

import (
	"fmt"
	"math"
)

// Fork is a single fork (Wang, Joshi and Wornell, arXiv 1503.03128, Definition 1): when all but the fraction P of a
// stage's tasks are done, each of the others gets R new attempts; with Kill its own is killed, and R+1 start. With P
// = 0 or without new attempts nothing happens. The backup tasks of MapReduce (Dean and Ghemawat, OSDI 2004, section
// 3.6) are one: a clone of all that runs when the job is "close to completion".
type Fork struct {
	P    float64
	R    int
	Kill bool
}

// Backup returns MapReduce's backup tasks, "close to completion" read as the last 5 % of the tasks.
func Backup() Fork { return Fork{P: 0.05, R: 1} }

// Validate returns an error unless the parameters are in range.
func (r Fork) Validate() error {
	switch {
	case !(r.P >= 0 && r.P <= 1):
		return fmt.Errorf("the fraction of stragglers of a fork is from 0 to 1, got %g", r.P)
	case r.R < 0:
		return fmt.Errorf("the clones of a fork are at least 0, got %d", r.R)
	}
	return nil
}

// At returns the number of tasks done at which a stage forks: tasks × (1-P) rounded to the nearest integer, as the
// paper has it; cut off, 10 tasks with P = 0.9 would fork at 0.
func (r Fork) At(tasks int) int { return int(math.Round(float64(tasks) * (1 - r.P))) }
