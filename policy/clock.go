package policy

import "github.com/tailcut/tailcut/sched"

// slotClock divides time into slots for policies that decide at the beginning of each. Slots begin at multiples of
// their length.
type slotClock struct {
	slot sched.Time // 0: every instant is a boundary
	due  sched.Time // the next boundary while a job is active, else 0
}

// begins tells whether a slot of time begins, and asks to be called when the next one does. A late call counts for the
// boundary that it missed.
func (c *slotClock) begins(v *sched.View, act *sched.Actions) bool {
	now := v.Now()
	switch {
	case v.Cluster().Unfinished() == 0: // no job is active
		c.due = 0
		return false
	case c.slot == 0:
		return true
	case c.due == 0:
		c.due = (now + c.slot - 1) / c.slot * c.slot
	}
	begins := now >= c.due
	if begins {
		c.due = (now/c.slot + 1) * c.slot
	}
	act.WakeAt(c.due)
	return begins
}

// wakeFor asks to be called when the first of what is due is due.
func wakeFor(act *sched.Actions, due *heap[rising[sched.Time]]) {
	if due.len() > 0 {
		act.WakeAt(due.topKey().x)
	}
}
