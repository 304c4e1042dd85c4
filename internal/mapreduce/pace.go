package mapreduce

import (
	"context"
	"time"
)

// paceStep is how long an attempt that is paced waits at once.
const paceStep = 2 * time.Millisecond

// pace waits as long as so many bytes take to come from a device of the attempt's pace, for experiments. It waits in
// short steps, each of which counts for no more than its length: an attempt that is stopped ever so often waits longer
// in all, as one on a slow machine does.
func (a *worker) pace(bytes int) error {
	if a.spec.Pace == 0 {
		return nil
	}
	for left := time.Duration(float64(bytes) / a.spec.Pace * float64(time.Second)); left > 0; left -= paceStep {
		time.Sleep(min(left, paceStep))
	}
	return context.Cause(a.ctx)
}
