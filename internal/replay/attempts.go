package replay

import (
	"context"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// Played is an attempt of a stage in one replay. Times count from when the stage was submitted.
type Played struct {
	Task       int32 // as the log counts
	Start, End sched.Time
	Clone, Won bool
}

// Attempts plays the stages apart once, under a policy of a system, and returns the attempts of one of them.
func (r *Rerun) Attempts(ctx context.Context, system, spec string, st *history.StageRecord, seed uint64) ([]Played, error) {
	w := r.apart()
	c, err := candidate(w, spec)
	if err != nil {
		return nil, err
	}
	o := r.options(w, system, sim.RunSeed(seed, 0))
	o.Progress.Every = c.Every
	p, err := c.New(o.Seed)
	if err != nil {
		return nil, err
	}
	watch := &watcher{Policy: p, piece: r.piece(st)}
	for i, p := range r.pieces {
		if p == watch.piece {
			watch.job = sched.JobID(i)
		}
	}
	watch.from = watch.piece.submitted - r.began
	_, err = sim.Run(ctx, w, watch, o)
	return watch.all, err
}

// watcher is a policy of which somebody writes down the attempts of a job.
type watcher struct {
	sched.Policy
	piece *piece
	job   sched.JobID
	from  sched.Time
	all   []Played
}

func (w *watcher) Observe(v *sched.View, ev *sched.Event) {
	if ev.Job == w.job && (ev.Kind == sched.AttemptDone || ev.Kind == sched.AttemptLost) {
		a, first := v.Attempt(ev.Attempt), v.Stage(ev.Stage).First
		w.all = append(w.all, Played{
			Task: w.piece.tasks[ev.Task-first].Last.Task, Start: a.Started - w.from, End: v.Now() - w.from,
			Clone: a.Clone, Won: ev.Kind == sched.AttemptDone,
		})
	}
	w.Policy.Observe(v, ev)
}
