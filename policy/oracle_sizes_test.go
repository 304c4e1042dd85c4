package policy

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// slowSizes is what slowLaxity knows of sizes. What follows from a share has tests of its own (taskSize, likeness).
type slowSizes struct {
	like  likeness
	drawn map[sched.TaskID]drawnSize
}

// logMoments are the mean and the variance of the logarithms of a stage's durations and of two more, those of all.
func (p *slowLaxity) logMoments(s sched.StageID) (mean, variance float64) {
	var own, all powers
	for _, f := range p.foretold {
		if f.retired {
			all = powers{0.998 * all.n, 0.998 * all.sum, 0.998 * all.squares}
			continue
		}
		if all.add(logOf(f.y)); f.stage == s {
			own.add(logOf(f.y))
		}
	}
	if all.n == 0 {
		return 0, 0
	}
	own = own.plus(2, all.sum/all.n, all.squares/all.n)
	mean = own.sum / own.n
	return mean, max(0, own.squares/own.n-mean*mean)
}

func (p *slowLaxity) foretells(s sched.StageID, t sched.TaskID, y float64) {
	mean, variance := p.logMoments(s)
	d := p.drawn[t]
	p.like.hear(mean, variance, d, logOf(y))
	d.add(logOf(y))
	p.drawn[t] = d
}

func (p *slowLaxity) sizeOf(v *sched.View, t sched.TaskID) (taskSize, bool) {
	if p.like.share() == 0 {
		return taskSize{}, false
	}
	mean, variance := p.logMoments(v.Task(t).Stage)
	return newTaskSize(mean, variance, p.like.share(), p.drawn[t]), true
}

// worthless: late, and neither hoped for nor worth something.
func (p *slowLaxity) worthless(v *sched.View, j sched.JobID) bool {
	return v.Job(j).Deadline < sched.Never && !p.hopeful[j] && !p.late[j]
}

func (p *slowLaxity) noteVain(v *sched.View, j sched.JobID) {
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if v.Task(t).State == sched.TaskRunning && v.Rows().JobOf(t) == j {
			p.vain = append(p.vain, t)
		}
	}
}

// expire takes notice of late jobs that are worth nothing from now on.
func (p *slowLaxity) expire(v *sched.View) {
	over := slices.DeleteFunc(p.jobs(v), func(j sched.JobID) bool { job := v.Job(j); return !p.late[j] || job.Until() > v.Now() })
	slices.SortFunc(over, func(a, b sched.JobID) int {
		x, y := v.Job(a), v.Job(b)
		return cmp.Or(cmp.Compare(x.Until(), y.Until()), cmp.Compare(a, b))
	})
	for _, j := range over {
		p.late[j] = false
		p.noteVain(v, j)
	}
}

// preempt kills what runs for worthless jobs while jobs with a seat wait and no slot is free.
func (p *slowLaxity) preempt(v *sched.View, act *sched.Actions) {
	seatWaits := func() bool {
		jobs := p.jobs(v)
		i := slices.IndexFunc(jobs, func(j sched.JobID) bool { _, waits := pendingOf(v, j); return waits })
		return i >= 0 && p.hopeful[jobs[i]] && p.seats[jobs[i]]
	}
	for n := len(p.vain); n > 0 && v.FreeSlots() == 0 && seatWaits(); n-- {
		t := p.vain[0]
		p.vain = p.vain[1:]
		if v.Task(t).State != sched.TaskRunning || !p.worthless(v, v.Rows().JobOf(t)) || kit.Paused(v, t) {
			continue
		}
		best := p.soonest(v, t)
		x := p.quiet.Attempt(v, best)
		if v.Stage(v.Task(t).Stage).Resumable {
			if x.Number >= 5 && x.Progress <= x.From {
				continue
			}
		} else {
			job := v.Job(v.Rows().JobOf(t))
			whole := sched.FromSeconds(p.work.Remaining(v, v.Rows().JobOf(t)) / float64(job.Unfinished) / 1e6)
			if end, known := p.end(v, best); known {
				whole = end - x.Started
			}
			lost := p.vainWork[t] + v.Now() - x.Started
			if 2*(v.Now()-x.Started) >= whole || lost > 3*whole {
				continue
			}
			p.vainWork[t] = lost
		}
		for _, a := range attemptsOf(v, t) {
			if v.Rows().MayKill(a) {
				kit.Kill(act, a, sched.Replaced)
			} else {
				p.vain = append(p.vain, t)
			}
		}
		p.fill(v, act)
	}
}
