package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var shedOracle = oracle{
	name: "shed",
	most: 6000,
	specs: []string{
		"shed:late=kill,law=(pareto:alpha=1.5,xm=8)", "shed", "shed:late=demote,launch=2s,max_attempts=3", "shed:law=(pareto:alpha=1.2,xm=20),launch=1s,lambda=0.7",
		"shed:late=kill,when=departures,master_slots=0", "shed:law=(uniform:lo=1,hi=90),when=reports,interval=7s,master_slots=0", "shed:late=demote,lambda=0.8,when=reports,interval=20s,master_slots=0",
		"shed:when=departures,max_attempts=2,launch=3s,law=(pareto:alpha=1.1,xm=4)",
		"shed:utility=sum,law=(pareto:alpha=1.3,xm=12)", "shed:utility=log,when=reports,interval=9s,master_slots=0", "shed:utility=alpha,alpha=2,late=kill,launch=1s,law=(pareto:alpha=1.6,xm=10)",
		"shed:utility=alpha,alpha=0.5,late=demote,when=departures,law=(uniform:lo=2,hi=80),master_slots=0",
	},
	slow: func(a kit.Args) sched.Policy {
		return &slowShed{
			progress: newProgress(a.Span("launch")), law: a.Law("law"), alpha: shedAlpha(a), lambda: a.Float("lambda"), attempts: a.Int("max_attempts"), masters: a.Int("master_slots"),
			late: a.Choice("late"), when: a.Choice("when"), interval: a.Span("interval"), running: map[sched.StageID]bool{}, behind: map[sched.StageID]bool{}, slowWaves: slowWaves{blind: map[sched.StageID]bool{}},
		}
	},
}

// slowShed is section 24 of the digest and Algorithm 1 for the readings at the top of shed.go, R as in Theorems 1 and 2.
// Jobs are stages there.
type slowShed struct {
	progress
	law               laws.Law
	alpha             float64 // of the utility
	lambda            float64
	attempts, masters int
	late, when        string
	interval          sched.Time
	jobs              []sched.StageID // J: that may run, in the order in which they became ready
	running           map[sched.StageID]bool
	behind            map[sched.StageID]bool // in slots that nobody else needs; others wait
	submitted         bool                   // Algorithm 1 is due
	ended             bool                   // an attempt or a stage, since the last decision
	over              bool                   // a task, since the last division
	last              sched.Time             // division
	slowWaves
}

func (p *slowShed) Observe(v *sched.View, ev *sched.Event) {
	p.quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.StageReady:
		p.jobs = append(p.jobs, ev.Stage)
		p.submitted = true
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized:
		p.submitted = true
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.ended = true
		p.submitted = p.submitted || p.when != "arrivals" || p.waves
	case sched.AttemptDone:
		p.ended, p.over = true, true
		p.submitted = p.submitted || p.blind[ev.Stage] && v.Stage(ev.Stage).Done >= 10
	case sched.AttemptFailed, sched.AttemptLost:
		p.ended = true
	case sched.AttemptProgress:
		p.hear(v)
	}
}

// hear takes notice of a report.
func (p *slowShed) hear(v *sched.View) {
	if p.when == "reports" && v.Now() >= p.last+p.interval {
		p.submitted = true
	}
}

func (p *slowShed) Decide(v *sched.View, act *sched.Actions) {
	p.jobs = slices.DeleteFunc(p.jobs, func(s sched.StageID) bool { return v.Stage(s).State != sched.StageOpen })
	fell := p.fall(v, act)
	if p.fits(v) {
		p.submitted = true
	}
	p.quiet.Look(v, func(sched.StageID, sched.TaskID) { p.hear(v) })
	kit.WakeFor(act, &p.quiet.Due)
	if p.when == "reports" && p.over {
		if p.hear(v); !p.submitted {
			act.WakeAt(p.last + p.interval)
		}
	}
	more := fell || p.ended
	if p.waves && more && p.anyLacks(v) {
		p.grow(v)
	}
	p.ended = false
	if p.submitted && p.late == "kill" && p.killLate(v, act) {
		return // the core asks again
	}
	if p.submitted {
		p.algorithm1(v, act)
	}
	if p.serve(v, act, p.running); slices.ContainsFunc(p.jobs, func(s sched.StageID) bool { return p.running[s] && p.lacksStarts(v, s) }) && v.Cluster().Clones() > 0 {
		p.algorithm1(v, act)
	}
	p.serveBehind(v, act)
	if p.waves {
		p.cloneWaves(v, act)
	}
	if more {
		p.help(v, act)
	}
}

func (p *slowShed) waits(s sched.StageID) bool { return !p.running[s] && !p.behind[s] }
func (p *slowShed) anyWaits() bool             { return slices.ContainsFunc(p.jobs, p.waits) }

func (p *slowShed) deadline(v *sched.View, s sched.StageID) sched.Time {
	return v.Job(v.Stage(s).Job).Deadline
}

// fall puts stages behind the others whose deadlines pass.
func (p *slowShed) fall(v *sched.View, act *sched.Actions) (found bool) {
	for _, s := range p.jobs {
		if d := p.deadline(v, s); p.late == "help" && d <= v.Now() && p.running[s] {
			p.running[s], p.behind[s], found = false, true, true
		} else if p.late == "help" && d > v.Now() {
			act.WakeAt(d)
		}
	}
	return found
}

func (p *slowShed) killLate(v *sched.View, act *sched.Actions) (found bool) {
	for j := range sched.JobID(v.Rows().Jobs()) {
		if job := v.Job(j); job.State == sched.JobActive && job.Deadline <= v.Now() && job.Late.Kind != sched.LateHard && job.Late.Kind != sched.LateSoft {
			found = true
			if err := act.Cancel(j); err != nil {
				panic(err)
			}
		}
	}
	return found
}

// share is lambda m in whole slots.
func (p *slowShed) share(v *sched.View) int {
	return int(math.Floor(p.lambda*float64(v.Slots()) + 1e-9))
}

func (p *slowShed) tasks(v *sched.View, s sched.StageID) int {
	return int(v.Stage(s).Pending + v.Stage(s).Running)
}

// need is N+1, of a stage that is not done.
func (p *slowShed) need(v *sched.View, s sched.StageID) int {
	if p.tasks(v, s) == 0 {
		return 0
	}
	return p.tasks(v, s) + p.masters
}

// fits tells whether the originals of the first stage that waits fit beside those of the others.
func (p *slowShed) fits(v *sched.View) bool {
	i := slices.IndexFunc(p.jobs, p.waits)
	if i < 0 {
		return false
	}
	left := p.share(v)
	for _, s := range p.jobs {
		switch {
		case p.running[s]:
			left -= p.need(v, s)
		case p.behind[s]:
			left -= int(v.Stage(s).Running)
		}
	}
	return p.need(v, p.jobs[i]) <= left || v.Cluster().Live() == 0
}

// algorithm1 divides the slots anew.
func (p *slowShed) algorithm1(v *sched.View, act *sched.Actions) {
	p.submitted, p.over, p.last = false, false, v.Now()
	p.waves, p.atOnce = false, map[sched.StageID]int{}
	for _, s := range p.jobs {
		if p.behind[s] && (v.Stage(s).Live == 0 || p.blind[s]) {
			p.behind[s] = false
		}
		p.blind[s] = false
		if p.misses(v, s) || p.behind[s] {
			p.running[s], p.behind[s] = false, true
		} else if p.need(v, s) > p.share(v) && p.share(v) > 0 && p.mayWave(v, s) {
			p.waves = true
		} else if p.need(v, s) > p.share(v) && !p.running[s] {
			p.behind[s] = true
		}
	}
	if p.waves {
		p.divideWaves(v, act)
		return
	}
	var run, wait []sched.StageID
	kappa, leftover := p.share(v), 0
	for _, s := range p.jobs {
		switch {
		case p.running[s]:
			run = append(run, s)
		case p.behind[s]:
			kappa -= int(v.Stage(s).Running)
			leftover += int(v.Stage(s).Pending)
		default:
			wait = append(wait, s)
		}
	}
	var admitted []sched.StageID
	for blocked, i := false, 0; i < len(run)+len(wait); i++ {
		s := slices.Concat(run, wait)[i]
		if n := p.need(v, s); n > 0 && (blocked || n > max(kappa, 0)) {
			blocked = blocked || n <= p.share(v) // all after it wait
			continue
		}
		kappa -= p.need(v, s)
		admitted, p.running[s] = append(admitted, s), true
	}
	kappa = max(kappa, 0)
	if !p.anyWaits() && len(admitted) == len(run)+len(wait) {
		kappa -= min(kappa, leftover)
	}
	most := p.attempts - 1
	if l := v.Cluster().Limits().Attempts; l > 0 {
		most = min(most, l-1)
	}
	chance := map[sched.StageID]shedChance{}
	for _, s := range admitted {
		chance[s] = p.chance(v, s)
	}
	r := p.divide(v, admitted, chance, p.told(v, admitted, false), kappa, most)
	for _, s := range admitted {
		kappa -= r[s] * p.tasks(v, s)
	}
	p.prune(v, act, r, kappa)
	p.serve(v, act, p.running)
	p.serveBehind(v, act)
	p.clone(v, act, admitted, r)
	p.help(v, act)
}

// maxMin is lines 8 to 21: a clone of each task for the stage with the smallest R, as long as one fits. A stage that no
// clone helps, or hardly any (1e-15), is out.
func (p *slowShed) maxMin(v *sched.View, all []sched.StageID, chance map[sched.StageID]shedChance, kappa, most int) map[sched.StageID]int {
	r := map[sched.StageID]int{}
	for in := slices.Clone(all); len(in) > 0; {
		least := 0
		for i, s := range in {
			if chance[s].logR(p.tasks(v, s), r[s]) < chance[in[least]].logR(p.tasks(v, in[least]), r[in[least]]) {
				least = i
			}
		}
		s := in[least]
		n, now, next := p.tasks(v, s), chance[s].late(r[s]), chance[s].late(r[s]+1)
		if n > kappa || r[s] >= most || n == 0 || next == now || math.Log(float64(n))+now <= math.Log(1e-15) {
			in = slices.Delete(in, least, least+1)
			continue
		}
		r[s]++
		kappa -= n
	}
	return r
}

// shedChance has the logarithms of the probabilities that an attempt is late: one that runs, or will, and a new clone.
type shedChance struct {
	original, clone float64
	held            int // clones that are as the original
}

// late is (t_min/D)^(beta(r+1)).
func (c shedChance) late(r int) float64 {
	sum := c.original
	for i := range r {
		if i < c.held {
			sum += c.original
		} else {
			sum += c.clone
		}
	}
	return sum
}

// logR is log R in seven digits: what agrees in these is equal.
func (c shedChance) logR(n, r int) float32 {
	return float32(float64(n) * math.Log(-math.Expm1(c.late(r))))
}

// chance is Theorem 1 for a stage with tasks that have not begun, else Theorem 2.
func (p *slowShed) chance(v *sched.View, s sched.StageID) shedChance {
	return p.within(v, s, (p.deadline(v, s) - v.Now()).Seconds())
}

// lawOf returns the law of a stage, nil where it needs no clones or nothing is known.
func (p *slowShed) lawOf(v *sched.View, s sched.StageID) laws.Law {
	st := v.Stage(s)
	if p.deadline(v, s) == sched.Never {
		return nil
	}
	return new(kit.StageLaw).Of(p.law, &st)
}

// within is chance for the time that is left.
func (p *slowShed) within(v *sched.View, s sched.StageID, left float64) shedChance {
	law := p.lawOf(v, s)
	late := func(seconds float64) float64 { return math.Log(law.Survival(seconds)) }
	switch {
	case law == nil:
		return shedChance{math.Inf(-1), math.Inf(-1), 0}
	case left <= 0:
		return shedChance{}
	case v.Stage(s).Pending > 0:
		return shedChance{late(left), late(left), 0}
	case p.mute(v, s):
		return p.aged(v, s, left)
	}
	phi, launch := p.slowest(v, s), p.launch.Seconds()
	c := shedChance{late(left / (1 - phi)), late(left / (1 - phi)), 0}
	if phi > 0 && launch > 0 && v.Stage(s).Resumable {
		phi += launch * phi / (v.Now() - v.Job(v.Stage(s).Job).Arrived).Seconds()
		if c.clone = 0; phi < 1 && left > launch {
			c.clone = late((left - launch) / (1 - phi))
		}
	}
	return c
}

// slowest is phi: of the slowest task, by its best attempt.
func (p *slowShed) slowest(v *sched.View, s sched.StageID) float64 {
	phi := kit.NearlyDone
	for _, t := range runningOf(v, inStage(v, s)) {
		phi = min(phi, p.done(v, p.ahead(v, t), v.Now()))
	}
	return phi
}

// mute tells whether no attempt of a stage has shown what it has done.
func (p *slowShed) mute(v *sched.View, s sched.StageID) bool {
	return !slices.ContainsFunc(runningOf(v, inStage(v, s)), func(t sched.TaskID) bool {
		return slices.ContainsFunc(attemptsOf(v, t), func(a sched.AttemptID) bool { return v.Attempt(a).Progress > 0 || v.Attempt(a).Rate > 0 })
	})
}

// stays returns the logarithms of the probabilities that an attempt takes longer than the time that is left: of one
// that has run for an age, and of a new one.
func (p *slowShed) stays(law laws.Law, age, left float64) (old, fresh float64) {
	log := func(seconds float64) float64 { return math.Log(law.Survival(seconds)) }
	if left <= 0 {
		return 0, 0
	}
	if left > p.launch.Seconds() {
		fresh = log(left - p.launch.Seconds())
	}
	if age == 0 {
		return min(log(left), 0), fresh
	}
	if math.IsInf(log(age), -1) {
		return 0, fresh
	}
	return min(0, log(age+left)-log(age)), fresh
}

// renew tells whether a new attempt is less likely to be late, and not by rounding.
func renew(old, fresh float64) bool { return fresh < old-1e-9 }

func (p *slowShed) age(v *sched.View, a sched.AttemptID) float64 {
	return max(0, v.Now()-v.Attempt(a).Started-p.launch).Seconds()
}

// aged is chance for attempts of which only the age is known: all are taken for the oldest of the task that is likeliest
// to be late, of equals for the oldest.
func (p *slowShed) aged(v *sched.View, s sched.StageID, left float64) (c shedChance) {
	age, held := p.ages(v, s, left)
	c.original, c.clone = p.stays(p.lawOf(v, s), age, left)
	c.held = held
	return c
}

// ages returns that age, and the clones that are as old.
func (p *slowShed) ages(v *sched.View, s sched.StageID, left float64) (oldest float64, held int) {
	law, worst := p.lawOf(v, s), math.Inf(-1)
	held = math.MaxInt
	for _, t := range runningOf(v, inStage(v, s)) {
		stay, most := 0, 0.0
		for _, a := range attemptsOf(v, t) {
			most = max(most, p.age(v, a))
			if !renew(p.stays(law, p.age(v, a), left)) {
				stay++
			}
		}
		held = min(held, stay-1)
		if old, _ := p.stays(law, most, left); old > worst || old == worst && most > oldest {
			worst, oldest = old, most
		}
	}
	if oldest == 0 || renew(p.stays(law, oldest, left)) || held == math.MaxInt {
		return oldest, 0
	}
	return oldest, max(0, held)
}

// misses tells whether a stage is late, or with late=help will be whatever is done.
func (p *slowShed) misses(v *sched.View, s sched.StageID) bool {
	c := p.chance(v, s)
	return p.deadline(v, s) <= v.Now() || p.late == "help" && p.tasks(v, s) > 0 && c.original == 0 && c.clone == 0
}

// prune keeps the most advanced attempt of each task; where nothing is known of that, what is likely enough.
func (p *slowShed) prune(v *sched.View, act *sched.Actions, r map[sched.StageID]int, spare int) {
	low := 0
	for _, s := range p.jobs {
		if p.behind[s] {
			low += int(v.Stage(s).Running)
		}
	}
	for _, s := range p.jobs {
		mute, clones, left := p.mute(v, s), r[s], (p.deadline(v, s) - v.Now()).Seconds()
		if p.behind[s] && p.lawOf(v, s) != nil {
			left = p.soon(v, s)
		}
		whole := p.waves && v.Stage(s).Pending > 0 && !p.behind[s]
		if p.behind[s] && low > 0 && !p.anyWaits() {
			clones = max(0, spare) / low
		}
		for _, t := range runningOf(v, inStage(v, s)) {
			if mute {
				p.trim(v, act, t, clones, left, whole)
			} else {
				p.progress.prune(v, act, t)
			}
		}
	}
}

// trim kills attempts of a task of which only the ages are known, but for the oldest: those likelier to be late than a
// new one, and those that are too many, likeliest first.
func (p *slowShed) trim(v *sched.View, act *sched.Actions, t sched.TaskID, clones int, left float64, waves bool) {
	law := p.lawOf(v, v.Task(t).Stage)
	stays := func(a sched.AttemptID) (float64, float64) {
		if law == nil || waves {
			return math.Inf(-1), math.Inf(-1)
		}
		return p.stays(law, p.age(v, a), left)
	}
	others := slices.DeleteFunc(attemptsOf(v, t)[1:], func(a sched.AttemptID) bool { return !v.Rows().MayKill(a) })
	slices.Reverse(others)
	slices.SortStableFunc(others, func(a, b sched.AttemptID) int {
		x, _ := stays(a)
		y, _ := stays(b)
		return cmp.Compare(y, x)
	})
	for _, a := range others {
		if int(v.Task(t).Live) > 1+clones || renew(stays(a)) {
			kit.Kill(act, a, sched.Replaced)
		}
	}
}

// serve starts tasks that wait of some stages in free slots.
func (p *slowShed) serve(v *sched.View, act *sched.Actions, of map[sched.StageID]bool) {
	for t := range sched.TaskID(v.Rows().Tasks()) {
		s := v.Task(t).Stage
		if m, free := v.FreeMachine(0); free && v.Task(t).State == sched.TaskPending && of[s] && slices.Contains(p.jobs, s) && p.room(v, s) {
			kit.Start(v, act, t, m)
			p.begun = append(p.begun, t)
		}
	}
}

// clone brings each running task to r clones, which go on by section 25.
func (p *slowShed) clone(v *sched.View, act *sched.Actions, stages []sched.StageID, r map[sched.StageID]int) {
	for _, s := range stages {
		for _, t := range runningOf(v, inStage(v, s)) {
			p.cloneTask(v, act, t, r[s])
		}
	}
}

func (p *slowShed) cloneTask(v *sched.View, act *sched.Actions, t sched.TaskID, clones int) {
	from := p.done(v, p.ahead(v, t), v.Now()+p.launch)
	if from >= 1 {
		return
	}
	if !v.Stage(v.Task(t).Stage).Resumable {
		from = 0
	}
	for int(v.Task(t).Live) < clones+1 && v.CloneRoom() > 0 && v.AttemptRoom(t) > 0 {
		m, _ := apart(v, t)
		kit.Launch(act, t, m, from, sched.Deadline)
	}
	p.lacks = p.lacks || int(v.Task(t).Live) < clones+1 && v.CloneRoom() == 0
}

// soon is the time away of the deadline for which stages are helped that miss theirs: the median of a fresh attempt for
// what is left.
func (p *slowShed) soon(v *sched.View, s sched.StageID) float64 {
	median := p.lawOf(v, s).Quantile(0.5)
	switch {
	case v.Stage(s).Pending > 0:
		return median
	case p.mute(v, s):
		return p.launch.Seconds() + median
	}
	phi := p.slowest(v, s)
	if v.Stage(s).Resumable && phi > 0 {
		return p.launch.Seconds() + (1-phi)*median
	}
	return (1 - phi) * median
}

// help gives the slots that are left to the stages that miss their deadlines (late=help).
func (p *slowShed) help(v *sched.View, act *sched.Actions) {
	if p.late != "help" || p.anyWaits() || v.Pending() > 0 {
		return
	}
	left := p.share(v) - v.Cluster().Live()
	var helped, fit []sched.StageID
	for _, s := range p.jobs {
		if p.tasks(v, s) > 0 {
			left -= p.masters
		}
		if p.behind[s] && p.lawOf(v, s) != nil && v.Stage(s).Running > 0 && p.misses(v, s) {
			helped = append(helped, s)
			left += int(v.Stage(s).Live)
		}
	}
	chance := map[sched.StageID]shedChance{}
	whole := left
	for _, s := range helped {
		if n := p.tasks(v, s); n <= left {
			left -= n
			fit = append(fit, s)
			chance[s] = p.within(v, s, p.soon(v, s))
		} else if n <= whole {
			break
		}
	}
	p.clone(v, act, fit, p.divide(v, fit, chance, p.told(v, fit, true), left, p.attempts-1))
}
