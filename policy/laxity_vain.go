package policy

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// Tasks of jobs that are lost and worth nothing give way to tasks of jobs with a seat that wait for a slot: those that
// resume, and others if they have done less than half. So that no task is begun for ever, an attempt that others were
// killed for before, and that has done nothing yet, stays if its task resumes; and a task that does not resume loses
// the work of laxityVain whole attempts at most.

// laxityVain is how many attempts' work a task may lose by giving way. A task that has just begun may give way often.
const laxityVain = 3

// vainly notes the running tasks of a job that is lost.
func (p *laxity) vainly(v *sched.View, j sched.JobID) {
	job := v.Job(j)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			p.vain.Push(t)
		}
	}
}

// worthless tells whether a job is lost and worth nothing any more.
func (p *laxity) worthless(v *sched.View, j sched.JobID) bool {
	return p.missed(v, j) && !p.late.Has(int(j))
}

// preempt frees slots for jobs with a seat.
func (p *laxity) preempt(v *sched.View, act *sched.Actions) {
	for n := p.vain.Len(); n > 0 && p.waiting.Len() > 0 && p.waiting.TopKey().class == 0 && v.FreeSlots() == 0; n-- {
		t := p.vain.Pop()
		if v.Task(t).State != sched.TaskRunning || !p.worthless(v, v.Rows().JobOf(t)) || kit.Paused(v, t) || !p.yields(v, t) {
			continue
		}
		if !v.Stage(v.Task(t).Stage).Resumable {
			*p.vainWork.At(t) += v.Now() - v.Attempt(p.First(v, t)).Started
		}
		for a, ok := v.FirstAttempt(t); ok; {
			next, more := v.NextAttempt(a)
			if v.Rows().MayKill(a) {
				kit.Kill(act, a, sched.Replaced)
			} else {
				p.vain.Push(t)
			}
			a, ok = next, more
		}
		p.touch(v, v.Rows().JobOf(t))
		p.start(v, act)
	}
	p.vain.Tidy(func(t sched.TaskID) bool { return v.Task(t).State == sched.TaskRunning })
}

// yields tells whether the attempts of a running task may be killed for others.
func (p *laxity) yields(v *sched.View, t sched.TaskID) bool {
	row := p.Quiet.Attempt(v, p.First(v, t))
	if v.Stage(v.Task(t).Stage).Resumable {
		return row.Number < laxityPatience || row.Progress > row.From
	}
	done, whole := v.Now()-row.Started, sched.FromSeconds(p.mean(v, v.Rows().JobOf(t)))
	if end, known := p.End(&row); known {
		whole = end - row.Started
	}
	return 2*done < whole && p.vainWork.Get(t)+done <= laxityVain*whole
}
