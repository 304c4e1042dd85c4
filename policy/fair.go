package policy

// Fair: Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UCB/EECS-2009-55; Spark
// SchedulingAlgorithm.scala, FAIR.
//
//	running(x)   Job.Live, attempts and not tasks, so that a job pays for its clones
//	minShare(x)  Job.MinShare
//	weight(x)    Job.Weight
//
// A job is needy while running < minShare. Needy jobs go first, by running/max(minShare, 1); then the others by
// running/weight; ties by id. Nothing is preempted. Each job is a pool of its own; pools of several jobs are not
// modelled.

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var fairEntry = kit.Entry{
	Name:           "fair",
	Family:         kit.Orders,
	Cost:           "O(log jobs)",
	Summary:        "each job its share by weight, minimum shares first; no clones, no preemption",
	Needs:          kit.Needs{Jobs: true, Lacking: fifoAlone},
	Source:         "Zaharia et al., UCB/EECS-2009-55; Spark 4.0.1, FairSchedulingAlgorithm.comparator",
	Code:           fairCode,
	Params:         []kit.Param{sitesParam("any", "delay"), waitParam},
	WorkConserving: true,
	New:            func(a kit.Args) sched.Policy { return &plain{sited(kit.OrderOf(kit.ByShare), a)} },
}
