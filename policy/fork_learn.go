package policy

// fork:learn=true learns F while the stage runs, which the paper leaves to future work, and chooses p, r, keep or kill
// by it. The law is that of laws.Learn: of the attempts that were first, and of the ages of those that run or lost,
// which would have lasted longer. The planner then evaluates all forks at this instant (plan.Underway). The stage forks
// as soon as one of them is done sooner than without it at no more machine time, and takes the soonest of these: (19),
// from now on. It may fork again, plan.MaxForks times in all.
//
//	r        the most clones of a task at a time, and no more than there are free slots for
//	winners  tasks that have to be done before the law is trusted
//
// At the instant at which a task is done nothing is known of those that go on but that they do, so the law is learned
// in the gaps. A look costs O(running tasks) and the planner's sums. The next is a quarter of the gap later, or a 32nd
// of the stage's age if that is longer: so there are a few dozen looks in all, of whatever number of tasks. A stage
// looks only when all that is left of it runs.
//
// Durations are kept as counts and sums in bins of an eighth of a power of two, so that the law has some dozens of
// values, whatever the number of tasks.

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/plan/rule"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

type forkLearner struct {
	most, winners int
	stages        kit.PerStage[forkStage]
	due           kit.Heap[kit.Rising[sched.Time]] // stages by their next look
	running       []forkTasks                      // of a look
}

// forkStage is what is known of an open stage.
type forkStage struct {
	began, last sched.Time // of the stage; when a task was done
	looked      sched.Time
	won, cut    forkBins  // how long attempts ran that were first, and that were not
	forks       int       // how often it has forked
	clones      int       // that each task has by now
	rule        rule.Fork // of the last fork
}

// gapPart and agePart say when the next look is.
const (
	gapPart = 4
	agePart = 32
)

// observe takes notice of an event.
func (p *forkLearner) observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		*st = forkStage{began: v.Now(), last: v.Now(), looked: v.Now(), won: st.won[:0], cut: st.cut[:0]}
	case sched.AttemptDone:
		p.done(v, p.stages.Of(ev.Stage), ev)
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.due.End(v, ev)
		p.stages.End(v, ev)
	}
}

// done takes in a duration, and puts off the next look until about one more task should have been done.
func (p *forkLearner) done(v *sched.View, st *forkStage, ev *sched.Event) {
	now := v.Now()
	st.last = now
	if a := v.Attempt(ev.Attempt); a.From == 0 {
		st.won.add(now - a.Started)
	}
	st.cutAll(v, ev.Task)
	n, sum := st.won.total()
	stage := v.Stage(ev.Stage)
	if left := stage.Hopeful() - stage.Done; left > 0 && n >= p.winners {
		gap := sum / sched.Time(n) / sched.Time(left)
		p.wait(ev.Stage, max(now+gap, st.looked+(now-st.began)/agePart))
	}
}

// cutAll takes in the ages of the attempts of a task that are about to end without result.
func (st *forkStage) cutAll(v *sched.View, t sched.TaskID) {
	for x, ok := v.FirstAttempt(t); ok; x, ok = v.NextAttempt(x) {
		if a := v.Attempt(x); a.From == 0 {
			st.cut.add(v.Now() - a.Started)
		}
	}
}

func (p *forkLearner) wait(s sched.StageID, until sched.Time) {
	p.due.Set(int(s), kit.Rising[sched.Time]{X: until})
}

// next returns a stage that forks now; ok is false if none does.
func (p *forkLearner) next(v *sched.View) (s sched.StageID, ok bool) {
	now := v.Now()
	for p.due.Len() > 0 && p.due.TopKey().X <= now {
		s := sched.StageID(p.due.Top())
		st := p.stages.Of(s)
		if st.forks == plan.MaxForks {
			p.due.Drop(int(s))
			continue
		}
		st.looked = now
		p.wait(s, now+max(1, (now-st.last)/gapPart, (now-st.began)/agePart))
		if p.look(v, s, st) {
			return s, true
		}
	}
	return 0, false
}

// look learns the law of a stage and finds its fork; it returns false if none is worth it now.
func (p *forkLearner) look(v *sched.View, s sched.StageID, st *forkStage) bool {
	stage := v.Stage(s)
	left := int(stage.Hopeful() - stage.Done)
	most := min(p.most, v.CloneRoom()/max(1, left))
	if left == 0 || int(stage.Running) < left || v.CloneRoom() < left || v.Job(stage.Job).Paused {
		return false
	}
	cut := p.survey(v, s, st)
	running := make([]plan.Running, len(p.running))
	for i := range p.running {
		running[i] = p.running[i].average()
	}
	choices, err := plan.Underway(forkLaw(st.won, cut), running, most)
	if err != nil {
		return false
	}
	choices = slices.DeleteFunc(choices, func(c plan.Choice) bool { return c.Original == plan.Keep && st.clones+c.Clones > p.most })
	best := plan.Optimise(choices, left, 0).LatencySensitive
	if best.Baseline() {
		return false
	}
	st.forks++
	st.rule = rule.Fork{R: best.Clones, Kill: best.Original == plan.Kill}
	if st.rule.Kill {
		st.clones = 0
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			st.cutAll(v, t)
		}
	}
	st.clones += best.Clones
	return true
}

// survey groups the running tasks of a stage by the ages of their attempts. It returns for how long attempts have run
// that have not ended or will never.
func (p *forkLearner) survey(v *sched.View, s sched.StageID, st *forkStage) forkBins {
	cut := slices.Clone(st.cut)
	p.running = p.running[:0]
	for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
		var x forkTasks
		for a, runs := v.FirstAttempt(t); runs && x.attempts < len(x.ages); a, runs = v.NextAttempt(a) {
			age := v.Now() - v.Rows().Started(a)
			x.key[x.attempts], x.ages[x.attempts] = forkKey(age), age
			x.attempts++
			cut.add(age)
		}
		x.count = 1
		at := slices.IndexFunc(p.running, func(y forkTasks) bool { return y.attempts == x.attempts && y.key == x.key })
		if at < 0 {
			p.running = append(p.running, x)
			continue
		}
		p.running[at].count++
		for i := range x.attempts {
			p.running[at].ages[i] += x.ages[i]
		}
	}
	return cut
}

// forkTasks are running tasks whose attempts are of like ages.
type forkTasks struct {
	attempts int // of each; more than there is room for do not matter
	key      [8]uint32
	ages     [8]sched.Time // sums
	count    int
}

func (x *forkTasks) average() plan.Running {
	r := plan.Running{Tasks: x.count}
	for _, sum := range x.ages[:x.attempts] {
		r.Ages = append(r.Ages, (sum / sched.Time(x.count)).Seconds())
	}
	return r
}

// forkBins are durations, increasing.
type forkBins []forkBin

// forkBin holds durations that agree in their first four binary digits.
type forkBin struct {
	key   uint32
	count int32
	sum   sched.Time
}

func (b *forkBin) mean() float64 { return (b.sum / sched.Time(b.count)).Seconds() }

// add adds a duration, which is at least 0.
func (b *forkBins) add(d sched.Time) {
	key := forkKey(d)
	i, found := slices.BinarySearchFunc(*b, key, func(x forkBin, key uint32) int { return cmp.Compare(x.key, key) })
	if !found {
		*b = slices.Insert(*b, i, forkBin{key: key})
	}
	(*b)[i].count++
	(*b)[i].sum += d
}

// forkKey is the number of the bin that a duration is in.
func forkKey(d sched.Time) uint32 {
	e := max(0, bits.Len64(uint64(d))-forkDigits)
	return uint32(e)<<forkDigits | uint32(d>>e)
}

// forkDigits are the binary digits in which the durations of a bin agree.
const forkDigits = 4

// total returns the number of durations and their sum.
func (b forkBins) total() (n int, sum sched.Time) {
	for i := range b {
		n += int(b[i].count)
		sum += b[i].sum
	}
	return n, sum
}

// forkLaw is the law of durations of which some ended and others were cut off. At least one ended.
func forkLaw(ended, cut forkBins) laws.Law {
	var values []float64
	var counts [2][]int
	for len(ended)+len(cut) > 0 {
		which := &ended
		if len(ended) == 0 || len(cut) > 0 && cut[0].mean() < ended[0].mean() {
			which = &cut
		}
		b := (*which)[0]
		if n := len(values); n == 0 || values[n-1] < b.mean() {
			values, counts[0], counts[1] = append(values, b.mean()), append(counts[0], 0), append(counts[1], 0)
		}
		at := 0
		if which == &cut {
			at = 1
		}
		counts[at][len(values)-1] += int(b.count)
		*which = (*which)[1:]
	}
	return laws.LearnCounts(values, counts[0], counts[1])
}
