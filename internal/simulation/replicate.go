package simulation

import (
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// redraws tells whether each repetition has jobs of its own.
func (q *question) redraws() bool { return q.Replicate == NewWorkload || q.Replicate == Both }

// redraw makes the workload of a repetition, and fits it to the request.
func (q *question) redraw(seed uint64) (*trace.Workload, error) {
	if q.Redraw == nil {
		return q.Workload.Resample(seed), nil // which has been fitted
	}
	w, err := q.Redraw(seed)
	if err != nil {
		return nil, err
	}
	return w, q.fitWorkload(w)
}

// boundRuns is over how many workloads at most the bound is averaged.
const boundRuns = 100

// bound is the lower bound of the mean flow time of any policy, in the mean over the first repetitions; 0 if none is
// known.
func (q *question) bound() (bound float64, err error) {
	if q.paces {
		return 0, nil
	}
	if !q.redraws() {
		return sim.LowerBound(q.Workload, q.options)
	}
	runs := min(max(1, q.Runs), boundRuns)
	for k := range runs {
		w, err := q.redraw(sim.RunSeed(q.Seed, k))
		if err != nil {
			return 0, err
		}
		of, err := sim.LowerBound(w, q.options)
		if err != nil || of == 0 {
			return 0, err
		}
		bound += of / float64(runs)
	}
	return bound, nil
}
