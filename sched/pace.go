package sched

import "math"

// Pacer is a policy that may set the speed of the machines. A driver that cannot do that refuses it before the first
// fact, and so do drivers where the speed would have no clear meaning.
type Pacer interface {
	Policy
	Paces() bool // the answer does not change
}

// Paces tells whether a policy may set the speed of the machines.
func Paces(p Policy) bool {
	q, ok := p.(Pacer)
	return ok && q.Paces()
}

// Pace lets all machines, also those that join later, run at a factor of their ordinary speed from now on. The factor
// is positive and finite, and only a policy that Paces may set it. What was reported of the rates of attempts does not
// change with it: that is for the driver to report anew. To order the speed at which they run already does nothing.
func (x *Actions) Pace(speed float64) error {
	c := x.core
	switch {
	case !c.paces || !(speed > 0) || math.IsInf(speed, 1):
		return ErrPace
	case speed != c.view.pace:
		c.view.pace = speed
		c.order(Decision{Kind: Pace, Speed: speed})
	}
	return nil
}
