package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var forkLearnOracle = oracle{
	name:  "fork that learns",
	specs: []string{"fork:learn=true,winners=1", "fork:learn=true,r=3,winners=1,order=fair", "fork:learn=true,r=2,winners=2,order=srpt"},
	slow: func(a kit.Args) sched.Policy {
		return &slowLearn{slowFork: slowFork{slowly: newSlowly(a)}, most: a.Int("r"), winners: a.Int("winners"), stages: map[sched.StageID]*slowStage{}}
	},
}

// slowLearn keeps every duration, looks at every task, and sums over every value for itself.
type slowLearn struct {
	slowFork
	most, winners int
	stages        map[sched.StageID]*slowStage
}

type slowStage struct {
	began, last, looked, due sched.Time
	ended, cut               []sched.Time
	forks, clones            int
}

func (p *slowLearn) Observe(v *sched.View, ev *sched.Event) {
	p.slowly.Observe(v, ev)
	now := v.Now()
	switch ev.Kind {
	case sched.StageReady:
		p.stages[ev.Stage] = &slowStage{began: now, last: now, looked: now, due: sched.Never}
	case sched.StageDone:
		delete(p.stages, ev.Stage)
	case sched.JobFailed, sched.JobCancelled:
		job := v.Job(ev.Job)
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			delete(p.stages, s)
		}
	case sched.AttemptDone:
		st := p.stages[ev.Stage]
		st.last = now
		if a := v.Attempt(ev.Attempt); a.From == 0 {
			st.ended = append(st.ended, now-a.Started)
		}
		st.lose(v, ev.Task)
		sum := sched.Time(0)
		for _, d := range st.ended {
			sum += d
		}
		stage := v.Stage(ev.Stage)
		if left := stage.Hopeful() - stage.Done; left > 0 && len(st.ended) >= p.winners {
			st.due = max(now+sum/sched.Time(len(st.ended))/sched.Time(left), st.looked+(now-st.began)/32)
		}
	}
}

func (st *slowStage) lose(v *sched.View, t sched.TaskID) {
	for x, ok := v.FirstAttempt(t); ok; x, ok = v.NextAttempt(x) {
		if v.Attempt(x).From == 0 {
			st.cut = append(st.cut, v.Now()-v.Attempt(x).Started)
		}
	}
}

func (p *slowLearn) Decide(v *sched.View, act *sched.Actions) {
	p.serve(v, func(t sched.TaskID) bool {
		p.start(v, act, t)
		if st := p.stages[v.Task(t).Stage]; v.Task(t).Launched == 1 && st.clones > 0 {
			p.clones = append(p.clones, slowStraggler{task: t, left: st.clones})
		}
		return true
	}, func(sched.JobID) bool { return false })
	for {
		s := p.first()
		if s < 0 || p.stages[sched.StageID(s)].due > v.Now() {
			break
		}
		p.look(v, sched.StageID(s))
	}
	if s := p.first(); s >= 0 {
		act.WakeAt(p.stages[sched.StageID(s)].due)
	}
	p.move(v, act)
}

// first returns the stage that is to be looked at first, -1 for none.
func (p *slowLearn) first() int {
	at := -1
	for s, st := range p.stages {
		if st.due == sched.Never || st.forks == 3 {
			continue
		}
		if at < 0 || st.due < p.stages[sched.StageID(at)].due || st.due == p.stages[sched.StageID(at)].due && int(s) < at {
			at = int(s)
		}
	}
	return at
}

func (p *slowLearn) look(v *sched.View, s sched.StageID) {
	st, stage, now := p.stages[s], v.Stage(s), v.Now()
	st.looked = now
	st.due = now + max(1, (now-st.last)/4, (now-st.began)/32)
	left := int(stage.Hopeful() - stage.Done)
	if left == 0 || int(stage.Running) < left || v.CloneRoom() < left || v.Job(stage.Job).Paused {
		return
	}
	r, kill, ok := p.choose(v, s, min(p.most, v.CloneRoom()/left))
	if !ok {
		return
	}
	st.forks++
	if kill {
		st.clones = 0
	}
	st.clones += r
	for _, t := range runningOf(v, inStage(v, s)) {
		x := slowStraggler{t, r, v.Task(t).Launched}
		if kill {
			st.lose(v, t)
			p.restart = append(p.restart, x)
		} else {
			p.clones = append(p.clones, x)
		}
	}
}

// choose returns the fork that is done soonest at no more machine time.
func (p *slowLearn) choose(v *sched.View, s sched.StageID, most int) (clones int, kill, ok bool) {
	st := p.stages[s]
	groups := map[string][][]sched.Time{} // ages of the tasks
	cut := slices.Clone(st.cut)
	for _, t := range runningOf(v, inStage(v, s)) {
		var ages, edges []sched.Time
		for a, ok := v.FirstAttempt(t); ok && len(ages) < 8; a, ok = v.NextAttempt(a) {
			age := v.Now() - v.Attempt(a).Started
			ages, edges, cut = append(ages, age), append(edges, edge(age)), append(cut, age)
		}
		groups[fmt.Sprint(edges)] = append(groups[fmt.Sprint(edges)], ages)
	}
	law, err := laws.Learn(laws.Observe(binned(st.ended), binned(cut)))
	if err != nil {
		panic(err)
	}
	type like struct {
		ages  []float64
		tasks float64
	}
	var running []like
	for _, all := range groups {
		x := like{tasks: float64(len(all))}
		for i := range all[0] {
			sum := sched.Time(0)
			for _, ages := range all {
				sum += ages[i]
			}
			x.ages = append(x.ages, (sum / sched.Time(len(all))).Seconds())
		}
		running = append(running, x)
	}
	slices.SortFunc(running, func(a, b like) int { return slices.Compare(a.ages, b.ages) })
	over := func(x float64) (mass float64) {
		for _, a := range laws.Atoms(law) {
			if a.Value > x {
				mass += a.Mass
			}
		}
		return mass
	}
	ends := []float64{0}
	for _, a := range laws.Atoms(law) {
		ends = append(ends, a.Value)
		for _, x := range running {
			for _, age := range x.ages {
				ends = append(ends, max(0, a.Value-age))
			}
		}
	}
	slices.Sort(ends)
	// latency and machine time from now on with so many new attempts
	play := func(fresh int, kept bool) (latency, cost float64) {
		for i, z := range ends[1:] {
			y, width := (ends[i]+z)/2, z-ends[i]
			all, machines := 1.0, 0.0
			for _, x := range running {
				S, attempts := math.Pow(over(y), float64(fresh)), fresh
				if kept {
					attempts += len(x.ages)
					for _, age := range x.ages {
						if S *= over(age + y); S > 0 {
							S /= over(age)
						}
					}
				}
				all *= math.Pow(1-min(S, 1), x.tasks)
				machines += x.tasks * float64(attempts) * S
			}
			latency += width * (1 - all)
			cost += width * machines
		}
		return latency, cost
	}
	least, budget := play(0, true)
	for r := 0; r <= most; r++ {
		for _, kept := range []bool{true, false} {
			fresh := r
			if !kept {
				fresh++
			}
			if kept && (r == 0 || st.clones+r > p.most) {
				continue
			}
			if latency, cost := play(fresh, kept); cost <= budget*(1+1e-9) && latency < least*(1-1e-9) {
				clones, kill, ok, least = r, !kept, true, latency
			}
		}
	}
	return clones, kill, ok
}

// edge returns the lower end of the bin that a duration is in: what is left of its first four binary digits.
func edge(d sched.Time) sched.Time {
	width := sched.Time(1)
	for d/width >= 16 {
		width *= 2
	}
	return d / width * width
}

// binned returns durations in seconds, each the mean of those in its bin.
func binned(all []sched.Time) (out []float64) {
	slices.SortFunc(all, func(a, b sched.Time) int { return cmp.Compare(a, b) })
	for _, d := range all {
		n, sum := sched.Time(0), sched.Time(0)
		for _, other := range all {
			if edge(other) == edge(d) {
				n, sum = n+1, sum+other
			}
		}
		out = append(out, (sum / n).Seconds())
	}
	return out
}
