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
// clock of checks starts at 0.
//
// Nobody polls. A stage keeps its running single attempts in order of start, so the oldest says at which multiple of
// the interval the next mark can be due; the policy wakes then. The marks are those of a check at every multiple of the
// interval, which a naive twin in the tests confirms. An event costs O(log finished tasks of the stage + log stages).

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

var sparkEntry = Entry{
	Name:    "spark",
	Summary: "clone what runs longer than a multiple of the median of the stage's finished tasks",
	Source:  "Apache Spark 4, TaskSetManager.scala, spark.speculation.*",
	Params: []Param{
		{Name: "quantile", Kind: Float, Default: "0.9", Min: 0, Max: 1, Help: "share of a stage's tasks that must be finished first"},
		{Name: "multiplier", Kind: Float, Default: "3", Min: 0, Max: 1e6, Help: "how many times the median is too long"},
		{Name: "interval", Kind: Span, Default: "100ms", Min: 0.001, Max: 86400, Help: "time between checks"},
		{Name: "min_runtime", Kind: Span, Default: "100ms", Help: "younger attempts are never cloned"},
		{Name: "task_threshold", Kind: Span, Default: "0s", Help: "runtime that is too long in a small stage before enough tasks are finished; 0 for none"},
		orderParam,
	},
	WorkConserving: true,
	New:            newSpark,
}

type spark struct {
	order  jobOrder
	places places

	quantile, multiplier            float64
	interval, minRuntime, threshold sched.Time

	stages  perStage[sparkStage]
	values  arena[sched.Time]
	ids     arena[sched.AttemptID]
	lists   attemptLists             // threads marked
	marked  attemptList              // in the order in which they were marked
	due     heap[rising[sched.Time]] // stages by the check that will mark their oldest attempt
	largest uint32                   // slots of the largest machine that has joined
}

type sparkStage struct {
	id        sched.StageID
	need      int32 // finished tasks before anything is judged
	durations median
	watched   oldest     // running single attempts that are not marked
	limit     sched.Time // runtime that is too long, Never while none is
}

func newSpark(a Args) sched.Policy {
	return &spark{
		order: ordered(a), marked: empty, quantile: a.Float("quantile"), multiplier: a.Float("multiplier"),
		interval: a.Span("interval"), minRuntime: a.Span("min_runtime"), threshold: a.Span("task_threshold"),
	}
}

func (p *spark) Observe(v *sched.View, ev *sched.Event) {
	p.order.observe(v, ev)
	p.places.observe(v, ev)
	switch ev.Kind {
	case sched.MachineJoined:
		p.grow(v, v.Machine(ev.Machine).Slots)
	case sched.StageReady:
		st := p.stages.open(ev.Stage)
		st.id = ev.Stage
		stage := v.Stage(ev.Stage)
		tasks := int(stage.Tasks)
		st.need = max(1, int32(p.quantile*float64(tasks))-int32(stage.Done)) // some are done if the job was retried
		st.durations.reset(tasks, &p.values)
		st.watched.reset(tasks, &p.ids)
		p.judge(v, st)
	case sched.AttemptDone:
		st := p.stages.of(ev.Stage)
		p.forget(v, st, ev.Attempt)
		st.durations.add(v.Now() - v.Rows().Started(ev.Attempt))
		p.judge(v, st)
		p.schedule(v, st)
	case sched.AttemptFailed, sched.AttemptLost, sched.AttemptBegan:
		st := p.stages.of(ev.Stage)
		p.forget(v, st, ev.Attempt)
		if a, ok := survivor(v, ev.Task); ok {
			st.watched.add(v, a)
		}
		p.schedule(v, st)
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.due.end(v, ev)
		p.stages.end(v, ev)
	}
}

// forget takes notice that an attempt has ended.
func (p *spark) forget(v *sched.View, st *sparkStage, a sched.AttemptID) {
	st.watched.ended(v, a)
	if p.marked != empty {
		p.lists.remove(a)
	}
}

// grow takes notice of a machine; one larger than all before lets task_threshold hold for more stages.
func (p *spark) grow(v *sched.View, slots uint32) {
	if slots <= p.largest {
		return
	}
	p.largest = slots
	for s, i := range p.stages.index {
		if i > 0 && p.threshold > 0 {
			st := p.stages.of(sched.StageID(s))
			p.judge(v, st)
			p.schedule(v, st)
		}
	}
}

// judge says from which runtime on an attempt of the stage is too slow.
func (p *spark) judge(v *sched.View, st *sparkStage) {
	tasks := v.Stage(st.id).Tasks
	st.limit = sched.Never
	switch {
	case tasks > 1 && st.durations.len() >= int(st.need):
		if x := p.multiplier * float64(st.durations.value()); x < math.MaxInt64 {
			st.limit = max(sched.Time(x), p.minRuntime)
		}
	case p.threshold > 0 && tasks <= p.largest:
		st.limit = max(p.threshold, p.minRuntime)
	}
}

// schedule notes the first check, now or later, that finds the oldest attempt of the stage too slow.
func (p *spark) schedule(v *sched.View, st *sparkStage) {
	first, ok := st.watched.first()
	if !ok || st.limit == sched.Never {
		p.due.drop(int(st.id))
		return
	}
	started := v.Rows().Started(first)
	if st.limit >= sched.Never-started-p.interval {
		p.due.drop(int(st.id))
		return
	}
	at := max(started+st.limit+1, v.Now()) // strictly longer than the limit
	p.due.set(int(st.id), rising[sched.Time]{(at + p.interval - 1) / p.interval * p.interval})
}

func (p *spark) Decide(v *sched.View, act *sched.Actions) {
	for {
		t, m, ok := p.order.next(v)
		if !ok {
			break
		}
		p.watch(v, t, p.order.launch(v, act, t, m))
	}
	p.mark(v)
	p.clone(v, act)
	wakeFor(act, &p.due)
}

func (p *spark) watch(v *sched.View, t sched.TaskID, a sched.AttemptID) {
	if v.Rows().Waiting(a) {
		return
	}
	st := p.stages.of(v.Task(t).Stage)
	st.watched.add(v, a)
	if first, _ := st.watched.first(); first == a {
		p.schedule(v, st)
	}
}

// mark does the checks that are due.
func (p *spark) mark(v *sched.View) {
	now := v.Now()
	for p.due.len() > 0 && p.due.topKey().x <= now {
		st := p.stages.of(sched.StageID(p.due.top()))
		for a, ok := st.watched.first(); ok && now-v.Rows().Started(a) > st.limit; a, ok = st.watched.first() {
			st.watched.pass(v)
			p.lists.append(&p.marked, a, v.Rows().TaskOf(a), v.Rows().Started(a))
		}
		p.schedule(v, st)
	}
}

// clone gives marked tasks their second attempt as far as slots and limits go. A task without a machine to go to stays
// marked; one that may have no second attempt whatever comes is forgotten.
func (p *spark) clone(v *sched.View, act *sched.Actions) {
	for row := p.marked.first; row >= 0 && v.CloneRoom() > 0; {
		l := p.lists.rows[row]
		if v.AttemptRoom(l.task) == 0 {
			p.lists.unlink(row)
		} else if m, ok := p.places.unused(v, l.task, 0); ok {
			p.lists.unlink(row)
			p.order.clone(v, act, l.task, m, sched.Straggling)
		}
		row = l.next
	}
}
