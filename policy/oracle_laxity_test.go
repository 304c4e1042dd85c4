package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var laxityOracle = oracle{
	name: "laxity",
	specs: []string{
		"laxity", "laxity:law=(pareto:alpha=1.5,xm=5),judge=10s", "laxity:late=kill,judge=1s", "laxity:max_attempts=2,avoid=5s,launch=1s",
		"laxity:law=(exp:mean=20),epsilon=0.3,judge=2s,launch=2s", "laxity:max_attempts=3,judge=500ms,avoid=0s",
	},
	slow: func(a kit.Args) sched.Policy {
		return &slowLaxity{
			progress: newProgress(a.Span("launch")), learns: a.Span("launch") == 0, given: a.Law("law"), work: kit.Workload{Pooled: true}, seats: map[sched.JobID]bool{}, vainWork: map[sched.TaskID]sched.Time{}, judging: a.Span("judge"), epsilon: a.Float("epsilon"), most: a.Int("max_attempts"),
			avoid: a.Span("avoid"), demote: a.Choice("late") == "demote", hopeful: map[sched.JobID]bool{}, late: map[sched.JobID]bool{}, givenUp: map[sched.JobID]bool{}, avoided: map[sched.MachineID]sched.Time{},
			dismissed: map[sched.TaskID]int{}, slowSizes: slowSizes{drawn: map[sched.TaskID]drawnSize{}}, gave: map[sched.TaskID]float32{}, mute: autoEntry.New(settings(autoEntry, "")).(*auto),
		}
	},
}

// slowLaxity has the rules at the top of laxity.go. What is worth waiting for (reservation), what stands still and auto
// have tests of their own.
type slowLaxity struct {
	progress
	launches  launches // have a test of their own
	learns    bool
	given     laws.Law
	foretold  []slowForetold
	gave      map[sched.TaskID]float32 // what the attempt that gave way last would have taken
	verdicts  []slowVerdict
	work      kit.Workload
	seats     map[sched.JobID]bool
	reseat    bool
	judging   sched.Time
	epsilon   float64
	most      int
	avoid     sched.Time
	demote    bool
	hopeful   map[sched.JobID]bool // jobs that may meet their deadlines
	late      map[sched.JobID]bool // jobs that lost hope while they were worth something
	givenUp   map[sched.JobID]bool // up: the core does that after the decision
	told      []sched.AttemptID    // have reported
	young     []sched.AttemptID    // are not good enough, but were launched just now
	again     []slowLack           // tasks that run and are to have clones, for which there was no slot
	avoided   map[sched.MachineID]sched.Time
	dismissed map[sched.TaskID]int
	vain      []sched.TaskID // of jobs that are worth nothing, in the order in which that was noticed
	vainWork  map[sched.TaskID]sched.Time
	heard     bool  // an attempt has reported
	mute      *auto // knows what would be cloned by ages alone
	slowSizes
}

// slowLack is a task that lacks clones, which may save its job or not.
type slowLack struct {
	task  sched.TaskID
	saves bool
}

func (p *slowLaxity) Observe(v *sched.View, ev *sched.Event) {
	p.quiet.Observe(v, ev)
	p.work.Observe(v, ev)
	if p.heard = p.heard || ev.Kind == sched.AttemptProgress; !p.heard {
		p.mute.Observe(v, ev)
	}
	p.again = slices.DeleteFunc(p.again, func(x slowLack) bool { return v.Task(x.task).State != sched.TaskRunning })
	switch ev.Kind {
	case sched.JobArrived:
		p.late[ev.Job] = false
		p.hopeful[ev.Job] = v.Job(ev.Job).Deadline < sched.Never
	case sched.AttemptProgress:
		p.told = append(p.told, ev.Attempt)
		if l, ok := p.launches.hears(v, ev); ok && p.learns && !v.Cluster().WaitToBegin() {
			p.launch, p.quiet.Launch = l, l
		}
		p.hear(v, ev)
	case sched.AttemptDone:
		p.untold(v, ev.Attempt, true)
	case sched.JobRetired:
		p.verdicts = append(p.verdicts, slowVerdict{retired: true})
		p.foretold = append(p.foretold, slowForetold{retired: true})
		p.like.fade()
	}
	switch ev.Kind {
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized, sched.JobArrived, sched.JobChanged, sched.JobDone, sched.JobFailed, sched.JobCancelled, sched.StageDone:
		p.reseat = true
	}
}

func (p *slowLaxity) Decide(v *sched.View, act *sched.Actions) {
	late := slices.DeleteFunc(p.jobs(v), func(j sched.JobID) bool { return !p.hopeful[j] || v.Job(j).Deadline > v.Now() })
	slices.SortFunc(late, func(a, b sched.JobID) int {
		return cmp.Or(cmp.Compare(v.Job(a).Deadline, v.Job(b).Deadline), cmp.Compare(a, b))
	})
	for _, j := range late {
		p.lose(v, act, j)
	}
	p.expire(v)
	if p.reseat {
		p.reseat = false
		p.place(v)
	}
	idle := func() bool { return !p.heard && v.Pending() == 0 && !v.Cluster().WaitToBegin() }
	if !idle() {
		p.help(v, act, true)
	}
	p.fill(v, act)
	p.preempt(v, act)
	if !idle() {
		told := append(p.told, p.young...)
		p.told, p.young = nil, nil
		for _, a := range told {
			if v.Rows().Alive(a) {
				p.judge(v, act, v.Attempt(a).Task)
			}
		}
		p.quiet.Look(v, func(_ sched.StageID, t sched.TaskID) { p.judge(v, act, t) })
		p.help(v, act, false)
		p.fill(v, act)
		p.preempt(v, act)
		kit.WakeFor(act, &p.quiet.Due)
	}
	if idle() {
		p.clone(v, act)
	}
	for _, j := range p.jobs(v) {
		if job := v.Job(j); p.hopeful[j] {
			act.WakeAt(job.Deadline)
		} else if p.late[j] {
			act.WakeAt(job.Until())
		}
	}
}

// clone has auto clone what it wants in slots that no task waits for.
func (p *slowLaxity) clone(v *sched.View, act *sched.Actions) {
	for _, j := range p.jobs(v) {
		p.mute.order.Touch(v, j)
	}
	p.mute.watch(v)
	for p.mute.clone(v, act) || p.mute.end(v, act) {
	}
	p.mute.anew = nil
	kit.WakeFor(act, &p.mute.due)
}

// help judges once each of the tasks whose clones save their jobs, or do not.
func (p *slowLaxity) help(v *sched.View, act *sched.Actions, saves bool) {
	var turn []sched.TaskID
	for _, x := range p.again {
		if x.saves == saves {
			turn = append(turn, x.task)
		}
	}
	for _, t := range turn {
		if saves && v.CloneRoom() == 0 || !saves && v.CloneRoom() <= v.Pending() {
			return
		}
		p.again = slices.DeleteFunc(p.again, func(x slowLack) bool { return x.task == t })
		p.judge(v, act, t)
	}
}

// jobs returns the active jobs: those with a seat by their deadlines, then the hopeful and the late ones that are worth something by their
// work over their value, then the others by their work.
func (p *slowLaxity) jobs(v *sched.View) (jobs []sched.JobID) {
	for j := range sched.JobID(v.Rows().Jobs()) {
		if v.Job(j).State == sched.JobActive && !p.givenUp[j] {
			jobs = append(jobs, j)
		}
	}
	until := func(j sched.JobID) sched.Time { job := v.Job(j); return job.Until() }
	turn := func(j sched.JobID) (class int, by float64) {
		switch {
		case p.hopeful[j] && p.seats[j]:
			return 0, float64(v.Job(j).Deadline)
		case p.hopeful[j] || p.late[j] && v.Now() < until(j):
			return 1, math.Trunc(p.work.Remaining(v, j) / v.Job(j).Value)
		}
		return 2, p.work.Remaining(v, j)
	}
	slices.SortFunc(jobs, func(a, b sched.JobID) int {
		x, s := turn(a)
		y, t := turn(b)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(s, t), cmp.Compare(a, b))
	})
	return jobs
}

func (p *slowLaxity) lose(v *sched.View, act *sched.Actions, j sched.JobID) (gone bool) {
	p.hopeful[j] = false
	switch job := v.Job(j); {
	case p.demote || job.Late.Kind == sched.LateSoft || job.Late.Kind == sched.LateHard:
		p.late[j] = job.Until() > job.Deadline && job.Until() > v.Now()
		p.noteVain(v, j)
		return false
	}
	p.givenUp[j] = true
	if err := act.Cancel(j); err != nil {
		panic(err)
	}
	return true
}

func (p *slowLaxity) fill(v *sched.View, act *sched.Actions) {
	for v.FreeSlots() > 0 {
		jobs := p.jobs(v)
		i := slices.IndexFunc(jobs, func(j sched.JobID) bool { _, waits := pendingOf(v, j); return waits })
		if i < 0 {
			return
		}
		t, _ := pendingOf(v, jobs[i])
		if law := p.lawOf(v, v.Task(t).Stage); law != nil && p.hopeful[jobs[i]] && kit.Later(v.Now()+p.launch, (1-v.Task(t).Saved)*law.Quantile(0)) > v.Job(jobs[i]).Deadline {
			p.lose(v, act, jobs[i])
			continue
		}
		if kit.Start(v, act, t, p.machine(v, t)); p.worthless(v, jobs[i]) {
			p.vain = append(p.vain, t)
		}
	}
}

// machine returns a free machine without the task that was not slow lately, or that was slow longest ago; else any.
func (p *slowLaxity) machine(v *sched.View, t sched.TaskID) (best sched.MachineID) {
	found := false
	until := func(m sched.MachineID) sched.Time {
		if p.avoided[m] <= v.Now() {
			return 0
		}
		return p.avoided[m]
	}
	for m := range sched.MachineID(v.Rows().Machines()) {
		x := v.Machine(m)
		runs := slices.ContainsFunc(attemptsOf(v, t), func(a sched.AttemptID) bool { return v.Attempt(a).Machine == m })
		if x.Up && x.Used < x.Slots && !runs && (!found || until(m) < until(best)) {
			best, found = m, true
		}
	}
	if !found {
		best, _ = v.FreeMachine(0)
	}
	return best
}

// judge says what becomes of the attempts of a task.
func (p *slowLaxity) judge(v *sched.View, act *sched.Actions, t sched.TaskID) {
	if v.Task(t).State != sched.TaskRunning {
		return
	}
	j, best := v.Rows().JobOf(t), p.soonest(v, t)
	end, known := p.end(v, best)
	if !known {
		return
	}
	// kills may strike the task, and with more patience best would not stand still any more
	x, from := p.quiet.Attempt(v, best), p.done(v, best, v.Now()+p.launch)
	fresh := 0
	for _, a := range slices.Backward(attemptsOf(v, t)) {
		switch {
		case a == best:
		case !p.works(v, a):
			fresh++
		case !v.Rows().MayKill(a):
			p.young = append(p.young, a)
		default:
			p.dismiss(v, act, a)
		}
	}
	want, saves, lost := 0, false, false
	if from < 1 {
		if !v.Stage(v.Task(t).Stage).Resumable {
			from = 0
		}
		want, saves, lost = p.want(v, t, end, from)
	}
	if lost && fresh == 0 {
		if p.lose(v, act, j) {
			return
		}
	}
	if want == 0 {
		keepOnly(v, act, t, best)
		return
	}
	others := v.Pending()
	if saves {
		others = 0
	}
	missed := v.Job(j).Deadline < sched.Never && !p.hopeful[j]
	if missed {
		others += len(p.again)
	}
	for fresh < want && v.CloneRoom() > others && v.AttemptRoom(t) > 0 {
		kit.Launch(act, t, p.machine(v, t), from, sched.Straggling)
		fresh++
	}
	lacks := slices.ContainsFunc(p.again, func(x slowLack) bool { return x.task == t })
	if fresh > 0 {
		if saves && fresh < want && v.AttemptRoom(t) > 0 && !lacks {
			p.again = append(p.again, slowLack{t, true})
		}
		return
	}
	kept := 0.0
	if v.Stage(v.Task(t).Stage).Resumable {
		kept = min(max(v.Task(t).Saved, x.ProgressAtTime(v.Now())), kit.NearlyDone)
	}
	switch {
	case p.tooSlow(v, t, end, kept) && v.Rows().MayKill(best):
		if p.dismiss(v, act, best); v.AttemptRoom(t) > 0 {
			kit.Launch(act, t, p.machine(v, t), v.Task(t).Saved, sched.Straggling)
		}
	case v.Attempt(best).Started == v.Now():
		p.young = append(p.young, best)
	case v.AttemptRoom(t) > 0 && !missed && !lacks:
		p.again = append(p.again, slowLack{t, saves})
	}
}

func (p *slowLaxity) dismiss(v *sched.View, act *sched.Actions, a sched.AttemptID) {
	x := v.Attempt(a)
	if p.quiet.Silent(v, a) {
		p.quiet.Strike(x.Task)
	}
	if y, ok := p.whole(v, a); ok {
		p.gave[x.Task] = float32(y)
	} else {
		p.untold(v, a, false)
	}
	p.dismissed[x.Task]++
	p.avoided[x.Machine] = v.Now() + p.avoid
	kit.Kill(act, a, sched.Replaced)
}

// untold judges what has reported nothing by what it took, or by its age: it would have taken longer.
func (p *slowLaxity) untold(v *sched.View, a sched.AttemptID, done bool) {
	x := v.Attempt(a)
	law := p.lawOf(v, v.Task(x.Task).Stage)
	if law == nil || x.From > 63./64 {
		return
	}
	y := max(0, v.Now()-x.Started-p.launch).Seconds() / (1 - x.From)
	if before := 0.8 * float64(p.gave[x.Task]); before > 0 && (done || y >= before) {
		p.verdicts = append(p.verdicts, slowVerdict{job: v.Rows().JobOf(x.Task), won: y < before, expected: law.CDF(before)})
		delete(p.gave, x.Task)
	}
	if !done {
		p.gave[x.Task] = max(float32(y), p.gave[x.Task])
	}
}

// patience doubles with each attempt beyond five that was killed for being slow.
func (p *slowLaxity) patience(t sched.TaskID) float64 {
	return math.Pow(2, max(0, float64(p.dismissed[t]-5)))
}

// want returns how many other attempts a task should have, whether they may save its job, and whether nothing can.
func (p *slowLaxity) want(v *sched.View, t sched.TaskID, end sched.Time, from float64) (n int, saves, lost bool) {
	j, law := v.Rows().JobOf(t), p.lawOf(v, v.Task(t).Stage)
	if p.hopeful[j] && end > v.Job(j).Deadline {
		if law == nil {
			return 1, false, false
		}
		seconds := (v.Job(j).Deadline - v.Now() - p.launch).Seconds() / (1 - from)
		late := func(n int) float64 { return math.Pow(1-p.chance(j)*law.CDF(seconds), float64(n)) }
		if size, ok := p.sizeOf(v, t); ok {
			late = func(n int) float64 { return size.late(float64(n), seconds) }
		}
		price := 0.0
		if v.Pending() > 0 {
			cost := p.cost(v.Task(t).Stage)
			one := math.Min(law.Mean(), new(reservation).of(law, p.drawing(v, v.Task(t).Stage, p.chance(j))))
			price = cost / (float64(v.Job(j).Tasks) * one)
		}
		for n < max(1, p.most-1) && late(n) > p.epsilon && late(n)-late(n+1) > price {
			n++
		}
		if n > 0 && 1-late(n) >= p.epsilon {
			return n, true, false
		}
		lost, n = true, 0
	}
	if lost || v.Job(j).Deadline < sched.Never && !p.hopeful[j] {
		n = p.hurry(v, t, end, from)
	}
	if n == 0 && p.tooSlow(v, t, end, from) {
		n = 1
	}
	return n, false, lost
}

// hurry returns how many others a task should have that is late anyway: all that it may have, if they would leave a chance
// below epsilon that none of them is done before it. What counts as done sooner shrinks with patience. Where no law says
// how likely that is, it gets one, unless attempts of it were given up again and again.
func (p *slowLaxity) hurry(v *sched.View, t sched.TaskID, end sched.Time, from float64) int {
	others, law := p.most-1, p.lawOf(v, v.Task(t).Stage)
	if others <= 1 {
		return others
	}
	if law == nil {
		if p.dismissed[t] > 5 {
			return 0
		}
		return 1
	}
	whole := (end - v.Now() - p.launch).Seconds() / (1 - from) / p.patience(t)
	if size, ok := p.sizeOf(v, t); ok {
		if size.late(float64(others), whole) > p.epsilon {
			return 0
		}
		return others
	}
	none := 1.0
	for range others {
		none *= law.Survival(math.Nextafter(whole, 0))
	}
	if none >= p.epsilon {
		return 0
	}
	return others
}

// drawing is what another attempt costs that is launched, judged, and worth something in a share of cases. Where attempts go on from others, judging is
// paid for the part that a good one would have done more.
func (p *slowLaxity) drawing(v *sched.View, s sched.StageID, share float64) (d drawing) {
	d.c = p.cost(s) / share
	if v.Stage(s).Resumable {
		d.kept = (p.cost(s) - p.launch.Seconds()) / share
	}
	return d
}

func (p *slowLaxity) tooSlow(v *sched.View, t sched.TaskID, end sched.Time, from float64) bool {
	law := p.lawOf(v, v.Task(t).Stage)
	if law == nil {
		return false
	}
	if size, ok := p.sizeOf(v, t); ok {
		worth := new(sizes).reservation(&size, p.cost(v.Task(t).Stage)/(1-from))
		return (end - v.Now()).Seconds() > (1-from)*p.patience(t)*worth
	}
	nu := new(reservation).of(law, p.drawing(v, v.Task(t).Stage, (1-from)*p.chance(v.Rows().JobOf(t))))
	return (end - v.Now()).Seconds() > (1-from)*p.patience(t)*nu
}
