package policy

// Which clones a task has that is judged late or slow, and who gets a free slot first: clones that may save a job, then
// waiting tasks, then other clones.

import (
	"math"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/internal/resume"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// help judges late tasks anew for whose clones there may be slots now.
func (p *laxity) help(v *sched.View, act *sched.Actions, late *kit.Queue[sched.TaskID], saves bool) {
	for n := late.Len(); n > 0 && v.CloneRoom() > p.before(v, saves); n-- {
		if t := late.Pop(); p.lacks.Get(t) {
			p.lack(t, false)
			p.judge(v, act, t)
		}
	}
}

// before returns how many waiting tasks get slots before clones that may save a job, or do not.
func (p *laxity) before(v *sched.View, saves bool) int {
	if saves {
		return 0
	}
	return v.Pending()
}

// serve gives a task the clones that it is to have besides its best attempt, which will be done at an instant, or
// another attempt instead of that; so many run that have not begun.
func (p *laxity) serve(v *sched.View, act *sched.Actions, best sched.AttemptID, row *sched.Attempt, end sched.Time, from float64, want laxityClones, fresh int) {
	t := row.Task
	if want.n == 0 {
		resume.KillAllBut(v, act, t, best, sched.Replaced)
		return
	}
	others := p.before(v, want.saves)
	missed := p.missed(v, v.Rows().JobOf(t))
	if missed {
		others += p.lacking
	}
	for fresh < want.n && v.CloneRoom() > others && v.AttemptRoom(t) > 0 {
		kit.Launch(act, t, p.machine(v, t), from, sched.Straggling)
		fresh++
	}
	switch {
	case fresh > 0:
		if want.saves && fresh < want.n {
			p.queue(v, t, true)
		}
	case p.slow(v, t, end, p.kept(v, t, row)) && v.Rows().MayKill(best):
		if p.dismiss(v, act, best); v.AttemptRoom(t) > 0 { // else a worse one that was launched just now goes on alone
			kit.Launch(act, t, p.machine(v, t), v.Task(t).Saved, sched.Straggling)
		}
	case row.Started == v.Now():
		p.young.Push(best)
	case !missed:
		p.queue(v, t, want.saves)
	}
}

// queue has a task that is to have more clones judged anew when there may be slots for them.
func (p *laxity) queue(v *sched.View, t sched.TaskID, saves bool) {
	if v.AttemptRoom(t) <= 0 || p.lacks.Get(t) {
		return
	}
	if saves {
		p.saves.Push(t)
	} else {
		p.again.Push(t)
	}
	p.lack(t, true)
}

// lack notes whether a running task is to have clones for which there is no slot.
func (p *laxity) lack(t sched.TaskID, does bool) {
	if *p.lacks.At(t) = does; does {
		p.lacking++
	} else {
		p.lacking--
	}
}

// lackless takes notice of an event after which tasks that lack clones may not run any more.
func (p *laxity) lackless(v *sched.View, ev *sched.Event) {
	switch whole := ev.Kind == sched.StageDone || ev.Kind == sched.JobFailed || ev.Kind == sched.JobCancelled; {
	case p.lacking == 0 || !whole && (!p.lacks.Get(ev.Task) || v.Task(ev.Task).State == sched.TaskRunning):
	case ev.Kind == sched.AttemptDone:
		p.lack(ev.Task, false)
	default: // a task that waits again would be in the queue twice
		for _, q := range []*kit.Queue[sched.TaskID]{&p.saves, &p.again} {
			q.Keep(func(t sched.TaskID) bool {
				if p.lacks.Get(t) && v.Task(t).State != sched.TaskRunning {
					p.lack(t, false)
				}
				return p.lacks.Get(t)
			})
		}
	}
}

// laxityClones are those that a task is to have.
type laxityClones struct {
	n     int
	saves bool // they may save its job
	lost  bool // none can
}

// want returns which other attempts a task should have that will be done at an instant and from which others go on
// from a fraction.
func (p *laxity) want(v *sched.View, t sched.TaskID, end sched.Time, from float64) (c laxityClones) {
	j := v.Rows().JobOf(t)
	if p.deadlines.Has(int(j)) && end > v.Job(j).Deadline {
		law := p.lawOf(v, v.Task(t).Stage)
		if law == nil {
			return laxityClones{n: 1}
		}
		price := 0.0
		if v.Pending() > 0 {
			s := v.Task(t).Stage
			price = p.cost(s) / (float64(v.Job(j).Tasks) * p.turn(v, s, law, p.redraw.chance(j)))
		}
		time := (v.Job(j).Deadline - v.Now() - p.Launch).Seconds() / (1 - from)
		if size, ok := p.sizeOf(v, t); ok {
			c.n = p.clones(price, func(n int) float64 { return size.late(float64(n), time) })
		} else {
			late := 1 - p.redraw.chance(j)*law.CDF(time)
			c.n = p.clones(price, func(n int) float64 { return math.Pow(late, float64(n)) })
		}
		if c.saves = c.n > 0; c.saves {
			return c
		}
		c.lost = true
	}
	if c.lost || p.missed(v, j) {
		c.n = p.hurry(v, t, end, from)
	}
	if c.n == 0 && p.slow(v, t, end, from) {
		c.n = 1
	}
	return c
}

// missed tells whether a job cannot meet its deadline and goes on nevertheless.
func (p *laxity) missed(v *sched.View, j sched.JobID) bool {
	return v.Job(j).Deadline < sched.Never && !p.deadlines.Has(int(j))
}

// hurry returns how many other attempts a task of a job without hope should have: all that it may have if it will be
// done later than they would be, but for a chance of epsilon.
func (p *laxity) hurry(v *sched.View, t sched.TaskID, end sched.Time, from float64) int {
	law := p.lawOf(v, v.Task(t).Stage)
	switch {
	case p.most <= 2:
		return p.most - 1
	case law == nil && p.patience(t) > 1:
		return 0
	case law == nil:
		return 1
	}
	if size, ok := p.sizeOf(v, t); ok {
		if size.late(float64(p.most-1), (end-v.Now()-p.Launch).Seconds()/(1-from)/p.patience(t)) > p.epsilon {
			return 0
		}
		return p.most - 1
	}
	soon := law.Quantile(-math.Expm1(math.Log(p.epsilon) / float64(p.most-1)))
	if end <= kit.Later(v.Now()+p.Launch, (1-from)*soon*p.patience(t)) {
		return 0
	}
	return p.most - 1
}

// clones returns how many other attempts a late task should have: as long as one more makes it likelier by more than
// its price that one of them is in time, until all are late with a chance of epsilon only; 0 if none is worth it, or if
// they save their task with less than that chance. The function returns the chance that n attempts are all late.
func (p *laxity) clones(price float64, late func(n int) float64) (n int) {
	was := 1.0
	for n < max(1, p.most-1) && was > p.epsilon {
		is := late(n + 1)
		if was-is <= price {
			break
		}
		n, was = n+1, is
	}
	if 1-was < p.epsilon {
		return 0
	}
	return n
}

// turn returns the seconds that an attempt of a stage takes which is replaced if it is slow.
func (p *laxity) turn(v *sched.View, s sched.StageID, law laws.Law, chance float64) float64 {
	return min(law.Mean(), p.stages.Of(s).nu.of(law, p.draw(v, s).by(chance)))
}
