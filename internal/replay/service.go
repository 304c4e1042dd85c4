package replay

import (
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// remember notes that clones of the last stage are like their originals, if they are.
func (r *Rerun) remember(w *trace.Workload, p *piece) {
	if r.Alike[p.record] {
		w.Stages[len(w.Stages)-1].Name = alike
	}
}

// alike is the index of the name of stages whose clones are like their originals.
const alike = 1

// model is [sim.Resample], but for those stages.
func (r *Rerun) model(w *trace.Workload) sim.Model {
	like := map[*sched.Time]bool{} // by the first duration of the stage
	for i := range w.Stages {
		if st := &w.Stages[i]; st.Name == alike && st.Tasks > 0 {
			like[&w.Durations[st.FirstTask]] = true
		}
	}
	return func(w *trace.Workload, machines int, seed uint64) (sim.Service, error) {
		others, err := sim.Resample(w, machines, seed)
		return &service{others, like}, err
	}
}

type service struct {
	others sim.Service
	like   map[*sched.Time]bool
}

// Duration returns how long an attempt takes.
func (s *service) Duration(a *sim.Attempt) sched.Time {
	if a.Share == 1 && s.like[&a.Recorded[0]] {
		return a.Recorded[a.Index]
	}
	return s.others.Duration(a)
}
