package policy

// Patience: clones what has run for longer than a given time. An event costs O(log jobs).

import "github.com/tailcut/tailcut/sched"

var patienceEntry = Entry{
	Name:    "patience",
	Summary: "clone what runs longer than a given time",
	Source:  "the example of docs/new-policy.md",
	Params: []Param{
		{Name: "after", Kind: Span, Default: "60s", Max: 1e6, Help: "age at which a task gets its only clone"},
		orderParam,
	},
	WorkConserving: true,
	New: func(a Args) sched.Policy {
		return &patience{order: ordered(a), after: a.Span("after"), young: empty}
	},
}

type patience struct {
	order jobOrder
	after sched.Time
	lists attemptLists
	young attemptList // attempts that started alone and have not been judged, the oldest first
}

func (p *patience) Observe(v *sched.View, ev *sched.Event) {
	p.order.observe(v, ev)
	switch ev.Kind {
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		p.lists.remove(ev.Attempt)
	case sched.AttemptBegan: // it has waited until now, for a node or an image
		p.lists.watch(v, &p.young, ev.Task)
	}
}

func (p *patience) Decide(v *sched.View, act *sched.Actions) {
	for {
		t, m, ok := p.order.next(v)
		if !ok {
			break // no task waits, or no slot is free
		}
		p.order.launch(v, act, t, m)
		p.lists.watch(v, &p.young, t)
	}
	for v.CloneRoom() > 0 && p.young.first >= 0 {
		oldest := p.lists.rows[p.young.first]
		if due := oldest.started + p.after; due > v.Now() {
			act.WakeAt(due)
			return
		}
		p.lists.unlink(p.young.first)
		if v.AttemptRoom(oldest.task) > 0 {
			m, _ := elsewhere(v, oldest.task)
			p.order.clone(v, act, oldest.task, m, sched.Straggling)
		}
	}
}
