package policy

// Processor sharing, the model of queueing theory (Kleinrock, JACM 14, 1967): every task runs from its arrival, and
// all that run share the speed of some machines equally, none faster than one machine.
//
//	c     servers
//	n(t)  Live: attempts that run
//
//	speed of each  min(1, c/n(t))
//
// The share is of a task, not of a job; of jobs of one task each that is the same. There must be slots for all tasks at
// once: those that find none wait, first come, first served.

import (
	"fmt"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

type sharedSpeed struct {
	servers int
	order   kit.Order
}

func (p *sharedSpeed) Observe(v *sched.View, ev *sched.Event) { p.order.Observe(v, ev) }

func (p *sharedSpeed) Decide(v *sched.View, act *sched.Actions) {
	p.order.Fill(v, act)
	if n := v.Cluster().Live(); n > 0 {
		speed := min(1, float64(p.servers)/float64(n))
		if err := act.Pace(speed); err != nil {
			panic(fmt.Sprintf("policy: speed %v: %v", speed, err))
		}
	}
}

// Paces tells that the policy sets the speed of the machines.
func (p *sharedSpeed) Paces() bool { return true }
