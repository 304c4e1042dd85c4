package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// grassTwin has the rules at the top of grass.go: for each free slot it asks one job after the other, and each rates all its tasks.
type grassTwin struct {
	naive
	mode, way string
	waves     float64
	size      int
	sample    float64
	copies    int

	flights map[sched.JobID]*grassFlight
	samples []grassSample
}

// grassFlight is a job. One that is sampled goes by one rule throughout.
type grassFlight struct {
	sampled bool
	gs      bool
	began   sched.Time
	quarter int // of utilization when it began; -1 before
	counted bool
}

// grassSample is what such a job has told.
type grassSample struct {
	timed, gs    bool
	quarter      int
	bound, value float64
}

func TestGrassTwin(t *testing.T) { checkTwins(t, drawGrass) }

func drawGrass(t *rapid.T) (string, sched.Policy) {
	x := &grassTwin{
		naive: newNaive(rapid.Bool().Draw(t, "fair")), mode: rapid.SampledFrom([]string{"grass", "gs", "ras"}).Draw(t, "mode"),
		way: rapid.SampledFrom([]string{"learned", "waves", "size"}).Draw(t, "switch"), size: rapid.IntRange(0, 5).Draw(t, "size"),
		sample: rapid.SampledFrom([]float64{0, 0.15, 0.6, 1}).Draw(t, "sample"),
		waves:  rapid.SampledFrom([]float64{0, 1, 2}).Draw(t, "waves"), copies: rapid.IntRange(1, 4).Draw(t, "copies"), flights: map[sched.JobID]*grassFlight{},
	}
	x.tnew = rapid.SampledFrom([]string{"finished", "all", "known"}).Draw(t, "tnew")
	spec := fmt.Sprintf("grass:mode=%s,switch=%s,waves=%g,size=%d,sample=%g,copies=%d,tnew=%s", x.mode, x.way, x.waves, x.size, x.sample, x.copies, x.tnew)
	if !x.fair {
		spec += ",order=fifo"
	}
	return spec, x
}

// drawGrassLearning samples many jobs, so that others can learn from them.
func drawGrassLearning(t *rapid.T) (string, sched.Policy) {
	x := &grassTwin{naive: newNaive(rapid.Bool().Draw(t, "fair")), mode: "grass", way: "learned", sample: 0.8, waves: 2, copies: 3, flights: map[sched.JobID]*grassFlight{}}
	x.tnew = "finished"
	if x.fair {
		return "grass:sample=0.8", x
	}
	return "grass:sample=0.8,order=fifo", x
}

func (p *grassTwin) learns() bool { return p.mode == "grass" && p.way == "learned" }

func (p *grassTwin) Observe(v *sched.View, ev *sched.Event) {
	p.naive.Observe(v, ev)
	switch {
	case !p.learns():
	case ev.Kind == sched.JobArrived:
		u := rand.New(rand.NewPCG(1, uint64(ev.Job))).Float64()
		p.flights[ev.Job] = &grassFlight{sampled: u < p.sample, gs: u < p.sample/2, quarter: -1}
	case ev.Kind == sched.JobDone:
		p.count(v, ev.Job)
	}
}

// count takes a sample of a job that is over, or whose deadline has passed.
func (p *grassTwin) count(v *sched.View, j sched.JobID) {
	f := p.flights[j]
	if f == nil || !f.sampled || f.counted || f.quarter < 0 {
		return
	}
	f.counted = true
	job, done, needed := v.Job(j), 0, 0
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		done += int(v.Stage(s).Done)
		needed += int(v.Stage(s).Need)
	}
	if done == 0 || v.Now() == f.began || job.Fruitful == 0 {
		return
	}
	waves := (v.Now() - f.began).Seconds() * float64(done) / job.Fruitful.Seconds()
	x := grassSample{timed: job.Deadline < sched.Never, gs: f.gs, quarter: f.quarter, bound: float64(done), value: waves}
	if x.timed {
		x.bound, x.value = waves, float64(done)/float64(needed)
	}
	p.samples = append(p.samples, x)
}

// curve returns the means of samples by powers of two of their bounds, and how many samples there are.
func (p *grassTwin) curve(timed, gs bool, quarter int) (points [][2]float64, n int) {
	for k := range 64 {
		sum, few := [2]float64{}, 0.0
		for _, x := range p.samples {
			if x.timed == timed && x.gs == gs && x.quarter == quarter && int(math.Log2(max(1, x.bound))) == k {
				sum[0], sum[1], few = sum[0]+x.bound, sum[1]+x.value, few+1
			}
		}
		if few > 0 {
			points, n = append(points, [2]float64{sum[0] / few, sum[1] / few}), n+int(few)
		}
	}
	return points, n
}

// read reads a curve at a bound.
func (p *grassTwin) read(points [][2]float64, x float64, timed bool) float64 {
	last := [2]float64{}
	for _, q := range points {
		if x <= q[0] {
			return last[1] + (q[1]-last[1])*(x-last[0])/(q[0]-last[0])
		}
		last = q
	}
	if timed {
		return last[1]
	}
	return last[1] * x / last[0]
}

// point returns with what left the job had better become greedy.
func (p *grassTwin) point(v *sched.View, j sched.JobID, timed bool, left float64) (best float64, ok bool) {
	now := min(3, 4*v.Cluster().Live()/max(1, v.Slots()))
	if f := p.flights[j]; f != nil && f.quarter >= 0 {
		now = f.quarter
	}
	ras, n := p.curve(timed, false, now)
	gs, m := p.curve(timed, true, now)
	if n < 5 || m < 5 || math.IsInf(left, 1) {
		return 0, false
	}
	try := []float64{left}
	for s := left / 2; s >= 1 && !timed || s >= left/64 && timed; s /= 2 {
		try = append(try, s)
	}
	sign := 1.0
	if timed {
		sign = -1
	}
	cost := func(s float64) float64 { return sign * (p.read(ras, left-s, timed) + p.read(gs, s, timed)) }
	best = left
	for _, s := range append(try, 0) {
		if cost(s) < cost(best) {
			best = s
		}
	}
	return best, true
}

func (p *grassTwin) Decide(v *sched.View, act *sched.Actions) {
	p.look(v, act)
	for j := range p.flights {
		if job := v.Job(j); job.State == sched.JobActive && job.Deadline <= v.Now() {
			p.count(v, j)
		}
	}
	for p.give(v, act) {
	}
	for _, j := range p.jobs(v) { // a deadline and the beginning of the last waves change the rule
		if job := v.Job(j); p.bound(v, j) {
			act.WakeAt(job.Deadline)
			stretch := p.waves * p.wave(v, j)
			if wave := p.wave(v, j); p.learns() && wave > 0 {
				if s, ok := p.point(v, j, true, (job.Deadline-v.Now()).Seconds()/wave); ok {
					stretch = s * wave
				}
			}
			act.WakeAt(job.Deadline - sched.FromSeconds(stretch))
		}
	}
}

// give gives a free slot to the first job that has a use for it.
func (p *grassTwin) give(v *sched.View, act *sched.Actions) bool {
	if v.FreeSlots() == 0 {
		return false
	}
	for _, j := range p.jobs(v) {
		x, ok := p.choose(v, j)
		switch {
		case !ok:
			continue
		case x.clone:
			p.clone(v, act, x.task, sched.Straggling)
		default:
			p.start(v, act, x.task)
			if f := p.flights[j]; f != nil && f.quarter < 0 && v.Job(j).Attempts == 1 {
				f.began, f.quarter = v.Now(), min(3, 4*v.Cluster().Live()/v.Slots())
			}
		}
		return true
	}
	return false
}

// choose returns the best use of a slot for a job: of larger ranks, then of larger values, then of earlier stages, first what waits, then what has fewer attempts, then
// what ends later.
func (p *grassTwin) choose(v *sched.View, j sched.JobID) (best use, ok bool) {
	greedy, left := p.greedy(v, j), (v.Job(j).Deadline - v.Now()).Seconds()
	for _, s := range p.stages(v) {
		st := v.Stage(s)
		mean, known := p.mean(v, s)
		if st.Job != j {
			continue
		}
		inTime := !p.bound(v, j) || mean <= left
		if n := p.waiting(v, s); len(n) > 0 && len(p.running(v, s)) < int(st.Unfinished()) {
			x := use{task: n[0], rank: second, value: mean}
			if greedy {
				x.rank = useful
			}
			if p.bound(v, j) {
				x.value = -mean
			}
			if !inTime {
				x.rank = useless
			}
			if !known {
				x.rank, x.value = useless, 0
			}
			if !ok || x.better(best) {
				best, ok = x, true
			}
		}
		for c := 1; c < p.copies && known && inTime && v.CloneRoom() > 0; c++ {
			t, rem, some := p.slowest(v, s, c)
			x := use{task: t, clone: true, rank: useful, value: rem}
			worth := rem > mean
			if !greedy {
				x.value = float64(c)*rem - float64(c+1)*mean
				worth = x.value > 0
			} else if p.bound(v, j) {
				x.value = -mean
			}
			if some && worth && (!ok || x.better(best)) {
				best, ok = x, true
			}
		}
	}
	return best, ok
}

// waiting returns the tasks of a stage that wait.
func (p *grassTwin) waiting(v *sched.View, s sched.StageID) (tasks []sched.TaskID) {
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if v.Task(t).Stage == s && v.Task(t).State == sched.TaskPending {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// slowest returns the needed running task with c attempts that has the most time left, in seconds, and may have another.
func (p *grassTwin) slowest(v *sched.View, s sched.StageID, c int) (best sched.TaskID, rem float64, ok bool) {
	latest := sched.Time(0)
	for _, t := range p.needed(v, s) {
		if end, known := p.end(v, t); known && int(v.Task(t).Live) == c && v.AttemptRoom(t) > 0 && (!ok || end > latest) {
			best, latest, ok = t, end, true
		}
	}
	return best, (latest - v.Now()).Seconds(), ok
}

// needed returns the running tasks that a stage needs, in the order of their numbers: as many as it has to finish, those that end first, and whatever ends together with the last of them.
func (p *grassTwin) needed(v *sched.View, s sched.StageID) []sched.TaskID {
	st := v.Stage(s)
	all, n := p.running(v, s), int(st.Unfinished())
	if len(all) <= n {
		return all
	}
	var ends []sched.Time
	for _, t := range all {
		ends = append(ends, p.endOr(v, t))
	}
	slices.Sort(ends)
	return slices.DeleteFunc(all, func(t sched.TaskID) bool { return p.endOr(v, t) > ends[n-1] })
}

func (p *grassTwin) endOr(v *sched.View, t sched.TaskID) sched.Time {
	if end, ok := p.end(v, t); ok {
		return end
	}
	return sched.Never
}

func (p *grassTwin) bound(v *sched.View, j sched.JobID) bool {
	d := v.Job(j).Deadline
	return d > v.Now() && d < sched.Never
}

// wave returns the mean t_new of the unfinished tasks, of the open stages of which it is known.
func (p *grassTwin) wave(v *sched.View, j sched.JobID) float64 {
	sum, n := 0.0, 0
	for _, s := range p.stages(v) {
		st := v.Stage(s)
		if mean, ok := p.mean(v, s); ok && st.Job == j {
			sum += float64(st.Unfinished()) * mean
			n += int(st.Unfinished())
		}
	}
	return sum / float64(max(n, 1))
}

// greedy tells whether the job follows GS: in the last waves, if the mode does not say.
func (p *grassTwin) greedy(v *sched.View, j sched.JobID) bool {
	if p.mode != "grass" {
		return p.mode == "gs"
	}
	if f := p.flights[j]; f != nil && f.sampled {
		return f.gs
	}
	job, left := v.Job(j), 0
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		left += int(st.Unfinished())
	}
	if p.way == "size" {
		return left <= p.size
	}
	timed, time := p.bound(v, j), (job.Deadline - v.Now()).Seconds()
	of := float64(left)
	if timed {
		of = time / p.wave(v, j)
	}
	if p.way == "learned" {
		if s, ok := p.point(v, j, timed, of); ok {
			return s == of
		}
	}
	if timed {
		return time <= p.waves*p.wave(v, j)
	}
	return of <= p.waves*float64(job.Live+1)
}
