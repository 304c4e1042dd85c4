package policy

// SRPT: least remaining work first (Schrage, Operations Research 16, 1968), served greedily with the slots of a
// cluster.
//
//	remaining work  sum over the job's stages of unfinished tasks x mean duration of an attempt
//
// A task counts in full until it is done. The mean is the one known beforehand (Stage.Mean); else that of the stage's
// finished attempts; else that of all finished attempts of the job; else one second, so that among jobs of which
// nothing is known the one with the fewest tasks goes first. (A job that has been measured is then compared with jobs
// that have not; where it matters, give means.) Ties by arrival, then id. Deviation: Schrage's rule preempts, here only
// free slots are given away, unless preempt=true.

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var srptEntry = kit.Entry{
	Name:    "srpt",
	Family:  kit.Orders,
	Cost:    "O(log jobs)",
	Summary: "the job with the least remaining work first; no clones, no preemption by default",
	Needs:   kit.Needs{Jobs: true, Lacking: fifoAlone},
	Source:  "Schrage 1968; greedy on many slots",
	Params: []kit.Param{
		sitesParam("any", "delay"), waitParam,
		{Name: "preempt", Kind: kit.Bool, Default: "false", Help: "Schrage's rule: attempts of resumable stages end for jobs with less work left; then sites do not matter"},
	},
	WorkConserving: true,
	ProgressIf:     func(a kit.Args) bool { return a.Bool("preempt") },
	New: func(a kit.Args) sched.Policy {
		if a.Bool("preempt") {
			return &preemptive{}
		}
		return &plain{sited(kit.OrderOf(kit.ByWork), a)}
	},
}
