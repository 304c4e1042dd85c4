package policy

// Laxity: Tailcut's own policy for deadlines. docs/howto/deadlines.md explains it. The symbols are those of Shed
// (shed.go).
//
//	a task that will be late gets clones that may save its job before any waiting task gets a slot
//	waiting tasks get slots before any other clone: first those of jobs with a seat in the order of the deadlines; then
//	those of jobs that can meet theirs only if others do not, and of late ones that are worth something still (late:
//	soft), least work for their value first; then all others, least work first. Who has a seat, seat says
//	when a task reports:
//	  of its attempts that work, the one that will be done first goes on; the others are killed
//	  late: it will be done after the deadline. Clones, as many as make the chance that all are late at most epsilon
//	  slow: it needs longer than nu, so that another attempt is likely to save more time than it takes to find out. One clone, or where no
//	        slot is free for it, another attempt instead of it
//	  else: what has not begun is killed too
//	a job that not even an attempt of the shortest duration could save goes behind those that may be, or is given up
//	(late=kill, unless the job itself says that it is run to its end: late: hard or soft)
//
// A job that is late is still helped, in slots that neither a waiting task nor a job that may be saved
// needs: it aims at the earliest end that its tasks can be almost sure of, so that a deadline missed by a little stays
// one. Else a tighter deadline would make a job slower.
//
// A task with an attempt that stands still is judged like one that reports, see kit.Silence; so is one that has not
// reported since it was launched. Where nothing is known of the durations yet, what will be late gets one clone. Where
// no attempt has ever reported and no task waits, the clones are those of auto (laxity_idle.go).
// What counts as slow doubles with each attempt of a task that was killed for it beyond five, so that no task is begun
// for ever because its attempts report what is not so.
//
// An attempt costs c before one knows how good it is: launch + judge. Where launch is not said it is learned
// (laxity_launch.go). With a share rho left to do, going on takes y, and another attempt c + rho X. So nu = rho x with
// E[(x-X)^+] = c/rho, the reservation value of optimal search (McCall 1970); attempts that are judged good stay so, for
// x rises as rho falls. In a stage that resumes, c is less by what an attempt does until it is judged
// (laxity_reservation.go); in one that does not, rho is 1 for others. The time until one knows is the mean time between
// two reports in the stage, unless judge says it. What is known of X, foretold says;
// and where another attempt has the duration of its task again, as far as redrawn has learned that, c counts as
// c / chance.
//
// Where what attempts foretell shows that tasks have sizes of their own, a task's size is judged by all that its
// attempts have foretold, and nu and the number of clones follow from it (laxity_size.go).
//
// A task that would be late gets clones that save it with a chance of epsilon at least, while others wait only as many
// as are worth their price; if none is, its job is lost. The price of a clone is c, the time until it is judged, since
// all clones but one are killed then: by c / the work of the whole job it must make it likelier that the task is in
// time, for that share of a job may be lost elsewhere (laxity_clones.go).
//
// Running tasks of jobs that are lost and worth nothing give way to waiting tasks of jobs with a seat
// (laxity_vain.go).
//
// Clones go on where their source will be (Shed, equations 14 and 15). A machine on which an attempt was given up is
// avoided for a while, since slowness often is the machine's.
//
// A report costs O(attempts of the task + log jobs) and what it takes to find a machine that is not avoided; a stage
// that opens or ends, and a job that comes or goes, O(jobs log jobs).

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/internal/resume"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var laxityEntry = kit.Entry{
	Name:    "laxity",
	Family:  kit.Deadlines,
	Clones:  "slow tasks, and tasks that will be late; where nothing has reported and no task waits, those of auto",
	Cost:    "O(attempts of the task + log jobs) and the search for a machine; of a job that comes or goes, O(jobs log jobs)",
	Summary: "earliest deadline first, without jobs that would make others late; replace slow attempts, clone tasks that would be late",
	Source:  "Tailcut",
	Params: []kit.Param{
		{Name: "law", Kind: kit.Law, Help: "of one attempt's duration, as long as reports do not contradict it; none: learned from reports"},
		{Name: "launch", Kind: kit.Span, Default: "0s", Min: 0, Max: 86400, Help: "time that an attempt takes to launch, L; 0s to learn it from reports"},
		{Name: "judge", Kind: kit.Span, Default: "0s", Min: 0, Max: 86400, Help: "time after its launch until an attempt's speed is known: that between reports; 0s for the mean so far, and 10s until there is one"},
		{Name: "epsilon", Kind: kit.Float, Default: "0.01", Min: 1e-9, Max: 0.999, Help: "accepted chance that a task that would be late is late nevertheless"},
		{Name: "max_attempts", Kind: kit.Int, Default: "5", Min: 1, Max: 1000, Help: "attempts of a task"},
		{Name: "avoid", Kind: kit.Span, Default: "5m", Min: 0, Max: 86400, Help: "time to avoid a machine after a slow attempt there"},
		{Name: "late", Kind: kit.Choice, Default: "demote", Choices: []string{"demote", "kill"}, Help: "what to do with jobs that cannot meet their deadline: serve them last, or give them up"},
	},
	Progress:       true,
	WorkConserving: true,
	New:            newLaxity,
}

type laxity struct {
	resume.Resuming
	law       foretold
	redraw    redrawn
	sizes     sizes
	launches  launches
	learns    bool       // how long launches take
	judging   sched.Time // after the launch until the speed is known, 0 for that between reports
	epsilon   float64
	most      int
	avoid     sched.Time
	demote    bool
	waiting   kit.Heap[laxityTurn]           // jobs with waiting tasks
	seats     sched.Table[sched.JobID, bool] // jobs that have one, see seat
	reseat    bool                           // who has one may have changed
	work      kit.Workload                   // of those that have none
	jobs      []seatJob                      // buffer, like worth
	worth     kit.Heap[kit.Rising[float64]]
	deadlines kit.Heap[kit.Rising[sched.Time]] // jobs that may still meet theirs
	late      kit.Heap[kit.Rising[sched.Time]] // of the others those that are worth something, by until when
	stages    kit.PerStage[laxityStage]
	told      kit.Queue[sched.AttemptID]       // attempts that have reported since the last decision
	young     kit.Queue[sched.AttemptID]       // not good enough, but launched at this instant: they stay for now
	saves     kit.Queue[sched.TaskID]          // tasks without a slot for clones that may save the job
	again     kit.Queue[sched.TaskID]          // and for others; some of both are over
	lacks     sched.Table[sched.TaskID, bool]  // the tasks of saves and again that run
	lacking   int                              // how many these are
	avoided   []sched.Time                     // by machine: until when
	dismissed sched.Table[sched.TaskID, uint8] // attempts of a task that were killed for being slow
	vain      kit.Queue[sched.TaskID]          // running tasks of jobs that are lost, and some that are over
	// vainWork is the machine time that tasks have lost by giving way.
	vainWork sched.Table[sched.TaskID, sched.Time]
	mute     *auto // gives clones to idle slots; nil once an attempt has reported
}

type laxityStage struct {
	stageForetold
	nu reservation
}

func newLaxity(a kit.Args) sched.Policy {
	return &laxity{
		Resuming: resume.NewResuming(a.Span("launch")), law: foretold{given: a.Law("law")}, work: kit.Workload{Pooled: true}, judging: a.Span("judge"),
		epsilon: a.Float("epsilon"), most: a.Int("max_attempts"), avoid: a.Span("avoid"), demote: a.Choice("late") == "demote",
		learns: a.Span("launch") == 0, mute: autoEntry.New(settings(autoEntry, "")).(*auto),
	}
}

func (p *laxity) Observe(v *sched.View, ev *sched.Event) {
	p.Quiet.Observe(v, ev)
	p.work.Observe(v, ev)
	if ev.Kind == sched.AttemptProgress {
		p.mute = nil
	} else if p.mute != nil {
		p.mute.Observe(v, ev)
	}
	switch ev.Kind {
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized:
		p.reseat = true
		return
	case sched.TimerFired, sched.AttemptBegan, sched.DataFetched:
		return
	case sched.AttemptProgress:
		p.told.Push(ev.Attempt)
		if p.learns && !v.Cluster().WaitToBegin() {
			if launch, ok := p.launches.hears(v, ev); ok {
				p.Launch, p.Quiet.Launch = launch, launch
			}
		}
		p.hear(v, ev)
		return
	case sched.AttemptTaken:
		p.told.Push(ev.Attempt)
	case sched.JobArrived, sched.JobChanged:
		p.late.Drop(int(ev.Job))
		if p.deadlines.Drop(int(ev.Job)); v.Job(ev.Job).Deadline < sched.Never {
			p.deadlines.Set(int(ev.Job), kit.Rising[sched.Time]{X: v.Job(ev.Job).Deadline})
		}
		p.reseat = true
	case sched.StageReady:
		if v.Rows().Visible(ev.Stage) {
			*p.stages.Open(ev.Stage) = laxityStage{}
		}
	case sched.JobDone:
		p.reseat = true
		p.closed(ev.Job)
	case sched.JobRetired:
		p.seats.Drop(ev.Job)
		p.redraw.forget(v, ev.Job)
		p.sizes.forget(v, ev.Job)
		p.law.forget()
		kit.DropTasks(&p.dismissed, v, ev.Job)
		kit.DropTasks(&p.lacks, v, ev.Job)
		kit.DropTasks(&p.vainWork, v, ev.Job)
		return
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost, sched.TaskReady, sched.TaskGivenUp:
		if ev.Kind == sched.AttemptDone {
			row := v.Attempt(ev.Attempt)
			p.untold(v, &row, true)
		}
		p.lackless(v, ev)
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.stages.End(v, ev)
		p.lackless(v, ev)
		p.reseat = true
		if ev.Kind != sched.StageDone {
			p.closed(ev.Job)
		}
	}
	p.touch(v, ev.Job)
}

func (p *laxity) closed(j sched.JobID) {
	p.deadlines.Drop(int(j))
	p.late.Drop(int(j))
}

func (p *laxity) Decide(v *sched.View, act *sched.Actions) {
	for p.deadlines.Len() > 0 && p.deadlines.TopKey().X <= v.Now() {
		p.lose(v, act, sched.JobID(p.deadlines.Top()))
	}
	for p.late.Len() > 0 && p.late.TopKey().X <= v.Now() {
		j := sched.JobID(p.late.Top())
		p.late.Drop(int(j))
		p.touch(v, j)
		p.vainly(v, j)
	}
	if p.reseat {
		p.place(v)
	}
	if !p.idles(v) {
		p.help(v, act, &p.saves, true)
	}
	p.start(v, act)
	p.preempt(v, act)
	if !p.idles(v) {
		p.judgeAll(v, act)
	}
	if p.idles(v) {
		p.idle(v, act)
	}
	kit.WakeFor(act, &p.deadlines)
	kit.WakeFor(act, &p.late)
}

// judgeAll judges the tasks that have reported, that stand still, and that lack clones.
func (p *laxity) judgeAll(v *sched.View, act *sched.Actions) {
	for n := p.young.Len(); n > 0; n-- {
		p.told.Push(p.young.Pop())
	}
	for p.told.Len() > 0 {
		if a := p.told.Pop(); v.Rows().Alive(a) {
			p.judge(v, act, v.Attempt(a).Task)
		}
	}
	p.Quiet.Look(v, func(_ sched.StageID, t sched.TaskID) { p.judge(v, act, t) })
	p.help(v, act, &p.again, false)
	p.saves.Tidy(p.lacks.Get)
	p.again.Tidy(p.lacks.Get)
	p.start(v, act)
	p.preempt(v, act)
	kit.WakeFor(act, &p.Quiet.Due)
}

// lose gives up a job that cannot meet its deadline, and tells so, or lets others go first.
func (p *laxity) lose(v *sched.View, act *sched.Actions, j sched.JobID) (gone bool) {
	p.deadlines.Drop(int(j))
	if job := v.Job(j); p.demote || !job.MayGiveUp() {
		if until := job.Until(); until > job.Deadline && until > v.Now() {
			p.late.Set(int(j), kit.Rising[sched.Time]{X: until})
		}
		p.touch(v, j)
		p.vainly(v, j)
		return false
	}
	if err := act.Cancel(j); err != nil {
		panic(fmt.Sprintf("policy: cancel job %d: %v", j, err))
	}
	p.waiting.Drop(int(j))
	return true
}

// start gives free slots to waiting tasks, those of lost jobs and of jobs without a deadline last.
func (p *laxity) start(v *sched.View, act *sched.Actions) {
	for p.waiting.Len() > 0 && v.FreeSlots() > 0 {
		j := sched.JobID(p.waiting.Top())
		s, _ := v.WaitingStage(v.Job(j).FirstStage)
		t, _ := v.PendingTask(s, 0)
		if law := p.lawOf(v, s); law != nil && p.deadlines.Has(int(j)) {
			least := (1 - v.Task(t).Saved) * law.Quantile(0)
			if kit.Later(v.Now()+p.Launch, least) > v.Job(j).Deadline {
				p.lose(v, act, j)
				continue
			}
		}
		if kit.Start(v, act, t, p.machine(v, t)); p.worthless(v, j) {
			p.vain.Push(t)
		}
		p.touch(v, j)
	}
}

func (p *laxity) lawOf(v *sched.View, s sched.StageID) laws.Law {
	stage := v.Stage(s)
	return p.law.of(&p.stages.Of(s).stageForetold, &stage)
}

// judge decides what becomes of the attempts of a task. Those of a paused job stay as they are, and a task that has
// just given way to others has none.
func (p *laxity) judge(v *sched.View, act *sched.Actions, t sched.TaskID) {
	if kit.Paused(v, t) || v.Task(t).State != sched.TaskRunning {
		return
	}
	best := p.First(v, t)
	row := p.Quiet.Attempt(v, best)
	end, known := p.End(&row)
	if !known {
		return
	}
	fresh := p.killWorse(v, act, t, best)
	from, more := p.From(v, &row)
	var clones laxityClones
	if more {
		clones = p.want(v, t, end, from)
	}
	if clones.lost && fresh == 0 {
		if p.lose(v, act, v.Rows().JobOf(t)) {
			return
		}
	}
	p.serve(v, act, best, &row, end, from, clones, fresh)
	if j := v.Rows().JobOf(t); p.waiting.Has(int(j)) {
		p.touch(v, j) // what killed attempts have done may count as work now
	}
}

// laxityPatience is how many attempts of a task may be killed for being slow before each one doubles what slow means:
// what the attempts of such a task report says little about how long they take.
const laxityPatience = 5

// laxityJudge is the time between reports, in seconds, before there are two.
const laxityJudge = 10

// slow tells whether another attempt that goes on from a fraction of the task is likely to save more time than it costs
// to find out.
func (p *laxity) slow(v *sched.View, t sched.TaskID, end sched.Time, from float64) bool {
	s := v.Task(t).Stage
	law := p.lawOf(v, s)
	if law == nil {
		return false
	}
	rest := (1 - from) * p.patience(t)
	if size, ok := p.sizeOf(v, t); ok {
		return (end - v.Now()).Seconds() > rest*p.sizes.reservation(&size, p.cost(s)/(1-from))
	}
	draw := p.draw(v, s).by((1 - from) * p.redraw.chance(v.Rows().JobOf(t)))
	return (end - v.Now()).Seconds() > rest*p.stages.Of(s).nu.of(law, draw)
}

// cost returns c, the seconds after which it is known how fast an attempt of a stage is that is launched now.
func (p *laxity) cost(s sched.StageID) float64 {
	judging := p.judging.Seconds()
	if mean, ok := p.Quiet.Interval(s); ok && judging == 0 {
		judging = mean
	} else if judging == 0 {
		judging = laxityJudge
	}
	return p.Launch.Seconds() + judging
}

// patience returns how many times as long as else an attempt of a task must take to be slow.
func (p *laxity) patience(t sched.TaskID) float64 {
	return math.Ldexp(1, max(0, int(p.dismissed.Get(t))-laxityPatience))
}

// dismiss kills an attempt for being slow.
func (p *laxity) dismiss(v *sched.View, act *sched.Actions, a sched.AttemptID) {
	row := v.Attempt(a)
	if p.Quiet.Silent(v, a) {
		p.Quiet.Strike(row.Task)
	}
	if y, known := p.whole(&row); known {
		p.redraw.gives(row.Task, y)
	} else {
		p.untold(v, &row, false)
	}
	n := p.dismissed.At(row.Task)
	*n += min(1, math.MaxUint8-*n)
	p.shun(v, row.Machine)
	kit.Kill(act, a, sched.Replaced)
}

// untold takes in that an attempt gives way or is done which may have reported nothing. One that is done says something
// only beside one that gave way.
func (p *laxity) untold(v *sched.View, row *sched.Attempt, done bool) {
	if done && p.redraw.tasks.Get(row.Task) == 0 {
		return
	}
	age, whole := sched.Whole(max(0, v.Now()-row.Started-p.Launch), row.From)
	if law := p.lawOf(v, v.Task(row.Task).Stage); law != nil && whole {
		p.redraw.ends(row.Task, v.Rows().JobOf(row.Task), age, done, law)
	}
}

// kept returns how much of the task is not done again if its attempt is killed.
func (p *laxity) kept(v *sched.View, t sched.TaskID, a *sched.Attempt) float64 {
	if !v.Stage(v.Task(t).Stage).Resumable {
		return 0
	}
	return min(max(v.Task(t).Saved, a.ProgressAtTime(v.Now())), kit.NearlyDone)
}

// killWorse kills the attempts that have begun and will be done after the best, and counts those that have not begun.
func (p *laxity) killWorse(v *sched.View, act *sched.Actions, t sched.TaskID, best sched.AttemptID) (fresh int) {
	for a, ok := v.FirstAttempt(t); ok; {
		next, more := v.NextAttempt(a)
		if row := p.Quiet.Attempt(v, a); a != best && resume.Begun(&row) && !v.Rows().MayKill(a) {
			p.young.Push(a)
		} else if a != best && resume.Begun(&row) {
			p.dismiss(v, act, a)
		} else if a != best {
			fresh++
		}
		a, ok = next, more
	}
	return fresh
}

func (p *laxity) shun(v *sched.View, m sched.MachineID) {
	p.avoided = kit.Grown(p.avoided, int(m))
	p.avoided[m] = v.Now() + p.avoid
}

// machine returns a free machine for an attempt of a task, of which there must be one: not where the task runs, and not
// one that is avoided, if there is a choice; else the one that was slow longest ago.
func (p *laxity) machine(v *sched.View, t sched.TaskID) sched.MachineID {
	best, found := v.FreeMachine(0)
	until := sched.Never
	for m, ok := best, found; ok; m, ok = v.FreeMachine(m + 1) {
		u := sched.Time(0)
		if int(m) < len(p.avoided) {
			u = p.avoided[m]
		}
		if u <= v.Now() {
			u = 0
		}
		if u < until && !kit.RunsOn(v, t, m) {
			best, until = m, u
			if u == 0 {
				break
			}
		}
	}
	return best
}
