package sched

// Waiting is not straggling. Between its launch and its beginning an attempt may wait: for a node, for an image, until
// a pause after a failure is over. That is nobody's slowness, and a clone would wait as well. In a core that knows the
// difference an attempt's clock starts when AttemptBegan says so, or the first report of its progress. Until then its
// age is zero, it takes no machine time, and if it ends it has taken none.
//
// See docs/decisions/0020-waiting-is-not-straggling.md.

// WaitToBegin lets launched attempts wait until they begin. It is for drivers that tell AttemptBegan of every attempt,
// before the first fact. Without it only attempts of stages that say so wait (StageSpec.Waits). Any other begins at its
// launch, and AttemptBegan says nothing of it.
func (c *Core) WaitToBegin() { c.view.waits = true }

// since returns when an attempt began, now if it waits.
func (v *View) since(a *attempt) Time {
	if a.waiting {
		return v.now
	}
	return a.started
}

// start lets an attempt begin if it waits. What is known of its progress is known as of now.
func (c *Core) start(row int32) {
	v := &c.view
	a := &v.attempts[row]
	if !a.waiting {
		return
	}
	a.started, a.waiting = v.now, false
	if a.advanced {
		v.progress[row].at = v.now
	}
	c.observe(c.about(row, AttemptBegan))
}
