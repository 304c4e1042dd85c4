package policy

// EDF: the earliest deadline first (Jackson 1955; Liu and Layland, JACM 20, 1973), served greedily with the slots of a
// cluster.
//
// Each free slot goes to the job with the earliest deadline that has a task waiting; jobs without a deadline come after
// all others. Ties by arrival, then id. A job that is late already keeps its place, as in the original: under overload
// it makes others late. Deviation: the original preempts, here only free slots are given away. No clones: what cloning
// gains beside this order is seen apart from what the order gains.

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var edfEntry = kit.Entry{
	Name:           "edf",
	Family:         kit.Orders,
	Cost:           "O(log jobs)",
	Summary:        "the job with the earliest deadline first; no clones, no preemption",
	Needs:          kit.Needs{Jobs: true, Lacking: fifoAlone},
	Source:         "Jackson 1955; Liu and Layland 1973; greedy on many slots",
	Params:         []kit.Param{sitesParam("any", "delay"), waitParam},
	WorkConserving: true,
	New:            func(a kit.Args) sched.Policy { return &plain{sited(kit.OrderOf(kit.ByDeadline), a)} },
}
