package simulation

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/tailcut/tailcut/sim"
)

// MostRuns is where an experiment ends whose intervals do not become narrow, unless Request.Runs says another number.
const MostRuns = 10_240

// run runs the experiment, to its end or until its intervals are narrow.
func (q *question) run(ctx context.Context, e *sim.Experiment) (all *sim.Comparison, err error) {
	most := max(1, q.Runs)
	look := most
	if q.Until > 0 {
		most = cmp.Or(q.Runs, MostRuns)
		look = sim.NextLook(0, most)
	}
	for {
		e.Runs = look - e.First
		more, err := e.Run(ctx)
		if err != nil {
			return nil, err
		}
		more.Tail = q.tail()
		if all = all.Join(more); look == most || all.Narrow(q.Until) {
			return all, nil
		}
		e.First, look = look, sim.NextLook(look, most)
	}
}

// printRuns says how many repetitions there were, and why.
func (r *Result) printRuns(w io.Writer) {
	target := strconv.FormatFloat(100*r.Until, 'g', 3, 64) + " %"
	switch {
	case r.Until == 0 || r.Runs == 1:
	case r.Narrow(r.Until):
		fmt.Fprintf(w, "%d repetitions, until all intervals were within %s.\n", r.Runs, target)
	default:
		fmt.Fprintf(w, "Warning: after %d repetitions not all intervals are within %s; --runs sets the most.\n", r.Runs, target)
	}
}
