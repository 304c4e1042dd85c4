package trace

import (
	"math/rand/v2"
	"slices"
)

// Resample returns a workload with as many jobs that arrive at the same instants, each drawn from all jobs with
// replacement: another workload of the same kind, if jobs do not depend on those before them (Efron's bootstrap). Each
// drawn job has a number of its own, so its attempts draw durations of their own. What the jobs consist of is shared.
func (w *Workload) Resample(seed uint64) *Workload {
	r := rand.New(rand.NewPCG(seed, 0x6a6f6273)) // "jobs"
	other := *w
	other.Jobs = slices.Clone(w.Jobs)
	for j := range other.Jobs {
		drawn := w.Jobs[r.IntN(len(w.Jobs))]
		drawn.Arrival, drawn.Number = w.Jobs[j].Arrival, w.Jobs[j].Number
		other.Jobs[j] = drawn
	}
	return &other
}
