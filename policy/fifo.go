package policy

// FIFO: Hadoop's default and Spark's FIFO pools.
//
// Each free slot goes to the first job, by (priority, arrival, id), that has a task waiting; later jobs may use what
// earlier ones cannot (no head-of-line blocking). A larger Job.Priority goes first, as in Hadoop; Spark counts the
// other way round. No clones.

import (
	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var fifoEntry = kit.Entry{
	Name:           "fifo",
	Family:         kit.Orders,
	Cost:           "O(log jobs)",
	Summary:        "jobs in order of priority and arrival; no clones",
	Source:         "Apache Hadoop 0.20.2, JobQueueTaskScheduler.assignTasks; Spark 4.0.1, FIFOSchedulingAlgorithm.comparator",
	Code:           fifoCode,
	Params:         []kit.Param{sitesParam("any", "delay"), waitParam},
	WorkConserving: true,
	New:            func(a kit.Args) sched.Policy { return &plain{sited(kit.OrderOf(kit.ByArrival), a)} },
}

// plain is a policy without clones: an order and nothing else.
type plain struct{ order kit.Order }

func (p *plain) watching() *geo.SiteWatch { return watchOf(&p.order) }

// Confines tells whether the sites are chosen.
func (p *plain) Confines() bool { return p.order.Confines() }

func (p *plain) Observe(v *sched.View, ev *sched.Event)   { p.order.Observe(v, ev) }
func (p *plain) Decide(v *sched.View, act *sched.Actions) { p.order.Fill(v, act) }

// Overhear takes notice of work that another class of slots has done for a job.
func (p *plain) Overhear(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptDone {
		p.order.Observe(v, ev)
	}
}
