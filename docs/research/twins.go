package main

// Twins: gives each task of a small job a clone as soon as a slot is free, and tasks of other jobs none. An event costs
// O(log jobs).

import (
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var twinsEntry = policy.Entry{
	Name:    "twins",
	Summary: "clone all tasks of small jobs",
	Source:  "docs/howto/go.md",
	Params: []kit.Param{
		{Name: "below", Kind: kit.Int, Default: "50", Min: 1, Max: 1e6, Help: "number of tasks from which on a job is not small"},
		kit.OrderParam,
	},
	WorkConserving: true,
	New:            func(a kit.Args) sched.Policy { return &twins{order: kit.NewOrder(a), below: uint32(a.Int("below"))} },
}

type twins struct {
	order  kit.Order
	below  uint32
	lists  kit.Lists
	single kit.List // tasks of small jobs with one attempt, the oldest first
}

func (p *twins) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	switch ev.Kind {
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		p.lists.Remove(ev.Attempt)
	case sched.AttemptBegan, sched.AttemptTaken:
		p.watch(v, ev.Task)
	case sched.JobContinued:
		kit.Reconsider(v, ev, func(t sched.TaskID) { p.watch(v, t) })
	}
}

// watch notes a task that is to get a clone.
func (p *twins) watch(v *sched.View, t sched.TaskID) {
	if v.Job(v.Stage(v.Task(t).Stage).Job).Tasks < p.below {
		p.lists.Watch(v, &p.single, t)
	}
}

func (p *twins) Decide(v *sched.View, act *sched.Actions) {
	for t, m, ok := p.order.Next(v); ok; t, m, ok = p.order.Next(v) {
		p.order.Launch(v, act, t, m)
		p.watch(v, t)
	}
	for oldest := p.lists.First(&p.single); oldest != nil && v.CloneRoom() > 0; oldest = p.lists.First(&p.single) {
		p.lists.Unlink(oldest)
		if m, ok := kit.Elsewhere(v, oldest.Task); ok && v.AttemptRoom(oldest.Task) > 0 {
			p.order.Clone(v, act, oldest.Task, m, sched.Straggling)
		}
	}
}
