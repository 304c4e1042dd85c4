package policy

// Intermediate-SRPT: Im, Moseley, Pruhs, Torng, "Competitively Scheduling Tasks with Intermediate Parallelizability",
// SPAA 2014.
//
//	n   active jobs
//	m   View.Slots
//
//	if n >= m, the m jobs with the least remaining work get one slot each; otherwise all get m/n
//
// Readings beside those of laps.go: remaining work is that of srpt.go, unfinished tasks times their mean duration; ties
// by arrival, then id.

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var intermediateEntry = kit.Entry{
	Name:    "intermediate-srpt",
	Family:  kit.Orders,
	Cost:    "O(jobs log jobs)",
	Summary: "equal shares, or one slot each for the jobs with the least remaining work; no clones, no preemption",
	Needs:   kit.Needs{Jobs: true, Lacking: fifoAlone},
	Source:  "Im, Moseley, Pruhs, Torng, SPAA 2014",
	Params: []kit.Param{
		kit.SlotOf("0s", "the paper's shares change with every arrival and end"),
	},
	New: func(a kit.Args) sched.Policy {
		p := &intermediate{Splitter: kit.Splitter{Clock: kit.Clock{Slot: a.Span("slot")}, Prefix: true}}
		p.Weigh = p.least
		return p
	},
}

type intermediate struct {
	kit.Splitter
	work kit.Workload
}

func (p *intermediate) Observe(v *sched.View, ev *sched.Event) { p.work.Observe(v, ev) }

// least gives a weight to the jobs with the least remaining work, as many as there are slots at most.
func (p *intermediate) least(v *sched.View, jobs []kit.Part) float64 {
	for i := range jobs {
		jobs[i].Key = p.work.Remaining(v, jobs[i].Job)
	}
	slices.SortFunc(jobs, func(a, b kit.Part) int { return cmp.Or(cmp.Compare(a.Key, b.Key), kit.EarlierPart(a, b)) })
	for i := range jobs[:min(len(jobs), v.Slots())] {
		jobs[i].Weight = 1
	}
	return float64(len(jobs))
}
