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

	"github.com/tailcut/tailcut/sched"
)

var intermediateEntry = Entry{
	Name:    "intermediate-srpt",
	Summary: "equal shares, or one slot each for the jobs with the least remaining work; no clones, no preemption",
	Needs:   Needs{Jobs: true, Lacking: fifoAlone},
	Source:  "Im, Moseley, Pruhs, Torng, SPAA 2014",
	Params: []Param{
		{Name: "slot", Kind: Span, Default: "5s", Max: 1e6, Help: "time between decisions; 0s decides at every event"},
	},
	New: func(a Args) sched.Policy {
		p := &intermediate{splitter: splitter{slotClock: slotClock{slot: a.Span("slot")}, prefix: true}}
		p.weigh = p.least
		return p
	},
}

type intermediate struct {
	splitter
	work workload
}

func (p *intermediate) Observe(v *sched.View, ev *sched.Event) { p.work.observe(v, ev) }

// least gives a weight to the jobs with the least remaining work, as many as there are slots at most.
func (p *intermediate) least(v *sched.View, jobs []part) float64 {
	for i := range jobs {
		jobs[i].key = p.work.remaining(v, jobs[i].job)
	}
	slices.SortFunc(jobs, func(a, b part) int { return cmp.Or(cmp.Compare(a.key, b.key), earlierPart(a, b)) })
	for i := range jobs[:min(len(jobs), v.Slots())] {
		jobs[i].weight = 1
	}
	return float64(len(jobs))
}
