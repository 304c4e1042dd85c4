package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// What slowLaxity remembers: all of it, and it counts anew whenever it is asked.
type (
	slowForetold struct {
		attempt sched.AttemptID
		stage   sched.StageID
		y       float64
		retired bool // instead: a job was
	}
	slowVerdict struct {
		job      sched.JobID
		won      bool
		expected float64
		retired  bool
	}
)

func (p *slowLaxity) whole(v *sched.View, a sched.AttemptID) (float64, bool) {
	x := v.Attempt(a)
	if p.speed(&x) == 0 || x.Progress >= 1 {
		return 0, false
	}
	return (kit.Later(x.ProgressAt, (1-x.Progress)/p.speed(&x)) - x.ProgressAt).Seconds() / (1 - x.Progress), true
}

func (p *slowLaxity) hear(v *sched.View, ev *sched.Event) {
	y, ok := p.whole(v, ev.Attempt)
	if !ok || slices.ContainsFunc(p.foretold, func(f slowForetold) bool { return f.attempt == ev.Attempt }) {
		return
	}
	law := p.lawOf(v, ev.Stage)
	if before := 0.8 * float64(p.gave[ev.Task]); before > 0 && law != nil {
		p.verdicts = append(p.verdicts, slowVerdict{job: ev.Job, won: y < before, expected: law.CDF(before)})
		delete(p.gave, ev.Task)
	}
	p.foretells(ev.Stage, ev.Task, y)
	p.foretold = append(p.foretold, slowForetold{attempt: ev.Attempt, stage: ev.Stage, y: y})
	if p.worthless(v, ev.Job) {
		p.vain = append(p.vain, ev.Task)
	}
}

// chance: 3 wins of 4 expected ones before anything is known, 4 of the job as all have shown; of all, with each job that is retired a
// five-hundredth is forgotten.
func (p *slowLaxity) chance(j sched.JobID) float64 {
	var wins, expected, ownWins, ownExpected float64
	for _, x := range p.verdicts {
		if x.retired {
			wins, expected = 0.998*wins, 0.998*expected
			continue
		}
		won := 0.0
		if x.won {
			won = 1
		}
		wins, expected = wins+won, expected+x.expected
		if x.job == j {
			ownWins, ownExpected = ownWins+won, ownExpected+x.expected
		}
	}
	return min(1, (ownWins+4*(3+wins)/(4+expected))/(ownExpected+4))
}

// lawOf returns the law that is given unless the shares of what was foretold lie too far from a half on average, else Pareto's.
func (p *slowLaxity) lawOf(v *sched.View, s sched.StageID) laws.Law {
	var shares, all, own powers
	for _, f := range p.foretold {
		switch {
		case f.retired:
			shares = powers{0.998 * shares.n, 0.998 * shares.sum, 0}
			all = powers{0.998 * all.n, 0.998 * all.sum, 0.998 * all.squares}
			continue
		case p.given != nil:
			shares.add(p.given.CDF(f.y))
		}
		if all.add(f.y); f.stage == s {
			own.add(f.y)
		}
	}
	if p.given != nil && (shares.n == 0 || math.Abs(shares.sum/shares.n-0.5) <= 4/math.Sqrt(12*shares.n)) {
		return p.given
	}
	st := v.Stage(s)
	mean, sd, known := st.Estimate()
	switch {
	case st.Mean > 0:
		own = own.plus(2, st.Mean.Seconds(), st.Mean.Seconds()*st.Mean.Seconds()+st.SD.Seconds()*st.SD.Seconds())
	case all.n > own.n:
		own = own.plus(2, all.sum/all.n, all.squares/all.n)
	case own.n == 0 && known && mean > 0:
		own = own.plus(1, mean, mean*mean+sd*sd)
	case own.n == 0:
		return nil
	}
	return paretoOf(own.sum/own.n, own.squares/own.n)
}

func (p *slowLaxity) cost(s sched.StageID) float64 {
	judging := p.judging.Seconds()
	if judging == 0 {
		judging = 10
		if mean, ok := p.quiet.Interval(s); ok {
			judging = mean
		}
	}
	return p.launch.Seconds() + judging
}

// place seats the jobs in the order of their deadlines; see seat.
func (p *slowLaxity) place(v *sched.View) {
	var jobs []seatJob
	slots := float64(max(1, v.Slots()))
	for j := range sched.JobID(v.Rows().Jobs()) {
		job := v.Job(j)
		if !p.hopeful[j] || job.State != sched.JobActive || job.Pending == 0 {
			continue
		}
		t, _ := pendingOf(v, j)
		s := v.Task(t).Stage
		st, law, chance := v.Stage(s), p.lawOf(v, s), p.chance(j)
		work := p.work.Remaining(v, j) / 1e6
		mean := work / float64(job.Unfinished)
		turn := mean
		if law == nil {
			law = laws.Deterministic{Value: mean}
		} else {
			turn = min(law.Mean(), new(reservation).of(law, p.drawing(v, s, chance)))
			work = max(1e-6, work+float64(st.Unfinished())*(turn-mean))
		}
		left := (job.Deadline - v.Now() - p.launch).Seconds()
		if n := float64(job.Pending); n > slots {
			left -= (n/slots - 1) * turn
		}
		for next := s + 1; next < job.FirstStage+sched.StageID(job.Stages); next++ {
			if st := v.Stage(next); st.Unfinished() > 0 {
				left -= mean * max(1, float64(st.Unfinished())/slots)
			}
		}
		jobs = append(jobs, seatJob{job: j, until: job.Deadline, left: left, work: work, value: job.Value, tasks: float64(job.Pending), law: law, cost: p.cost(s), chance: chance})
	}
	slices.SortFunc(jobs, func(a, b seatJob) int { return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.job, b.job)) })
	slowSeat(jobs, slots)
	for _, x := range jobs {
		p.seats[x.job] = x.seated
	}
}

// slowSeat chooses among jobs in the order of their deadlines: while one has lost more than a tenth of its chance to those before it,
// the one whose work is worth least leaves.
func slowSeat(jobs []seatJob, slots float64) {
	work := 0.0
	takes := func(x *seatJob) float64 { return x.inTime(0)*x.work + (1-x.inTime(0))*math.Min(x.work, x.tasks*x.cost) }
	worth := func(x *seatJob) float64 { return x.inTime(0) * x.value / takes(x) }
	for i := range jobs {
		x := &jobs[i]
		if x.inTime(0) == 0 {
			continue
		}
		x.seated = true
		work += takes(x)
		for x.seated && x.inTime((work-takes(x))/slots) < 0.9*x.inTime(0) {
			least := -1
			for k := range jobs[:i+1] {
				if jobs[k].seated && (least < 0 || worth(&jobs[k]) < worth(&jobs[least])) {
					least = k
				}
			}
			jobs[least].seated = false
			work -= takes(&jobs[least])
		}
	}
}
