package replay

import (
	"slices"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// driver is the class of slots on which an application's driver spends its time between stages.
const driver = 1

func (r *Rerun) newWorkload() *trace.Workload {
	w := &trace.Workload{Name: r.name, Names: []string{""}, Classes: []string{"", "driver"}}
	for _, p := range r.pieces {
		w.Names = append(w.Names, p.record.Title())
	}
	return w
}

// stage adds a stage to the last job.
func stage(w *trace.Workload, class sched.Class, durations ...sched.Time) {
	w.Stages = append(w.Stages, trace.StageRow{FirstTask: uint32(len(w.Durations)), Tasks: uint32(len(durations)), Law: -1, Class: class})
	w.Durations = append(w.Durations, durations...)
	w.Jobs[len(w.Jobs)-1].Stages++
}

// addTo adds a piece to the last job. The stage's name says which it is.
func (r *Rerun) addTo(w *trace.Workload, piece int) {
	p := r.pieces[piece]
	stage(w, 0, p.durations()...)
	w.Stages[len(w.Stages)-1].Name = uint32(piece + 1)
}

// apart is the workload in which each piece is a job that arrives when the piece was submitted. Spark serves the jobs
// of an application in the order of their numbers, which may be another.
func (r *Rerun) apart() *trace.Workload {
	w := r.newWorkload()
	for i, p := range r.pieces {
		w.Jobs = append(w.Jobs, trace.JobRow{
			Arrival: p.submitted - r.began, Number: uint32(i), FirstStage: uint32(len(w.Stages)), Priority: -int32(r.rank[p.record.Job]),
		})
		r.addTo(w, i)
	}
	return w
}

// whole is the workload that is the application as one job. A stage comes after those that it waits for, since pieces
// are in order of submission.
func (r *Rerun) whole() *trace.Workload {
	w := r.newWorkload()
	w.Jobs = []trace.JobRow{{}}
	wait := func(from, to int) {
		w.Edges = append(w.Edges, trace.Edge{From: uint32(from), To: uint32(to)})
	}
	at := make([]int, len(r.pieces)) // stage of the piece
	leaves := map[int]bool{}
	for i, p := range r.pieces {
		if p.gap > 0 {
			at[i] = len(w.Stages)
			stage(w, driver, p.gap)
		}
		at[i] = len(w.Stages)
		r.addTo(w, i)
		first := at[i]
		if p.gap > 0 {
			first--
			wait(first, at[i])
		}
		for _, k := range p.parents {
			wait(at[k], first)
			delete(leaves, k)
		}
		leaves[i] = true
	}
	if tail := r.ended - r.lastEnd(); r.ended > 0 && tail > 0 {
		stage(w, driver, tail)
		for i := range r.pieces {
			if leaves[i] {
				wait(at[i], len(w.Stages)-1)
			}
		}
	}
	slices.SortFunc(w.Edges, func(a, b trace.Edge) int { return int(a.To) - int(b.To) })
	w.Jobs[0].Edges = uint32(len(w.Edges))
	return w
}

// lastEnd is when the last piece had ended.
func (r *Rerun) lastEnd() (last sched.Time) {
	for _, p := range r.pieces {
		last = max(last, p.ended)
	}
	return last
}
