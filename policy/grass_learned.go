package policy

// GRASS' learned switching point, section 4.
//
//	xi       sample: share of the jobs that go by one rule throughout, half of them by gs and half by ras
//	T_x(b)   of such jobs under the rule x: how long one takes to finish b tasks; in units of its mean task
//	A_x(d)   of such jobs with a deadline: the share of its tasks that one finishes within d; in units of its mean task
//
//	error-bound, b tasks left       switch when s tasks are left, for the s with the smallest T_ras(b-s) + T_gs(s)
//	deadline-bound, d time left     switch when s is left, for the s with the largest A_ras(d-s) + A_gs(s)
//
// s is tried at everything that is left, and at its halves down to one task, or a 64th of the time; and at none. Where
// it does not matter, earlier.
//
// A job is compared with samples of the same utilization of the cluster, in quarters, at the first attempt of each. T
// and A go in straight lines through (0, 0) and the means of the samples of 1, 2 to 3, 4 to 7 ... tasks or waves.
// Beyond the last T goes on in proportion, and A is level.
// Before five jobs have been sampled by each rule the last waves decide.
//
// Readings. The paper also tells samples apart by how accurate the estimates of t_rem and t_new are; here all jobs of a
// cluster have the same kind of reports. It normalizes durations by sizes of input, which tasks here do not tell: the
// job's own mean duration stands for them. It says neither how samples between bounds are read nor how many it needs.

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/tailcut/tailcut/sched"
)

// pilot learns from sampled jobs when others are to switch.
type pilot struct {
	seed   uint64
	sample float64

	jobs sched.Table[sched.JobID, flight]
	news bool                  // there are samples that not all jobs know
	seen [2][2][quarters]curve // by bound, and whether the rule was gs
}

// Kinds of bounds.
const (
	boundTasks = iota // an error, and so a number of tasks
	boundTime         // a deadline
)

const (
	quarters   = 4 // of utilization
	fewSamples = 5
)

// flight is a job.
type flight struct {
	sampled bool // it goes by one rule throughout,
	gs      bool // by this one
	landed  bool // it has been counted
	began   sched.Time
	quarter int8 // of utilization then; -1 before it began
}

// curve is what samples of one kind tell, by the logarithm of their bounds.
type curve struct {
	points [bits.UintSize]struct {
		n             int
		bounds, value float64 // sums
	}
	n int
}

func (c *curve) add(bound, value float64) {
	at := &c.points[bits.Len64(uint64(max(1, min(bound, math.MaxInt64/2))))-1]
	at.n++
	at.bounds += bound
	at.value += value
	c.n++
}

// at reads the curve at a bound. There is a point.
func (c *curve) at(bound float64, level bool) float64 {
	x0, y0 := 0.0, 0.0
	for k := range c.points {
		p := &c.points[k]
		if p.n == 0 {
			continue
		}
		x1, y1 := p.bounds/float64(p.n), p.value/float64(p.n)
		if bound <= x1 {
			return y0 + (y1-y0)*(bound-x0)/(x1-x0)
		}
		x0, y0 = x1, y1
	}
	if level {
		return y0
	}
	return y0 * bound / x0
}

// quarter returns how much of the cluster is in use, 0 to 3.
func quarter(v *sched.View) int8 {
	return int8(min(quarters-1, quarters*v.Cluster().Live()/max(1, v.Slots())))
}

// point returns what is left, of tasks or of waves, when a job becomes greedy of which now left is left, and whether
// that is now; ok is false before there are samples.
func (p *pilot) point(v *sched.View, j sched.JobID, bound int, left float64) (best float64, now, ok bool) {
	q, timed := quarter(v), bound == boundTime
	if p.jobs.Has(j) && p.jobs.Of(j).quarter >= 0 {
		q = p.jobs.Of(j).quarter
	}
	ras, gs := &p.seen[bound][0][q], &p.seen[bound][1][q]
	if ras.n < fewSamples || gs.n < fewSamples || math.IsInf(left, 1) {
		return 0, false, false
	}
	shortest, cheapest := 1.0, math.Inf(1)
	if timed {
		shortest = left / 64
	}
	for s := left; ; s /= 2 {
		if s < shortest {
			s = 0
		}
		cost := ras.at(left-s, timed) + gs.at(s, timed)
		if timed {
			cost = -cost
		}
		if cost < cheapest {
			best, cheapest, now = s, cost, s == left
		}
		if s == 0 {
			return best, now, true
		}
	}
}

// sampled tells whether a job goes by one rule throughout, and whether that is gs.
func (p *pilot) sampled(j sched.JobID) (sampled, gs bool) {
	f := p.jobs.Get(j)
	return f.sampled, f.gs
}

func (p *pilot) observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.JobArrived:
		x := rand.New(rand.NewPCG(p.seed, uint64(ev.Job))).Float64()
		*p.jobs.At(ev.Job) = flight{sampled: x < p.sample, gs: x < p.sample/2, quarter: -1}
	case sched.JobDone:
		p.land(v, ev.Job)
		p.jobs.Drop(ev.Job)
	case sched.JobFailed, sched.JobCancelled, sched.JobRetired:
		p.jobs.Drop(ev.Job)
	}
}

// begin takes notice that a job has started an attempt.
func (p *pilot) begin(v *sched.View, j sched.JobID) {
	if f := p.jobs.Get(j); p.jobs.Has(j) && f.quarter < 0 && v.Job(j).Attempts == 1 {
		p.jobs.Of(j).began, p.jobs.Of(j).quarter = v.Now(), quarter(v)
	}
}

// land counts a sampled job: once it is over, or its deadline has passed.
func (p *pilot) land(v *sched.View, j sched.JobID) {
	f := p.jobs.Get(j)
	if !f.sampled || f.landed || f.quarter < 0 {
		return
	}
	p.jobs.Of(j).landed, p.news = true, true
	job, done, needed := v.Job(j), 0.0, 0.0
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		done += float64(st.Done)
		needed += float64(st.Need)
	}
	waves := (v.Now() - f.began).Seconds() * done / job.Fruitful.Seconds() // its time, in mean tasks
	if !(waves > 0) || math.IsInf(waves, 0) {
		return
	}
	rule := 0
	if f.gs {
		rule = 1
	}
	if job.Deadline < sched.Never {
		p.seen[boundTime][rule][f.quarter].add(waves, done/needed)
	} else {
		p.seen[boundTasks][rule][f.quarter].add(done, waves)
	}
}
