package policy

import "github.com/tailcut/tailcut/sched"

// restarts tells whether a clone shortens what a task takes of slots although it is not expected to be done in half of
// the time left: its only attempt can end as soon as the clone is ahead of it. If the clone does not draw a new
// duration, what that attempt has done so far is lost.
func (p *auto) restarts(v *sched.View, x *runner, worth, chance, start float64) bool {
	age := (v.Now() - x.started).Seconds()
	return x.attempts == 1 && worth*(x.mean-p.eye.renewal.mean()-start) > (1-chance)*age
}
