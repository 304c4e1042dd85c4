package kit

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// Workload keeps the remaining work of every active job. An event costs O(1). Work is counted in whole microseconds,
// so that the sums are exact up to 285 years of work and equal jobs tie whatever happened to them on the way.
type Workload struct {
	Pooled bool // see Order.Pooled
	spent  jobMean
	jobs   sched.Table[sched.JobID, jobWork]
	stages sched.Table[sched.StageID, stageWork]
}

type jobWork struct {
	known   float64 // of the stages whose mean duration is known or measured, microseconds
	unknown float64 // tasks of the other stages
	done    uint32  // tasks finished
	prior   float32 // seconds that a task of it is taken for before one is done, as judged when it arrived
}

// jobMean is of the tasks of all jobs.
type jobMean struct{ tasks, seconds float64 }

// stageWork is what a stage has added to its job: microseconds; or tasks whose duration is not known, as a negative
// number. It is one word, as jobs that starve keep whole pages of it.
type stageWork float64

// Observe takes note of an event.
func (w *Workload) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.JobArrived:
		job := v.Job(ev.Job)
		known := w.jobs.At(ev.Job)
		known.done, known.prior = 0, float32(w.prior())
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			known.done += v.Stage(s).Done // some are, if it arrives again
			w.count(v, ev.Job, s)
		}
	case sched.AttemptDone:
		w.jobs.Of(ev.Job).done++
		if w.Pooled {
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
	if *at >= 0 {
		job.known -= float64(*at)
	} else {
		job.unknown += float64(*at)
	}
	left := float64(st.Unfinished())
	add := stageWork(-left)
	if mean, _, ok := st.Estimate(); ok {
		if w.Pooled && st.Mean == 0 {
			mean = (mean*float64(st.Done) + float64(job.prior)) / float64(st.Done+1)
		}
		add = stageWork(left * micros(mean))
		job.known += float64(add)
	} else {
		job.unknown += left
	}
	*at = add
}

// Remaining returns the work that the job still has to do, in microseconds.
func (w *Workload) Remaining(v *sched.View, j sched.JobID) float64 {
	job := w.jobs.Of(j)
	if job.unknown == 0 {
		return job.known
	}
	mean := float64(job.prior)
	switch {
	case w.Pooled:
		mean = (v.Job(j).Fruitful.Seconds() + mean) / float64(job.done+1)
	case job.done > 0:
		mean = v.Job(j).Fruitful.Seconds() / float64(job.done)
	}
	return job.known + job.unknown*micros(mean)
}

// prior returns the seconds that a task is taken for before one of its job is done. What a job is told from others it
// is told when it arrives, so that an event changes the place of one job.
func (w *Workload) prior() float64 {
	if w.spent.seconds > 0 {
		return w.spent.seconds / w.spent.tasks
	}
	return 1
}

// micros rounds seconds to microseconds, and at least one: even the shortest task is one task more.
func micros(s float64) float64 { return max(1, math.Round(s*1e6)) }
