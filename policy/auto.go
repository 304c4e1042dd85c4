package policy

// Auto: one policy for worlds that are not known beforehand.
//
//	S, J      slots, and jobs with tasks that wait
//	price     of a slot: what a second of it costs in seconds of flow time, J/S, and for a clone that starts as much more as
//	          jobs come until none waits, see load; with slots free little, idle x the share in use
//	r         time left of a task's attempts: what their reports say together, see filter, weighed against the law at the age at
//	          which the last was sent, and what has not come true by now left out, see timeLeft
//	n         duration of a new attempt
//	saved     E[r] - E[min(r, n)]
//	late      by how much earlier the stage ends if its m slowest tasks are cloned, divided by m, for the best m; with slots
//	          free and no task waiting, on average if that is more, see stageEnd
//	sure      1 - 1/sqrt(1 + winners of the stage): what is known from few is not certain; times the part of what clones
//	          were expected to save that they have saved, see calibration
//	saved     counts less where machines that were slow stay slow: what a clone gives back then is a slow slot, see machines
//	slack     by how much later the stage may end without its job ending later; late is what exceeds it, see slack
//	cause     why a task is slow, and so what n is: learned from clones, see causes, and from those of the task that were ended,
//	          see failures. late and saved are means over the causes
//
//	a clone is worth its slot while  sure (late + price saved) > price E[min(r, n)]
//	so it is worth any price up to   bid = sure late / (E[min(r, n)] - sure saved)
//
//	a free slot goes to the clone with the highest bid, if that is above the price; else to the task that waits first
//	where the budget is spent, a clone takes the place of one that is worth a tenth of it, if both stages report
//	while tasks wait and no slot is free, the attempt with the lowest bid below J/S ends: a clone, or an original
//	that a clone is expected to overtake, which is a restart. If durations are not drawn anew, that loses its head start.
//	late of a clone that runs is how much later the stage would end without it, by its quantile or on average; while no task
//	waits also late of a new clone, by how much of that it saves, as all clones of a stage are worth more than one by one
//	a report that an attempt is quicker than the oldest one of its task speaks against size, see same
//	where no clone can start, as no slot is free or the budget is spent, the only attempt of a task ends and the task begins
//	anew if  c (takes - usual) > (1 - c) age
//	takes     min over t of E[min(r, t)] / P(r <= t): of a slot until the attempt is done, the inverse of Gittins' index
//	usual     what a winner of the stage has cost so far, with all attempts that were ended; with slots free n at least; more where slow
//	          machines stay slow
//	c         sure times the chance that the task draws a new duration in the same place, less with each attempt of the task that
//	          was ended, see begunAnew
//	all clones end once hardly one has ever won
//	clones run on a tenth of the slots at most, or as the limits allow, if that is more or somebody asked for them
//	a clone of a resumable task goes on from where its attempts have saved most; bids do not count that
//
// Jobs with the least remaining work come first, and of their stages those with the longest paths. Machines that have
// been slow come last. Each stage is looked at again every part of its median, and once a report says that an attempt
// is slow. An event costs O(log jobs + log stages), a look O(running tasks of the stage + stages of its job).

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var autoEntry = kit.Entry{
	Name:    "auto",
	Family:  kit.Stragglers,
	Clones:  "tasks for which a clone is worth its slot",
	Cost:    "O(log jobs + log stages); of a look at a stage, some twenty in each median duration, O(running tasks + stages of the job)",
	Summary: "least remaining work first; a clone where what it saves is worth more than its slot (the default)",
	Source:  "Tailcut",
	Params: []kit.Param{
		{Name: "idle", Kind: kit.Float, Default: "0.01", Min: 0, Max: 1, Help: "price of a slot while some are free and all others are in use; the price of one that a job waits for is 1/slots at least"},
		{Name: "budget", Kind: kit.Float, Default: "0.1", Min: 0, Max: 1, Help: "clones that may run at once, as a fraction of the slots, where no limits are given and the usual ones are less"},
		{Name: "look", Kind: kit.Float, Default: "0.05", Min: 0.001, Max: 100, Help: "time between two looks at a stage, in medians of its tasks"},
		kit.OrderBy("srpt"),
	},
	Progress:       true,
	WorkConserving: true,
	New: func(a kit.Args) sched.Policy {
		p := &auto{order: kit.NewOrder(a).Pooled(), idle: a.Float("idle"), budget: a.Float("budget"), part: a.Float("look")}
		p.order.Along(&p.paths)
		p.order.Shunning(&p.shunned)
		return p
	},
}

type auto struct {
	order  kit.Order
	idle   float64
	budget float64
	part   float64

	quiet    kit.Silence
	trust    trust
	redraw   redraws
	failed   failures
	causes   causes
	kept     calibration
	start    starts
	load     load
	paths    kit.Paths
	shunned  kit.Shunned
	machines machines
	unknown  unknown
	stages   kit.PerStage[autoStage]
	due      kit.Heap[kit.Rising[sched.Time]] // stages by their next look
	ripe     []sched.StageID                  // whose look is due when a clone may start
	bids     kit.Heap[kit.Falling[float64]]   // stages by the bid of the best clone that they want
	held     kit.Heap[kit.Rising[float64]]    // rows of attempts that may be ended, by their bids
	owners   []sched.AttemptID                // by row: of what is in held

	anew  []sched.AttemptID // whose tasks had better begin anew, as the latest looks have found
	begun begunAnew

	eye autoEye
}

// autoStage is what is known of a stage.
type autoStage struct {
	id       sched.StageID
	past     sample
	cost     float64      // seconds of all attempts of tasks that are done, and of those that were begun anew
	told     sched.Time   // something happened to it last
	says     bool         // its attempts report how far they are
	heard    uint32       // reports since the last look
	asked    bool         // one of them asks for the next, see hears
	mixed    bool         // tasks may have begun in another order than that of their ids
	last     sched.TaskID // that has begun
	outlived int          // clones that have outlived winners, see redraws
	repeats  float64      // hazard that they have outlived after another clone of their task, see redraws
	until    sched.Time   // when it ends, as the latest look has found; 0 before
	refuted  bool         // what was told beforehand has turned out wrong
	ripe     bool         // its look is due when a clone may start
	best     []want       // clones that it wants since the last look, the highest bid first
	next     int          // of best, what it bids for
}

// want is a task that is to have a clone.
type want struct {
	task  sched.TaskID
	bid   float64
	live  int     // attempts that the task had
	wins  float64 // chance that the clone is done first; 0 if no law is known
	saved float64 // what it is expected to save, in mean durations of a new attempt
	blind bool    // nothing has won in its stage
}

func (p *auto) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	p.trust.observe(v, ev)
	p.quiet.Observe(v, ev)
	p.start.observe(v, ev)
	p.load.observe(v, ev)
	p.paths.Observe(v, ev, p.unknown.typical())
	switch ev.Kind {
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized:
		p.redraw.crowd = p.budget * float64(v.Slots())
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.id, st.told = ev.Stage, v.Now()
		st.ripe, st.says, st.mixed, st.refuted, st.last = false, false, false, false, 0
		st.heard, st.asked = 0, false
		if st.best == nil {
			st.best, st.past.sorted = make([]want, 0, leastSeen), make([]float64, 0, mostKept)
		}
		st.past.reset()
		st.cost, st.until, st.outlived, st.repeats = 0, 0, 0, 0
		st.best, st.next = st.best[:0], 0
		p.schedule(v, st)
	case sched.AttemptProgress, sched.AttemptTaken, sched.AttemptBegan:
		st := p.stages.Of(ev.Stage)
		st.says = st.says || ev.Kind == sched.AttemptProgress
		st.mixed = st.mixed || ev.Kind != sched.AttemptProgress
		if st.told = v.Now(); !p.due.Has(int(st.id)) {
			p.schedule(v, st)
		}
		if ev.Kind == sched.AttemptProgress {
			p.hears(v, st, ev.Attempt)
		}
	case sched.AttemptDone:
		p.done(v, ev)
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		if ev.Kind == sched.StageDone {
			p.unknown.ends(&p.stages.Of(ev.Stage).past)
		}
		p.due.End(v, ev)
		p.bids.End(v, ev)
		p.stages.End(v, ev)
	case sched.JobDone: // not when it is retired: that may come at any time, or never
		p.redraw.over()
		p.causes.over()
		p.begun.over()
	case sched.JobRetired:
		p.causes.forget(ev.Job)
		p.failed.forget(v, ev.Job)
		p.begun.forget(v, ev.Job)
	}
}

// done takes in what a winner took, and what clones of its task have drawn.
func (p *auto) done(v *sched.View, ev *sched.Event) {
	st := p.stages.Of(ev.Stage)
	st.told = v.Now()
	a, stage := v.Attempt(ev.Attempt), v.Stage(ev.Stage)
	usually := st.usually(&stage)
	if v.Task(ev.Task).Launched > 1 {
		p.race(v, ev.Task, ev.Attempt)
		since := min(a.Started, oldest(v, ev.Task))
		for x, ok := v.FirstAttempt(ev.Task); ok; x, ok = v.NextAttempt(x) {
			p.ends(v, st, ev.Job, x, false, rival{since, a.Started == since})
			p.kept.ends(x, false)
			p.gaveUp(v, x, usually)
		}
		p.ends(v, st, ev.Job, ev.Attempt, true, rival{since: since})
		p.kept.ends(ev.Attempt, true)
	}
	st.cost += (v.Now() - a.Started).Seconds()
	if d, ok := sched.Whole(v.Now()-a.Started, a.From); ok {
		p.begun.wins(&st.past, ev.Task, &a, d)
		p.ran(v, a.Machine, d, usually, true)
		st.past.add(d)
		p.unknown.learns(d)
	}
	if !p.due.Has(int(st.id)) {
		p.schedule(v, st)
	}
}

func (p *auto) Decide(v *sched.View, act *sched.Actions) {
	p.watch(v)
	for p.clone(v, act) || p.launch(v, act) || p.end(v, act) || p.beginAnew(v, act) {
	}
	p.anew = p.anew[:0]
	kit.WakeFor(act, &p.due)
}

// launch starts the task that waits first. Of one that is alone in its stage no more will be known than what others
// have shown, so its look is due at once where slots are idle.
func (p *auto) launch(v *sched.View, act *sched.Actions) bool {
	t, m, ok := p.order.Next(v)
	if !ok {
		return false
	}
	task := v.Task(t)
	p.order.Launch(v, act, t, m)
	if task.Launched == 0 {
		st := p.stages.Of(task.Stage)
		st.mixed, st.last = st.mixed || t < st.last, t
		if v.Stage(st.id).Tasks == 1 && p.order.Waiting() == 0 && p.unknown.typical() > 0 {
			p.looks(st, v.Now()+1)
		}
	}
	return true
}

// wanted returns the clone with the highest bid, as a look has found it, and its stage; nil if none is worth its slot.
func (p *auto) wanted(v *sched.View) (*autoStage, *want) {
	for p.bids.Len() > 0 && p.bids.TopKey().X > p.price(v) {
		st := p.stages.Of(sched.StageID(p.bids.Top()))
		w := &st.best[st.next]
		if v.AttemptRoom(w.task) > 0 && int(v.Task(w.task).Live) == w.live {
			return st, w
		}
		p.pass(st) // it is over, or has changed
	}
	return nil, nil
}

// pass has a stage bid for the clone after the one that it bids for.
func (p *auto) pass(st *autoStage) {
	st.next++
	p.bid(st)
}

// clone starts the clone with the highest bid. It returns false if there is none, or no room for it.
func (p *auto) clone(v *sched.View, act *sched.Actions) bool {
	if v.CloneRoom() == 0 {
		return false
	}
	st, w := p.wanted(v)
	if w == nil {
		return false
	}
	p.pass(st)
	m, ok := p.order.Elsewhere(v, w.task)
	if !ok {
		return false
	}
	for a, runs := v.FirstAttempt(w.task); runs; a, runs = v.NextAttempt(a) {
		p.held.Drop(a.Row()) // what is there is of an earlier clone
	}
	p.kept.starts(p.order.CloneFrom(v, act, w.task, m, kit.Furthest(v, w.task), sched.Straggling), w)
	if !p.bids.Has(int(st.id)) {
		p.goesOn(v, st)
	}
	return true
}

// bid has a stage bid for the next clone that it wants.
func (p *auto) bid(st *autoStage) {
	if st.next == len(st.best) || st.best[st.next].bid <= 0 {
		p.bids.Drop(int(st.id))
		return
	}
	p.bids.Set(int(st.id), kit.Falling[float64]{X: st.best[st.next].bid})
}

// hopeless is the bid of a clone where clones have the duration of their task again: it ends at any price.
const hopeless = -1

// end ends the attempt that is worth least, if it is worth less than it has to be. It returns false if none is.
func (p *auto) end(v *sched.View, act *sched.Actions) bool {
	for p.held.Len() > 0 {
		worth, row := p.held.TopKey().X, p.held.Top()
		a := p.owners[row]
		may := v.Rows().MayKill(a) && v.Task(v.Rows().TaskOf(a)).Live > 1
		if may && worth >= p.keeps(v) {
			return false
		}
		p.held.Drop(row)
		if may && (worth < 0 || v.FreeSlots() == 0 || p.known(v, a)) {
			p.kill(v, act, a, oldest(v, v.Rows().TaskOf(a)))
			return true
		}
	}
	return false
}

// keeps returns what an attempt has to be worth to go on: what a task that waits is worth that has no slot, or a clone
// for which the budget has no room. Else only hopeless ones end.
func (p *auto) keeps(v *sched.View) float64 {
	switch {
	case v.FreeSlots() == 0:
		return p.waits(v)
	case v.CloneRoom() == 0:
		return p.instead(v)
	}
	return 0
}

// kill ends an attempt of a task that goes on, and learns from it. since is when the first of the others began.
func (p *auto) kill(v *sched.View, act *sched.Actions, a sched.AttemptID, since sched.Time) {
	t := v.Rows().TaskOf(a)
	j, st := v.Rows().JobOf(t), p.stages.Of(v.Task(t).Stage)
	p.ends(v, st, j, a, false, rival{since: since})
	p.fails(v, st, t, a)
	p.gives(v, t, a)
	if row := v.Attempt(a); row.Progress > row.From { // else it says no more than its age
		stage := v.Stage(st.id)
		p.gaveUp(v, a, st.usually(&stage))
	}
	kit.Kill(act, a, sched.Share)
	p.order.Touch(v, j)
}

// hold notes the bid of an attempt that may be ended.
func (p *auto) hold(a sched.AttemptID, bid float64) {
	p.owners = kit.Grown(p.owners, a.Row())
	p.owners[a.Row()] = a
	p.held.Set(a.Row(), kit.Rising[float64]{X: bid})
}
