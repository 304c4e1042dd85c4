package policy

// LAPS, latest arrival processor sharing: Edmonds and Pruhs, "Scalably Scheduling Processes with Arbitrary Speedup
// Curves", SODA 2009.
//
//	n(t)   active jobs
//	beta   beta
//
//	the ceil(beta n(t)) jobs that arrived last share all slots equally; beta = 1 is equipartition
//
// Readings, as kit.Splitter has them: shares are of slots and whole, by largest remainder, set anew whenever something
// happens or, with slot, in each slot of time; a share is no larger than the tasks that can run, and what the latest
// jobs cannot use goes to those before them. Deviation: nothing is preempted.

import (
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var lapsEntry = kit.Entry{
	Name:    "laps",
	Family:  kit.Orders,
	Cost:    "O(jobs log jobs)",
	Summary: "the jobs that arrived last share the slots; no clones, no preemption",
	Needs:   kit.Needs{Jobs: true, Lacking: fifoAlone},
	Source:  "Edmonds and Pruhs, SODA 2009: LAPS(beta)",
	Params: []kit.Param{
		{Name: "beta", Kind: kit.Float, Default: "0.5", Min: 1.0 / decimals, Max: 1, Help: "fraction of the active jobs that share the slots"},
		{Name: "servers", Kind: kit.Int, Default: "0", Max: 1 << 24, Help: "simulated only, processor sharing: all tasks run at once and share the speed of N machines; 0 leaves the speed alone"},
		kit.SlotOf("0s", "the paper's shares change with every arrival and end"),
	},
	New: func(a kit.Args) sched.Policy {
		if n := a.Int("servers"); n > 0 {
			return &sharedSpeed{servers: n, order: kit.OrderOf(kit.ByArrival)}
		}
		return &kit.Splitter{Clock: kit.Clock{Slot: a.Span("slot")}, Weigh: laps(toRatio(a.Float("beta"))), Prefix: true}
	},
}

func laps(beta ratio) func(*sched.View, []kit.Part) float64 {
	return func(_ *sched.View, jobs []kit.Part) float64 {
		slices.SortFunc(jobs, kit.LaterPart)
		n := (beta.num*uint64(len(jobs)) + beta.den - 1) / beta.den
		for i := range jobs[:n] {
			jobs[i].Weight = 1
		}
		return float64(len(jobs))
	}
}
