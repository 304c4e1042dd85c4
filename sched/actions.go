package sched

import "errors"

// Orders that the core refuses. Each says that the policy did not look at the view first, or that a limit holds.
var (
	ErrNotRunnable = errors.New("sched: the task is blocked, done or given up")
	ErrNoSlot      = errors.New("sched: the machine has no free slot")
	ErrClass       = errors.New("sched: the machine's slots are of another class than the task needs")
	ErrSite        = errors.New("sched: data of the task may not be at the machine's site")
	ErrAttempts    = errors.New("sched: the task has as many attempts as the limit allows")
	ErrCloneBudget = errors.New("sched: the clone budget is spent")
	ErrRetries     = errors.New("sched: the task has failed more often than the job allows")
	ErrFrom        = errors.New("sched: the stage cannot resume, or the fraction is not in [0, 1)")
	ErrNotAlive    = errors.New("sched: the attempt is not running")
	ErrTooSoon     = errors.New("sched: the attempt was launched at this very instant")
	ErrOwed        = errors.New("sched: the core launched the attempt, because its job had waited too long")
	ErrLoses       = errors.New("sched: the limits keep what cannot be gone on from, unless it is a clone of what runs")
	ErrPaused      = errors.New("sched: the job is paused")
	ErrNotActive   = errors.New("sched: the job has not arrived or is over")
	ErrPace        = errors.New("sched: the speed is not positive and finite, or the policy does not say that it sets it")
)

// Actions are the orders of a policy. They change the view at once, so no slot can be given away twice.
type Actions struct{ core *Core }

// Withhold counts so many clones that the policy would have launched, had the limits allowed them.
func (x *Actions) Withhold(n int) { x.core.withheld += n }

// Launch starts an attempt of a pending or running task on a machine with a free slot, resuming from the fraction from
// of the work (0 starts anew).
func (x *Actions) Launch(t TaskID, m MachineID, from float64, why Reason) (AttemptID, error) {
	c := x.core
	v := &c.view
	k := kin{task: v.tasks.look(t)}
	if k.task.State != TaskPending && k.task.State != TaskRunning {
		return 0, ErrNotRunnable
	}
	k.stage = v.stage(k.task.Stage)
	k.job = v.job(k.stage.Job)
	if err := v.admit(t, k, m, from); err != nil {
		return 0, err
	}
	task, st, job := k.task, k.stage, k.job
	clone := task.Live > 0
	job.Attempts++
	if clone {
		job.Clones++
	} else {
		v.engage(t, k)
	}
	row := c.row()
	a := &v.attempts[row]
	*a = attempt{
		task: t, stage: task.Stage, machine: m, number: task.Launched, gen: a.gen, started: v.now, clone: clone, running: true, waiting: v.waits || st.Waits, advanced: from > 0,
	}
	if from > 0 {
		v.progress[row] = headway{from: from, done: from, at: v.now}
	}
	v.link(row, k)
	id := attemptID(row, a.gen)
	c.order(Decision{
		Kind: Launch, Reason: why, Job: st.Job, Stage: task.Stage, Task: t, Machine: m,
		Attempt: id, Number: a.number, From: from,
	})
	return id, nil
}

// admit checks an order to launch a task that may run against the view and the limits.
func (v *View) admit(t TaskID, k kin, m MachineID, from float64) error {
	task, st := k.task, k.stage
	switch {
	case int(m) >= len(v.machines) || !v.machines[m].Up || v.machines[m].Used == v.machines[m].Slots:
		return ErrNoSlot
	case v.machines[m].Class != st.Class:
		return ErrClass
	case !v.allows(t, v.machines[m].Site):
		return ErrSite
	case !(from >= 0 && from < 1) || from > 0 && !st.Resumable:
		return ErrFrom
	case exhausted(task, st):
		return ErrRetries
	case task.Live > 0 && k.job.Paused:
		return ErrPaused
	case v.attemptRoom(task, k.job) == 0:
		return ErrAttempts
	case task.Live > 0 && v.budgetRoom() <= 0:
		return ErrCloneBudget
	}
	return nil
}

// row returns a free row of the attempt table. Generations begin at 1, so that no attempt has id 0.
func (c *Core) row() int32 {
	if n := len(c.spare); n > 0 {
		row := c.spare[n-1]
		c.spare = c.spare[:n-1]
		return row
	}
	v := &c.view
	v.attempts = append(v.attempts, attempt{gen: 1})
	v.progress = append(v.progress, headway{})
	v.here = append(v.here, neighbours{})
	return int32(len(v.attempts) - 1)
}

// Kill ends an attempt. If it was the task's only one, the task waits again. Where the stage is resumable the progress
// known of the attempt is kept in Task.Saved, and if it is further than what was saved before and than where it began,
// its machine time counts as fruitful. Rows.MayKill says which attempts cannot be killed.
func (x *Actions) Kill(a AttemptID, why Reason) error {
	c := x.core
	v := &c.view
	if !v.Rows().Alive(a) {
		return ErrNotAlive
	}
	row := a.row()
	if err := v.spare(row); err != nil {
		return err
	}
	at := v.Attempt(a)
	k := v.kin(at.Task)
	served, robbed := k.job.served, k.job.robbed
	c.kill(row, k, why)
	k.job.served = served // it was no turn
	k.job.robbed = robbed || v.bounded() && c.dueAt(waiter{since: served}) <= v.now
	c.keep(&at, k)
	if k.task.Live == 0 {
		v.stopRunning(at.Task, k)
		v.line(at.Task, k) // it has the place of the attempt
	}
	return nil
}

// spare says why a running attempt cannot be killed, nil if it can.
func (v *View) spare(row int32) error {
	a := &v.attempts[row]
	k := v.kinOf(row)
	switch {
	case k.task.Live == 1 && exhausted(k.task, k.stage):
		return ErrRetries
	case a.started == v.now && !v.killsAtOnce:
		return ErrTooSoon
	case v.owes(row):
		return ErrOwed
	case k.job.Paused:
		return ErrPaused
	case v.limits.Gentle && !k.stage.Resumable && !(a.clone && k.task.Live > 1):
		return ErrLoses
	}
	return nil
}

// KillAtOnce lets policies kill attempts at the instant of their launch. It is for journals that were written when they
// could, before the first fact.
func (c *Core) KillAtOnce() { c.view.killsAtOnce = true }

// keep notes how far an attempt had come that has just ended without result, if others can go on from there. What it
// began with is not its own: a clone from half the work that fails at once has made nothing.
func (c *Core) keep(at *Attempt, k kin) {
	v := &c.view
	task := k.task
	p := min(at.ProgressAtTime(v.now), maxSaved)
	if !k.stage.Resumable || p <= max(task.Saved, at.From) {
		return
	}
	task.Saved = p
	k.job.Fruitless -= v.now - at.Started
	k.job.Fruitful += v.now - at.Started
}

// Cancel gives a job up. It holds when Decide returns: then the job's attempts are killed, its end is observed like
// that of a job that was cancelled from outside, and the policy is asked once more, for there may be slots to give
// away.
func (x *Actions) Cancel(j JobID) error {
	c := x.core
	if c.view.jobs.look(j).State != JobActive {
		return ErrNotActive
	}
	c.given = append(c.given, j)
	return nil
}

// maxSaved keeps a fraction to resume from below 1: an attempt has to finish what is left, however little.
const maxSaved = 1 - 1.0/(1<<52)

// WakeAt asks to be called at instant t at the latest. Of several requests the earliest holds; it is gone once its
// instant has come. An instant that is not in the future is ignored.
func (x *Actions) WakeAt(t Time) {
	if c := x.core; t > c.view.now && t < c.wake {
		c.wake = t
	}
}
