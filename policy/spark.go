package policy

// Spark's speculative execution: Apache Spark, TaskSetManager.checkSpeculatableTasks and dequeueSpeculativeTask;
// spark.speculation.*.
//
//	every interval, per stage of n > 1 tasks, once max(floor(quantile n), 1) tasks are finished:
//	  th = max(multiplier x median(durations of the winners), min_runtime)
//	  mark each running task with exactly one attempt that is not marked and whose runtime is above th
//	marked tasks get a second attempt when no fresh task waits, oldest mark first, on a machine that never ran the task
//
//	quantile          spark.speculation.quantile, 0.9 since Spark 4, 0.75 before
//	multiplier        spark.speculation.multiplier, 3 since Spark 4, 1.5 before
//	interval          spark.speculation.interval, 100 ms
//	min_runtime       spark.speculation.minTaskRuntime, 100 ms
//	task_threshold    spark.speculation.task.duration.threshold, 0 for unset: th before enough tasks are finished, in stages
//	                  of no more tasks than the largest machine has slots
//	median            sorted[floor(n/2)], as Spark's PercentileHeap has it
//
// Spark's efficiency check (3.4 and later) judges by records per second and marks a task of which it has no such rate;
// there are no records here, so every task counts as inefficient. A mark goes when the task gets its second attempt or
// loses its only one.
//
// Deviations. Fresh tasks of all jobs go before all clones; Spark says so inside a task set only. If a task has tried
// as many machines as there are, a clone may go to one of these again: on a single machine Spark could never clone. The
// clock of checks starts at 0. n counts no tasks that the job has given up.
//
// Nobody polls. A stage keeps its running single attempts in order of start, so the oldest says at which multiple of
// the interval the next mark can be due; the policy wakes then. The marks are those of a check at every multiple of the
// interval, which a naive twin in the tests confirms. An event costs O(log finished tasks of the stage + log stages).

import (
	"github.com/tailcut/tailcut/plan/rule"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var sparkEntry = kit.Entry{
	Name:    "spark",
	Summary: "clone tasks that run longer than a multiple of the median of their stage's finished tasks",
	Source:  "Apache Spark 4, TaskSetManager.scala, spark.speculation.*",
	Params: []kit.Param{
		{Name: "quantile", Kind: kit.Float, Default: "0.9", Min: 0, Max: 1, Help: "share of a stage's tasks that must be finished first"},
		{Name: "multiplier", Kind: kit.Float, Default: "3", Min: 0, Max: 1e6, Help: "clone tasks that run longer than this multiple of the median"},
		{Name: "interval", Kind: kit.Span, Default: "100ms", Min: 0.001, Max: 86400, Help: "time between checks"},
		{Name: "min_runtime", Kind: kit.Span, Default: "100ms", Help: "younger attempts are never cloned"},
		{Name: "task_threshold", Kind: kit.Span, Default: "0s", Help: "in a small stage, clone after this runtime even before enough tasks are finished; 0 for never"},
		kit.OrderParam,
	},
	WorkConserving: true,
	New:            newSpark,
}

type spark struct {
	order  kit.Order
	places kit.Places

	rule      rule.Spark[sched.Time]
	threshold sched.Time

	stages  kit.PerStage[sparkStage]
	values  kit.Arena[sched.Time]
	ids     kit.Arena[sched.AttemptID]
	lists   kit.Lists                        // threads marked
	marked  kit.List                         // in the order in which they were marked
	due     kit.Heap[kit.Rising[sched.Time]] // stages by the check that will mark their oldest attempt
	largest uint32                           // slots of the largest machine that has joined
}

type sparkStage struct {
	id        sched.StageID
	seen      int32 // tasks that were done before it opened, if the job was retried
	durations kit.Median
	watched   kit.Oldest // running single attempts that are not marked
	limit     sched.Time // runtime that is too long, Never while none is
}

func newSpark(a kit.Args) sched.Policy {
	return &spark{
		order: kit.NewOrder(a), rule: sparkRule(a), threshold: a.Span("task_threshold"),
	}
}

func sparkRule(a kit.Args) rule.Spark[sched.Time] {
	return rule.Spark[sched.Time]{
		Quantile: a.Float("quantile"), Multiplier: a.Float("multiplier"), Interval: a.Span("interval"), MinRuntime: a.Span("min_runtime"),
	}
}

func (p *spark) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	p.places.Observe(v, ev)
	switch ev.Kind {
	case sched.MachineJoined:
		p.grow(v, v.Machine(ev.Machine).Slots)
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.id = ev.Stage
		stage := v.Stage(ev.Stage)
		tasks := int(stage.Tasks)
		st.seen = int32(stage.Done)
		st.durations.Reset(tasks, &p.values)
		st.watched.Reset(tasks, &p.ids)
		p.judge(v, st)
	case sched.AttemptDone:
		st := p.stages.Of(ev.Stage)
		p.forget(v, st, ev.Attempt)
		st.durations.Add(v.Now() - v.Rows().Started(ev.Attempt))
		p.judge(v, st)
		p.schedule(v, st)
	case sched.TaskGivenUp:
		st := p.stages.Of(ev.Stage)
		p.judge(v, st)
		p.schedule(v, st)
	case sched.AttemptFailed, sched.AttemptLost, sched.AttemptBegan, sched.AttemptTaken:
		st := p.stages.Of(ev.Stage)
		p.forget(v, st, ev.Attempt)
		if a, ok := kit.Survivor(v, ev.Task); ok {
			st.watched.Add(v, a)
		}
		p.schedule(v, st)
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.due.End(v, ev)
		p.stages.End(v, ev)
	}
}

// forget takes notice that an attempt has ended.
func (p *spark) forget(v *sched.View, st *sparkStage, a sched.AttemptID) {
	st.watched.Ended(v, a)
	if !p.marked.Empty() {
		p.lists.Remove(a)
	}
}

// grow takes notice of a machine; one larger than all before lets task_threshold hold for more stages.
func (p *spark) grow(v *sched.View, slots uint32) {
	if slots <= p.largest {
		return
	}
	p.largest = slots
	if p.threshold == 0 {
		return
	}
	for _, st := range p.stages.All() {
		p.judge(v, st)
		p.schedule(v, st)
	}
}

// judge says from which runtime on an attempt of the stage is too slow.
func (p *spark) judge(v *sched.View, st *sparkStage) {
	stage := v.Stage(st.id)
	tasks := stage.Tasks
	need := max(1, p.rule.Need(int(stage.Hopeful()))-int(st.seen))
	st.limit = sched.Never
	switch {
	case tasks > 1 && st.durations.Len() >= need:
		if limit, ok := p.rule.Limit(st.durations.Value()); ok {
			st.limit = limit
		}
	case p.threshold > 0 && tasks <= p.largest:
		st.limit = max(p.threshold, p.rule.MinRuntime)
	}
}

// schedule notes the first check, now or later, that finds the oldest attempt of the stage too slow.
func (p *spark) schedule(v *sched.View, st *sparkStage) {
	first, ok := st.watched.First()
	if !ok || st.limit == sched.Never {
		p.due.Drop(int(st.id))
		return
	}
	started := v.Rows().Started(first)
	if st.limit >= sched.Never-started-p.rule.Interval {
		p.due.Drop(int(st.id))
		return
	}
	p.due.Set(int(st.id), kit.Rising[sched.Time]{X: p.rule.Check(started+st.limit, v.Now())})
}

func (p *spark) Decide(v *sched.View, act *sched.Actions) {
	for {
		t, m, ok := p.order.Next(v)
		if !ok {
			break
		}
		p.watch(v, t, p.order.Launch(v, act, t, m))
	}
	p.mark(v)
	p.clone(v, act)
	kit.WakeFor(act, &p.due)
}

func (p *spark) watch(v *sched.View, t sched.TaskID, a sched.AttemptID) {
	if v.Rows().Waiting(a) {
		return
	}
	st := p.stages.Of(v.Task(t).Stage)
	st.watched.Add(v, a)
	if first, _ := st.watched.First(); first == a {
		p.schedule(v, st)
	}
}

// mark does the checks that are due.
func (p *spark) mark(v *sched.View) {
	now := v.Now()
	for p.due.Len() > 0 && p.due.TopKey().X <= now {
		st := p.stages.Of(sched.StageID(p.due.Top()))
		for a, ok := st.watched.First(); ok && now-v.Rows().Started(a) > st.limit; a, ok = st.watched.First() {
			st.watched.Pass(v)
			p.lists.Append(&p.marked, a, v.Rows().TaskOf(a), v.Rows().Started(a))
		}
		p.schedule(v, st)
	}
}

// clone gives marked tasks their second attempt as far as slots and limits go. A task without a machine to go to stays
// marked; one that may have no second attempt whatever comes is forgotten.
func (p *spark) clone(v *sched.View, act *sched.Actions) {
	for l := p.lists.First(&p.marked); l != nil && v.CloneRoom() > 0; {
		next := p.lists.Next(l)
		if kit.Paused(v, l.Task) {
			l = next
			continue
		}
		if v.AttemptRoom(l.Task) == 0 {
			p.lists.Unlink(l)
		} else if m, ok := p.places.Unused(v, l.Task, 0); ok {
			p.lists.Unlink(l)
			p.order.Clone(v, act, l.Task, m, sched.Straggling)
		}
		l = next
	}
}
