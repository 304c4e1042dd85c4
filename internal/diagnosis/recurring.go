package diagnosis

import (
	"fmt"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/show"
)

// Recurring is what other nights of a stage tell of a task of which most were slow.
type Recurring struct {
	Slow, Of int     // nights in which it was slow, and in all
	Over     float64 // by how much it was slower in the middle one of all nights, as a multiple of the typical task
}

// Slower is by how much the tasks of a stage took longer than the typical one, as a multiple of that, for reasons that
// the log does not measure: chance, its data, or its machine.
type Slower struct {
	Over   map[int32]float64 // by task
	OnSlow map[int32]bool    // tasks that ran on a slow host
	Hosts  int               // on which tasks of the stage ran
}

// Slower returns nil if the stage is not replayed.
func (r *Request) Slower(st *history.StageRecord) *Slower {
	tasks := r.Again.Holds(st)
	if len(tasks) == 0 {
		return nil
	}
	e := excessOf(st, tasks, r)
	if !(e.typical > 0) {
		return nil
	}
	s := &Slower{Over: make(map[int32]float64, len(tasks)), OnSlow: map[int32]bool{}}
	hosts := map[int32]bool{}
	for i := range tasks {
		sum := 0.0
		for _, k := range []Kind{Skew, Host, Straggler} {
			if part := e.parts[k]; part != nil {
				sum += part[i]
			}
		}
		task, host := tasks[i].Last.Task, tasks[i].Last.Host
		s.Over[task] = sum / e.typical
		if hosts[host] = true; e.slow >= 0 && host == e.slow {
			s.OnSlow[task] = true
		}
	}
	s.Hosts = len(hosts)
	return s
}

// recurring takes of a task what it was slower in most nights. What the same task has every night comes with its data.
func (e *excess) recurring(known map[int32]Recurring) {
	n, most := 0, Recurring{}
	for i := range e.tasks {
		k, ok := known[e.tasks[i].Last.Task]
		if !ok || !(k.Over > 0) {
			continue
		}
		e.take(Skew, i, k.Over*e.typical)
		n++
		if k.Slow > most.Slow {
			most = k
		}
	}
	if n == 0 || e.parts[Skew] == nil {
		return
	}
	evidence := fmt.Sprintf("in most runs the same tasks are slow: %d of these, in up to %d of %s", n, most.Slow, show.Count(most.Of, "run"))
	if e.said[Skew] != "" {
		evidence = e.said[Skew] + "; " + evidence
	}
	e.said[Skew] = evidence
}

// IsSlow tells whether a task that took so much more than the typical one is slow.
func (t *Thresholds) IsSlow(over float64) bool { return over > t.Slow-1 }
