package main

// Patience: clones a task that has run for longer than a given time. An event costs O(log jobs).

import (
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var entry = policy.Entry{
	Name:    "patience",
	Summary: "clone what runs longer than a given time",
	Source:  "docs/howto/new-policy.md",
	Params: []kit.Param{
		{Name: "after", Kind: kit.Span, Default: "60s", Max: 1e6, Help: "age at which a task gets its only clone"},
		kit.OrderParam,
	},
	WorkConserving: true,
	New:            func(a kit.Args) sched.Policy { return &patience{order: kit.NewOrder(a), after: a.Span("after")} },
}

type patience struct {
	order kit.Order
	after sched.Time
	lists kit.Lists
	young kit.List // first attempts that have not been judged, the oldest first
}

func (p *patience) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	switch ev.Kind {
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		p.lists.Remove(ev.Attempt)
	case sched.AttemptBegan, sched.AttemptTaken: // until now it waited for a node or an image; or others launched it
		p.lists.Watch(v, &p.young, ev.Task)
	case sched.JobContinued: // while it was paused its tasks could have no clone
		kit.Reconsider(v, ev, func(t sched.TaskID) { p.lists.Watch(v, &p.young, t) })
	}
}

func (p *patience) Decide(v *sched.View, act *sched.Actions) {
	for t, m, ok := p.order.Next(v); ok; t, m, ok = p.order.Next(v) { // while a task waits and a slot is free
		p.order.Launch(v, act, t, m)
		p.lists.Watch(v, &p.young, t)
	}
	for oldest := p.lists.First(&p.young); oldest != nil && v.CloneRoom() > 0; oldest = p.lists.First(&p.young) {
		if due := oldest.Started + p.after; due > v.Now() {
			act.WakeAt(due)
			return
		}
		p.lists.Unlink(oldest)
		if v.AttemptRoom(oldest.Task) > 0 {
			m, _ := kit.Elsewhere(v, oldest.Task)
			p.order.Clone(v, act, oldest.Task, m, sched.Straggling)
		}
	}
}
