package policy

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// A machine on which an attempt takes much longer than others of its stage may be slow itself, so that what starts
// there next is slow, too. Where durations differ by chance nothing is lost: other machines are as good.
const (
	slowBy  = 2  // times what an attempt of the stage usually takes
	shunFor = 20 // times that, a slow machine gets no work while others are free
)

// usually returns how many seconds an attempt of a stage takes, 0 if that is not known.
func (st *autoStage) usually(stage *sched.Stage) float64 {
	if st.foretold(stage) && st.past.n < toldCounts {
		return stage.Mean.Seconds()
	}
	return st.past.median()
}

// runs takes in that an attempt runs for so many seconds on a machine; those of the stage usually take usually.
func (p *auto) runs(v *sched.View, m sched.MachineID, seconds, usually float64) {
	if usually > 0 && seconds > slowBy*usually {
		p.shunned.Slow(v, m, kit.Later(0, shunFor*usually))
	}
}

// ran takes in that an attempt has ended on a machine after so many seconds, and whether it was done.
func (p *auto) ran(v *sched.View, m sched.MachineID, seconds, usually float64, done bool) {
	switch {
	case usually == 0:
	case seconds > slowBy*usually:
		p.runs(v, m, seconds, usually)
		p.machines.ran(m, true)
		if done {
			p.machines.took(seconds / usually)
		}
	case done:
		p.shunned.Quick(m)
		p.machines.ran(m, false)
	}
}

// gaveUp takes in that an attempt ends before it is done. If that were judged by its age alone, to end slow attempts
// early would hide that their machine is slow.
func (p *auto) gaveUp(v *sched.View, x sched.AttemptID, usually float64) {
	p.ran(v, v.Attempt(x).Machine, p.takes(v, x), usually, false)
}

// machines learns whether a machine that was slow stays slow, by what ended there next. Then the slot that a straggler
// gives back is worth less than the one that its clone takes.
type machines struct {
	slow  []bool // by machine, the latest attempt
	any   bool   // the latest attempt anywhere
	same  repeats
	other repeats
	times slowness
}

// repeats counts attempts that ended after a slow one, and those of them that were slow.
type repeats struct{ all, slow float64 }

// slowness is the sum of how many times longer than usual slow attempts took that were done, and their number.
type slowness struct{ sum, n float64 }

const (
	machinesFade = 0.998 // of what was learned, with each attempt that says something
	sameCounts   = 4     // attempts that stand for a machine being like any other
	usualSlow    = 4     // times longer than usual that a slow attempt takes, as if by one
)

// ran takes in that an attempt has ended on a machine.
func (x *machines) ran(m sched.MachineID, slow bool) {
	x.slow = kit.Grown(x.slow, int(m))
	if x.slow[m] {
		x.same.add(slow)
	}
	if x.any {
		x.other.add(slow)
	}
	x.slow[m], x.any = slow, slow
}

// took takes in how many times longer than usual a slow attempt took.
func (x *machines) took(times float64) {
	x.times.sum, x.times.n = machinesFade*x.times.sum+times, machinesFade*x.times.n+1
}

func (r *repeats) add(slow bool) {
	r.all, r.slow = machinesFade*r.all+1, machinesFade*r.slow
	if slow {
		r.slow++
	}
}

// worth returns what a slot is worth in which an attempt is slow, as a part of any other's. A machine is slow again
// with a chance of a, where after a slow attempt anywhere the next one is slow with a chance of b: stages in which
// many are slow say nothing of machines. So a share of (a-b)/(1-b) of slow attempts is the machine's doing, and what it
// does in a second others do in 1/k.
func (x *machines) worth() float64 {
	b := (x.other.slow + 1) / (x.other.all + 4)
	a := (x.same.slow + sameCounts*b) / (x.same.all + sameCounts)
	k := (x.times.sum + usualSlow) / (x.times.n + 1)
	return 1 - max(0, a-b)/(1-b)*(1-1/k)
}
