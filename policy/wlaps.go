package policy

// WLAPS, weighted latest arrival processor sharing: Gupta, Im, Krishnaswamy, Moseley, Pruhs, "Scheduling Jobs with Varying Parallelizability to Reduce Variance",
// SPAA 2010, for norms of the flow time.
//
//	w_j    power x age^(power-1) x Job.Weight, so that power = 2 is for the sum of squared flow times
//	W      sum of w_j over the active jobs
//	beta   beta
//
//	from the latest arrival on, jobs share the slots in proportion to their weights until these sum to beta W; the last one counts with the part that fits
//
// Readings beside those of laps.go: the age is that at the beginning of the slot of time. While W is 0, at the arrival of the first jobs, all weights are
// Job.Weight. WLAPS+E (Fox, Im, Moseley, SODA 2013) divides the slots alike and sets the speed of the machines, which no driver offers.

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

var wlapsEntry = Entry{
	Name:    "wlaps",
	Summary: "the jobs that arrived last share the slots by age; no clones, no preemption",
	Source:  "Gupta et al., SPAA 2010: WLAPS",
	Params: []Param{
		{Name: "beta", Kind: Float, Default: "0.5", Min: 1.0 / decimals, Max: 1, Help: "fraction of the weight that shares the slots"},
		{Name: "power", Kind: Float, Default: "2", Min: 1, Max: 16, Help: "norm of the flow time that is to be small"},
		{Name: "slot", Kind: Span, Default: "5s", Max: 1e6, Help: "time between decisions; 0s decides at every event"},
	},
	New: func(a Args) sched.Policy {
		return &splitter{slotClock: slotClock{slot: a.Span("slot")}, weigh: wlaps(a.Float("beta"), a.Float("power"))}
	},
}

func wlaps(beta, power float64) func(*sched.View, []part) {
	return func(v *sched.View, jobs []part) {
		slices.SortFunc(jobs, laterPart)
		sum := 0.0
		for i := range jobs {
			x := &jobs[i]
			x.weight = power * math.Pow((v.Now()-x.arrived).Seconds(), power-1) * v.Job(x.job).Weight
			sum += x.weight
		}
		if sum == 0 {
			for i := range jobs {
				jobs[i].weight = v.Job(jobs[i].job).Weight
				sum += jobs[i].weight
			}
		}
		left := beta * sum
		for i := range jobs {
			jobs[i].weight = min(jobs[i].weight, left)
			left -= jobs[i].weight
		}
	}
}
