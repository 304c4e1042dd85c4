package sched

import "math"

// A job may be bounded to so many attempts at once (JobSpec.MaxLive), clones included. Among other jobs it then takes
// no more slots than that, whatever the policy. Policies need not know of it: of the tasks that could start only as
// many wait for an attempt as there is room for, and the others are held back. So every task that waits can have an
// attempt. A further attempt of a running task needs room that no waiting task has.
//
// Tasks are held back when they could start. They are let go by the lowest id, when the policy is about to decide and
// there is room. It is told with TaskReady of each. A stage may thus be ready while none of its tasks waits yet.
//
// See docs/decisions/0053-a-bound-on-a-job-is-the-cores.md.

// room returns how many more tasks of a job may wait for an attempt, or how many clones may start. It is never
// below zero.
func (j *Job) room() int {
	if j.MaxLive == 0 {
		return math.MaxInt
	}
	return int(j.MaxLive) - int(j.Live) - int(j.Pending)
}

// hold keeps a task back that could start.
func (v *View) hold(t TaskID, k kin) {
	k.task.State = TaskBlocked
	v.held.add(int(t))
	v.stir(k)
}

// drop takes a blocked task out of those that are held back, if it is one.
func (v *View) drop(t TaskID, k kin) {
	if k.job.MaxLive > 0 {
		v.held.remove(int(t))
	}
}

// stir notes that a job may have room for tasks that are held back.
func (v *View) stir(k kin) {
	if k.job.MaxLive > 0 && !k.job.stirred {
		k.job.stirred = true
		v.stirred = append(v.stirred, k.stage.Job)
	}
}

// admitHeld lets tasks wait for an attempt that were held back, as far as their jobs have room. It tells whether there
// were any.
func (c *Core) admitHeld() (any bool) {
	v := &c.view
	for _, j := range v.stirred {
		job := v.jobs.look(j)
		if job.State == JobGone {
			continue
		}
		if job.stirred = false; job.State != JobActive {
			continue
		}
		if v.bounded() && job.Live == 0 {
			c.idled = append(c.idled, j)
		}
		first := v.stage(job.FirstStage).First
		for job.room() > 0 {
			t := v.held.next(int(first))
			if t < 0 || t >= int(first)+int(job.Tasks) {
				break
			}
			any = true
			k := v.kin(TaskID(t))
			v.held.remove(t)
			v.line(TaskID(t), k)
			c.observe(Event{Kind: TaskReady, Job: j, Stage: k.task.Stage, Task: TaskID(t)})
		}
	}
	v.stirred = v.stirred[:0]
	return any
}
