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

// Over returns by how much each task of a stage took longer than the typical one, as a multiple of that, for reasons
// that the log does not measure: chance, its data, or its machine. Nil if the stage is not replayed.
func (r *Request) Over(st *history.StageRecord) map[int32]float64 {
	tasks := r.Again.Holds(st)
	if len(tasks) == 0 {
		return nil
	}
	e := excessOf(st, tasks, r)
	if !(e.typical > 0) {
		return nil
	}
	over := make(map[int32]float64, len(tasks))
	for i := range tasks {
		sum := 0.0
		for _, k := range []Kind{Skew, Host, Straggler} {
			if part := e.parts[k]; part != nil {
				sum += part[i]
			}
		}
		over[tasks[i].Last.Task] = sum / e.typical
	}
	return over
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
