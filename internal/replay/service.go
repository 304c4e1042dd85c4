package replay

import (
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// model is [sim.Resample], but that a further attempt of a task takes what is kept of that task, and draws only the
// rest from the rests of all, and of Spark's tasks on a slow host from the rests of those on others. The first clone of
// a task that has one in the log takes as long as that.
func (r *Rerun) model(w *trace.Workload, system string) sim.Model {
	byFirst := map[*sched.Time]*split{} // by the first duration of the stage
	for i := range w.Stages {
		st := &w.Stages[i]
		if st.Name == 0 || st.Tasks == 0 {
			continue
		}
		p := r.pieces[st.Name-1]
		k, known := r.kept[p.record]
		if !known && !p.cloned {
			continue
		}
		if !known {
			k.seconds, k.slow = make([]sched.Time, st.Tasks), -1
		}
		durations := w.Durations[st.FirstTask : st.FirstTask+st.Tasks]
		parts := splitOf(durations, k.seconds)
		parts.tasks = p.tasks
		if system == "spark" && k.slow >= 0 {
			parts.away(k.slow)
		}
		byFirst[&durations[0]] = parts
	}
	return func(w *trace.Workload, machines int, seed uint64) (sim.Service, error) {
		others, err := sim.Resample(w, machines, seed)
		return &service{others, byFirst}, err
	}
}

// split is what is kept of the tasks of a stage, and the rest of them.
type split struct {
	tasks      []Hold
	kept, rest []sched.Time
	onSlow     []bool       // by task, whether it ran on the slow host; nil if that does not matter
	elsewhere  []sched.Time // rests of the others
}

// away lets tasks on a slow host draw from those on others, if there are any.
func (s *split) away(slow int32) {
	onSlow := make([]bool, len(s.tasks))
	for i := range s.tasks {
		if onSlow[i] = s.tasks[i].Last.Host == slow; !onSlow[i] {
			s.elsewhere = append(s.elsewhere, s.rest[i])
		}
	}
	if len(s.elsewhere) > 0 {
		s.onSlow = onSlow
	}
}

func splitOf(durations, kept []sched.Time) *split {
	s := &split{kept: kept}
	for i, d := range durations {
		s.rest = append(s.rest, max(0, d-kept[i]))
	}
	return s
}

type service struct {
	others  sim.Service
	byFirst map[*sched.Time]*split
}

// Duration returns how long an attempt takes.
func (s *service) Duration(a *sim.Attempt) sched.Time {
	parts := s.byFirst[&a.Recorded[0]]
	if a.Number == 0 || parts == nil {
		return s.others.Duration(a)
	}
	if clone := parts.tasks[a.Index].Clone; a.Number == 1 && clone > 0 {
		return sched.FromSeconds(clone.Seconds() * a.Share)
	}
	drawn := *a
	drawn.Recorded = parts.rest
	if parts.onSlow != nil && parts.onSlow[a.Index] {
		drawn.Recorded = parts.elsewhere
	}
	return s.others.Duration(&drawn) + sched.FromSeconds(parts.kept[a.Index].Seconds()*a.Share)
}
