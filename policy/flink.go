package policy

// Flink's speculative execution: Apache Flink 1.16 and later, ExecutionTimeBasedSlowTaskDetector and
// SpeculativeScheduler.
//
//	every interval, per stage of n tasks of which at least ratio n are done:
//	  k = round(n ratio); T = the (k/2+1)th smallest duration of the winners, 0 if k = 0
//	  a running task whose only attempt is of at least lower_bound and of at least multiplier T is slow
//	a slow task gets a second attempt when no fresh task waits, on a machine that is not blocked; its machine is blocked for block
//
//	ratio        slow-task-detector.execution-time.baseline-ratio, 0.75
//	multiplier   slow-task-detector.execution-time.baseline-multiplier, 1.5
//	lower_bound  slow-task-detector.execution-time.baseline-lower-bound, 1 min
//	interval     slow-task-detector.check-interval, 1 s
//	block        execution.batch.speculative.block-slow-node-duration, 1 min
//
// T is called the median of the first n ratio tasks; as the code has it, they are the shortest, not the first to end,
// so that T falls as short ones end late.
//
// Flink weighs durations with input bytes, which are not known here. Its limit of concurrent executions is two, its
// default. Deviations. A blocked machine takes no clones; Flink keeps fresh tasks from it too. A clone goes to another
// machine than the task's own unless there is none. The clock of checks starts at 0. n counts no tasks that the job
// has given up.
//
// As in spark.go nobody polls: a stage keeps its running single attempts in order of start, so the oldest says at which
// check the next one is slow. An event costs O(log tasks of the stage + log stages).

import (
	"github.com/tailcut/tailcut/plan/rule"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var flinkEntry = kit.Entry{
	Name:    "flink",
	Summary: "clone tasks that run longer than a multiple of their stage's lower median, and at least a minute",
	Source:  "Apache Flink 1.16, ExecutionTimeBasedSlowTaskDetector.java, slow-task-detector.*",
	Params: []kit.Param{
		{Name: "ratio", Kind: kit.Float, Default: "0.75", Min: 0, Max: 1, Help: "share of a stage's tasks that must be finished first"},
		{Name: "multiplier", Kind: kit.Float, Default: "1.5", Min: 0, Max: 1e6, Help: "clone tasks that run longer than this multiple of the median"},
		{Name: "lower_bound", Kind: kit.Span, Default: "60s", Help: "younger attempts are never cloned"},
		{Name: "interval", Kind: kit.Span, Default: "1s", Min: 0.001, Max: 86400, Help: "time between checks"},
		{Name: "block", Kind: kit.Span, Default: "60s", Max: 1e6, Help: "time for which the machine of a slow task gets no clones"},
		kit.OrderParam,
	},
	WorkConserving: true,
	New: func(a kit.Args) sched.Policy {
		return &flink{
			order: kit.NewOrder(a), rule: flinkRule(a), block: a.Span("block"),
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

	stages  kit.PerStage[flinkStage]
	lists   kit.Lists
	slow    kit.List                         // in the order in which they were found
	due     kit.Heap[kit.Rising[sched.Time]] // stages by the check that will find their oldest attempt slow
	blocked []sched.Time                     // by MachineID: until when
}

type flinkStage struct {
	id      sched.StageID
	lowest  kit.Lowest // durations of winners: the k/2+1 shortest, none if k = 0; T is the longest of them
	watched kit.List   // running single attempts that have not been found slow, by start
}

func (p *flink) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	switch ev.Kind {
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.id, st.watched = ev.Stage, kit.List{}
		stage := v.Stage(ev.Stage)
		st.lowest.Reset(p.rule.Shortest(int(stage.Hopeful())))
	case sched.AttemptDone:
		p.lists.Remove(ev.Attempt)
		st := p.stages.Of(ev.Stage)
		st.lowest.Add(v.Now() - v.Attempt(ev.Attempt).Started)
		p.schedule(v, st)
	case sched.TaskGivenUp:
		st, stage := p.stages.Of(ev.Stage), v.Stage(ev.Stage)
		st.lowest.Shrink(p.rule.Shortest(int(stage.Hopeful())))
		p.schedule(v, st)
	case sched.AttemptFailed, sched.AttemptLost, sched.AttemptBegan, sched.AttemptTaken:
		p.lists.Remove(ev.Attempt)
		st := p.stages.Of(ev.Stage)
		if a, ok := kit.Survivor(v, ev.Task); ok {
			p.lists.InsertByStart(&st.watched, a, ev.Task, v.Attempt(a).Started)
		}
		p.schedule(v, st)
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.due.End(v, ev)
		p.stages.End(v, ev)
	}
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
	for {
		t, m, ok := p.order.Next(v)
		if !ok {
			break
		}
		st, a := p.stages.Of(v.Task(t).Stage), p.order.Launch(v, act, t, m)
		if v.Rows().Waiting(a) {
			continue
		}
		alone := st.watched.Empty()
		p.lists.InsertByStart(&st.watched, a, t, v.Now())
		if alone {
			p.schedule(v, st)
		}
	}
	p.check(v)
	p.clone(v, act)
	kit.WakeFor(act, &p.due)
}

// check does the checks that are due.
func (p *flink) check(v *sched.View) {
	now := v.Now()
	for p.due.Len() > 0 && p.due.TopKey().X <= now {
		st := p.stages.Of(sched.StageID(p.due.Top()))
		limit := p.baseline(v, st)
		for l := p.lists.First(&st.watched); l != nil && now-l.Started >= limit; l = p.lists.First(&st.watched) {
			m := v.Attempt(p.lists.Attempt(v, l)).Machine
			p.blocked = kit.Grown(p.blocked, int(m))
			p.blocked[m] = now + min(p.block, sched.Never-now)
			p.lists.Move(l, &p.slow)
		}
		p.schedule(v, st)
	}
}

// clone gives slow tasks their second attempt as far as slots and limits go. One that may have no second attempt
// whatever comes is forgotten.
func (p *flink) clone(v *sched.View, act *sched.Actions) {
	for l := p.lists.First(&p.slow); l != nil && v.CloneRoom() > 0; {
		if kit.Paused(v, l.Task) {
			l = p.lists.Next(l)
			continue
		}
		if v.AttemptRoom(l.Task) > 0 {
			m, ok := p.machine(v, act, l.Task)
			if !ok {
				return // what is blocked is blocked for all
			}
			p.order.Clone(v, act, l.Task, m, sched.Straggling)
		}
		next := p.lists.Next(l)
		p.lists.Unlink(l)
		l = next
	}
}

// machine returns a free machine that is not blocked, on which the task does not run if there is a choice. If all free
// machines are blocked it asks to be called when the first of them is not.
func (p *flink) machine(v *sched.View, act *sched.Actions, t sched.TaskID) (best sched.MachineID, found bool) {
	until := sched.Never
	for m, ok := v.FreeMachine(0); ok; m, ok = v.FreeMachine(m + 1) {
		switch {
		case int(m) < len(p.blocked) && p.blocked[m] > v.Now():
			until = min(until, p.blocked[m])
		case !kit.RunsOn(v, t, m):
			return m, true
		case !found:
			best, found = m, true
		}
	}
	if !found {
		act.WakeAt(until)
	}
	return best, found
}
