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
	},
	slow: func(a kit.Args) sched.Policy {
		return &slowFork{slowly: newSlowly(a), p: a.Float("p"), r: a.Int("r"), kill: a.Choice("original") == "kill"}
	},
}

// slowFork is Definition 1 of arXiv 1503.03128, with what fork.go adds for scarce slots.
type slowFork struct {
	slowly
	p       float64
	r       int
	kill    bool
	restart []slowStraggler
	clones  []slowStraggler
}

type slowStraggler struct {
	task sched.TaskID
	left int
	old  uint32
}

func (p *slowFork) at(st *sched.Stage) uint32 {
	return uint32(math.Round(float64(st.Tasks-st.GivenUp) * (1 - p.p)))
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
	if st.Done < p.at(&st) || before.Done >= p.at(&before) || st.Done >= st.Need {
		return
	}
	for _, t := range runningOf(v, inStage(v, ev.Stage)) {
		x := slowStraggler{t, p.r, v.Task(t).Launched}
		if p.kill {
			p.restart = append(p.restart, x)
		} else if p.r > 0 {
			p.clones = append(p.clones, x)
		}
	}
}

func (p *slowFork) Decide(v *sched.View, act *sched.Actions) {
	p.serve(v, func(t sched.TaskID) bool {
		p.start(v, act, t)
		if st := v.Stage(v.Task(t).Stage); v.Task(t).Launched == 1 && p.r > 0 && st.Done >= p.at(&st) {
			p.clones = append(p.clones, slowStraggler{task: t, left: p.r})
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
