package policy

// FIFO: Hadoop's default and Spark's FIFO pools.
//
// Each free slot goes to the first job, by (priority, arrival, id), that has a task waiting; later jobs may use what
// earlier ones cannot (no head-of-line blocking). A larger Job.Priority goes first, as in Hadoop; Spark counts the
// other way round. No clones.

import "github.com/tailcut/tailcut/sched"

var fifoEntry = Entry{
	Name:           "fifo",
	Summary:        "jobs in order of priority and arrival; no clones",
	Source:         "Hadoop's default scheduler; Spark SchedulingAlgorithm.scala, FIFO",
	Params:         []Param{sitesParam("any", "delay"), waitParam},
	WorkConserving: true,
	New:            func(a Args) sched.Policy { return &plain{sited(jobOrder{ranking: ranking{kind: byArrival}}, a)} },
}

// plain is a policy without clones: an order and nothing else.
type plain struct{ order jobOrder }

func (p *plain) watching() *siteWatch { return p.order.watching() }

func (p *plain) Observe(v *sched.View, ev *sched.Event)   { p.order.observe(v, ev) }
func (p *plain) Decide(v *sched.View, act *sched.Actions) { p.order.fill(v, act) }

// Overhear takes notice of work that another class of slots has done for a job.
func (p *plain) Overhear(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptDone {
		p.order.observe(v, ev)
	}
}
