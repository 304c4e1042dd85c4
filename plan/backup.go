package plan

import (
	"fmt"
	"math"
)

// Backup is the backup tasks of MapReduce (Dean and Ghemawat, OSDI 2004, section 3.6): when no more than the share
// Share of the tasks still runs, each of them gets one clone. The paper says "close to completion"; 0.05 is a reading.
type Backup struct{ Share float64 }

// Validate returns an error unless the share is one.
func (b Backup) Validate(int) error {
	if !(b.Share >= 0 && b.Share <= 1) {
		return fmt.Errorf("the share of backup tasks is from 0 to 1, got %g", b.Share)
	}
	return nil
}

// policy is the single-fork policy that it is.
func (b Backup) policy(tasks int) Policy {
	return Policy{Stragglers: int(math.Floor(b.Share * float64(tasks))), Clones: 1, Original: Keep}
}

func (b Backup) play(j *job) { b.policy(len(j.end)).play(j) }
