package sched

import "fmt"

// apply changes the tables by one fact, tells the policy, and follows the consequences. Facts that are late or told
// twice change nothing; what has been fetched is told also of attempts that are gone, for it says something about
// links.
func (c *Core) apply(f *Event) {
	v := &c.view
	switch f.Kind {
	case MachineJoined:
		if !v.machines[f.Machine].Up {
			v.join(f.Machine)
			c.observe(Event{Kind: MachineJoined, Machine: f.Machine})
		}
	case MachineLost, MachineStopped:
		if v.machines[f.Machine].Up {
			c.loseMachine(f.Machine, f.Kind == MachineStopped)
		}
	case DataFetched:
		ev := *f
		if v.Rows().Alive(f.Attempt) {
			a := &v.attempts[f.Attempt.row()]
			ev.Job, ev.Stage, ev.Task = v.stage(a.stage).Job, a.stage, a.task
		}
		c.observe(ev)
	case AttemptDone:
		if v.Rows().Alive(f.Attempt) {
			c.finish(f.Attempt.row(), f.Bytes, f.Span)
		}
	case AttemptFailed:
		if v.Rows().Alive(f.Attempt) {
			c.fail(f.Attempt.row(), false)
		}
	case AttemptDoomed:
		if v.Rows().Alive(f.Attempt) {
			c.fail(f.Attempt.row(), true)
		}
	case AttemptRefused:
		if v.Rows().Alive(f.Attempt) {
			c.refuse(f.Attempt.row())
		}
	case MachineResized:
		if v.machines[f.Machine].Up {
			v.resize(f.Machine, f.Slots)
			c.observe(Event{Kind: MachineResized, Machine: f.Machine, Slots: f.Slots})
		}
	case AttemptBegan:
		if v.Rows().Alive(f.Attempt) {
			c.start(f.Attempt.row())
		}
	case AttemptProgress:
		if v.Rows().Alive(f.Attempt) {
			row := f.Attempt.row()
			c.start(row)
			v.advance(row, f)
			ev := c.about(row, AttemptProgress)
			ev.Progress, ev.Rate = f.Progress, f.Rate
			c.observe(ev)
		}
	case TimerFired: // told from the clock in Advance
	default:
		c.applyToJob(f)
	}
}

// applyToJob is apply for facts about jobs.
func (c *Core) applyToJob(f *Event) {
	v := &c.view
	switch job := v.jobs.look(f.Job); f.Kind {
	case JobArrived:
		if job.State == JobSubmitted {
			c.arrive(f.Job)
		}
	case JobCancelled:
		if job.State <= JobActive {
			if job.State == JobSubmitted {
				job.Arrived = v.now
			}
			c.closeJob(f.Job, JobStopped, JobCancelled)
		}
	case JobRetried:
		if c.mayRetry(f.Job) {
			c.retry(f.Job)
		}
	case JobPaused:
		c.pause(f.Job)
	case JobContinued:
		c.proceed(f.Job)
	case JobChanged:
		c.change(f)
	case JobRetired:
		if job.State > JobActive && job.State < JobGone {
			c.retire(f.Job)
		}
	}
}

// about fills an event with everything that is known of an attempt.
func (c *Core) about(row int32, kind EventKind) Event {
	a := &c.view.attempts[row]
	return Event{
		Kind: kind, Job: c.view.stage(a.stage).Job, Stage: a.stage, Task: a.task, Machine: a.machine,
		Attempt: attemptID(row, a.gen),
	}
}

// kinOf returns the rows of an attempt's task and what it is part of.
func (v *View) kinOf(row int32) kin {
	a := &v.attempts[row]
	st := v.stage(a.stage) // not by way of the task: both rows are fetched at once
	return kin{v.task(a.task), st, v.job(st.Job)}
}

func (c *Core) arrive(j JobID) {
	v := &c.view
	job := v.job(j)
	job.Arrived = v.now
	v.unfinished += int(job.Unfinished)
	c.begin(j)
}

// begin makes a job active and opens the stages that wait for no other.
func (c *Core) begin(j JobID) {
	v := &c.view
	job := v.job(j)
	job.State = JobActive
	v.active.add(int(j))
	c.served(j, job)
	c.remindDrop(j, job)
	c.observe(Event{Kind: JobArrived, Job: j})
	for s := job.FirstStage; s < job.FirstStage+StageID(job.Stages); s++ {
		if v.stage(s).blocked == 0 && v.stage(s).State == StageBlocked {
			c.openStage(s)
		}
	}
	if job.Paused && job.State == JobActive {
		c.observe(Event{Kind: JobPaused, Job: j})
	}
}

// openStage lets the tasks of a stage run as far as nothing else is in front of them.
func (c *Core) openStage(s StageID) {
	v := &c.view
	st := v.stage(s)
	st.State = StageOpen
	v.enqueueAll(s)
	c.observe(Event{Kind: StageReady, Job: st.Job, Stage: s})
	if st.Done >= st.Need {
		c.closeStage(s)
	}
}

// markDone takes in which tasks of a new job are done. Their stages are opened, and closed, as if they had just been.
func (c *Core) markDone(j JobID, spec *JobSpec) {
	v := &c.view
	job := v.job(j)
	for i := range spec.Stages {
		st := v.stage(job.FirstStage + StageID(i))
		for _, index := range spec.Stages[i].Done {
			t := st.First + TaskID(index)
			v.task(t).State = TaskDone
			st.Done++
			job.Unfinished--
			c.release(st, t)
		}
	}
}

// finish makes the attempt the winner of its task. Its siblings are lost. Bytes are what each reader reads of its
// result; over edges that are measured, nothing else says it.
func (c *Core) finish(row int32, bytes int64, span Time) {
	v := &c.view
	a := &v.attempts[row]
	t, s := a.task, a.stage
	k := v.kinOf(row)
	st := k.stage
	st.measure(v.now-v.since(a), v.from(row))
	c.end(row, k, true)
	v.settle(t, k, TaskDone)
	st.Done++
	at := v.machines[a.machine].Site
	if k.task.site = uint16(at); st.feeds {
		v.produce(s, t, at, bytes)
	}
	st.told, st.tellers = plus(st.told, bytes), st.tellers+1
	ev := Event{Kind: AttemptDone, Job: st.Job, Stage: s, Task: t, Machine: a.machine, Attempt: attemptID(row, a.gen), Bytes: bytes, Span: span}
	c.order(Decision{Kind: Commit, Job: ev.Job, Stage: s, Task: t, Machine: a.machine, Attempt: ev.Attempt, Number: a.number})
	c.observe(ev)
	c.loseAttempts(k, SiblingWon)
	if k.job.State != JobActive {
		panic(fmt.Sprintf("sched: task %d finished in job %d, which is in state %d", t, ev.Job, k.job.State))
	}
	c.release(st, t)
	c.closeIfOver(s, st)
}

// fail ends an attempt without result, but for what it has saved. The task waits again unless another attempt of it
// runs; past its retries it has failed for good, as it has if it is doomed: if no attempt of it can succeed that is not
// running already. The failure of a clone is not counted.
func (c *Core) fail(row int32, doomed bool) {
	v := &c.view
	t := v.attempts[row].task
	ev := c.about(row, AttemptFailed)
	at := v.Attempt(ev.Attempt)
	k := v.kinOf(row)
	c.end(row, k, false)
	c.keep(&at, k)
	v.charge(row, k, doomed)
	c.observe(ev)
	c.orphan(t, k)
}

// refuse takes back the launch of an attempt that its machine has refused. Its number and its time are gone.
func (c *Core) refuse(row int32) {
	v := &c.view
	ev := c.about(row, AttemptLost)
	k := v.kinOf(row)
	c.end(row, k, false)
	k.job.Attempts--
	if v.attempts[row].clone {
		k.job.Clones--
	}
	c.observe(ev)
	c.orphan(ev.Task, k)
}

// orphan deals with a task that may have lost its last attempt to a fact.
func (c *Core) orphan(t TaskID, k kin) {
	if k.task.Live > 0 || k.task.State != TaskRunning {
		return
	}
	if exhausted(k.task, k.stage) {
		c.breakTask(t, k)
		return
	}
	if c.view.requeue(t, k) {
		c.observe(Event{Kind: TaskReady, Job: k.stage.Job, Stage: k.task.Stage, Task: t})
	}
}

// loseMachine ends everything on a machine. A lost attempt does not count as a failure of its task. Should the machine
// come back, it has all its slots. What attempts had saved may be kept.
func (c *Core) loseMachine(m MachineID, keep bool) {
	v := &c.view
	mc := &v.machines[m]
	mc.Up = false
	idle := int(mc.Slots - mc.Used) // the slots in use go one by one with their attempts
	v.slots[mc.Class] -= idle
	v.sites[mc.Site].slots[mc.Class] -= idle
	v.free[mc.Class].remove(int(m))
	for mc.first >= 0 {
		row := mc.first
		t := v.attempts[row].task
		k, at := v.kinOf(row), v.Attempt(attemptID(row, v.attempts[row].gen))
		c.kill(row, k, MachineGone)
		if keep {
			c.keep(&at, k)
		}
		c.observe(c.about(row, AttemptLost))
		c.orphan(t, k)
	}
	mc.Slots, mc.room = mc.full, mc.full
	c.observe(Event{Kind: MachineLost, Machine: m})
}

// loseAttempts ends all attempts of a task.
func (c *Core) loseAttempts(k kin, why Reason) {
	for row := k.task.first; row >= 0; row = k.task.first {
		c.kill(row, k, why)
		c.observe(c.about(row, AttemptLost))
	}
}

// kill ends an attempt and orders the driver to do so.
func (c *Core) kill(row int32, k kin, why Reason) {
	ev := c.about(row, 0)
	c.end(row, k, false)
	c.order(Decision{
		Kind: Kill, Reason: why, Job: ev.Job, Stage: ev.Stage, Task: ev.Task, Machine: ev.Machine,
		Attempt: ev.Attempt, Number: c.view.attempts[row].number,
	})
}

// end takes an attempt out of the tables and accounts for its time. Its row stays readable until the next call of
// Advance.
func (c *Core) end(row int32, k kin, useful bool) {
	v := &c.view
	v.unlink(row, k)
	a := &v.attempts[row]
	if a.waiting {
		a.started, a.waiting = v.now, false
	}
	if spent := v.now - a.started; useful {
		k.job.Fruitful += spent
	} else {
		k.job.Fruitless += spent
	}
	if v.owes(row) {
		v.owed.remove(int(row))
	}
	c.served(k.stage.Job, k.job)
	c.ended = append(c.ended, row)
}

// closeStage ends a stage that has all it needs, and lets those go on that waited for it.
func (c *Core) closeStage(s StageID) {
	v := &c.view
	st := v.stage(s)
	st.State = StageClosed
	if st.Done < st.Tasks {
		c.skipRest(s)
	}
	c.observe(Event{Kind: StageDone, Job: st.Job, Stage: s})
	job := v.job(st.Job)
	job.StagesLeft--
	c.lowerBarriers(s)
	c.endJob(st.Job)
}

// skipRest gives up the tasks that a stage does not need any more. Who waits for a task that has failed need not: the
// stage has done without it.
func (c *Core) skipRest(s StageID) {
	v := &c.view
	st := v.stage(s)
	k := kin{stage: st, job: v.job(st.Job)}
	for t := st.First; t < st.First+TaskID(st.Tasks); t++ {
		if k.task = v.task(t); k.task.State < TaskDone {
			c.loseAttempts(k, StageOver)
			v.settle(t, k, TaskSkipped)
			c.release(st, t)
		} else if k.task.State > TaskSkipped {
			c.release(st, t)
		}
	}
}

// closeJob ends a job in whatever state it is.
func (c *Core) closeJob(j JobID, state JobState, kind EventKind) {
	v := &c.view
	job := v.job(j)
	wasActive := job.State == JobActive
	job.State, job.Closed, job.Paused = state, v.now, false
	if wasActive {
		v.active.remove(int(j))
		if state != JobSucceeded {
			c.abandon(job)
		}
	}
	c.order(Decision{Kind: Close, Job: j, Reason: JobOver})
	c.observe(Event{Kind: kind, Job: j})
}

// abandon gives up every task of a job that failed or was cancelled.
func (c *Core) abandon(job *Job) {
	v := &c.view
	for s := job.FirstStage; s < job.FirstStage+StageID(job.Stages); s++ {
		st := v.stage(s)
		for t := st.First; t < st.First+TaskID(st.Tasks); t++ {
			if k := (kin{v.task(t), st, job}); k.task.State < TaskDone {
				c.loseAttempts(k, JobOver)
				v.settle(t, k, TaskSkipped)
			}
		}
		st.State = StageClosed
	}
}
