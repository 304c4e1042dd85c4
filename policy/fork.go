package policy

// Single-fork replication: Wang, Joshi, Wornell, "Efficient Straggler Replication in Large-scale Parallel Computing",
// arXiv 1503.03128.
//
//	n  Stage.Hopeful: its tasks but for those that the job has given up
//	p  fraction of the tasks that are stragglers
//	k  round(n (1-p)), an integer; the fork comes when k tasks of the stage are done
//	r  new attempts per straggler
//	original=keep  pi_keep(p, r): each remaining task gets r attempts more
//	original=kill  pi_kill(p, r): its attempt is killed, r+1 new ones start
//	p2, r2, original2  a second fork of what then still runs (Wang, "Computing with unreliable resources", MIT 2014,
//	               section 6.4); with p2 = 0 there is none
//
// p = 0, and keep with r = 0, are the baseline. With k = 0 the fork is at the start.
//
// The paper has no limit of slots. Here clones wait for free slots behind fresh tasks, in the order in which their
// stages forked, every task its first before any its second; an attempt is killed only when a slot is free for its
// replacement, so a straggler never waits without one. A task whose first attempt starts after the fork gets r further
// attempts in either mode; after the second as many as it would have had of both, or only of the second if that kills.
// New attempts go to another machine if one is free. What the limit of attempts per task refuses is dropped, what the
// clone budget refuses waits. In a resumable stage a replacement goes on from where the killed attempt was. Attempts
// that fail are not made up for, except that a task without any attempt waits for one as ever. A stage that needs only
// some of its tasks (Need) and has them before k are done does not fork.
//
// An event costs O(1), the fork O(remaining tasks). With learn=true a stage chooses its fork itself: fork_learn.go.

import (
	"fmt"

	"github.com/tailcut/tailcut/plan/rule"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var forkEntry = kit.Entry{
	Name:    "fork",
	Family:  kit.Stragglers,
	Clones:  "the last tasks of a stage",
	Cost:    "O(1); the fork O(remaining tasks)",
	Summary: "when all but a fraction p of a stage's tasks are done, r new attempts of each remaining one",
	Source:  "Wang, Joshi, Wornell, arXiv 1503.03128, section 2",
	Params: []kit.Param{
		{Name: "p", Kind: kit.Float, Default: "0.1", Min: 0, Max: 1, Help: "fraction of a stage's tasks that count as stragglers"},
		{Name: "r", Kind: kit.Int, Default: "1", Min: 0, Max: 1000, Help: "new attempts per straggler; with original=kill one more"},
		{Name: "original", Kind: kit.Choice, Default: "keep", Choices: []string{"keep", "kill"}, Help: "whether to keep or kill the straggler's attempt"},
		{Name: "p2", Kind: kit.Float, Default: "0", Min: 0, Max: 1, Help: "fraction of the tasks at which what still runs forks again; 0 for no second fork"},
		{Name: "r2", Kind: kit.Int, Default: "1", Min: 0, Max: 1000, Help: "new attempts per straggler of the second fork; with original2=kill one more"},
		{Name: "original2", Kind: kit.Choice, Default: "keep", Choices: []string{"keep", "kill"}, Help: "whether to keep or kill the attempts at the second fork"},
		{Name: "learn", Kind: kit.Bool, Default: "false", Help: "choose p, r and original from the durations of the stage's own tasks while it runs; r is then the most"},
		{Name: "winners", Kind: kit.Int, Default: "3", Min: 1, Max: 1e6, Help: "with learn=true, tasks of the stage that are done before it forks"},
		kit.OrderParam,
	},
	WorkConserving: true,
	ProgressIf: func(a kit.Args) bool {
		return a.Choice("original") == "kill" || a.Float("p2") > 0 && a.Choice("original2") == "kill" || a.Bool("learn")
	},
	New: func(a kit.Args) sched.Policy {
		p := &fork{order: kit.NewOrder(a), rules: forkRules(a)}
		if a.Bool("learn") {
			p.learner = &forkLearner{most: a.Int("r"), winners: a.Int("winners")}
		}
		return p
	},
}

// forkRules returns the fork, and the second if there is one.
func forkRules(a kit.Args) []rule.Fork {
	rules := []rule.Fork{{P: a.Float("p"), R: a.Int("r"), Kill: a.Choice("original") == "kill"}}
	if p := min(a.Float("p"), a.Float("p2")); p > 0 {
		rules = append(rules, rule.Fork{P: p, R: a.Int("r2"), Kill: a.Choice("original2") == "kill"})
	}
	return rules
}

type fork struct {
	order   kit.Order
	rules   []rule.Fork          // in the order in which they happen
	learner *forkLearner         // nil if the rules are all that counts
	replace kit.Queue[straggler] // to be killed and started anew
	clone   kit.Queue[straggler] // to get clones
}

// straggler is a task after the fork of its stage.
type straggler struct {
	task sched.TaskID
	left int    // clones that it still gets
	old  uint32 // its attempts with a smaller number are from before the fork
}

// clonesNow returns how many clones a task of a stage gets that starts only now.
func (p *fork) clonesNow(s sched.StageID, st *sched.Stage) int {
	if p.learner != nil {
		return p.learner.stages.Of(s).clones
	}
	n := 0
	for _, r := range p.rules {
		if !forked(r, st) {
			break
		}
		if r.Kill {
			n = 0
		}
		n += r.R
	}
	return n
}

// forked tells whether the k tasks of the stage are done at which it forks.
func forked(r rule.Fork, st *sched.Stage) bool { return st.Done >= uint32(r.At(int(st.Hopeful()))) }

func (p *fork) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	if ev.Kind == sched.AttemptTaken {
		p.begin(v, ev.Task)
	}
	if p.learner != nil {
		p.learner.observe(v, ev)
		return
	}
	if ev.Kind != sched.AttemptDone && ev.Kind != sched.TaskGivenUp {
		return
	}
	st := v.Stage(ev.Stage)
	before := st // the event: k may have been reached before
	if ev.Kind == sched.AttemptDone {
		before.Done--
	} else {
		before.GivenUp--
	}
	for _, r := range p.rules {
		if forked(r, &st) && !forked(r, &before) && st.Done < st.Need {
			p.fork(v, ev.Stage, r)
		}
	}
}

// begin notes what a task gets whose first attempt starts after the fork.
func (p *fork) begin(v *sched.View, t sched.TaskID) {
	s := v.Task(t).Stage
	st := v.Stage(s)
	if v.Task(t).Launched > 1 {
		return
	}
	if n := p.clonesNow(s, &st); n > 0 {
		p.clone.Push(straggler{task: t, left: n})
	}
}

// fork notes what every running task of the stage gets.
func (p *fork) fork(v *sched.View, s sched.StageID, r rule.Fork) {
	if r.Kill { // what an earlier fork still wanted is killed with what it had
		others := func(x straggler) bool { return v.Task(x.task).Stage != s }
		p.replace.Keep(others)
		p.clone.Keep(others)
	}
	for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
		x := straggler{task: t, left: r.R, old: v.Task(t).Launched}
		if r.Kill {
			p.replace.Push(x)
		} else if r.R > 0 {
			p.clone.Push(x)
		}
	}
}

func (p *fork) Decide(v *sched.View, act *sched.Actions) {
	for {
		t, m, ok := p.order.Next(v)
		if !ok {
			break
		}
		p.order.Launch(v, act, t, m)
		p.begin(v, t)
	}
	if p.learner != nil {
		for s, ok := p.learner.next(v); ok; s, ok = p.learner.next(v) {
			p.fork(v, s, p.learner.stages.Of(s).rule)
		}
		kit.WakeFor(act, &p.learner.due)
	}
	p.replaceAll(v, act)
	p.cloneAll(v, act)
	open := func(x straggler) bool { return v.Task(x.task).State < sched.TaskDone }
	p.replace.Tidy(open)
	p.clone.Tidy(open)
}

// replaceAll kills stragglers and starts them anew while a slot is free.
func (p *fork) replaceAll(v *sched.View, act *sched.Actions) {
	for n := p.replace.Len(); n > 0 && v.FreeSlots() > 0; n-- {
		x := p.replace.Pop()
		task := v.Task(x.task)
		if task.State == sched.TaskRunning && kit.Paused(v, x.task) {
			p.replace.Push(x)
			continue
		}
		if task.State != sched.TaskRunning || v.Exhausted(x.task) {
			continue // over, or on its last attempt
		}
		// else it is as good as new
		if a, _ := v.FirstAttempt(x.task); v.Attempt(a).Number < x.old && mayKillAll(v, x.task) {
			p.startAnew(v, act, x.task)
		}
		if x.left > 0 {
			p.clone.Push(x)
		}
	}
}

// mayKillAll tells whether all attempts of a task may be killed.
func mayKillAll(v *sched.View, t sched.TaskID) bool {
	for a, runs := v.FirstAttempt(t); runs; a, runs = v.NextAttempt(a) {
		if !v.Rows().MayKill(a) {
			return false
		}
	}
	return true
}

func (p *fork) startAnew(v *sched.View, act *sched.Actions, t sched.TaskID) {
	m, ok := kit.Elsewhere(v, t)
	for a, runs := v.FirstAttempt(t); runs; a, runs = v.FirstAttempt(t) {
		if err := act.Kill(a, sched.Replaced); err != nil {
			panic(fmt.Sprintf("policy: kill attempt %d of task %d: %v", a, t, err))
		}
	}
	if !ok {
		panic(fmt.Sprintf("policy: no machine for task %d although a slot is free", t))
	}
	kit.Launch(act, t, m, v.Task(t).Saved, sched.Straggling)
	p.order.Touch(v, v.Rows().JobOf(t))
}

// cloneAll starts the clones that stragglers still get while slots and limits allow.
func (p *fork) cloneAll(v *sched.View, act *sched.Actions) {
	for waits := 0; p.clone.Len() > waits && v.CloneRoom() > 0; {
		x := p.clone.Pop()
		if v.Task(x.task).State == sched.TaskRunning && kit.Paused(v, x.task) {
			p.clone.Push(x)
			waits++
			continue
		}
		if v.Task(x.task).State != sched.TaskRunning || v.AttemptRoom(x.task) == 0 {
			continue
		}
		m, _ := kit.Elsewhere(v, x.task)
		p.order.Clone(v, act, x.task, m, sched.Straggling)
		if x.left--; x.left > 0 {
			p.clone.Push(x)
		}
	}
}
