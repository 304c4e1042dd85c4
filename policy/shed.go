package policy

// Shed: Alamro, Xu, Lan, Subramaniam, "Shed: Optimal Dynamic Cloning to Meet Application Deadlines in Cloud".
//
//	N, D, tau  tasks, deadline, time since the arrival      phi  Attempt.Progress
//	r          clones of each task                          R    plan.Work.PoCD, Theorems 1 and 2
//	m, lambda  View.Slots, share                            L    launch
//
//	when a job arrives:
//	  jobs past their deadlines are killed (late=kill)
//	  r of all jobs: plan.Joint, Algorithm 1 for utility=maxmin, sum of r+1 attempts a task and the masters' slots <= lambda m
//	  of each task the most advanced attempt goes on, the others are killed, and r clones start where it will be when they get to work (14, 15)
//
// Readings. Job here is a stage that may run: later stages are optimised when they may start, with the deadline of
// their job. N is of tasks that are not done, phi of the slowest of them. A clone that would find nothing left to do
// is not launched. PoCDs whose logarithms agree in seven digits are equal; of equals a stage that runs goes before one
// that waited, and then the one that was ready first. When the originals of a new job do not fit, it and all after it
// wait until they do; originals go before clones, so a task that has lost its attempt takes the slots of clones. A
// stage with more tasks than there are slots runs in waves (shed_waves.go). Jobs without a deadline get no clones.
// Masters are not attempts: their slots stay free. Originals that start in slots that nobody else needs count among
// lambda m, and what limits on attempts and clones refuse is not launched.
//
// late. The paper kills jobs that are past their deadlines (here, unless their owner says that they are run to the
// end), and gives no clones to those that no clone can save:
// late=kill. Under late=demote the former are served in slots that nobody else needs, without clones. The default,
// late=help, is Tailcut's own: both are served like that, and when nothing waits the slots that are left are divided
// among them as if their deadlines were the median of a fresh attempt's time away. So no deadline, however tight,
// makes a job slower than none. What that may cost is bounded by lambda and max_attempts.
//
// Attempts that stand still (kit.Silence) count as having reported that, and do not have those killed that go on beside
// them.
//
// Where no attempt of a stage has reported, a clone has nothing to go on from, and none is known to be slow: one that
// runs is killed where fewer clones are due, or one begun now is likelier to be in time (plan.Work.Age).
//
// when=departures optimises when a stage ends as well, as the text of Section IV-C has it and Algorithm 1 has not.
// when=reports does so also at reports of progress and at ends of tasks, every so often.
//
// A call that optimises costs O(attempts + clones log jobs), in waves as much as 40,000 durations for each number of
// clones, others O(stages with waiting tasks).

import (
	"fmt"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy/internal/resume"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var shedEntry = kit.Entry{
	Name:    "shed",
	Family:  kit.Deadlines,
	Clones:  "all tasks, from the start",
	Cost:    "O(stages with waiting tasks); an optimisation O(attempts + clones × log jobs), in waves some hundredths of a second",
	Summary: "divide all slots among clones so that jobs meet their deadlines, anew when a job arrives",
	Source:  "Alamro, Xu, Lan, Subramaniam: Shed",
	Params: []kit.Param{
		{Name: "utility", Kind: kit.Choice, Default: "maxmin", Choices: []string{"maxmin", "sum", "log", "alpha"}, Help: "of PoCD, whose sum is maximised; maxmin is the paper's"},
		{Name: "alpha", Kind: kit.Float, Default: "2", Min: 0, Max: 100, Help: "utility=alpha: how fair it is, from sum (0) over log (1) to nearly maxmin"},
		{Name: "max_attempts", Kind: kit.Int, Default: "5", Min: 1, Max: 1000, Help: "attempts of a task, r+1"},
		{Name: "lambda", Kind: kit.Float, Default: "1", Min: 0.001, Max: 1, Help: "share of the slots that may be used"},
		{Name: "master_slots", Kind: kit.Int, Default: "1", Min: 0, Max: 1000, Help: "slots that are kept free for each running job's master"},
		kit.LawParam,
		resume.LaunchParam,
		{Name: "late", Kind: kit.Choice, Default: "help", Choices: []string{"help", "demote", "kill"}, Help: "what to do with jobs that miss their deadlines: clone in leftover slots, do not clone, or cancel, as in the paper"},
		{Name: "when", Kind: kit.Choice, Default: "arrivals", Choices: []string{"arrivals", "departures", "reports"}, Help: "when clones are divided anew"},
		{Name: "interval", Kind: kit.Span, Default: "60s", Min: 0.001, Max: 86400, Help: "when=reports: least time between two divisions that reports cause"},
	},
	Progress: true,
	New:      newShed,
}

type shed struct {
	resume.Resuming
	utility           plan.Utility
	pool              plan.Pool
	law               laws.Law // nil to fit one
	late              shedLate
	onEnds, onReports bool
	interval          sched.Time
	due               bool // optimise in the next call of Decide
	ended             bool // since the last call something has ended, so that what waits may fit
	told              bool // when=reports: a task is done since the last division
	last              sched.Time
	stages            kit.PerStage[shedStage]
	open              []sched.StageID // stages that may run, in the order in which they became ready
	joint             plan.Joint
	works             []plan.Work
	order             []*shedStage // stages of works
	// stages that wait for their originals to fit; of the others, tasks that wait and attempts that run
	waits, lowly, lowUp int
	deadlines           kit.Heap[kit.Rising[sched.Time]] // late=help: stages that run by their deadlines
	low                 bool                             // a stage is low
	shedWaves
}

// shedStage is a stage that may run.
type shedStage struct {
	id     sched.StageID
	rank   shedRank
	clones int  // of each task, r
	atOnce int  // tasks that may run at once
	blind  bool // low as long as there is no law of its attempts' durations
	law    kit.StageLaw
}

// shedLate says what becomes of jobs that miss their deadlines.
type shedLate uint8

const (
	shedHelp shedLate = iota
	shedDemote
	shedKill
)

type shedRank uint8

const (
	shedWaits shedRank = iota // until its originals fit
	shedRuns
	shedLow // in slots that nobody else needs: late, or with more tasks than slots and no deadline or law
)

func newShed(a kit.Args) sched.Policy {
	u := plan.Utility(a.Float("alpha"))
	if name := a.Choice("utility"); name != "alpha" {
		var err error
		if u, err = plan.ParseUtility(name); err != nil {
			panic(fmt.Sprintf("policy: shed offers a utility that is none: %v", err))
		}
	}
	return &shed{
		Resuming: resume.NewResuming(a.Span("launch")), utility: u, law: a.Law("law"),
		pool: plan.Pool{Lambda: a.Float("lambda"), MaxAttempts: a.Int("max_attempts"), MasterSlots: a.Int("master_slots")},
		late: map[string]shedLate{"help": shedHelp, "demote": shedDemote, "kill": shedKill}[a.Choice("late")], onEnds: a.Choice("when") != "arrivals", onReports: a.Choice("when") == "reports",
		interval: a.Span("interval"),
	}
}

func (p *shed) Observe(v *sched.View, ev *sched.Event) {
	p.Quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.StageReady:
		if v.Rows().Visible(ev.Stage) {
			st := p.stages.Open(ev.Stage)
			*st = shedStage{id: ev.Stage, atOnce: allAtOnce}
			p.open = append(p.open, ev.Stage)
			if d := v.Job(ev.Job).Deadline; p.late == shedHelp && d < sched.Never {
				p.deadlines.Set(int(ev.Stage), kit.Rising[sched.Time]{X: d})
			}
			p.due = true
		}
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.stages.End(v, ev)
		p.deadlines.End(v, ev)
		p.ended = true
		p.due = p.due || p.onEnds || p.waved
	case sched.AttemptDone:
		p.ended, p.told = true, p.onReports
		p.due = p.due || p.seen(v, ev.Stage)
	case sched.AttemptLost, sched.AttemptFailed:
		p.ended = true
	case sched.TaskReady:
		p.ready(v, ev.Stage)
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized, sched.JobPaused, sched.JobContinued:
		p.due = true
	case sched.JobChanged:
		p.change(v, ev.Job)
	case sched.AttemptProgress:
		p.due = p.due || p.onReports && v.Now() >= p.last+p.interval
	}
}

// change takes notice of the deadline that a job has now.
func (p *shed) change(v *sched.View, j sched.JobID) {
	job := v.Job(j)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if !p.stages.Has(s) {
			continue
		}
		if st := p.stages.Of(s); st.rank == shedLow {
			st.rank = shedWaits
		}
		if p.deadlines.Drop(int(s)); p.late == shedHelp && job.Deadline < sched.Never {
			p.deadlines.Set(int(s), kit.Rising[sched.Time]{X: job.Deadline})
		}
	}
	p.due = true
}

func (p *shed) Decide(v *sched.View, act *sched.Actions) {
	fell := p.lower(v, act)
	if !p.due && (p.ended || fell) && p.waits > 0 {
		p.due = p.fits(v)
	}
	if p.waved && p.hungry && (p.ended || fell) {
		p.regrow(v)
	}
	helps := fell || p.ended && p.low
	p.ended = false
	p.Quiet.Look(v, func(sched.StageID, sched.TaskID) {
		p.due = p.due || p.onReports && v.Now() >= p.last+p.interval
	})
	kit.WakeFor(act, &p.Quiet.Due)
	if p.told && v.Now() >= p.last+p.interval {
		p.due = true
	} else if p.told {
		act.WakeAt(p.last + p.interval)
	}
	if p.due {
		if p.late == shedKill && p.killLate(v, act) {
			return // Decide is called again
		}
		p.optimise(v, act)
	}
	if !p.start(v, act, shedRuns) && v.Cluster().Clones() > 0 {
		p.optimise(v, act)
	}
	p.startLow(v, act)
	if p.waved {
		p.complete(v, act)
	}
	if helps {
		p.help(v, act)
	}
}

// killLate gives up the jobs that are past their deadlines, and tells whether there are any.
func (p *shed) killLate(v *sched.View, act *sched.Actions) (found bool) {
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		if job := v.Job(j); job.Deadline <= v.Now() && job.MayGiveUp() {
			if err := act.Cancel(j); err != nil {
				panic(fmt.Sprintf("policy: cancel job %d: %v", j, err))
			}
			found = true
		}
	}
	return found
}

// optimise divides the slots anew and brings all tasks to the number of clones that follows.
func (p *shed) optimise(v *sched.View, act *sched.Actions) {
	p.due, p.told, p.last = false, false, v.Now()
	p.rank(v)
	p.works, p.order, p.waits = p.works[:0], p.order[:0], 0
	for _, rank := range []shedRank{shedRuns, shedWaits} {
		for _, s := range p.open {
			if st := p.stages.Of(s); st.rank == rank {
				p.order = append(p.order, st)
				w := p.work(v, st)
				if p.waved {
					p.inWaves(v, st, &w)
				}
				p.works = append(p.works, w)
			}
		}
	}
	pool := p.pool
	pool.Slots, pool.Taken = v.Slots(), p.lowUp
	if p.waved {
		pool.Waves, pool.Draws, pool.MasterSlots = true, shedDraws, 0
	}
	if l := v.Cluster().Limits().Attempts; l > 0 {
		pool.MaxAttempts = min(pool.MaxAttempts, l)
	}
	if p.lowly > 0 {
		pool.Taken += min(p.lowly, p.spare(pool))
	}
	shares := p.joint.Optimise(pool, p.utility, p.works)
	spare := max(0, pool.Usable()-shares.Used)
	if p.waved {
		spare = p.assign(spare, shares)
	} else {
		p.admit(shares.Clones)
	}
	p.prune(v, act, spare)
	p.start(v, act, shedRuns)
	p.startLow(v, act)
	p.started, p.lacks = p.started[:0], false
	p.clones(v, act)
	p.help(v, act)
}

// admit brings a division to the stages in order.
func (p *shed) admit(clones []int) {
	for i, r := range clones {
		st := p.order[i]
		st.atOnce = allAtOnce
		if st.clones = max(0, r); r != plan.Queued {
			st.rank = shedRuns
		} else if st.rank == shedWaits {
			p.waits++
		}
	}
}

// clones gives the running tasks of the stages in order the clones that they should have.
func (p *shed) clones(v *sched.View, act *sched.Actions) {
	for _, st := range p.order {
		p.cloneStage(v, act, st)
	}
}

func (p *shed) cloneStage(v *sched.View, act *sched.Actions, st *shedStage) {
	for t, ok := v.RunningTask(st.id, 0); ok && st.clones > 0; t, ok = v.RunningTask(st.id, t+1) {
		p.clone(v, act, t, st.clones)
	}
}

// rank forgets stages that are over and finds those that can only be served in slots that are left.
func (p *shed) rank(v *sched.View) {
	open := p.open[:0]
	p.lowly, p.lowUp, p.low, p.waved, p.blind = 0, 0, false, false, false
	whole := int(p.pool.Lambda*float64(v.Slots()) + 1e-9)
	for _, s := range p.open {
		stage := v.Stage(s)
		if stage.State != sched.StageOpen {
			continue
		}
		open = append(open, s)
		st := p.stages.Of(s)
		if st.rank == shedLow && (stage.Live == 0 || st.blind) {
			st.rank = shedWaits
		}
		st.blind = false
		low := st.rank == shedLow || p.misses(v, st)
		if !low && p.need(v, s) > whole {
			waves := whole > 0 && p.wide(v, st)
			p.waved = p.waved || waves
			low = !waves && st.rank == shedWaits
		}
		if low {
			st.rank, st.clones, p.low = shedLow, 0, true
			p.lowly += int(stage.Pending)
			p.lowUp += int(stage.Running)
		}
	}
	p.open = open
}

// misses tells whether a stage is behind all that can make their deadlines.
func (p *shed) misses(v *sched.View, st *shedStage) bool {
	if v.Job(v.Stage(st.id).Job).Deadline <= v.Now() {
		return true
	}
	return p.late == shedHelp && p.work(v, st).Hopeless()
}

// work describes a stage to the optimiser.
func (p *shed) work(v *sched.View, st *shedStage) plan.Work {
	stage := v.Stage(st.id)
	job := v.Job(stage.Job)
	w := plan.Work{Tasks: int(stage.Pending + stage.Running), Law: st.law.Of(p.law, &stage)}
	if job.Deadline == sched.Never || w.Law == nil {
		w.Law, w.Deadline = certainly, 1
		return w
	}
	w.Deadline, w.Elapsed = (job.Deadline - job.Arrived).Seconds(), (v.Now() - job.Arrived).Seconds()
	if stage.Pending > 0 {
		return w
	}
	if kit.Mute(v, st.id) {
		p.age(v, st.id, &w)
		return w
	}
	w.Progress = kit.NearlyDone
	for t, ok := v.RunningTask(st.id, 0); ok; t, ok = v.RunningTask(st.id, t+1) {
		_, a := p.Foremost(v, t)
		w.Progress = min(w.Progress, p.Progress(&a, v.Now()))
	}
	if w.Progress > 0 && stage.Resumable {
		w.Launch = p.Launch.Seconds()
	}
	return w
}

// certainly is the law of what needs no clones.
var certainly laws.Law = laws.Exponential{Mu: 700}

// need returns the slots that the originals and the master of a stage take.
func (p *shed) need(v *sched.View, s sched.StageID) int {
	st := v.Stage(s)
	if st.Pending+st.Running == 0 {
		return 0
	}
	return int(st.Pending+st.Running) + p.pool.MasterSlots
}

// spare returns the slots of a pool that no original of the stages in order needs.
func (p *shed) spare(pool plan.Pool) int {
	left := pool.Usable()
	for i := range p.works {
		need := p.works[i].Tasks
		if need > 0 {
			need += pool.MasterSlots
		}
		if need > left {
			return 0
		}
		left -= need
	}
	return left
}

// fits tells whether the originals of the first stage that waits fit now. It counts those that wait again, for some may
// be over.
func (p *shed) fits(v *sched.View) bool {
	left := int(p.pool.Lambda*float64(v.Slots()) + 1e-9)
	first := -1
	p.waits = 0
	for _, s := range p.open {
		stage := v.Stage(s)
		if stage.State != sched.StageOpen {
			continue
		}
		switch p.stages.Of(s).rank {
		case shedRuns:
			left -= p.need(v, s)
		case shedLow:
			left -= int(stage.Running)
		case shedWaits:
			if p.waits++; first < 0 {
				first = p.need(v, s)
			}
		}
	}
	return first >= 0 && (first <= left || v.Cluster().Live() == 0)
}

// start gives free slots to the waiting tasks of stages of a rank, and tells whether all of them have one.
func (p *shed) start(v *sched.View, act *sched.Actions, rank shedRank) bool {
	for s, ok := v.WaitingStage(0); ok; s, ok = v.WaitingStage(s + 1) {
		st := p.stages.Of(s)
		if st.rank != rank {
			continue
		}
		for t, ok := v.PendingTask(s, 0); ok && (rank == shedLow || int(v.Stage(s).Running) < st.atOnce); t, ok = v.PendingTask(s, t+1) {
			m, free := v.FreeMachine(0)
			if !free {
				return false
			}
			if kit.Start(v, act, t, m); p.waved && rank == shedRuns {
				p.started = append(p.started, t)
			}
		}
	}
	return true
}

// startLow starts tasks of stages that are low, if nothing else wants the slots.
func (p *shed) startLow(v *sched.View, act *sched.Actions) {
	if p.waits == 0 && !(p.waved && p.hungry) {
		p.start(v, act, shedLow)
	}
}

// clone launches clones of a running task where its most advanced attempt will be, as far as there is room.
func (p *shed) clone(v *sched.View, act *sched.Actions, t sched.TaskID, clones int) {
	_, a := p.Foremost(v, t)
	from, ok := p.From(v, &a)
	if !ok {
		return
	}
	for range clones - int(v.Task(t).Live) + 1 {
		if v.CloneRoom() == 0 || v.AttemptRoom(t) == 0 {
			p.lacks = p.lacks || v.CloneRoom() == 0
			return
		}
		m, _ := kit.Elsewhere(v, t)
		kit.Launch(act, t, m, from, sched.Deadline)
	}
}
