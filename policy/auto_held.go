package policy

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// fewer is what is left of a task without one of its attempts.
type fewer struct {
	attempt sched.AttemptID
	until   float64
	mean    float64
	cloned  float64 // mean if the task had a new clone instead, while no task waits
	age     float64
	oldest  float64 // age of the oldest attempt
	paced   float64 // what this attempt saves if it is of another pace
	ahead   float64 // head start over the next of them, of the oldest; else 0
	same    float64 // how well reports agree with it that all attempts of the task take as long; 1 without
	done    onGrid  // how likely the task is done by each time
}

// without finds what is left of a task with these attempts, but for one of them.
func (p *auto) without(n, k int) (f fewer, left *timeLeft) {
	left = p.merge(n, k)
	f = fewer{attempt: p.eye.ids[k], until: left.quantile(p.eye.share), mean: left.mean()}
	p.eye.end.over(left, &f.done)
	return f, left
}

// passed adds the oldest of a task's attempts to those that may be ended, if another one is expected to be done
// before it: to end it then is a restart.
func (p *auto) passed(v *sched.View, n int) {
	e := &p.eye
	oldest := n - 1
	p.held.Drop(e.ids[oldest].Row())
	if v.Rows().Waiting(e.ids[oldest-1]) {
		return // what has not begun is ahead of nothing
	}
	if slices.IndexFunc(e.laws[:oldest], func(l timeLeft) bool { return l.mean() < e.laws[oldest].mean() }) < 0 {
		return
	}
	f, _ := p.without(n, oldest)
	f.same = 1
	for _, other := range e.fewer[len(e.fewer)-oldest:] {
		f.same = min(f.same, other.same)
	}
	f.ahead = (v.Rows().Started(e.ids[oldest-1]) - v.Rows().Started(e.ids[oldest])).Seconds()
	e.fewer = append(e.fewer, f)
}

// rate finds the bids of the attempts of a stage that may be ended, once its tasks are seen and its end is found. Where
// many tasks are slow, the stage hardly ends later without one clone, and much later without all. So while clones
// compete with clones, each is worth what a new one would be that saves as much.
func (p *auto) rate(v *sched.View, st *autoStage, sure float64, cause *tally, over, rest float64) {
	e := &p.eye
	together := 0.0
	if p.order.Waiting() == 0 {
		together, _ = e.quicken(rest, byChance)
	}
	var before onGrid // the product of F_k over the tasks before
	before.fill(1)
	for i := range e.seen {
		x := &e.seen[i]
		mean, own := x.left.mean, p.failed.causes(x.id, cause)
		for k := range x.fewer {
			f := &x.fewer[k]
			if f.ahead > 0 { // if durations are not drawn anew, the others take as much longer
				c := sure * f.anew(&own)
				p.hold(f.attempt, bid(1, c*max(0, f.until-over)+(1-c)*f.ahead, c*(f.mean-mean)+(1-c)*f.ahead, e.slot*mean))
				continue
			}
			h, _ := p.redraw.lives(v, st, f.attempt, p.failed.none(x.id))
			if p.redraw.futileIn(st) {
				p.hold(f.attempt, hopeless)
				continue
			}
			worth := sure * f.worth(&own, h, mean)
			late := max(f.until-over, e.end.later(i, &before, &f.done), f.asNew(mean)*together, 0)
			p.hold(f.attempt, bid(worth, late, e.slot*(f.mean-mean), mean))
		}
		before.times(&e.end.seen[i])
	}
}

// asNew returns what an attempt saves of its task, as a part of what a new clone would save in its place: 1 at most.
// mean is what is left of the task with it.
func (f *fewer) asNew(mean float64) float64 {
	if f.cloned >= f.mean {
		return 0
	}
	return max(0, min(1, (f.mean-mean)/(f.mean-f.cloned)))
}

// worth returns what an attempt saves, as a part of what it saves if it has drawn a new duration: by how likely each
// cause is after it has outlived the hazard h. mean is what is left of the task with it.
func (f *fewer) worth(cause *tally, h, mean float64) float64 {
	chance := cause[byChance] * math.Exp(-h)
	pace := cause[byPace] * quicker(f.oldest+f.mean, max(1e-9, f.age))
	part := 0.0
	if f.mean > mean {
		part = min(1, f.paced/(f.mean-mean))
	}
	return (chance + pace*part) / (chance + pace + cause[bySize]*f.same)
}

// anew returns how likely another attempt has drawn a new duration, or by its report another pace.
func (f *fewer) anew(cause *tally) float64 {
	return (cause[byChance] + cause[byPace]*(1-f.same)) / (cause[byChance] + cause[byPace] + cause[bySize]*f.same)
}

// same returns how well what an attempt and the oldest one of its task report agrees with it that both take as long:
// the likelihood of what they have wrong then, by that of nothing. It is 1 where the attempt has reported nothing, or
// would be done no sooner.
func (p *auto) same(v *sched.View, x, oldest sched.AttemptID) float64 {
	a := v.Attempt(x)
	if a.Progress <= a.From || p.quiet.Silent(v, x) {
		return 1
	}
	z := math.Log(max(1e-9, p.takes(v, oldest))/max(1e-9, p.takes(v, x))) / (math.Sqrt2 * max(leastMiss, p.eye.sd))
	return math.Exp(-max(0, z) * z / 2)
}
