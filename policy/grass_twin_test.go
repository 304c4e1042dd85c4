package policy

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// grassTwin has the rules at the top of grass.go: for each free slot it asks one job after the other, and each rates all its tasks.
type grassTwin struct {
	naive
	mode   string
	waves  float64
	copies int
}

func TestGrassTwin(t *testing.T) {
	checkTwins(t, func(t *rapid.T) (string, sched.Policy) {
		x := &grassTwin{
			naive: newNaive(rapid.Bool().Draw(t, "fair")), mode: rapid.SampledFrom([]string{"grass", "gs", "ras"}).Draw(t, "mode"),
			waves: rapid.SampledFrom([]float64{0, 1, 2}).Draw(t, "waves"), copies: rapid.IntRange(1, 4).Draw(t, "copies"),
		}
		spec := fmt.Sprintf("grass:mode=%s,waves=%g,copies=%d", x.mode, x.waves, x.copies)
		if !x.fair {
			spec += ",order=fifo"
		}
		return spec, x
	})
}

func (p *grassTwin) Decide(v *sched.View, act *sched.Actions) {
	p.look(v, act)
	for p.give(v, act) {
	}
	for _, j := range p.jobs(v) { // a deadline and the beginning of the last waves change the rule
		if job := v.Job(j); p.bound(v, j) {
			act.WakeAt(job.Deadline)
			act.WakeAt(job.Deadline - sched.FromSeconds(p.waves*p.wave(v, j)))
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
		mean, _, known := st.Estimate()
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
		if mean, _, ok := st.Estimate(); ok && st.Job == j {
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
	job := v.Job(j)
	if p.bound(v, j) {
		return (job.Deadline - v.Now()).Seconds() <= p.waves*p.wave(v, j)
	}
	left := 0
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		left += int(st.Unfinished())
	}
	return float64(left) <= p.waves*float64(job.Live+1)
}
