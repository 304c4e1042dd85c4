package policy

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// Where no attempt has ever reported, only ages are known. By its age alone a task seems late only when it is too late
// for a clone. So while no task waits, auto decides which tasks get clones, and no attempt gives way: auto goes by what
// is left at an age, and clones in idle slots before anything seems late. While tasks wait the rules of laxity hold:
// they free the slots of slow attempts, which auto does only by reports. So they do where attempts wait to begin, as
// auto clones also what has not begun.

// idles tells whether auto decides what gets clones.
func (p *laxity) idles(v *sched.View) bool {
	return p.mute != nil && v.Pending() == 0 && !v.Cluster().WaitToBegin()
}

// idle gives slots to the clones that auto wants, and ends those that are hopeless.
func (p *laxity) idle(v *sched.View, act *sched.Actions) {
	p.mute.watch(v)
	for p.mute.clone(v, act) || p.mute.end(v, act) {
	}
	p.mute.anew = p.mute.anew[:0]
	kit.WakeFor(act, &p.mute.due)
}
