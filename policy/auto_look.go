package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// autoEye is what a look at a stage works with.
type autoEye struct {
	seen       []runner
	renewal    timeLeft
	laws       [mostLaws]timeLeft // of a task's attempts
	ids        [mostLaws]sched.AttemptID
	best, next timeLeft
	paced      timeLeft
	remains    []remains
	fewer      []fewer
	past       *sample // durations of the stage, as far as they are known
	known      sample  // memory for them
	untold     bool    // fewer winners are known than the mean told beforehand counts as
	tail       tail    // of past
	usual      float64 // mean of renewal
	least      float64 // the shortest duration of the stage, as told or as its attempts report; 0 if they do not
	share      float64 // 1 / (1 + running tasks)
	hope       []float64
	slot       float64 // what that of a straggler is worth by that of its clone, see machines
	bias, sd   float64 // of reports, see trust
	crowded    bool    // there are more tasks than seen
	starting   uint32  // tasks none of whose attempts has begun, as far as they were looked at
	end        stageEnd
}

const (
	leastSeen = 96   // tasks of a stage of which a look computes the law, those that seem slowest;
	partSeen  = 16   // once none waits one in so many of all that the stage has, if that is more;
	mostHeard = 512  // and so many at most if attempts report,
	mostSeen  = 1024 // or else, when those that began at once have the same law
	mostLaws  = 4    // attempts of a task that a look considers
)

// toSee returns of how many tasks of a stage a look computes the law. At the end of a large stage as many may be slow
// as another one has tasks.
func (st *autoStage) toSee(stage *sched.Stage) int {
	if stage.Pending > 0 {
		return leastSeen
	}
	most := mostSeen
	if st.says {
		most = mostHeard
	}
	return min(most, max(leastSeen, int(stage.Tasks)/partSeen))
}

// runner is a running task.
type runner struct {
	id       sched.TaskID
	seems    float64 // how slow, at a glance
	until    float64 // how long it takes at the worst of as many tasks as run
	left     *remains
	attempts int
	fewer    []fewer    // of each attempt that may be ended
	started  sched.Time // of the oldest
	begun    bool       // one has begun
	told     bool       // one has reported
	first    bool       // the oldest is the first that the task has had
}

// remains is what is left of a task. Single attempts that are of an age and report nothing share it.
type remains struct {
	timeLeft
	age   float64 // of the oldest attempt
	until float64 // see runner
	mean  float64
	more  [bySize]oneMore // by cause
}

// oneMore is what is left of a task if it had another attempt. Few tasks are asked for it.
type oneMore struct {
	known       bool
	until, mean float64
}

// look finds the bids of a stage's clones: of those that it wants, and of those that it has.
func (p *auto) look(v *sched.View, st *autoStage) {
	p.bids.Drop(int(st.id))
	st.best, st.next = st.best[:0], 0
	stage := v.Stage(st.id)
	if stage.Running == 0 {
		return
	}
	if !p.renew(v, st, &stage) {
		p.guess(v, st, &stage)
		return
	}
	p.eye.end.frame(p.eye.usual)
	p.eye.slot = p.machines.worth()
	p.survey(v, st, &stage)
	sure, cause := p.eye.past.certainty(st.foretold(&stage))*p.kept.share(), p.cause(st, stage.Job)
	rest := p.rest(&stage)
	over := p.eye.over(rest)
	st.until = kit.Later(v.Now(), over)
	slack := p.slack(v, st, &stage, over)
	late, many := p.eye.late(rest, &cause)
	late = beyond(late, slack, many) - (cause[byChance]+cause[byPace])*p.start.each(many)
	idle, cloned := p.order.Waiting() == 0 && p.mayClone(v, st), stage.Live > stage.Running
	if idle || cloned {
		p.eye.end.find(&p.eye, &stage)
	}
	if idle { // Then what is rare counts, too: that one of many tasks takes long.
		mean, n := p.eye.end.sooner(len(p.eye.seen))
		if mean = cause[byChance] * (beyond(mean, slack, n) - p.start.each(n)); mean > late {
			late, many = mean, n
		}
	}
	if cloned && len(p.eye.seen) > 0 {
		p.rate(v, st, sure, &cause, over, rest)
	}
	start := p.start.cost(1)
	p.sift(v, st, sure*p.begun.chance(&p.redraw, st, cause[byChance]), start)
	blind, least := 0.0, math.Inf(1)
	if !st.says {
		blind = p.blind(st, &stage, 1)
	}
	for i := range p.eye.seen {
		x := &p.eye.seen[i]
		if i >= many && (blind == 0 || x.attempts > 1) || v.AttemptRoom(x.id) == 0 || p.start.tooLate(&x.left.timeLeft, start) {
			continue
		}
		price, own := 0.0, p.failed.causes(x.id, &cause)
		if i < many {
			price = p.eye.bid(x.left, sure, late*own.part(&cause), start, &own)
			if p.start.apart { // a clone that starts late is worth most for the task that ends the stage
				price = min(price, least)
				least = price
			}
		}
		unseen := x.attempts == 1 && blind > price
		if unseen {
			price = blind
		}
		if i < many && p.restarts(v, x, sure, own[byChance], start) {
			price = math.Inf(1)
		}
		if price > 0 {
			w := want{task: x.id, bid: price, live: int(v.Task(x.id).Live), blind: unseen}
			p.eye.expect(&w, x.left, &own)
			st.best = append(st.best, w)
		}
	}
	slices.SortFunc(st.best, func(a, b want) int { return descending(a.bid, b.bid, a.task, b.task) })
	p.bid(st)
}

// bid returns that of a clone of a task.
func (e *autoEye) bid(x *remains, sure, late, start float64, cause *tally) float64 {
	quicker := e.quicker(x)
	if sure*late <= 0 {
		// All that matters is whether it costs nothing. Another pace saves at most this, and few tasks pass that test.
		most := cause[byChance]*(x.mean-quicker) + cause[byPace]*pacedSaves*x.mean
		if quicker+start-sure*e.slot*most > 0 {
			return 0
		}
	}
	return bid(sure, late, e.slot*e.saves(x, quicker, cause), quicker+start)
}

// saves returns what another attempt of a task saves of its time, on average over the causes. quicker is the mean of
// what is left with it if it draws a new duration.
func (e *autoEye) saves(x *remains, quicker float64, cause *tally) float64 {
	return cause[byChance]*(x.mean-quicker) + cause[byPace]*(x.mean-e.cloned(x, byPace).mean)
}

// bid returns the highest price at which a clone is worth its slot.
func bid(worth, late, saved, quicker float64) float64 {
	switch cost := quicker - worth*saved; {
	case worth*late <= 0 && cost >= 0:
		return 0
	case cost <= 0:
		return math.Inf(1) // it shortens what the task takes of slots
	default:
		return worth * late / cost
	}
}

// renew finds the law of a new attempt. It returns false if nothing is known of one. While there are fewer winners
// than tasks that run, what these report counts, too, or how long they have run: the first winners are the quickest.
func (p *auto) renew(v *sched.View, st *autoStage, stage *sched.Stage) bool {
	e := &p.eye
	e.bias, e.sd = p.trust.miss()
	past, few := &st.past, st.past.n < int(stage.Running)
	if few {
		past = &e.known
		*past = sample{sorted: append(past.sorted[:0], st.past.sorted...), every: st.past.every, n: st.past.n}
		for t, ok := v.RunningTask(st.id, 0); ok && len(past.sorted) < 2*mostKept; t, ok = v.RunningTask(st.id, t+1) {
			a, _ := v.FirstAttempt(t)
			row := v.Attempt(a)
			if left, _, told := p.trust.filter.left(a, &row); told && row.Progress > row.From {
				left = max(0, left-(v.Now()-row.ProgressAt).Seconds())
				past.insert((v.Now() - row.Started).Seconds() + left*math.Exp(-e.bias))
				past.n++
			}
		}
	}
	e.past = past
	st.refute(v, stage)
	e.untold = st.foretold(stage) && past.n < toldCounts
	if !e.untold && len(past.sorted) == 0 {
		return false
	}
	if st.past.n == 0 && stage.Running == 1 && !st.foretold(stage) && !p.stands(v, st.id) {
		return false
	}
	if len(past.sorted) > 0 {
		if few && !st.says {
			past.above, past.from = above(v, st.id, past.tailFrom(), past.n)
		}
		past.older = outlive(v, st.id, past.tailFrom(), st.says, st.toSee(stage))
		e.tail = tailOf(past.index())
	}
	p.byAge(stage, 0, &e.renewal)
	e.usual, e.least = e.renewal.mean(), 0
	switch {
	case e.untold:
		e.least = toldLeast(stage, p.unknown.differ())
	case st.says || !few && past.older == 0: // the quickest is known, and nobody has turned out slow
		e.least = past.shortest()
	}
	e.share = 1 / float64(stage.Running+1)
	return true
}

// stands tells whether the only running task of a stage stands still. Where no other has been seen, that alone says
// that a task is slow: by its own report it takes as long as a task takes.
func (p *auto) stands(v *sched.View, id sched.StageID) bool {
	t, _ := v.RunningTask(id, 0)
	a, _ := v.FirstAttempt(t)
	return p.quiet.Silent(v, a)
}

// outlive returns the sum of the logarithms of age by longest, of attempts that run longer than that. Of a task in a
// stage that reports, the youngest attempt alone counts: there the original stands for what its report says, and a tail
// that its age makes longer has others cloned for nothing.
func outlive(v *sched.View, id sched.StageID, longest float64, says bool, most int) (older float64) {
	n := 0
	for t, ok := v.RunningTask(id, 0); ok && n < most && longest > 0; t, ok = v.RunningTask(id, t+1) {
		n++
		for a, runs := v.FirstAttempt(t); runs; a, runs = v.NextAttempt(a) {
			if age := (v.Now() - v.Rows().Started(a)).Seconds(); age > longest {
				older += math.Log(age / longest)
			}
			if says {
				break
			}
		}
	}
	return older
}

// above counts the tasks whose youngest attempt runs longer than the longest winner did, and finds the mean age of
// these attempts, if they are more than the winners: then those were the quickest of many, and most take longer.
func above(v *sched.View, id sched.StageID, longest float64, winners int) (n, age float64) {
	for t, ok := v.RunningTask(id, 0); ok; t, ok = v.RunningTask(id, t+1) {
		a, _ := v.FirstAttempt(t)
		if y := (v.Now() - v.Rows().Started(a)).Seconds(); y > longest {
			n++
			age += y
		}
	}
	if n <= float64(winners) {
		return 0, 0
	}
	return n, age / n
}

// byAge finds what is left at an age of which nothing else is known.
func (p *auto) byAge(stage *sched.Stage, age float64, to *timeLeft) {
	if p.eye.untold {
		told(stage, p.unknown.differ(), age, to)
		return
	}
	past, beyond := p.eye.past, &p.eye.tail
	if older := math.Log(age / past.sorted[len(past.sorted)-1]); older > past.older {
		// Of its task only a younger attempt has counted, see outlive. It may last as long again.
		own := tailOf(max(past.indexIf(older), min(longAgain, past.index())))
		beyond = &own
	}
	past.left(beyond, age, to)
}

// leastMiss is the deviation of the logarithm that many reports have at least, by which one is believed.
const leastMiss = 0.1

// left finds what is left of an attempt: by its age, and by its report if it has sent one or is silent for too long.
func (p *auto) left(v *sched.View, stage *sched.Stage, a sched.AttemptID, to *timeLeft) {
	row := p.quiet.Attempt(v, a)
	if left, more, ok := p.trust.filter.left(a, &row); ok {
		p.byAge(stage, (row.ProgressAt - row.Started).Seconds(), to)
		mode, low, high := p.trust.errors.law(more, p.eye.sd)
		to.weigh(left*math.Exp(-mode), max(leastMiss, low), max(leastMiss, high))
		to.after((v.Now() - row.ProgressAt).Seconds())
		return
	}
	p.byAge(stage, (v.Now() - row.Started).Seconds(), to)
}

// survey collects the running tasks of a stage that seem slowest, the one that lasts longest first.
func (p *auto) survey(v *sched.View, st *autoStage, stage *sched.Stage) {
	e := &p.eye
	e.seen, e.starting = e.seen[:0], 0
	usually, most, least := st.usually(stage), st.toSee(stage), math.Inf(-1)
	for t, ok := v.RunningTask(st.id, 0); ok; t, ok = v.RunningTask(st.id, t+1) {
		x := runner{id: t}
		p.glance(v, &x, usually)
		if !x.begun {
			e.starting++
			continue
		}
		if x.seems <= least {
			if x.first && !st.says && !st.mixed {
				break // those after it are younger
			}
			continue
		}
		e.seen = append(e.seen, x)
		if len(e.seen) == 2*most {
			least = e.slowest(most)
		}
	}
	e.slowest(most)
	e.crowded = len(e.seen) < int(stage.Running-e.starting)
	e.remains = kit.Grown(e.remains, len(e.seen))
	e.fewer = e.fewer[:0]
	for i := range e.seen {
		p.judge(v, st, stage, i)
	}
	slices.SortFunc(e.seen, func(a, b runner) int { return descending(a.until, b.until, a.id, b.id) })
}

// slowest leaves so many of the tasks seen that seem slowest, these first, and returns how slow the last one seems.
func (e *autoEye) slowest(most int) float64 {
	slices.SortFunc(e.seen, func(a, b runner) int { return descending(a.seems, b.seems, a.id, b.id) })
	if len(e.seen) < most {
		return math.Inf(-1)
	}
	e.seen = e.seen[:most]
	return e.seen[most-1].seems
}

// descending compares tasks a and b by x and y, the largest first; those that are equal by their ids.
func descending(x, y float64, a, b sched.TaskID) int {
	if x != y {
		return cmp.Compare(y, x)
	}
	return cmp.Compare(a, b)
}

// glance says how slow a task seems: by the best report of its attempts and how long ago that was, without one by the
// age of the oldest.
func (p *auto) glance(v *sched.View, x *runner, usually float64) {
	reported := math.Inf(1)
	for a, runs := v.FirstAttempt(x.id); runs; a, runs = v.NextAttempt(a) {
		x.attempts++
		row := v.Attempt(a)
		if row.Waiting {
			continue
		}
		x.begun = true
		p.runs(v, row.Machine, (v.Now() - row.Started).Seconds(), usually)
		x.started, x.first = row.Started, row.Number == 0
		if left, _, ok := p.trust.filter.left(a, &row); ok {
			since := (v.Now() - row.ProgressAt).Seconds()
			reported = min(reported, max(left-since, since))
		}
	}
	if x.told = !math.IsInf(reported, 1); x.told {
		x.seems = reported
	} else {
		x.seems = (v.Now() - x.started).Seconds()
	}
}

// judge finds what is left of a task.
func (p *auto) judge(v *sched.View, st *autoStage, stage *sched.Stage, i int) {
	e := &p.eye
	x := &e.seen[i]
	if i > 0 {
		if y := &e.seen[i-1]; x.attempts == 1 && y.attempts == 1 && !x.told && !y.told && x.started == y.started {
			x.until, x.left = y.until, y.left
			return
		}
	}
	j := &e.remains[i]
	x.left = j
	n := 1
	if a, _ := v.FirstAttempt(x.id); v.Task(x.id).Live == 1 {
		p.left(v, stage, a, &j.timeLeft)
	} else {
		n = p.laws(v, stage, x.id)
		j.set(p.merge(n, -1))
	}
	j.age = (v.Now() - x.started).Seconds()
	j.until, j.mean = j.quantile(e.share), j.timeLeft.mean()
	j.more = [bySize]oneMore{}
	x.until = j.until
	first := len(e.fewer)
	for k := range n - 1 {
		f, left := p.without(n, k)
		if p.order.Waiting() == 0 {
			f.cloned = left.meanOfFirst(&e.renewal)
		}
		f.age = (v.Now() - v.Rows().Started(e.ids[k])).Seconds()
		f.oldest = (v.Now() - v.Rows().Started(e.ids[n-1])).Seconds()
		e.paced.paced(left, f.oldest, f.age, e.least)
		f.paced = max(0, f.mean-e.paced.mean())
		f.same = p.same(v, e.ids[k], e.ids[n-1])
		e.fewer = append(e.fewer, f)
	}
	if n > 1 && !p.redraw.futileIn(st) {
		p.passed(v, n)
	}
	x.fewer = e.fewer[first:]
}

// cloned finds what is left of a task if it had another attempt.
func (e *autoEye) cloned(x *remains, cause int) *oneMore {
	more := &x.more[cause]
	if !more.known {
		if cause == byChance {
			e.next.first(&x.timeLeft, &e.renewal)
		} else {
			e.next.paced(&x.timeLeft, x.age, 0, e.least)
		}
		*more = oneMore{true, e.next.quantile(e.share), e.next.mean()}
	}
	return more
}

// quicker returns the mean of what is left of a task if it had another attempt that draws a new duration.
func (e *autoEye) quicker(x *remains) float64 {
	if more := &x.more[byChance]; more.known {
		return more.mean
	}
	return x.meanOfFirst(&e.renewal)
}

// laws finds what is left of each attempt of a task, the youngest first, and returns how many there are. One that has
// not begun counts as one that begins: else its task would get another clone while the first one waits.
func (p *auto) laws(v *sched.View, stage *sched.Stage, t sched.TaskID) (n int) {
	e := &p.eye
	for a, runs := v.FirstAttempt(t); runs && n < mostLaws; a, runs = v.NextAttempt(a) {
		e.ids[n] = a
		if v.Rows().Waiting(a) {
			e.laws[n].set(&e.renewal)
		} else {
			p.left(v, stage, a, &e.laws[n])
		}
		n++
	}
	return n
}

// merge finds what is left of a task with these attempts, but for one of them.
func (p *auto) merge(n, without int) *timeLeft {
	e := &p.eye
	var left *timeLeft
	for i := range n {
		switch {
		case i == without:
		case left == nil:
			left = &e.laws[i]
		default:
			e.next.first(left, &e.laws[i])
			e.best, e.next = e.next, e.best
			left = &e.best
		}
	}
	return left
}

// rest returns when the tasks of a stage are done that wait, for an attempt or for it to begin.
func (p *auto) rest(stage *sched.Stage) float64 {
	waiting := stage.Pending + p.eye.starting
	if waiting == 0 {
		return 0
	}
	return p.eye.usual * (1 + float64(waiting)/float64(max(1, stage.Live-p.eye.starting)))
}

// cause returns how likely each cause is for a slow task of a stage of the job.
func (p *auto) cause(st *autoStage, j sched.JobID) tally {
	if p.redraw.futileIn(st) {
		return tally{bySize: 1} // a slot that costs next to nothing is not free
	}
	return p.causes.of(j)
}

// late returns by how much earlier the stage is done for each of the tasks that it is best to clone, as far as the
// cause is known, and how many these are.
func (e *autoEye) late(rest float64, cause *tally) (late float64, many int) {
	e.hopes()
	most := 0.0
	for by := range bySize {
		each, n := e.quicken(rest, by)
		if each *= cause[by]; each > most || by == 0 {
			most, many = each, n
		}
		late += each
	}
	return late, many
}

// hopes finds for each of the tasks that are seen the most that quicken can find from there on, if clones take no time.
func (e *autoEye) hopes() {
	e.hope = kit.Grown(e.hope, len(e.seen))
	most := math.Inf(-1)
	for j := len(e.seen) - 1; j >= 0; j-- {
		switch {
		case j+1 < len(e.seen):
			most = max(most, (e.seen[0].until-e.seen[j+1].until)/float64(j+1))
		case !e.crowded:
			most = math.Inf(1)
		}
		e.hope[j] = most
	}
}

// quicken returns by how much earlier the stage is done for each of the tasks that it is best to clone, if they are
// slow by one cause, and how many these are: the first of those seen.
func (e *autoEye) quicken(rest float64, cause int) (late float64, many int) {
	seen := e.seen
	many = len(seen)
	for j := range seen {
		if e.hope[j] <= late || (seen[0].until-rest)/float64(j+1) <= late {
			break // the others are no better
		}
		rest = max(rest, e.cloned(seen[j].left, cause).until)
		others := rest
		switch {
		case j+1 < len(seen):
			others = max(others, seen[j+1].until)
		case e.crowded:
			continue // those that are not seen take as long
		}
		if each := (seen[0].until - others) / float64(j+1); each > late {
			late, many = each, j+1
		}
	}
	return late, many
}
