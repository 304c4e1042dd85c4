package trace

import "slices"

// Spread gives each task of a stage of job j, the stage counted from the job's first, a list of inputs of its own, with
// sources of its own, where they have had one for all. It is for a copy of a workload whose Stages, Inputs, Sources and
// Rules are nobody else's; what the rules hold may be another's.
func (w *Workload) Spread(j, stage int) {
	st := &w.Stages[w.Jobs[j].FirstStage+uint32(stage)]
	lists, tasks := slices.Clone(w.InputsOf(st)), int(st.Tasks)
	if len(lists) == 0 {
		return
	}
	st.FirstInput, st.Inputs = uint32(len(w.Inputs)), st.Tasks
	for t := range tasks {
		sources := slices.Clone(w.SourcesOf(lists[min(t, len(lists)-1)]))
		w.Inputs = append(w.Inputs, Input{uint32(len(w.Sources)), uint32(len(sources))})
		w.Sources = append(w.Sources, sources...)
	}
	if r := w.RulesOf(j); r != nil && len(r.Of[stage]) == 1 {
		r.Of = slices.Clone(r.Of)
		r.Of[stage] = slices.Repeat(r.Of[stage], tasks)
	}
}
