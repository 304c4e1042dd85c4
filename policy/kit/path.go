package kit

import "github.com/tailcut/tailcut/sched"

// Paths knows of each stage how long its job takes from there: the longest chain of stages that begins with it, as if
// the job had all slots (the critical path; list scheduling by highest level first, Hu, Operations Research 1961). A
// stage takes the mean duration of its tasks, as told or measured, else the usual one of all; more where it has more
// tasks than there are slots. A job of stages that wait for none has no paths.
type Paths struct {
	stages sched.Table[sched.StageID, float64] // seconds
	jobs   sched.Table[sched.JobID, pathsOf]
}

// pathsOf is what the paths of a job were found with.
type pathsOf struct {
	usual float64 // seconds that a task takes of which nothing is known
	ready uint32  // stages that have become ready since
}

// task returns how many seconds a task is taken for of which nothing is known: as long as is usual, or else any time
// that is the same for all, so that the longest chain is the one of most stages.
func (of pathsOf) task() float64 {
	if of.usual == 0 {
		return 1
	}
	return of.usual
}

// The paths of a job are found anew each time one stage in so many has become ready, and as soon as the usual duration
// is twice or half of what it was. So all of them cost a job of n stages and edges O(n).
const pathsAnew = 64

// Observe takes note of an event. Tasks usually take so many seconds, 0 if that is not known.
func (p *Paths) Observe(v *sched.View, ev *sched.Event, usual float64) {
	switch ev.Kind {
	case sched.JobArrived:
		job := v.Job(ev.Job)
		for s := range job.Stages {
			for range v.Successors(job.FirstStage + sched.StageID(s)) {
				p.find(v, ev.Job, usual)
				return
			}
		}
	case sched.StageReady:
		if !p.jobs.Has(ev.Job) {
			return
		}
		if of := p.jobs.Of(ev.Job); of.ready*pathsAnew >= v.Job(ev.Job).Stages {
			p.find(v, ev.Job, usual)
		} else {
			of.ready++
		}
	case sched.JobRetired:
		if p.jobs.Has(ev.Job) {
			p.jobs.Drop(ev.Job)
			DropStages(&p.stages, v, ev.Job)
		}
	}
}

// find finds all paths of a job.
func (p *Paths) find(v *sched.View, j sched.JobID, usual float64) {
	of := pathsOf{usual: usual, ready: 1}
	*p.jobs.At(j) = of
	job := v.Job(j)
	for s := range job.Stages {
		*p.stages.At(job.FirstStage + sched.StageID(s)) = -1
	}
	for s := range job.Stages {
		p.path(v, job.FirstStage+sched.StageID(s), of.task())
	}
}

// path finds that of a stage, and of those behind it.
func (p *Paths) path(v *sched.View, s sched.StageID, usual float64) float64 {
	at := p.stages.Of(s)
	if *at >= 0 {
		return *at
	}
	longest := 0.0
	for to := range v.Successors(s) {
		longest = max(longest, p.path(v, to, usual))
	}
	stage := v.Stage(s)
	*at = longest + Takes(v, &stage, stage.Unfinished(), usual)
	return *at
}

// Takes returns how many seconds a stage takes for so many of its tasks on all slots. A task of which nothing is known
// usually takes usual.
func Takes(v *sched.View, stage *sched.Stage, tasks uint32, usual float64) float64 {
	mean, _, ok := stage.Estimate()
	if !ok {
		mean = usual
	}
	n := float64(tasks)
	return mean * max(min(1, n), n/float64(max(1, v.Slots())))
}

// From returns how many seconds the job of a stage takes from there; 0 where no stage waits for another.
func (p *Paths) From(v *sched.View, s sched.StageID) float64 {
	stage := v.Stage(s)
	if !p.jobs.Has(stage.Job) {
		return 0
	}
	return Takes(v, &stage, stage.Unfinished(), p.jobs.Of(stage.Job).task()) + p.behind(v, s)
}

// Behind returns how many seconds the job takes once the stage is done. Tasks usually take as many as that.
func (p *Paths) Behind(v *sched.View, s sched.StageID, usual float64) float64 {
	j := v.Stage(s).Job
	if !p.jobs.Has(j) {
		return 0
	}
	if was := p.jobs.Of(j).usual; usual > 2*was || usual < was/2 {
		p.find(v, j, usual)
	}
	return p.behind(v, s)
}

func (p *Paths) behind(v *sched.View, s sched.StageID) (longest float64) {
	for to := range v.Successors(s) {
		longest = max(longest, p.stages.Get(to))
	}
	return longest
}
