package policy

// WLAPS, weighted latest arrival processor sharing: Gupta, Im, Krishnaswamy, Moseley, Pruhs, "Scheduling Jobs with
// Varying Parallelizability to Reduce Variance", SPAA 2010, for norms of the flow time.
//
//	w_j    power x age^(power-1) x Job.Weight, so that power = 2 is for the sum of squared flow times
//	W      sum of w_j over the active jobs
//	beta   beta
//
//	from the latest arrival on, jobs share the slots in proportion to their weights until these sum to beta W; the last one counts with the part that fits
//
// Readings beside those of laps.go: the age is that at the decision. While W is 0, at the arrival
// of the first jobs, all weights are Job.Weight.
//
// WLAPS+E (energy > 0; Fox, Im, Moseley, "Energy Efficient Scheduling of Parallelizable Jobs", SODA 2013) divides the
// slots alike, and lets them run at the total speed whose power is the alive weight:
//
//	M      slots of machines that are up, busy or not
//	f      View.Pace, (M f)^energy = W
//
// The speed of 1 is the ordinary speed of one slot, the weights are as above, and W is that at the decision. So with
// power=1 the equation holds at every instant; with ages it holds when the policy decides.

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var wlapsEntry = kit.Entry{
	Name:    "wlaps",
	Family:  kit.Orders,
	Cost:    "O(jobs log jobs)",
	Summary: "the jobs that arrived last share the slots by age; no clones, no preemption",
	Needs:   kit.Needs{Jobs: true, Lacking: fifoAlone},
	Source:  "Gupta et al., SPAA 2010: WLAPS; Fox, Im, Moseley, SODA 2013: WLAPS+E",
	Params: []kit.Param{
		{Name: "beta", Kind: kit.Float, Default: "0.5", Min: 1.0 / decimals, Max: 1, Help: "fraction of the weight that shares the slots"},
		{Name: "power", Kind: kit.Float, Default: "2", Min: 1, Max: 16, Help: "norm of the flow time that is to be small"},
		{Name: "energy", Kind: kit.Int, Default: "0", Max: 16, Help: "WLAPS+E, simulated only: the power of a speed s is s to this; 0 leaves the speed alone"},
		kit.SlotOf("0s", "the paper's shares change with every arrival and end"),
	},
	New: func(a kit.Args) sched.Policy {
		return &kit.Splitter{
			Clock: kit.Clock{Slot: a.Span("slot")}, Weigh: wlaps(toRatio(a.Float("beta")), a.Float("power")), Energy: a.Int("energy"),
		}
	},
}

func wlaps(beta ratio, power float64) func(*sched.View, []kit.Part) float64 {
	second := math.Pow(float64(sched.Second), power-1) // in the unit of keys
	return func(v *sched.View, jobs []kit.Part) float64 {
		slices.SortFunc(jobs, kit.LaterPart)
		sum := 0.0
		for i := range jobs {
			x := &jobs[i]
			x.Key = math.Pow(float64(v.Now()-x.Arrived), power-1) * v.Job(x.Job).Weight
			sum += x.Key
		}
		sum *= power / second
		if sum == 0 {
			for i := range jobs {
				jobs[i].Key = v.Job(jobs[i].Job).Weight
				sum += jobs[i].Key
			}
		}
		kit.Weights(jobs)
		beta.keep(jobs)
		return sum
	}
}

// keep leaves the first jobs their weights, until these are the fraction beta of all, and takes them from the others.
func (beta ratio) keep(jobs []kit.Part) {
	all := uint64(0)
	for i := range jobs {
		all += jobs[i].Weight
	}
	hi, lo := bits.Mul64(all, beta.num)
	left, _ := bits.Div64(hi, lo, beta.den)
	for i := range jobs {
		jobs[i].Weight = min(jobs[i].Weight, left)
		left -= jobs[i].Weight
	}
}
