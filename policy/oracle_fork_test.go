package policy

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var forkOracle = oracle{
	name: "fork",
	specs: []string{
		"backup", "fork:p=0.3,r=2,original=kill,order=fair", "fork:p=0.5,r=0,original=kill,order=srpt", "fork:p=1,r=3,original=kill", "fork:p=0.4,r=2",
		"fork:p=1,r=2,order=fair", "backup:order=fair", "fork:p=0.7,r=1,order=srpt",
		"fork:p=0.6,r=1,p2=0.3,r2=2", "fork:p=0.8,r=1,p2=0.3,r2=1,original2=kill,order=srpt", "fork:p=0.5,r=1,original=kill,p2=0.2,r2=1",
		"fork:p=1,r=2,original=kill,p2=0.5,r2=0,original2=kill,order=fair",
	},
	slow: func(a kit.Args) sched.Policy {
		p := &slowFork{slowly: newSlowly(a), forks: []slowRule{{a.Float("p"), a.Int("r"), a.Choice("original") == "kill"}}}
		if second := a.Float("p2"); second > 0 {
			p.forks = append(p.forks, slowRule{min(second, a.Float("p")), a.Int("r2"), a.Choice("original2") == "kill"})
		}
		return p
	},
}

// slowFork is Definition 1 of arXiv 1503.03128, with what fork.go adds for scarce slots.
type slowFork struct {
	slowly
	forks   []slowRule
	restart []slowStraggler
	clones  []slowStraggler
}

type slowRule struct {
	p    float64
	r    int
	kill bool
}

type slowStraggler struct {
	task sched.TaskID
	left int
	old  uint32
}

func (f *slowRule) happened(st *sched.Stage) bool {
	return float64(st.Done) >= math.Round(float64(st.Tasks-st.GivenUp)*(1-f.p))
}

func (p *slowFork) Observe(v *sched.View, ev *sched.Event) {
	p.slowly.Observe(v, ev)
	if ev.Kind != sched.AttemptDone && ev.Kind != sched.TaskGivenUp {
		return
	}
	st, before := v.Stage(ev.Stage), v.Stage(ev.Stage)
	if ev.Kind == sched.AttemptDone {
		before.Done--
	} else {
		before.GivenUp--
	}
	for _, f := range p.forks {
		if !f.happened(&st) || f.happened(&before) || st.Done >= st.Need {
			continue
		}
		if f.kill {
			ours := func(x slowStraggler) bool { return v.Task(x.task).Stage == ev.Stage }
			p.restart, p.clones = slices.DeleteFunc(p.restart, ours), slices.DeleteFunc(p.clones, ours)
		}
		for _, t := range runningOf(v, inStage(v, ev.Stage)) {
			x := slowStraggler{t, f.r, v.Task(t).Launched}
			if f.kill {
				p.restart = append(p.restart, x)
			} else if f.r > 0 {
				p.clones = append(p.clones, x)
			}
		}
	}
}

func (p *slowFork) Decide(v *sched.View, act *sched.Actions) {
	p.serve(v, func(t sched.TaskID) bool {
		p.start(v, act, t)
		n, st := 0, v.Stage(v.Task(t).Stage)
		for _, f := range p.forks {
			if f.happened(&st) && f.kill {
				n = f.r
			} else if f.happened(&st) {
				n += f.r
			}
		}
		if v.Task(t).Launched == 1 && n > 0 {
			p.clones = append(p.clones, slowStraggler{task: t, left: n})
		}
		return true
	}, func(sched.JobID) bool { return false })
	p.move(v, act)
}

// move carries out the forks that were.
func (p *slowFork) move(v *sched.View, act *sched.Actions) {
	var later []slowStraggler
	for len(p.restart) > 0 && v.FreeSlots() > 0 {
		x := p.restart[0]
		p.restart = p.restart[1:]
		later = append(later, p.anew(v, act, x)...)
	}
	p.restart = append(p.restart, later...)
	p.duplicate(v, act)
}

// anew kills a straggler and starts it again; it returns it if that has to wait.
func (p *slowFork) anew(v *sched.View, act *sched.Actions, x slowStraggler) []slowStraggler {
	switch {
	case v.Task(x.task).State != sched.TaskRunning:
		return nil
	case kit.Paused(v, x.task):
		return []slowStraggler{x}
	case v.Exhausted(x.task):
		return nil
	}
	if a, _ := v.FirstAttempt(x.task); v.Attempt(a).Number < x.old && v.Rows().MayKill(a) {
		m, _ := kit.Elsewhere(v, x.task)
		for a, ok := v.FirstAttempt(x.task); ok; a, ok = v.FirstAttempt(x.task) {
			kit.Kill(act, a, sched.Replaced)
		}
		kit.Launch(act, x.task, m, v.Task(x.task).Saved, sched.Straggling)
	}
	if x.left > 0 {
		p.clones = append(p.clones, x)
	}
	return nil
}

// duplicate starts clones, every task its first before any its second.
func (p *slowFork) duplicate(v *sched.View, act *sched.Actions) {
	var paused []slowStraggler
	for len(p.clones) > 0 && v.CloneRoom() > 0 {
		x := p.clones[0]
		p.clones = slices.Delete(p.clones, 0, 1)
		switch {
		case v.Task(x.task).State != sched.TaskRunning:
		case kit.Paused(v, x.task):
			paused = append(paused, x)
		case v.AttemptRoom(x.task) > 0:
			m, _ := kit.Elsewhere(v, x.task)
			kit.Launch(act, x.task, m, 0, sched.Straggling)
			if x.left--; x.left > 0 {
				p.clones = append(p.clones, x)
			}
		}
	}
	p.clones = append(p.clones, paused...)
}
