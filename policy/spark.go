package policy

// Spark's speculative execution: Apache Spark 4.0.1, TaskSetManager.checkSpeculatableTasks and dequeueTask;
// spark.speculation.*.
//
//	every interval, per stage of n > 1 tasks, once max(floor(quantile n), 1) tasks are finished:
//	  th = max(multiplier x median(durations of the winners), min_runtime)
//	  mark each running task with exactly one attempt that is not marked and whose runtime is above th
//	marked tasks get a second attempt in the turn of their job, when it has no fresh task, latest mark first, on a machine
//	that never ran the task
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
// Marks are a stack (PendingTasksByLocality, dequeueTaskFromList): the latest is served first; with marks=earliest the
// earliest is. Those of one check are in no order in Spark, which goes through a hash set; here the task that started
// first is served first.
//
// Free slots go job by job, TaskSchedulerImpl.resourceOffers and TaskSetManager.dequeueTask: a task set is offered all
// of them, and takes its fresh tasks before its marked ones, before the next task set is asked. clones=cluster is not
// Spark's: marked tasks wait for the fresh tasks of all jobs.
//
// Deviations. A job has one turn and one stack; in Spark each of its stages has. If a task has tried as many machines
// as there are, a clone may go to one of these again: on a single machine Spark could never clone. The clock of checks
// starts at 0. n counts no tasks that the job has given up.
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
	Family:  kit.Stragglers,
	Clones:  "tasks that run long",
	Cost:    "O(log finished tasks of the stage + log stages)",
	Summary: "clone tasks that run longer than a multiple of the median of their stage's finished tasks",
	Source:  "Apache Spark 4.0.1, TaskSetManager.checkSpeculatableTasks and TaskSchedulerImpl.resourceOffers; spark.speculation.*",
	Code:    sparkCode,
	Params: []kit.Param{
		{Name: "quantile", Kind: kit.Float, Default: "0.9", Min: 0, Max: 1, Help: "share of a stage's tasks that must be finished first"},
		{Name: "multiplier", Kind: kit.Float, Default: "3", Min: 0, Max: 1e6, Help: "clone tasks that run longer than this multiple of the median"},
		{Name: "interval", Kind: kit.Span, Default: "100ms", Min: 0.001, Max: 86400, Help: "time between checks"},
		{Name: "min_runtime", Kind: kit.Span, Default: "100ms", Help: "younger attempts are never cloned"},
		{Name: "task_threshold", Kind: kit.Span, Default: "0s", Help: "in a small stage, clone after this runtime even before enough tasks are finished; 0 for never"},
		{Name: "marks", Kind: kit.Choice, Default: "latest", Choices: []string{"latest", "earliest"}, Help: "which marked task of a job gets a clone first, by the check that marked it"},
		kit.OrderParam,
		kit.ClonesParam,
	},
	WorkConserving: true,
	New:            newSpark,
}

type spark struct {
	order  kit.Order
	places kit.Places

	rule      rule.Spark[sched.Time]
	threshold sched.Time
	earliest  bool // marks are a queue

	stages  kit.PerStage[sparkStage]
	values  kit.Arena[sched.Time]
	ids     kit.Arena[sched.AttemptID]
	lists   kit.Lists                          // threads marked
	marked  sched.Table[sched.JobID, kit.List] // of jobs that have some; the next to get a clone is first
	due     kit.Heap[kit.Rising[sched.Time]]   // stages by the check that will mark their oldest attempt
	largest uint32                             // slots of the largest machine that has joined
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
		order: kit.NewOrder(a).ClonesBy(a), rule: sparkRule(a), threshold: a.Span("task_threshold"),
		earliest: a.Choice("marks") == "earliest",
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
		p.forget(v, st, ev)
		st.durations.Add(v.Now() - v.Rows().Started(ev.Attempt))
		p.judge(v, st)
		p.schedule(v, st)
	case sched.TaskGivenUp:
		st := p.stages.Of(ev.Stage)
		p.judge(v, st)
		p.schedule(v, st)
	case sched.AttemptFailed, sched.AttemptLost, sched.AttemptBegan, sched.AttemptTaken:
		st := p.stages.Of(ev.Stage)
		p.forget(v, st, ev)
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
func (p *spark) forget(v *sched.View, st *sparkStage, ev *sched.Event) {
	st.watched.Ended(v, ev.Attempt)
	if p.marked.Len() > 0 {
		if l := p.lists.Remove(ev.Attempt); l != nil {
			p.unmarked(l, ev.Job)
		}
	}
}

// unmarked takes notice that a job has one mark less.
func (p *spark) unmarked(l *kit.List, j sched.JobID) {
	if l.Empty() {
		p.marked.Drop(j)
		p.order.Unwant(j)
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
		st.limit = p.threshold // which minTaskRuntime does not bound
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
	p.mark(v)
	p.order.Serve(v, act, p)
	kit.WakeFor(act, &p.due)
}

// Fresh starts a task that waits.
func (p *spark) Fresh(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) bool {
	p.watch(v, t, p.order.Launch(v, act, t, m))
	return true
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
		job := v.Stage(st.id).Job
		var last *kit.Link
		for a, ok := st.watched.First(); ok && now-v.Rows().Started(a) > st.limit; a, ok = st.watched.First() {
			st.watched.Pass(v)
			to, t, started := p.marked.At(job), v.Rows().TaskOf(a), v.Rows().Started(a)
			if p.earliest {
				p.lists.Append(to, a, t, started)
			} else {
				last = p.lists.Stack(to, last, a, t, started)
			}
			p.order.Want(v, job)
		}
		p.schedule(v, st)
	}
}

// Clone gives a marked task of a job its second attempt. A task without a machine to go to stays marked; one that may
// have no second attempt whatever comes is forgotten.
func (p *spark) Clone(v *sched.View, act *sched.Actions, j sched.JobID) bool {
	if v.Job(j).Paused {
		return false
	}
	marked := p.marked.Of(j)
	for l := p.lists.First(marked); l != nil; {
		t, next := l.Task, p.lists.Next(l)
		if v.AttemptRoom(t) == 0 {
			p.lists.Unlink(l)
		} else if m, ok := p.places.Unused(v, t, 0); ok {
			p.lists.Unlink(l)
			p.unmarked(marked, j)
			p.order.Clone(v, act, t, m, sched.Straggling)
			return true
		}
		l = next
	}
	p.unmarked(marked, j)
	return false
}
