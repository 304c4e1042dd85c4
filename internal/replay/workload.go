package replay

import (
	"slices"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// driver is the index of trace.Driver.
const driver = 1

func (r *Rerun) newWorkload() *trace.Workload {
	w := &trace.Workload{Name: r.name, Names: []string{""}, Classes: []string{"", trace.Driver}}
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
	st := &w.Stages[len(w.Stages)-1]
	st.Name, st.Silent = uint32(piece+1), p.silent
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

// whole is the workload that is the application as one job.
func (r *Rerun) whole() *trace.Workload {
	w := r.newWorkload()
	r.job(w, trace.JobRow{}, r.all(), r.began, r.ended, func(i int) { r.addTo(w, i) })
	return w
}

// all returns the numbers of the pieces.
func (r *Rerun) all() []int {
	all := make([]int, len(r.pieces))
	for i := range all {
		all[i] = i
	}
	return all
}

// job appends a job of some of the pieces, in order of submission, each after those that it waited for and what the
// driver took then, from when the job began until it had ended; 0 if that is not known. add adds a piece to the last
// job.
func (r *Rerun) job(w *trace.Workload, row trace.JobRow, pieces []int, began, ended sched.Time, add func(piece int)) {
	row.FirstStage, row.FirstEdge = uint32(len(w.Stages)), uint32(len(w.Edges))
	w.Jobs = append(w.Jobs, row)
	here := func() int { return len(w.Stages) - int(row.FirstStage) }
	wait := func(from, to int) {
		w.Edges = append(w.Edges, trace.Edge{From: uint32(from), To: uint32(to)})
	}
	at := map[int]int{} // stage of the piece
	leaves := map[int]bool{}
	for _, i := range pieces {
		p := r.pieces[i]
		first, gap := here(), p.gap
		if len(p.parents) == 0 {
			gap = max(0, p.submitted-began)
		}
		if gap > 0 {
			stage(w, driver, gap)
			wait(first, first+1)
		}
		at[i] = here()
		add(i)
		for _, k := range p.parents {
			wait(at[k], first)
			delete(leaves, k)
		}
		leaves[i] = true
	}
	if tail := ended - r.lastEnd(); ended > 0 && tail > 0 {
		for _, i := range pieces {
			if leaves[i] {
				wait(at[i], here())
			}
		}
		stage(w, driver, tail)
	}
	slices.SortFunc(w.Edges[row.FirstEdge:], func(a, b trace.Edge) int { return int(a.To) - int(b.To) })
	w.Jobs[len(w.Jobs)-1].Edges = uint32(len(w.Edges)) - row.FirstEdge
}

// lastEnd is when the last piece had ended.
func (r *Rerun) lastEnd() (last sched.Time) {
	for _, p := range r.pieces {
		last = max(last, p.ended)
	}
	return last
}
