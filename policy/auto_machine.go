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
	if stage.Mean > 0 {
		return stage.Mean.Seconds()
	}
	return st.past.median()
}

// blame takes in that an attempt has run so many seconds on a machine, or that it has taken as many if it is done.
// Attempts of the stage usually take as long as usually says.
func (p *auto) blame(v *sched.View, m sched.MachineID, seconds, usually float64, done bool) {
	switch {
	case usually == 0:
	case seconds > slowBy*usually:
		p.shunned.Slow(v, m, kit.Later(0, shunFor*usually))
	case done:
		p.shunned.Quick(m)
	}
}
