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

// decideCut asks the rule what to cut, if it was asked for. It looks at all repetitions, or with Until at the first,
// which are simulated for that alone: what is kept of them is a sum for each job.
func (q *question) decideCut(ctx context.Context, e sim.Experiment) error {
	if !q.cut.auto {
		return nil
	}
	if e.Runs = max(1, q.Runs); q.Until > 0 {
		e.Runs = sim.NextLook(0, cmp.Or(q.Runs, MostRuns))
	}
	e.Options.Watch = nil
	seen := newArrivals(len(q.policies), len(q.Workload.Jobs))
	e.Done = func(c *sim.Cell, jobs []sim.JobResult) error { seen.add(c, jobs); return nil }
	if _, err := e.Run(ctx); err != nil {
		return err
	}
	q.pilots.own = nil // of these runs
	q.cut.decide(q.Workload, seen)
	return nil
}

// runAll runs the experiment, writes its jobs, and returns what there is to say of a warm-up that is not cut.
func (q *question) runAll(ctx context.Context, e *sim.Experiment) (*sim.Comparison, string, error) {
	e.Measure = q.measure()
	var jobs *jobsFile
	if q.Jobs != nil {
		jobs = newJobsFile(q)
	}
	var seen *arrivals
	if q.cut.asked == "" && len(q.Workload.Jobs) >= toldJobs {
		seen = newArrivals(len(q.policies), len(q.Workload.Jobs))
	}
	if jobs != nil || seen != nil {
		e.Done = func(c *sim.Cell, all []sim.JobResult) error {
			if seen != nil {
				seen.add(c, all)
			}
			if jobs != nil {
				return jobs.add(c, all)
			}
			return nil
		}
	}
	compared, err := q.run(ctx, e)
	if err == nil && jobs != nil {
		err = jobs.flush()
	}
	hint := ""
	if err == nil && seen != nil {
		var names []string
		for i := range q.policies {
			names = append(names, q.policies[i].Name)
		}
		hint = seen.hint(q.Workload, names)
	}
	return compared, hint, err
}

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
