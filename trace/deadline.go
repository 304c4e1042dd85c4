package trace

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/sched"
)

// SetDeadlines gives each job that has no deadline one: slack, which is positive, times what the job would take alone
// with the durations as recorded ([PathFinder.Alone]) after its arrival. A job that would take no time gets none.
func (w *Workload) SetDeadlines(slack float64) error {
	if !(slack > 0) || math.IsInf(slack, 0) {
		return fmt.Errorf("expected a positive number, not %v", slack)
	}
	var p PathFinder
	for j := range w.Jobs {
		if job := &w.Jobs[j]; job.Deadline == 0 {
			alone := float64(p.Alone(w, j))
			job.Deadline = sched.Time(math.Round(min(slack*alone, maxInstant)))
		}
	}
	return nil
}
