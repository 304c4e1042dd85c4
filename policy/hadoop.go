package policy

// Hadoop's original speculation, the rule of 0.2: Hadoop 0.20.2, JobInProgress.findSpeculativeTask and
// TaskInProgress.hasSpeculativeTask; described in section 2.1 of the paper on LATE (Zaharia et al., OSDI 2008).
//
//	SPECULATIVE_GAP   gap: how far, in progress, a task is behind the average of its kind
//	SPECULATIVE_LAG   lag: so long after its job's arrival no task is cloned (lag_from)
//	kind              the stage
//	progress          of a task: that of its most advanced attempt, 1 if it is done, 0 if it waits
//
//	when it is the turn of a job that has no fresh task, lag after its arrival, and a task of it has one attempt:
//	  clone it if average progress of all tasks of the stage - its own >= gap
//
// The code counts lag from TaskInProgress.startTime, which is when the job was initialised, however late the task
// began. lag_from=task is what the paper says: the task has to run for a minute.
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
// are. The job tracker knows what trackers told it at their heartbeats, which all fall on multiples of heartbeat here:
// at each it finds the slow tasks, by what has happened until then. Hadoop hands out slots at heartbeats only, of this
// release even those that became free long before; here a slot that is free is served at once, with fresh tasks and
// with the tasks that were slow at the last heartbeat and still have one attempt.
//
// A stage is looked at only at a heartbeat at which it may have slow tasks, or has some. An event costs O(log stages),
// a look O(running tasks of the stage). Where the driver tells rates, progress at the heartbeat is what follows from
// them, and a look says how long there can be no slow task if nothing happens.

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
		{Name: "lag", Kind: kit.Span, Default: "60s", Help: "no task is cloned for so long after its job has come, or it has started"},
		{Name: "lag_from", Kind: kit.Choice, Default: "job", Choices: []string{"job", "task"}, Help: "where lag begins: at the arrival of the job, or at the start of the attempt"},
		{Name: "heartbeat", Kind: kit.Span, Default: "3s", Min: 0.001, Max: 86400, Help: "time between checks"},
		kit.OrderParam,
		kit.ClonesParam,
	},
	Progress:       true,
	WorkConserving: true,
	New: func(a kit.Args) sched.Policy {
		return &hadoop{order: kit.NewOrder(a).ClonesBy(a), gap: a.Float("gap"), lag: a.Span("lag"), ofTask: a.Choice("lag_from") == "task", heartbeat: a.Span("heartbeat")}
	},
}

type hadoop struct {
	order  kit.Order
	places kit.Places

	gap            float64
	lag, heartbeat sched.Time
	ofTask         bool // lag counts from the start of the attempt

	quiet  kit.Silence
	stood  []hadoopStood // by row
	stages kit.PerStage[hadoopSlow]
	due    kit.Heap[kit.Rising[sched.Time]] // stages by the heartbeat at which they may have a slow task
}

// hadoopSlow are the tasks of a stage that were slow at the last heartbeat and have had no clone since, by number; some
// may be done, or have failed.
type hadoopSlow struct {
	tasks []sched.TaskID
	head  int // those before it are gone
}

// take takes out the task at a place, which is near the head.
func (s *hadoopSlow) take(i int) {
	copy(s.tasks[s.head+1:], s.tasks[s.head:i])
	s.head++
}

// hadoopStood is the progress of an attempt that stands still, as of when that was last looked at.
type hadoopStood struct {
	still bool
	gen   uint32
	done  float64
}

func (p *hadoop) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	p.places.Observe(v, ev)
	p.quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.tasks, st.head = st.tasks[:0], 0
	case sched.AttemptProgress, sched.AttemptTaken:
		p.judge(v, ev.Attempt)
		p.lookAt(v, ev.Stage, v.Now())
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost, sched.AttemptBegan, sched.TaskGivenUp:
		p.lookAt(v, ev.Stage, v.Now())
	case sched.JobContinued:
		kit.Reconsider(v, ev, func(t sched.TaskID) { p.lookAt(v, v.Task(t).Stage, v.Now()) })
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.due.End(v, ev)
		p.stages.End(v, ev)
	}
}

// judge takes notice of whether an attempt stands still.
func (p *hadoop) judge(v *sched.View, a sched.AttemptID) {
	at := v.Attempt(a)
	rem, silent := p.quiet.Remaining(v, a, &at)
	x := hadoopStood{still: silent, gen: a.Generation()}
	if silent {
		age := (v.Now() - at.Started).Seconds()
		x.done = at.From + (1-at.From)*age/(age+rem.Seconds())
	}
	p.stood = kit.Grown(p.stood, a.Row())
	p.stood[a.Row()] = x
}

// lookAt makes the stage due at the first heartbeat from an instant on at which its tasks may be cloned, unless it is
// due before.
func (p *hadoop) lookAt(v *sched.View, s sched.StageID, at sched.Time) {
	if at = max(at, p.lagged(v, v.Stage(s).Job)); at > sched.Never-p.heartbeat {
		return
	}
	at = (at + p.heartbeat - 1) / p.heartbeat * p.heartbeat
	if !p.due.Has(int(s)) || at < p.due.Key(int(s)).X {
		p.due.Set(int(s), kit.Rising[sched.Time]{X: at})
	}
}

// lagged returns the instant from which tasks of a job may be cloned.
func (p *hadoop) lagged(v *sched.View, j sched.JobID) sched.Time {
	arrived := v.Job(j).Arrived
	return arrived + min(p.lag, sched.Never-arrived)
}

// ripe returns the instant from which the task of an attempt may be cloned if tasks of its job may.
func (p *hadoop) ripe(v *sched.View, a sched.AttemptID) sched.Time {
	if !p.ofTask {
		return 0
	}
	started := v.Rows().Started(a)
	return started + min(p.lag, sched.Never-started)
}

func (p *hadoop) Decide(v *sched.View, act *sched.Actions) {
	p.quiet.Look(v, func(s sched.StageID, t sched.TaskID) {
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			p.judge(v, a)
		}
		p.lookAt(v, s, v.Now())
	})
	for p.due.Len() > 0 && p.due.TopKey().X <= v.Now() {
		s := sched.StageID(p.due.Top())
		p.due.Drop(int(s))
		p.look(v, s)
	}
	p.order.Serve(v, act, p)
	kit.WakeFor(act, &p.quiet.Due)
	kit.WakeFor(act, &p.due)
}

// look finds the slow tasks of a stage at a heartbeat, and from when on it may have others if nothing happens.
func (p *hadoop) look(v *sched.View, s sched.StageID) {
	now, st, slow := v.Now(), v.Stage(s), p.stages.Of(s)
	sum, speed, next := float64(st.Done), 0.0, sched.Never
	for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
		done, rate, starts := p.furthest(v, t)
		sum += done
		speed += rate
		if starts {
			next = now // the next heartbeat counts it
		}
	}
	tasks := float64(st.Hopeful())
	average := sum / tasks
	speed /= tasks
	slow.tasks, slow.head = slow.tasks[:0], 0
	for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
		a, ok := kit.Survivor(v, t)
		if !ok || v.AttemptRoom(t) == 0 || v.Rows().Started(a) >= now {
			continue
		}
		ripe := p.ripe(v, a)
		switch missing := p.gap - (average - p.progress(v, a)); {
		case missing <= 0 && ripe <= now:
			slow.tasks = append(slow.tasks, t)
		case missing <= 0:
			next = min(next, ripe)
		case speed > 0: // its own progress does not shrink, the average grows by no more than speed
			next = min(next, max(ripe, kit.Later(now, missing/speed*(1-rounding))))
		}
	}
	if len(slow.tasks) > 0 {
		p.order.Want(v, st.Job)
		next = now
	}
	if next < sched.Never {
		p.lookAt(v, s, max(next, now+1))
	}
}

// rounding is more than that of the quotients of look: it is not to pass over a heartbeat.
const rounding = 1e-9

// furthest returns the progress of a running task's most advanced attempt, the largest rate of its attempts, and
// whether one of them starts now.
func (p *hadoop) furthest(v *sched.View, t sched.TaskID) (most, rate float64, starts bool) {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		at := v.Attempt(a)
		most, rate, starts = max(most, p.progress(v, a)), max(rate, at.Rate), starts || at.Started >= v.Now()
	}
	return most, rate, starts
}

// progress returns how far an attempt has come at this heartbeat, by its reports. One that starts now has none.
func (p *hadoop) progress(v *sched.View, a sched.AttemptID) float64 {
	if row := a.Row(); row < len(p.stood) && p.stood[row].still && p.stood[row].gen == a.Generation() {
		return p.stood[row].done
	}
	at := v.Attempt(a)
	if at.Started >= v.Now() {
		return 0
	}
	return at.ProgressAtTime(v.Now())
}

// Fresh starts a task that waits.
func (p *hadoop) Fresh(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) bool {
	p.order.Launch(v, act, t, m)
	p.lookAt(v, v.Task(t).Stage, v.Now()+1)
	return true
}

// Clone gives a slow task of a job its second attempt, if there is a machine for one.
func (p *hadoop) Clone(v *sched.View, act *sched.Actions, j sched.JobID) bool {
	job, left := v.Job(j), false
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if !p.stages.Has(s) {
			continue
		}
		slow := p.stages.Of(s)
		for i := slow.head; i < len(slow.tasks); i++ {
			t := slow.tasks[i]
			_, single := kit.Survivor(v, t)
			m, ok := sched.MachineID(0), false
			if single && v.AttemptRoom(t) > 0 {
				m, ok = p.places.Unused(v, t, 0)
			}
			if ok || !single {
				slow.take(i)
			}
			if ok {
				p.order.Clone(v, act, t, m, sched.Straggling)
				return true
			}
			left = left || single
		}
	}
	if !left {
		p.order.Unwant(j)
	}
	return false
}
