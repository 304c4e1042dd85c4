package sched

// A job may go on without some of its tasks, see JobSpec.MaxFailed. A task that has used up its retries has then failed
// for good: it is over, without result. The rest of its stage goes on, and so does all that does not wait for it.
//
// What a failed task means to those that wait for it is settled when its stage ends. If the stage has what it needs
// without the task, they run as if the task had been skipped. If not, they are stranded: they are over as well, and do
// not count against the limit, because only causes count. So the order in which tasks fail and finish does not matter.
//
// See docs/decisions/0025-a-job-may-lose-tasks.md.

// breakTask ends a task that has no attempt and no retry left.
func (c *Core) breakTask(t TaskID, k kin) {
	s, st, job := k.task.Stage, k.stage, k.job
	c.view.settle(t, k, TaskBroken)
	st.GivenUp++
	job.Broken++
	c.observe(Event{Kind: TaskGivenUp, Job: st.Job, Stage: s, Task: t})
	if job.Broken > job.MaxFailed {
		c.closeJob(st.Job, JobBroken, JobFailed)
		return
	}
	c.closeIfOver(s, st)
}

// closeIfOver ends a stage that has what it needs, or nothing left that could run.
func (c *Core) closeIfOver(s StageID, st *Stage) {
	switch {
	case st.Done == st.Need:
		c.closeStage(s)
	case st.Hopeful() == st.Done:
		c.closeShort(s)
	}
}

// closeShort ends a stage that cannot get what it needs, with all that waits for what it lacks.
func (c *Core) closeShort(s StageID) {
	v := &c.view
	st := v.stage(s)
	if st.State == StageBlocked { // policies are told of the end of stages of whose beginning they were told
		st.State = StageOpen
		c.observe(Event{Kind: StageReady, Job: st.Job, Stage: s})
	}
	st.State = StageClosed
	c.observe(Event{Kind: StageDone, Job: st.Job, Stage: s})
	job := v.job(st.Job)
	job.StagesLeft--
	job.short = true
	for _, e := range v.edgesOf(st) {
		c.strand(s, e)
	}
	c.endJob(st.Job)
}

// strand ends the tasks that wait over an edge for what stage s, which was closed short, lacks.
func (c *Core) strand(s StageID, e edge) {
	v := &c.view
	st, to := v.stage(s), v.stage(e.to)
	if to.State == StageClosed {
		return
	}
	for i := range TaskID(st.Tasks) {
		if v.task(st.First+i).State <= TaskSkipped {
			continue
		}
		switch e.kind {
		case Pointwise:
			c.strandTask(to.First + i)
		case PerTask:
			n := e.base + uint32(i)
			l := *v.links.Of(st.Job)
			for _, t := range l.tails[l.heads[n]:l.heads[n+1]] {
				c.strandTask(t)
			}
		}
	}
	if e.kind == Barrier {
		for t := to.First; t < to.First+TaskID(to.Tasks); t++ {
			c.strandTask(t)
		}
	}
	if e.kind == Barrier || to.Tasks > 0 && to.Hopeful() == to.Done {
		c.closeShort(e.to)
	}
}

// strandTask ends a task that waits for what will never be.
func (c *Core) strandTask(t TaskID) {
	v := &c.view
	k := v.kin(t)
	s, st := k.task.Stage, k.stage
	if k.task.State >= TaskDone {
		return
	}
	v.settle(t, k, TaskStranded)
	st.GivenUp++
	if st.State == StageOpen {
		c.observe(Event{Kind: TaskGivenUp, Job: st.Job, Stage: s, Task: t})
	}
}

// endJob ends an active job all of whose stages are closed.
func (c *Core) endJob(j JobID) {
	switch job := c.view.job(j); {
	case job.StagesLeft > 0 || job.State != JobActive:
	case job.short:
		c.closeJob(j, JobBroken, JobFailed)
	default:
		c.closeJob(j, JobSucceeded, JobDone)
	}
}

// mayRetry tells whether JobRetried means anything to a job: it has failed, or was cancelled after it began, or it goes
// on without some of its tasks and runs nothing now.
func (c *Core) mayRetry(j JobID) bool {
	v := &c.view
	job := v.jobs.look(j)
	switch job.State {
	case JobBroken:
		return true
	case JobStopped:
		return job.Stages > 0 && v.stage(job.FirstStage).State == StageClosed
	case JobActive:
		for s := job.FirstStage; s < job.FirstStage+StageID(job.Stages); s++ {
			if st := v.stage(s); st.GivenUp > 0 && st.Done < st.Need {
				return job.Live == 0
			}
		}
	}
	return false
}

// retry takes back what abandon and loss have done to a job, and forgives the failures of the tasks that were given up.
// They begin as if the job had just arrived, though what has finished of it is finished.
func (c *Core) retry(j JobID) {
	v := &c.view
	job := v.job(j)
	if job.State == JobActive { // policies know how to forget a job that fails, and one that arrives
		job.State = JobBroken
		v.active.remove(int(j))
		c.abandon(job)
		c.observe(Event{Kind: JobFailed, Job: j})
	}
	job.short, job.StagesLeft = false, 0
	for s := job.FirstStage; s < job.FirstStage+StageID(job.Stages); s++ {
		st := v.stage(s)
		if st.blocked == 0 && st.Done == st.Need {
			continue // it was closed before: an open stage lacks something
		}
		st.State = StageBlocked
		st.GivenUp = 0
		job.StagesLeft++
		for t := st.First; t < st.First+TaskID(st.Tasks); t++ {
			task := v.task(t)
			if task.State <= TaskDone {
				continue
			}
			if task.State == TaskBroken {
				job.Broken--
			}
			task.State, task.Failures, task.NoClones = TaskBlocked, 0, false
			job.Unfinished++
			v.unfinished++
		}
	}
	c.begin(j)
}
