package trace

import (
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// A PathFinder computes how long jobs would take alone. It keeps scratch space between calls; the zero value is ready.
type PathFinder struct {
	ends   []sched.Time // by stage of the job: when the stage is done
	ready  []sched.Time // by task of the job: when its single inputs are done; later, when it is done itself
	first  []int        // by stage: index of its first task
	sorted []sched.Time
}

// Alone returns the time that job j takes with a slot for every task, no clones, and every task lasting as recorded:
// the longest chain of tasks, where a stage of which Need tasks suffice ends with the Need-th.
func (p *PathFinder) Alone(w *Workload, j int) sched.Time {
	stages, edges := w.StagesOf(j), w.EdgesOf(j)
	if len(stages) == 1 {
		p.sorted = append(p.sorted[:0], w.DurationsOf(&stages[0])...)
		return nth(p.sorted, stages[0].Need)
	}
	p.ends, p.first, p.ready = p.ends[:0], p.first[:0], p.ready[:0]
	tasks := 0
	for i := range stages {
		p.first = append(p.first, tasks)
		tasks += int(stages[i].Tasks)
	}
	p.ready = append(p.ready, make([]sched.Time, tasks)...)
	var last sched.Time
	for i := range stages {
		open := sched.Time(0)
		for _, e := range edges {
			if int(e.To) == i && e.Kind == sched.Barrier {
				open = max(open, p.ends[e.From])
			}
		}
		mine := p.ready[p.first[i]:][:stages[i].Tasks]
		for t, d := range w.DurationsOf(&stages[i]) {
			mine[t] = max(mine[t], open) + d
		}
		p.sorted = append(p.sorted[:0], mine...)
		end := max(open, nth(p.sorted, stages[i].Need))
		for t := range mine {
			mine[t] = min(mine[t], end) // tasks that are not needed end with the stage
		}
		p.ends = append(p.ends, end)
		last = max(last, end)
		p.pass(w, edges, i)
	}
	return last
}

// pass tells the tasks behind stage i when it is done with theirs. Stages come after those that they wait for.
func (p *PathFinder) pass(w *Workload, edges []Edge, i int) {
	for _, e := range edges {
		if int(e.From) != i {
			continue
		}
		from, to := p.ready[p.first[i]:], p.ready[p.first[e.To]:]
		switch e.Kind {
		case sched.Barrier: // the reader of ends takes care
		case sched.Pointwise:
			n := len(to)
			if int(e.To)+1 < len(p.first) {
				n = p.first[e.To+1] - p.first[e.To]
			}
			for t := range n {
				to[t] = max(to[t], from[t])
			}
		case sched.PerTask:
			for _, pair := range w.Pairs[e.FirstPair : e.FirstPair+e.Pairs] {
				to[pair[1]] = max(to[pair[1]], from[pair[0]])
			}
		}
	}
}

// nth returns the need-th smallest value, the largest for need 0, and 0 if there are none. It may reorder them.
func nth(d []sched.Time, need uint32) sched.Time {
	switch {
	case len(d) == 0:
		return 0
	case need == 0 || int(need) == len(d):
		return slices.Max(d)
	}
	slices.Sort(d)
	return d[need-1]
}
