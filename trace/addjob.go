package trace

import (
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// AddJob appends a job as a core knew it that arrived at an instant of the workload's clock, with the names of its
// stages and the durations of the tasks of each. The stages come in an order in which they can be run, which need not
// be that of spec. Classes, what tasks read, and what schedulers knew of durations are left out. The caller sorts the
// jobs.
func (w *Workload) AddJob(name string, arrival sched.Time, spec *sched.JobSpec, stages []string, durations [][]sched.Time) {
	row := JobRow{
		Arrival: arrival, Name: w.name(name), Number: uint32(len(w.Jobs)), Weight: spec.Weight, Value: spec.Value, Late: spec.Late,
		Priority: spec.Priority, MinShare: uint32(spec.MinShare), MaxLive: uint32(spec.MaxLive), Retries: uint32(spec.Retries),
		FirstStage: uint32(len(w.Stages)), Stages: uint32(len(spec.Stages)), FirstEdge: uint32(len(w.Edges)), Edges: uint32(len(spec.Edges)),
	}
	if spec.Deadline > 0 && spec.Deadline < sched.Never {
		row.Deadline = max(1, spec.Deadline-arrival)
	}
	order := runOrder(spec)
	place := make([]uint32, len(order))
	for i, s := range order {
		place[s] = uint32(i)
		st := &spec.Stages[s]
		w.Stages = append(w.Stages, StageRow{
			FirstTask: uint32(len(w.Durations)), Tasks: uint32(st.Tasks), Need: uint32(st.Need), Law: -1, Name: w.name(stages[s]), Resumable: st.Resumable,
		})
		w.Durations = append(w.Durations, durations[s]...)
	}
	for i := range spec.Edges {
		e := &spec.Edges[i]
		w.Edges = append(w.Edges, Edge{From: place[e.From], To: place[e.To], Kind: e.Kind, FirstPair: uint32(len(w.Pairs)), Pairs: uint32(len(e.Pairs))})
		w.Pairs = append(w.Pairs, e.Pairs...)
	}
	slices.SortStableFunc(w.Edges[row.FirstEdge:], func(a, b Edge) int { return int(a.To) - int(b.To) })
	w.Jobs = append(w.Jobs, row)
}

// name returns the index of a name in Names.
func (w *Workload) name(name string) uint32 {
	if len(w.Names) == 0 {
		w.Names = []string{""}
	}
	i := slices.Index(w.Names, name)
	if i < 0 {
		i = len(w.Names)
		w.Names = append(w.Names, name)
	}
	return uint32(i)
}

// runOrder returns the stages of a valid spec, each after those that it waits for (Kahn 1962).
func runOrder(spec *sched.JobSpec) (order []int) {
	waits := make([]int, len(spec.Stages))
	for i := range spec.Edges {
		waits[spec.Edges[i].To]++
	}
	for i, n := range waits {
		if n == 0 {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		for i := range spec.Edges {
			if e := &spec.Edges[i]; e.From == order[k] {
				if waits[e.To]--; waits[e.To] == 0 {
					order = append(order, e.To)
				}
			}
		}
	}
	return order
}
