package kit

import "github.com/tailcut/tailcut/sched"

// Clock divides time into slots for policies that decide at the beginning of each. Slots begin at multiples of
// their length.
type Clock struct {
	Slot sched.Time // 0: every instant is a boundary
	Due  sched.Time // the next boundary while something waits or runs, else 0
}

// SlotOf is the parameter "slot" of a policy that decides in slots of time, with the length in its source and why it is
// that. The theory of shares is continuous: there it is 0s.
func SlotOf(length, why string) Param {
	return Param{Name: "slot", Kind: Span, Default: length, Max: 1e6, Help: "time between decisions; 0s decides at every event: " + why}
}

// Begins tells whether a slot of time begins, and asks to be called when the next one does. A late call counts for
// the boundary that it missed.
func (c *Clock) Begins(v *sched.View, act *sched.Actions) bool {
	now := v.Now()
	switch {
	case v.Pending() == 0 && v.Cluster().Live() == 0: // no job is active, or those that are have to wait
		c.Due = 0
		return false
	case c.Slot == 0:
		return true
	case c.Due == 0:
		c.Due = (now + c.Slot - 1) / c.Slot * c.Slot
	}
	begins := now >= c.Due
	if begins {
		c.Due = (now/c.Slot + 1) * c.Slot
	}
	act.WakeAt(c.Due)
	return begins
}

// WakeFor asks to be called at the smallest key of a heap of instants. A policy that has several things to wait for
// keeps them in one and calls this at the end of Decide.
func WakeFor(act *sched.Actions, due *Heap[Rising[sched.Time]]) {
	if due.Len() > 0 {
		act.WakeAt(due.TopKey().X)
	}
}

// Later returns the instant some seconds after another, Never if that is beyond all time.
func Later(now sched.Time, s float64) sched.Time {
	d := sched.FromSeconds(s)
	if d > sched.Never-now {
		return sched.Never
	}
	return now + d
}
