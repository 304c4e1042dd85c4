package policy

// Flink's speculative execution: Apache Flink 1.20.1, ExecutionTimeBasedSlowTaskDetector.findSlowTasks,
// DefaultSpeculativeExecutionHandler.notifySlowTasks (SpeculativeScheduler before 2.0), DefaultBlocklistTracker.
//
//	every interval, per stage of n tasks of which at least ratio n are done:
//	  k = round(n ratio); T = the (k/2+1)th smallest duration of the winners, 0 if k = 0
//	  an attempt, original or clone, of at least lower_bound and of at least multiplier T is slow
//	  the machine of each slow attempt takes no new attempt until block after this check
//	a task with a slow attempt and no other gets a second one in the turn of its job, when it has no fresh task
//
//	ratio        slow-task-detector.execution-time.baseline-ratio, 0.75
//	multiplier   slow-task-detector.execution-time.baseline-multiplier, 1.5
//	lower_bound  slow-task-detector.execution-time.baseline-lower-bound, 1 min
//	interval     slow-task-detector.check-interval, 1 s
//	block        execution.batch.speculative.block-slow-node-duration, 1 min; 0 blocks nothing
//
// T is called the median of the first n ratio tasks; as the code has it, they are the shortest, not the first to end,
// so that T falls as short ones end late. It never rises, so what is slow stays slow: each check blocks its machine
// anew, for as long as it runs, and block longer. A blocked machine takes neither fresh tasks nor clones, of any job:
// the resource manager hears of it and frees the slots there (BlocklistDeclarativeSlotPool). So a slot can stay free
// while tasks wait.
//
// Each job has a job master that asks for slots, for its fresh tasks before the clones it decides on later; the cluster
// serves the jobs in its order. clones=cluster is not Flink's: clones wait for the fresh tasks of all jobs.
//
// Flink weighs durations with input bytes, which are not known here. Its limit of concurrent executions is two, its
// default. Deviations. A machine that is the only one that is up is not blocked: nothing else could run anything. A
// clone goes to another machine than the task's own if there is one. A block ends on time, where Flink looks at the
// list every second. The clock of checks starts at 0. n counts no tasks that the job has given up.
//
// As in spark.go nobody polls: a stage keeps its running attempts in order of start, so the oldest says at which check
// the next one is slow. An event costs O(log tasks of the stage + log stages + blocked machines).

import (
	"github.com/tailcut/tailcut/plan/rule"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var flinkEntry = kit.Entry{
	Name:    "flink",
	Family:  kit.Stragglers,
	Clones:  "tasks that run long",
	Cost:    "O(log tasks of the stage + log stages)",
	Summary: "clone tasks that run longer than a multiple of their stage's lower median, and at least a minute",
	Source:  "Apache Flink 1.20.1, ExecutionTimeBasedSlowTaskDetector.findSlowTasks and DefaultSpeculativeExecutionHandler.notifySlowTasks",
	Code:    flinkCode,
	Params: []kit.Param{
		{Name: "ratio", Kind: kit.Float, Default: "0.75", Min: 0, Max: 1, Help: "share of a stage's tasks that must be finished first"},
		{Name: "multiplier", Kind: kit.Float, Default: "1.5", Min: 0, Max: 1e6, Help: "clone tasks that run longer than this multiple of the median"},
		{Name: "lower_bound", Kind: kit.Span, Default: "60s", Help: "younger attempts are never cloned"},
		{Name: "interval", Kind: kit.Span, Default: "1s", Min: 0.001, Max: 86400, Help: "time between checks"},
		{Name: "block", Kind: kit.Span, Default: "60s", Max: 1e6, Help: "the machine of a slow attempt gets no attempts while it runs and for so long after; 0 for no such blocks"},
		kit.OrderParam,
		kit.ClonesParam,
	},
	New: func(a kit.Args) sched.Policy {
		return &flink{
			order: kit.NewOrder(a).ClonesBy(a), rule: flinkRule(a), block: a.Span("block"), decided: -1,
		}
	},
}

func flinkRule(a kit.Args) rule.Flink[sched.Time] {
	return rule.Flink[sched.Time]{
		Ratio: a.Float("ratio"), Multiplier: a.Float("multiplier"), LowerBound: a.Span("lower_bound"), Interval: a.Span("interval"),
		Executions: 2,
	}
}

type flink struct {
	order kit.Order

	rule  rule.Flink[sched.Time]
	block sched.Time

	stages   kit.PerStage[flinkStage]
	lists    kit.Lists
	want     sched.Table[sched.JobID, kit.List] // slow attempts of tasks that are to have another, as checks found them
	due      kit.Heap[kit.Rising[sched.Time]]   // stages by the check that will find their oldest attempt slow
	slow     []bool                             // by row, of running attempts
	machines []flinkMachine                     // by MachineID
	ends     kit.Heap[kit.Rising[sched.Time]]   // blocked machines without a slow attempt by the ends of their blocks
	up       int                                // machines
	decided  sched.Time                         // the last decision
}

type flinkStage struct {
	id      sched.StageID
	lowest  kit.Lowest // durations of winners: the k/2+1 shortest, none if k = 0; T is the longest of them
	watched kit.List   // running attempts that the next check may find slow, by start
}

// flinkMachine is blocked while slow attempts run on it, and until an instant.
type flinkMachine struct {
	slow  int
	until sched.Time
}

func (p *flink) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	switch ev.Kind {
	case sched.MachineJoined:
		p.up++
		p.machines = kit.Grown(p.machines, int(ev.Machine))
	case sched.MachineLost:
		p.up--
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.id, st.watched = ev.Stage, kit.List{}
		stage := v.Stage(ev.Stage)
		st.lowest.Reset(p.rule.Shortest(int(stage.Hopeful())))
	case sched.AttemptDone:
		p.ended(v, ev)
		st := p.stages.Of(ev.Stage)
		st.lowest.Add(v.Now() - v.Attempt(ev.Attempt).Started)
		p.schedule(v, st)
	case sched.TaskGivenUp:
		st, stage := p.stages.Of(ev.Stage), v.Stage(ev.Stage)
		st.lowest.Shrink(p.rule.Shortest(int(stage.Hopeful())))
		p.schedule(v, st)
	case sched.AttemptFailed, sched.AttemptLost:
		p.ended(v, ev)
		st := p.stages.Of(ev.Stage)
		if a, ok := kit.Survivor(v, ev.Task); ok && p.lists.ListOf(a) == nil { // slow, and alone again
			p.lists.InsertByStart(&st.watched, a, ev.Task, v.Attempt(a).Started)
		}
		p.schedule(v, st)
	case sched.AttemptBegan, sched.AttemptTaken:
		if !v.Rows().Waiting(ev.Attempt) {
			p.watch(v, ev.Task, ev.Attempt)
		}
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.due.End(v, ev)
		p.stages.End(v, ev)
	}
}

// watch has checks look at an attempt that has begun.
func (p *flink) watch(v *sched.View, t sched.TaskID, a sched.AttemptID) {
	st := p.stages.Of(v.Task(t).Stage)
	alone, started := st.watched.Empty(), v.Rows().Started(a)
	p.lists.InsertByStart(&st.watched, a, t, started)
	if alone || started < v.Now() {
		p.schedule(v, st)
	}
}

// ended forgets an attempt. The last check blocked its machine if it was slow.
func (p *flink) ended(v *sched.View, ev *sched.Event) {
	if l := p.lists.Remove(ev.Attempt); l != nil && l == p.wanted(ev.Job) {
		p.unwant(l, ev.Job)
	}
	if row := ev.Attempt.Row(); row < len(p.slow) && p.slow[row] {
		p.slow[row] = false
		p.recovered(v, ev.Machine)
	}
}

// recovered takes notice that a slow attempt of a machine is gone.
func (p *flink) recovered(v *sched.View, id sched.MachineID) {
	m, now := &p.machines[id], v.Now()
	if now == p.decided { // and checked
		now++
	}
	m.slow--
	if m.until = max(m.until, p.blockedAt(p.rule.LastCheck(now))); m.slow == 0 && p.block > 0 {
		p.ends.Set(int(id), kit.Rising[sched.Time]{X: m.until})
	}
}

// wanted returns the list of a job's slow attempts, nil for none.
func (p *flink) wanted(j sched.JobID) *kit.List {
	if !p.want.Has(j) {
		return nil
	}
	return p.want.Of(j)
}

// unwant takes notice that one attempt less is in the list of a job.
func (p *flink) unwant(l *kit.List, j sched.JobID) {
	if l.Empty() {
		p.want.Drop(j)
		p.order.Unwant(j)
	}
}

// blockedAt returns the instant until which a check blocks a machine.
func (p *flink) blockedAt(check sched.Time) sched.Time {
	return check + min(p.block, sched.Never-check)
}

// baseline returns the age from which on an attempt of the stage is slow; Never while too few tasks are done.
func (p *flink) baseline(v *sched.View, st *flinkStage) sched.Time {
	stage := v.Stage(st.id)
	// some may be done whose durations nobody has seen, if the job was retried
	if !p.rule.Enough(int(stage.Done), int(stage.Hopeful())) || !st.lowest.Full() {
		return sched.Never
	}
	limit, ok := p.rule.Limit(st.lowest.Value())
	if !ok {
		return sched.Never
	}
	return limit
}

// schedule notes the first check, now or later, that finds the oldest attempt of the stage slow.
func (p *flink) schedule(v *sched.View, st *flinkStage) {
	limit, oldest := p.baseline(v, st), p.lists.First(&st.watched)
	if oldest == nil || limit >= sched.Never-p.rule.Interval-oldest.Started {
		p.due.Drop(int(st.id))
		return
	}
	due := oldest.Started + limit
	p.due.Set(int(st.id), kit.Rising[sched.Time]{X: p.rule.Check(due, v.Now())})
}

func (p *flink) Decide(v *sched.View, act *sched.Actions) {
	for again := true; again; again = p.due.Len() > 0 && p.due.TopKey().X <= v.Now() {
		p.check(v) // with limits of 0 also what starts now
		p.order.Serve(v, act, p)
	}
	p.decided = v.Now()
	kit.WakeFor(act, &p.due)
	p.wakeToUnblock(v, act)
}

// check does the checks that are due.
func (p *flink) check(v *sched.View) {
	now := v.Now()
	for p.due.Len() > 0 && p.due.TopKey().X <= now {
		st := p.stages.Of(sched.StageID(p.due.Top()))
		limit := p.baseline(v, st)
		for l := p.lists.First(&st.watched); l != nil && now-l.Started >= limit; l = p.lists.First(&st.watched) {
			p.found(v, l)
		}
		p.schedule(v, st)
	}
}

// found takes notice that an attempt is slow.
func (p *flink) found(v *sched.View, l *kit.Link) {
	a, t := p.lists.Attempt(v, l), l.Task
	if p.slow = kit.Grown(p.slow, a.Row()); !p.slow[a.Row()] {
		p.slow[a.Row()] = true
		id := v.Attempt(a).Machine
		m := &p.machines[id]
		m.slow++
		m.until = max(m.until, p.blockedAt(v.Now()))
		p.ends.Drop(int(id))
	}
	if v.Task(t).Live > 1 {
		p.lists.Unlink(l)
		return
	}
	j := v.Rows().JobOf(t)
	p.lists.Move(l, p.want.At(j))
	p.order.Want(v, j)
}

// Fresh starts a task that waits, unless all free machines are blocked.
func (p *flink) Fresh(v *sched.View, act *sched.Actions, t sched.TaskID, _ sched.MachineID) bool {
	m, ok := p.free(v, 0)
	if !ok {
		return false
	}
	if a := p.order.Launch(v, act, t, m); !v.Rows().Waiting(a) {
		p.watch(v, t, a)
	}
	return true
}

// Clone gives a task of a job with a slow attempt its second one. One that may have none whatever comes is forgotten.
func (p *flink) Clone(v *sched.View, act *sched.Actions, j sched.JobID) bool {
	if v.Job(j).Paused {
		return false
	}
	want := p.want.Of(j)
	for l := p.lists.First(want); l != nil; l = p.lists.First(want) {
		t := l.Task
		m, ok := p.machine(v, t)
		if !ok {
			return false // what is blocked is blocked for all
		}
		p.lists.Unlink(l)
		if v.AttemptRoom(t) > 0 {
			p.unwant(want, j)
			if a := p.order.Clone(v, act, t, m, sched.Straggling); !v.Rows().Waiting(a) {
				p.watch(v, t, a)
			}
			return true
		}
	}
	p.unwant(want, j)
	return false
}

// free returns the first free machine from id from on that is not blocked.
func (p *flink) free(v *sched.View, from sched.MachineID) (m sched.MachineID, ok bool) {
	for m, ok = v.FreeMachine(from); ok && p.blocked(v, m); {
		m, ok = v.FreeMachine(m + 1)
	}
	return m, ok
}

func (p *flink) blocked(v *sched.View, m sched.MachineID) bool {
	x := &p.machines[m]
	return p.block > 0 && p.up > 1 && (x.slow > 0 || x.until > v.Now())
}

// machine returns a free machine that is not blocked, on which the task does not run if there is a choice.
func (p *flink) machine(v *sched.View, t sched.TaskID) (sched.MachineID, bool) {
	first, found := p.free(v, 0)
	for m, ok := first, found; ok; m, ok = p.free(v, m+1) {
		if !kit.RunsOn(v, t, m) {
			return m, true
		}
	}
	return first, found
}

// wakeToUnblock asks to be called when the first of the free machines is not blocked any more, if something waits for
// that.
func (p *flink) wakeToUnblock(v *sched.View, act *sched.Actions) {
	for p.ends.Len() > 0 && p.ends.TopKey().X <= v.Now() {
		p.ends.Drop(p.ends.Top())
	}
	if v.FreeSlots() == 0 || v.Pending() == 0 && p.want.Len() == 0 {
		return
	}
	if p.ends.Len() > 0 && isFree(v, p.ends.Top()) { // nearly always: a block that ends later waits for another call
		act.WakeAt(p.ends.TopKey().X)
		return
	}
	for id, end := range p.ends.All() {
		if isFree(v, id) {
			act.WakeAt(end.X)
		}
	}
}

// isFree tells whether a machine has a free slot.
func isFree(v *sched.View, id int) bool {
	m, ok := v.FreeMachine(sched.MachineID(id))
	return ok && m == sched.MachineID(id)
}
