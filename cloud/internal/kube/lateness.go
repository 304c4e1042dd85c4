package kube

import (
	"slices"
	"time"
)

// lateness is how late the last ends of attempts came to be known. Pods tell their times to the second, and then the
// kubelet, the API server and the watch take theirs. So what seems to run for too long may have ended; a clone waits
// until that would be known.
type lateness struct {
	last    [16]time.Duration
	n       int
	longest time.Duration // that an attempt took which has succeeded
}

// mostLate bounds the wait of clones: an end that comes later than that says more about a node that was cut off than
// about the next one.
const mostLate = 5 * time.Second

// add takes in an end that became known so late, of an attempt that took so long.
func (l *lateness) add(late, took time.Duration) {
	l.last[l.n%len(l.last)] = late
	l.n++
	l.longest = max(l.longest, took)
}

// most returns the largest of the last ones, in [0, mostLate].
func (l *lateness) most() time.Duration { return min(slices.Max(l.last[:]), mostLate) }

// sure is when a clone that was asked for may be made, of attempts the last of which began at a time, in whole seconds.
// An end before the clone was asked for would be known then, or one after no more time than any attempt has taken.
func (l *lateness) sure(asked, begun time.Time) time.Time {
	late := l.most()
	sure := asked.Add(late)
	if usual := begun.Add(time.Second + l.longest + late); usual.Before(sure) {
		return usual
	}
	return sure
}
