package sched

// A job may be paused. Until it is continued nothing of it starts, neither an original nor a clone. What runs goes on
// to its end: policies cannot kill it, because nothing could take its place.
//
// The tasks of a paused job that would wait for an attempt are blocked, so that every policy passes them over without
// knowing why. A stage may open meanwhile, and close. A job may be paused before it arrives; a job that is over is not
// paused.

// pause lets nothing of a job start from now on.
func (c *Core) pause(j JobID) {
	v := &c.view
	job := v.jobs.look(j)
	if job.State > JobActive || job.Paused {
		return
	}
	for s := job.FirstStage; s < job.FirstStage+StageID(job.Stages); s++ {
		for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
			k := kin{v.task(t), v.stage(s), job}
			v.dequeue(t, k)
			k.task.State = TaskBlocked
		}
		for t := v.held.next(int(v.stage(s).First)); t >= 0 && t < int(v.stage(s).First)+int(v.stage(s).Tasks); t = v.held.next(t + 1) {
			v.held.remove(t)
		}
	}
	if job.Paused = true; job.State == JobActive {
		c.observe(Event{Kind: JobPaused, Job: j})
	}
}

// proceed lets a job that was paused go on. Policies are told once, when all that may start again waits.
func (c *Core) proceed(j JobID) {
	v := &c.view
	job := v.jobs.look(j)
	if !job.Paused {
		return
	}
	if job.Paused = false; job.State == JobSubmitted {
		return
	}
	for s := job.FirstStage; s < job.FirstStage+StageID(job.Stages); s++ {
		if v.stage(s).State == StageOpen {
			v.enqueueAll(s)
		}
	}
	c.served(j, job)
	c.observe(Event{Kind: JobContinued, Job: j})
}

// change gives a job another priority, weight and deadline.
func (c *Core) change(f *Event) {
	job := c.view.jobs.look(f.Job)
	if job.State > JobActive {
		return
	}
	job.rank(f.Priority, f.Weight, f.Deadline)
	c.remindDrop(f.Job, job)
	if job.State == JobActive {
		c.observe(Event{Kind: JobChanged, Job: f.Job, Priority: f.Priority, Weight: f.Weight, Deadline: f.Deadline})
	}
}

// rank takes over what says how much a job matters, as it is given: 0 is a weight of 1, and no deadline.
func (j *Job) rank(priority int32, weight float64, deadline Time) {
	if weight == 0 {
		weight = 1
	}
	if deadline == 0 {
		deadline = Never
	}
	j.Priority, j.Weight, j.Deadline = priority, weight, deadline
	if !j.valued {
		j.Value = weight
	}
}
