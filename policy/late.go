package policy

// LATE, longest approximate time to end: Zaharia, Konwinski, Joseph, Katz, Stoica, "Improving MapReduce Performance in
// Heterogeneous Environments", OSDI 2008, section 4.
//
//	ProgressScore, ProgressRate  phi, and phi/age as of the last report; 1/duration of a winner; the driver's own rate where it tells one.
//	                             An attempt that resumed at From counts what it did itself: (phi-From)/age, (1-From)/duration
//	time left                    (1-phi)/ProgressRate
//	SpeculativeCap               cap, a fraction of all slots; at least one clone unless it is 0
//	SlowTaskThreshold            slow_task, percentile of the rates of all attempts of the stage that have reported or won
//	SlowNodeThreshold            slow_node, percentile of the machines' scores; used with node_filter=true
//	minimum age                  min_age
//
//	when it is the turn of a job that has no fresh task, and fewer clones than the cap run:
//	  of its running tasks with one attempt, of at least min_age, with a rate below SlowTaskThreshold,
//	  clone the one with the longest time left, on a machine that never ran it and is not slow
//
// LATE is a part of Hadoop's job: free slots go job by job, to each its fresh tasks and then its clones (Hadoop 0.20,
// JobQueueTaskScheduler.assignTasks, which calls JobInProgress.obtainNewMapTask, which looks for a speculative task
// where it has no other). clones=cluster is another reading of the paper, whose rule knows no jobs: clones wait for the
// fresh tasks of all jobs, and then the longest time left of all goes first.
//
// The percentile is sorted[floor(q n)], so at most a fraction q is below it.
//
// An attempt that has never reported (a plain command in the live engine) has no progress rate. estimate=progress
// never clones it for that. estimate=age, the default, knows that its rate is below 1/age, for it has not finished,
// and what has lasted so long may last as long again: it is slow once 1/age is below SlowTaskThreshold and its time
// left, taken to be its age, is above the mean duration of the stage's winners. Before there is a winner nothing is
// known. Where progress is reported the two do not differ. The rate of an attempt that has reported and stands still
// is that over its whole age, and its time left grows, see kit.Silence; in the paper's world attempts do not stand
// still.
//
// The score of a machine is the progress of all attempts that ran and run there. That compares machines only while all
// are busy alike, so the filter is off by default; with it a choice may look at every slow machine. Deviations: the
// time left is that of the last report, not of a later instant; a clone may go to a machine that ran the task if the
// task has tried as many as there are; a task that may never have a second attempt is passed over for good.
//
// A report costs O(log attempts of the stage); a choice looks at the slow attempts only.

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var lateEntry = kit.Entry{
	Name:    "late",
	Family:  kit.Stragglers,
	Clones:  "slow tasks with long to go",
	Cost:    "O(log attempts of the stage); a choice looks at the slow attempts",
	Summary: "clone the slow task with the longest estimated time left",
	Source:  "Zaharia et al., OSDI 2008, section 4",
	Code:    lateCode,
	Params: []kit.Param{
		{Name: "cap", Kind: kit.Float, Default: "0.1", Min: 0, Max: 1, Help: "clones running at once, as a fraction of all slots; at least one unless it is 0"},
		{Name: "slow_task", Kind: kit.Float, Default: "0.25", Min: 0, Max: 1, Help: "fraction of a stage's attempts, by progress rate, that may count as slow"},
		{Name: "min_age", Kind: kit.Span, Default: "60s", Help: "younger attempts are never cloned"},
		{Name: "estimate", Kind: kit.Choice, Default: "age", Choices: []string{"progress", "age"}, Help: "how to judge an attempt without any report: not at all, or by its age"},
		{Name: "node_filter", Kind: kit.Bool, Default: "false", Help: "start no clone on a slow machine"},
		{Name: "slow_node", Kind: kit.Float, Default: "0.25", Min: 0, Max: 1, Help: "fraction of the machines, by score, that may count as slow"},
		kit.OrderParam,
		kit.ClonesParam,
		sitesParam("any", "delay"),
		waitParam,
	},
	Progress:       true,
	WorkConserving: true,
	New:            newLate,
}

type late struct {
	order  kit.Order
	places kit.Places

	cap      float64
	slowTask float64
	minAge   sched.Time
	byAge    bool
	nodes    *machineScores // nil without node filter

	stages   kit.PerStage[lateStage]
	lists    kit.Lists
	quiet    kit.Silence
	young    kit.List                         // single attempts below min_age, by start
	ready    kit.Heap[kit.Rising[sched.Time]] // stages by the instant from which they have a candidate; 0 for now
	attempts []lateAttempt                    // by row

	found kit.Candidates
	buf   []int
}

type lateStage struct {
	id    sched.StageID
	first sched.TaskID   // the stage's; indexes of tasks count from it
	rates kit.Percentile // of attempts that run and have reported, and of winners
	// tasks, by index, with a single attempt, of min_age, that has reported, by its rate
	slow   kit.Heap[kit.Rising[float64]]
	silent kit.List // single attempts of min_age that have not, by start
}

func (st *lateStage) index(t sched.TaskID) int { return int(t - st.first) }

// lateAttempt is what a running attempt has reported.
type lateAttempt struct {
	number int32      // of its value in rates plus 1, 0 before the first report
	rate   float64    // fraction per second
	end    sched.Time // now + time left
}

func newLate(a kit.Args) sched.Policy {
	p := &late{
		order: sited(kit.NewOrder(a).ClonesBy(a), a), cap: a.Float("cap"), slowTask: a.Float("slow_task"), minAge: a.Span("min_age"),
		byAge: a.Choice("estimate") == "age",
	}
	if a.Bool("node_filter") {
		p.nodes = &machineScores{ranks: kit.Percentile{P: a.Float("slow_node")}}
	}
	return p
}

// Confines tells whether the sites are chosen.
func (p *late) Confines() bool { return p.order.Confines() }

func (p *late) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	p.places.Observe(v, ev)
	p.quiet.Observe(v, ev)
	if p.nodes != nil {
		p.nodes.observe(v, ev)
	}
	switch ev.Kind {
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.id, st.first, st.silent = ev.Stage, v.Stage(ev.Stage).First, kit.List{}
		st.rates.P = p.slowTask
		st.rates.Reset()
		st.slow.Clear()
	case sched.AttemptProgress:
		p.report(v, ev.Attempt)
	case sched.AttemptDone:
		st := p.stages.Of(ev.Stage)
		x := p.take(st, ev.Attempt, ev.Task)
		a := v.Attempt(ev.Attempt)
		won := (1 - a.From) / (v.Now() - a.Started).Seconds()
		if x.number > 0 {
			st.rates.Set(int(x.number-1), won)
		} else {
			st.rates.Add(won)
		}
		p.schedule(v, st)
	case sched.AttemptFailed, sched.AttemptLost, sched.AttemptBegan, sched.AttemptTaken:
		st := p.stages.Of(ev.Stage)
		if x := p.take(st, ev.Attempt, ev.Task); x.number > 0 {
			st.rates.Release(int(x.number - 1))
		}
		if a, ok := kit.Survivor(v, ev.Task); ok && !p.order.Kept(v, ev.Task) {
			p.single(v, st, a, ev.Task)
		}
		if ev.Kind == sched.AttemptTaken {
			p.report(v, ev.Attempt)
		}
		p.schedule(v, st)
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.ready.End(v, ev)
		p.stages.End(v, ev)
	}
}

// report takes in how far an attempt has come. A report of no progress, or at the instant of the start, tells nothing.
func (p *late) report(v *sched.View, id sched.AttemptID) {
	a := v.Attempt(id)
	age, rate := (a.ProgressAt - a.Started).Seconds(), a.Rate
	if rate == 0 && age > 0 {
		rate = (a.Progress - a.From) / age
	}
	if rate <= 0 {
		return
	}
	end := kit.Later(a.ProgressAt, (1-a.Progress)/rate)
	if rem, silent := p.quiet.Remaining(v, id, &a); silent {
		end = v.Now() + min(rem, sched.Never-v.Now())
	}
	p.judge(v, id, a.Task, rate, end)
}

// look judges the attempts that stand still.
func (p *late) look(v *sched.View) {
	p.quiet.Look(v, func(_ sched.StageID, t sched.TaskID) {
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			p.still(v, a)
		}
	})
}

// still judges an attempt that has reported and stands still.
func (p *late) still(v *sched.View, id sched.AttemptID) {
	a := v.Attempt(id)
	rem, silent := p.quiet.Remaining(v, id, &a)
	if !silent || !p.reported(id.Row()) {
		return
	}
	done := a.Progress - a.From
	if a.Rate > 0 {
		done = 1 - a.From // it should have done all, and has not
	}
	p.judge(v, id, a.Task, done/(v.Now()-a.Started).Seconds(), v.Now()+min(rem, sched.Never-v.Now()))
}

// judge takes notice of the rate of an attempt and of when it will be done.
func (p *late) judge(v *sched.View, a sched.AttemptID, t sched.TaskID, rate float64, end sched.Time) {
	st, row := p.stages.Of(v.Task(t).Stage), a.Row()
	p.attempts = kit.Grown(p.attempts, row)
	x := &p.attempts[row]
	x.rate, x.end = rate, end
	if x.number == 0 {
		x.number = int32(st.rates.Add(rate)) + 1
	} else {
		st.rates.Set(int(x.number-1), rate)
	}
	if p.lists.ListOf(a) == &st.silent {
		p.lists.Remove(a)
		st.slow.Set(st.index(t), kit.Rising[float64]{X: rate})
	} else if st.slow.Has(st.index(t)) {
		st.slow.Set(st.index(t), kit.Rising[float64]{X: rate})
	}
	p.schedule(v, st)
}

// take forgets an attempt and returns what it has reported.
func (p *late) take(st *lateStage, a sched.AttemptID, t sched.TaskID) (x lateAttempt) {
	p.lists.Remove(a)
	st.slow.Drop(st.index(t))
	if a.Row() < len(p.attempts) {
		x, p.attempts[a.Row()] = p.attempts[a.Row()], lateAttempt{}
	}
	return x
}

// single makes an attempt, the only one of its task, a possible candidate.
func (p *late) single(v *sched.View, st *lateStage, a sched.AttemptID, t sched.TaskID) {
	started := v.Attempt(a).Started
	switch {
	case v.Now()-started < p.minAge:
		p.lists.InsertByStart(&p.young, a, t, started)
	case p.reported(a.Row()):
		st.slow.Set(st.index(t), kit.Rising[float64]{X: p.attempts[a.Row()].rate})
	default:
		p.lists.InsertByStart(&st.silent, a, t, started)
	}
}

func (p *late) reported(row int) bool { return row < len(p.attempts) && p.attempts[row].number > 0 }

// schedule notes from when on the stage has a candidate.
func (p *late) schedule(v *sched.View, st *lateStage) {
	at := slowSince(p.lists.First(&st.silent), p.longest(v, st))
	if slowest, ok := st.rates.Value(); ok && st.slow.Len() > 0 && st.slow.TopKey().X < slowest {
		at = 0
	}
	if at == sched.Never {
		p.ready.Drop(int(st.id))
		return
	}
	p.ready.Set(int(st.id), kit.Rising[sched.Time]{X: at})
}

// longest returns the seconds for which an attempt of a stage may go without a report, +Inf where nothing is known.
func (p *late) longest(v *sched.View, st *lateStage) float64 {
	if !p.byAge || st.silent.Empty() {
		return math.Inf(1)
	}
	stage := v.Stage(st.id)
	mean, _, won := stage.Measured()
	slowest, ok := st.rates.Value()
	if !won || !ok {
		return math.Inf(1)
	}
	return max(mean, 1/slowest)
}

// slowSince returns the instant from which an attempt without reports is slow; nil is none.
func slowSince(l *kit.Link, longest float64) sched.Time {
	if l == nil || math.IsInf(longest, 1) {
		return sched.Never
	}
	at := kit.Later(l.Started, longest)
	return at + min(1, sched.Never-at) // older than that, not as old
}

func (p *late) Decide(v *sched.View, act *sched.Actions) {
	p.ripen(v)
	p.look(v)
	kit.WakeFor(act, &p.quiet.Due)
	fresh := v.Pending() > 0
	next := p.serve(v, act)
	if fresh { // what has started may be old enough, and may make room in the budget of clones
		p.ripen(v)
		next = p.serve(v, act)
	}
	if !p.room(v) {
		return // the event that makes room comes back here
	}
	if l := p.lists.First(&p.young); l != nil {
		next = min(next, p.ripe(l))
	}
	act.WakeAt(next)
}

// serve gives free slots to fresh tasks and to candidates, and returns the instant at which the next one comes if
// nothing happens.
func (p *late) serve(v *sched.View, act *sched.Actions) (next sched.Time) {
	next = sched.Never
	p.found.Reset(&p.order)
	if p.room(v) {
		next = p.gather(v)
	}
	if !p.order.ClonesLast() {
		p.found.Want(v, &p.order)
	}
	p.order.Serve(v, act, p)
	for p.order.ClonesLast() && p.Clone(v, act, 0) {
	}
	return next
}

// Fresh starts a task that waits.
func (p *late) Fresh(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) bool {
	p.order.Launch(v, act, t, m)
	if !p.order.Kept(v, t) {
		p.lists.Watch(v, &p.young, t)
	}
	return true
}

// room tells whether a clone may start.
func (p *late) room(v *sched.View) bool {
	most := int(p.cap * float64(v.Slots()))
	if p.cap > 0 {
		most = max(most, 1)
	}
	return p.order.Clones(v) < most && v.CloneRoom() > 0
}

// ripe returns the instant at which an attempt is old enough.
func (p *late) ripe(l *kit.Link) sched.Time { return l.Started + min(p.minAge, sched.Never-l.Started) }

// ripen makes candidates of attempts that have become old enough.
func (p *late) ripen(v *sched.View) {
	for l := p.lists.First(&p.young); l != nil && p.ripe(l) <= v.Now(); l = p.lists.First(&p.young) {
		row := p.lists.Attempt(v, l).Row()
		st := p.stages.Of(v.Task(l.Task).Stage)
		if p.reported(row) {
			p.lists.Unlink(l)
			st.slow.Set(st.index(l.Task), kit.Rising[float64]{X: p.attempts[row].rate})
		} else {
			p.lists.Move(l, &st.silent)
		}
		p.schedule(v, st)
	}
}

// gather collects the candidates, longest time left first, of each job or else, with clones=cluster, of all as of one.
// It returns the instant at which the next one comes if nothing happens.
func (p *late) gather(v *sched.View) (next sched.Time) {
	now := v.Now()
	ids, after, more := p.ready.Within(kit.Rising[sched.Time]{X: now}, p.buf[:0])
	next = sched.Never
	if more {
		next = after.X
	}
	stages := len(ids)
	for i := range stages {
		st := p.stages.Of(sched.StageID(ids[i]))
		job := v.Stage(st.id).Job
		if !p.order.Reaches(v, job) {
			continue
		}
		if p.order.ClonesLast() {
			job = 0
		}
		if slowest, ok := st.rates.Value(); ok {
			ids, _, _ = st.slow.Within(kit.Rising[float64]{X: math.Nextafter(slowest, math.Inf(-1))}, ids[:stages])
			for _, i := range ids[stages:] {
				t := st.first + sched.TaskID(i)
				a, _ := v.FirstAttempt(t)
				p.found.Add(job, now-p.attempts[a.Row()].end, t)
			}
		}
		l, longest := p.lists.First(&st.silent), p.longest(v, st)
		for ; slowSince(l, longest) <= now; l = p.lists.Next(l) {
			p.found.Add(job, l.Started-now, l.Task)
		}
		next = min(next, slowSince(l, longest))
	}
	p.buf = ids[:0]
	p.found.Sort()
	return next
}

// Clone gives a candidate of a job its second attempt if there is a machine for it. One that may have none whatever
// comes is forgotten.
func (p *late) Clone(v *sched.View, act *sched.Actions, j sched.JobID) bool {
	for p.room(v) {
		t, ok := p.found.Take(&p.order, j)
		if !ok {
			return false
		}
		if kit.Paused(v, t) {
			continue
		}
		a, _ := v.FirstAttempt(t)
		st := p.stages.Of(v.Task(t).Stage)
		m, ok := p.machine(v, t)
		clones := v.AttemptRoom(t) > 0
		if clones && !ok {
			continue
		}
		if clones {
			p.order.Clone(v, act, t, m, sched.Straggling)
		}
		p.lists.Remove(a)
		st.slow.Drop(st.index(t))
		p.schedule(v, st)
		if clones {
			return true
		}
	}
	return false
}

// machine returns a free machine for a clone of the task that is not slow.
func (p *late) machine(v *sched.View, t sched.TaskID) (sched.MachineID, bool) {
	m, ok := p.places.Unused(v, t, 0)
	for ok && p.nodes != nil && p.nodes.slow(m) {
		m, ok = p.places.Unused(v, t, m+1)
	}
	return m, ok
}

// machineScores are LATE's node scores: the progress of all attempts that won or run on a machine.
type machineScores struct {
	score []float64      // by MachineID
	ranks kit.Percentile // of the scores of machines that are up
	last  []float64      // by attempt row: the progress that is in the score
}

func (n *machineScores) observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.MachineJoined:
		n.score = kit.Grown(n.score, int(ev.Machine))
		n.ranks.Set(int(ev.Machine), n.score[ev.Machine])
	case sched.MachineLost:
		n.ranks.Drop(int(ev.Machine))
	case sched.AttemptProgress, sched.AttemptTaken:
		done := v.Attempt(ev.Attempt).Progress
		n.add(v, ev, done, done)
	case sched.AttemptDone:
		n.add(v, ev, 1, 0)
	case sched.AttemptFailed, sched.AttemptLost:
		n.add(v, ev, 0, 0)
	}
}

// add makes an attempt count for so much on its machine, and keeps what a later call has to replace.
func (n *machineScores) add(v *sched.View, ev *sched.Event, progress, keep float64) {
	row := ev.Attempt.Row()
	n.last = kit.Grown(n.last, row)
	n.score[ev.Machine] += progress - n.last[row]
	n.last[row] = keep
	if v.Machine(ev.Machine).Up {
		n.ranks.Set(int(ev.Machine), n.score[ev.Machine])
	}
}

// slow tells whether the score of a machine is below the percentile.
func (n *machineScores) slow(m sched.MachineID) bool {
	x, ok := n.ranks.Value()
	return ok && n.score[m] < x
}
