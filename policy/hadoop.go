package policy

// Hadoop's original speculation, the rule of 0.2: Hadoop 0.20.2, JobInProgress.findSpeculativeTask and
// TaskInProgress.hasSpeculativeTask; described in section 2.1 of the paper on LATE (Zaharia et al., OSDI 2008).
//
//	SPECULATIVE_GAP   gap: how far, in progress, a task is behind the average of its kind
//	SPECULATIVE_LAG   lag: so long after its job's arrival no task is cloned
//	kind              the stage
//	progress          of a task: that of its most advanced attempt, 1 if it is done, 0 if it waits
//
//	when it is the turn of a job that has no fresh task, lag after its arrival, and a task of it has one attempt:
//	  clone it if average progress of all tasks of the stage - its own >= gap
//
// The paper says that a task has to run for a minute; the code counts from TaskInProgress.startTime, which is when the
// job was initialised, however late the task began.
//
// Free slots go job by job: JobQueueTaskScheduler.assignTasks asks the jobs in their order, and
// JobInProgress.findNewMapTask looks for a speculative task where the job has no other. clones=cluster is not Hadoop's:
// clones wait for the fresh tasks of all jobs.
//
// Known defect, kept: a task above 1-gap can never qualify as long as it goes on. One that stands still (kit.Silence)
// can: its progress is what it has done by the time that it has left, age/(age+t_rem), where Hadoop takes the last
// report.
//
// Readings. All tasks so far behind are equally slow: they are taken in order of their stages and their numbers, where
// Hadoop prefers local data. A clone goes to a machine that never ran the task, unless it has tried as many as there
// are. Slots ask at every heartbeat of their machines, which is a multiple of heartbeat here, and when they become
// free.
//
// A stage is looked at only at a heartbeat at which it may have a slow task. An event costs O(log stages), a look
// O(running tasks of the stage). Where the driver tells rates, progress at the heartbeat is what follows from them, and
// a look says how long there can be no slow task if nothing happens.

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var hadoopEntry = kit.Entry{
	Name:    "hadoop",
	Family:  kit.Stragglers,
	Clones:  "tasks behind the average progress",
	Cost:    "O(log stages); a look at a stage O(its running tasks)",
	Summary: "clone tasks whose progress is 0.2 below their stage's average",
	Source:  "Apache Hadoop 0.20.2, TaskInProgress.hasSpeculativeTask and JobQueueTaskScheduler.assignTasks; Zaharia et al., OSDI 2008, section 2.1",
	Code:    hadoopCode,
	Params: []kit.Param{
		{Name: "gap", Kind: kit.Float, Default: "0.2", Min: 0, Max: 1, Help: "clone tasks whose progress is this much below the average"},
		{Name: "lag", Kind: kit.Span, Default: "60s", Help: "no task is cloned for so long after its job has come"},
		{Name: "heartbeat", Kind: kit.Span, Default: "3s", Min: 0.001, Max: 86400, Help: "time between checks"},
		kit.OrderParam,
		kit.ClonesParam,
	},
	Progress:       true,
	WorkConserving: true,
	New: func(a kit.Args) sched.Policy {
		return &hadoop{order: kit.NewOrder(a).ClonesBy(a), gap: a.Float("gap"), lag: a.Span("lag"), heartbeat: a.Span("heartbeat")}
	},
}

type hadoop struct {
	order  kit.Order
	places kit.Places

	gap            float64
	lag, heartbeat sched.Time

	quiet kit.Silence
	due   kit.Heap[kit.Rising[sched.Time]] // stages by the heartbeat at which they may have a slow task
	ready []int                            // scratch of Decide
	slow  kit.Candidates                   // of a decision
}

func (p *hadoop) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	p.places.Observe(v, ev)
	p.quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.AttemptProgress, sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost, sched.AttemptTaken, sched.TaskGivenUp:
		p.lookAt(ev.Stage, v.Now())
	case sched.JobContinued:
		kit.Reconsider(v, ev, func(t sched.TaskID) { p.lookAt(v.Task(t).Stage, v.Now()) })
	case sched.AttemptBegan:
		p.lookAt(ev.Stage, p.lagged(v, ev.Job))
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.due.End(v, ev)
	}
}

// lookAt makes the stage due at the first heartbeat from an instant on, unless it is due before.
func (p *hadoop) lookAt(s sched.StageID, at sched.Time) {
	if at > sched.Never-p.heartbeat {
		return
	}
	at = (at + p.heartbeat - 1) / p.heartbeat * p.heartbeat
	if !p.due.Has(int(s)) || at < p.due.Key(int(s)).X {
		p.due.Set(int(s), kit.Rising[sched.Time]{X: at})
	}
}

// lagged returns the instant, now or later, from which tasks of a job may be cloned.
func (p *hadoop) lagged(v *sched.View, j sched.JobID) sched.Time {
	arrived := v.Job(j).Arrived
	return max(v.Now(), arrived+min(p.lag, sched.Never-arrived))
}

func (p *hadoop) Decide(v *sched.View, act *sched.Actions) {
	p.quiet.Look(v, func(s sched.StageID, _ sched.TaskID) { p.lookAt(s, v.Now()) })
	kit.WakeFor(act, &p.quiet.Due)
	for again := true; again; again = v.CloneRoom() > 0 && p.due.Len() > 0 && p.due.TopKey().X <= v.Now() {
		p.lookAll(v)
		p.slow.Want(v, &p.order)
		p.order.Serve(v, act, p) // fresh tasks may make room for clones
		for t := range p.slow.Left() {
			p.lookAt(v.Task(t).Stage, v.Now()+1)
		}
	}
	if v.CloneRoom() > 0 { // else the event that makes room comes back here
		kit.WakeFor(act, &p.due)
	}
}

// lookAll finds the slow tasks of all stages that are due and whose jobs may have a turn for clones.
func (p *hadoop) lookAll(v *sched.View) {
	p.slow.Reset(&p.order)
	if v.CloneRoom() == 0 {
		return
	}
	p.ready, _, _ = p.due.Within(kit.Rising[sched.Time]{X: v.Now()}, p.ready[:0])
	for _, n := range p.ready {
		s := sched.StageID(n)
		if p.order.Reaches(v, v.Stage(s).Job) {
			p.due.Drop(n)
			if next := p.look(v, s); next < sched.Never {
				p.lookAt(s, next)
			}
		}
	}
	p.slow.Sort()
}

// Fresh starts a task that waits.
func (p *hadoop) Fresh(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) bool {
	p.order.Launch(v, act, t, m)
	p.lookAt(v.Task(t).Stage, max(p.lagged(v, v.Rows().JobOf(t)), v.Now()+1))
	return true
}

// look finds the slow tasks of a stage, and returns from when on it may have others if nothing happens.
func (p *hadoop) look(v *sched.View, s sched.StageID) (next sched.Time) {
	now, st := v.Now(), v.Stage(s)
	sum, speed := float64(st.Done), 0.0
	for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
		done, rate := p.furthest(v, t)
		sum += done
		speed += rate
	}
	tasks := float64(st.Hopeful())
	average := sum / tasks
	speed /= tasks
	lagged := p.lagged(v, st.Job)
	next = sched.Never
	for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
		a, ok := kit.Survivor(v, t)
		if !ok || v.AttemptRoom(t) == 0 {
			continue
		}
		_, done := p.progress(v, a)
		missing := p.gap - (average - done)
		switch {
		case missing <= 0 && lagged <= now:
			p.slow.Add(st.Job, 0, t)
		case missing <= 0:
			next = min(next, lagged)
		case speed > 0: // its own progress does not shrink, the average grows by no more than speed
			next = min(next, max(lagged, kit.Later(now, missing/speed), now+1))
		}
	}
	return next
}

// furthest returns the progress of a running task's most advanced attempt, and the largest rate of its attempts.
func (p *hadoop) furthest(v *sched.View, t sched.TaskID) (most, rate float64) {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		at, done := p.progress(v, a)
		most, rate = max(most, done), max(rate, at.Rate)
	}
	return most, rate
}

// progress returns a running attempt and how far it has come.
func (p *hadoop) progress(v *sched.View, a sched.AttemptID) (at sched.Attempt, done float64) {
	at = v.Attempt(a)
	if rem, silent := p.quiet.Remaining(v, a, &at); silent {
		age := (v.Now() - at.Started).Seconds()
		return at, at.From + (1-at.From)*age/(age+rem.Seconds())
	}
	return at, at.ProgressAtTime(v.Now())
}

// Clone gives a slow task of a job its second attempt, if there is a machine for one.
func (p *hadoop) Clone(v *sched.View, act *sched.Actions, j sched.JobID) bool {
	for t, ok := p.slow.Take(&p.order, j); ok; t, ok = p.slow.Take(&p.order, j) {
		if m, ok := p.places.Unused(v, t, 0); ok && v.AttemptRoom(t) > 0 {
			p.order.Clone(v, act, t, m, sched.Straggling)
			return true
		}
		p.lookAt(v.Task(t).Stage, v.Now()+1)
	}
	return false
}
