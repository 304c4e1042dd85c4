package kit

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// Workload keeps the remaining work of every active job. An event costs O(1). Work is counted in whole microseconds,
// so that the sums are exact up to 285 years of work and equal jobs tie whatever happened to them on the way.
type Workload struct {
	pooled bool // see Order.Pooled
	spent  jobMean
	jobs   sched.Table[sched.JobID, jobWork]
	stages sched.Table[sched.StageID, stageWork]
}

type jobWork struct {
	known   float64 // of the stages whose mean duration is known or measured, microseconds
	unknown float64 // tasks of the other stages
	done    float64 // tasks finished
	prior   float64 // seconds that a task is taken for before one of the job is done
}

// jobMean is of the tasks of all jobs.
type jobMean struct{ tasks, seconds float64 }

// stageWork is what a stage has added to its job.
type stageWork struct {
	work  float64
	known bool // work is in microseconds, not tasks
}

// Observe takes note of an event.
func (w *Workload) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.JobArrived:
		job := v.Job(ev.Job)
		known := w.jobs.At(ev.Job)
		known.done, known.prior = 0, 1
		if w.pooled && w.spent.seconds > 0 {
			known.prior = w.spent.seconds / w.spent.tasks
		}
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			known.done += float64(v.Stage(s).Done) // some are, if it arrives again
			w.count(v, ev.Job, s)
		}
	case sched.AttemptDone:
		w.jobs.Of(ev.Job).done++
		if w.pooled {
			w.spent.tasks++
			w.spent.seconds += (v.Now() - v.Rows().Started(ev.Attempt)).Seconds()
		}
		w.count(v, ev.Job, ev.Stage)
	case sched.TaskGivenUp, sched.StageReady, sched.StageDone: // a stage may lack tasks before it opens
		w.count(v, ev.Job, ev.Stage)
	case sched.JobRetired:
		w.jobs.Drop(ev.Job)
		DropStages(&w.stages, v, ev.Job)
	}
}

// count replaces what the stage has added to its job by what it amounts to now.
func (w *Workload) count(v *sched.View, j sched.JobID, s sched.StageID) {
	job, at, st := w.jobs.Of(j), w.stages.At(s), v.Stage(s)
	if old := *at; old.known {
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
	*at = add
}

// Remaining returns the work that the job still has to do, in microseconds.
func (w *Workload) Remaining(v *sched.View, j sched.JobID) float64 {
	job := w.jobs.Of(j)
	if job.unknown == 0 {
		return job.known
	}
	mean := job.prior
	if job.done > 0 {
		mean = v.Job(j).Fruitful.Seconds() / job.done
	}
	return job.known + job.unknown*micros(mean)
}

// micros rounds seconds to microseconds, and at least one: even the shortest task is one task more.
func micros(s float64) float64 { return max(1, math.Round(s*1e6)) }
