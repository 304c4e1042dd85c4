package policy

// SRPT: least remaining work first (Schrage, Operations Research 16, 1968), served greedily with the slots of a
// cluster.
//
//	remaining work  sum over the job's stages of unfinished tasks x mean duration of an attempt
//
// A task counts in full until it is done. The mean is the one known beforehand (Stage.Mean); else that of the stage's
// finished attempts; else that of all finished attempts of the job; else one second, so that among jobs of which
// nothing is known the one with the fewest tasks goes first. (A job that has been measured is then compared with jobs
// that have not; where it matters, give means.) Ties by arrival, then id. Deviation: Schrage's rule preempts, here only
// free slots are given away.

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

var srptEntry = Entry{
	Name:           "srpt",
	Summary:        "the job with the least remaining work first; no clones, no preemption",
	Needs:          Needs{Jobs: true, Lacking: fifoAlone},
	Source:         "Schrage 1968; greedy on many slots",
	Params:         []Param{sitesParam("any", "delay"), waitParam},
	WorkConserving: true,
	New:            func(a Args) sched.Policy { return &plain{sited(jobOrder{ranking: ranking{kind: byWork}}, a)} },
}

// workload keeps the remaining work of every active job. An event costs O(1). Work is counted in whole microseconds, so
// that the sums are exact up to 285 years of work and equal jobs tie whatever happened to them on the way.
type workload struct {
	jobs   []jobWork   // by JobID
	stages []stageWork // by StageID
}

type jobWork struct {
	known   float64 // of the stages whose mean duration is known or measured, microseconds
	unknown float64 // tasks of the other stages
	done    float64 // tasks finished
}

// stageWork is what a stage has added to its job.
type stageWork struct {
	work  float64
	known bool // work is in microseconds, not tasks
}

func (w *workload) observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.JobArrived:
		job := v.Job(ev.Job)
		w.jobs = grown(w.jobs, int(ev.Job))
		w.stages = grown(w.stages, int(job.FirstStage)+int(job.Stages))
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			w.count(v, ev.Job, s)
		}
	case sched.AttemptDone:
		w.jobs[ev.Job].done++
		w.count(v, ev.Job, ev.Stage)
	}
}

// count replaces what the stage has added to its job by what it amounts to now.
func (w *workload) count(v *sched.View, j sched.JobID, s sched.StageID) {
	job, old, st := &w.jobs[j], w.stages[s], v.Stage(s)
	if old.known {
		job.known -= old.work
	} else {
		job.unknown -= old.work
	}
	add := stageWork{work: float64(st.Unfinished())}
	if mean, _, ok := st.Estimate(); ok {
		add = stageWork{work: add.work * micros(mean), known: true}
		job.known += add.work
	} else {
		job.unknown += add.work
	}
	w.stages[s] = add
}

// remaining returns the work that the job still has to do, in microseconds.
func (w *workload) remaining(v *sched.View, j sched.JobID) float64 {
	job := &w.jobs[j]
	if job.unknown == 0 {
		return job.known
	}
	mean := 1.0
	if job.done > 0 {
		mean = v.Job(j).Fruitful.Seconds() / job.done
	}
	return job.known + job.unknown*micros(mean)
}

// micros rounds seconds to microseconds, and at least one: even the shortest task is one task more.
func micros(s float64) float64 { return max(1, math.Round(s*1e6)) }

// grown returns the table with room for index i.
func grown[T any](table []T, i int) []T {
	for i >= len(table) {
		var zero T
		table = append(table, zero)
	}
	return table
}
