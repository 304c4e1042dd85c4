package policy

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// slack returns by how many seconds a stage may end later without its job ending later, as other stages of the job end
// later than that, or have more behind them (the slack of the critical path method). Clones that let the stage end
// sooner by less save the job nothing. The stage ends in so many seconds.
func (p *auto) slack(v *sched.View, st *autoStage, stage *sched.Stage, ends float64) float64 {
	job := v.Job(stage.Job)
	if job.StagesLeft < 2 || job.Stages > mostSiblings {
		return 0
	}
	usual := p.unknown.typical()
	own, longest := ends+p.paths.Behind(v, st.id, usual), 0.0
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if s != st.id && p.stages.Has(s) {
			longest = max(longest, p.stageLeft(v, s)+p.paths.Behind(v, s, usual))
		}
	}
	return max(0, longest-own)
}

// mostSiblings bounds what a look costs: a stage of a job of more stages has no slack.
const mostSiblings = 128

// stageLeft returns how many seconds an open stage has left: until its running tasks are done, as its latest look has
// found, and as long as those that wait take on all slots. One that has not been looked at begins now.
func (p *auto) stageLeft(v *sched.View, s sched.StageID) float64 {
	stage, until := v.Stage(s), p.stages.Of(s).until
	seconds := 0.0
	if stage.Running > 0 && until > 0 {
		seconds = max(0, until-v.Now()).Seconds()
	}
	if stage.Pending == 0 && (stage.Running == 0 || until > 0) {
		return seconds
	}
	return max(seconds, kit.Takes(v, &stage, max(1, stage.Pending), p.unknown.typical()))
}

// beyond returns what is left of late once the slack is taken off, which many clones share.
func beyond(late, slack float64, many int) float64 {
	if slack == 0 {
		return late
	}
	n := float64(max(1, many))
	return max(0, late*n-slack) / n
}

// over returns when all tasks of the stage are done, those that run and those that wait.
func (e *autoEye) over(rest float64) float64 {
	if len(e.seen) == 0 {
		return rest
	}
	return max(rest, e.seen[0].until)
}
