package kube

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tailcut/tailcut/internal/portfolio"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/sched"
)

// A pool may have several policies, A+B, one of which decides: see package portfolio. Turns say which one from when.
// They are in the status of the SlotPool, so that a controller that starts anew lives through the past under the
// policies that decided then.

// PoolTurn is a policy of several that decides from an instant on.
type PoolTurn struct {
	Policy string           `json:"policy"`
	Since  metav1.MicroTime `json:"since"`
}

func turnTo(policy string, now time.Time) PoolTurn {
	return PoolTurn{policy, metav1.NewMicroTime(now.Truncate(time.Microsecond))}
}

// mostTurns bounds those that are kept. Older ones count for Jobs that have begun before them only.
const mostTurns = 50

// contest is what a pool of several policies knows of them.
type contest struct {
	portfolio.Portfolio
	spec    string
	playing chan *portfolio.Verdict // what is being played; nil for nothing
	next    time.Time               // before which nothing is played
}

// compete prepares for policies: a contest if there are several.
func (p *pool) compete(spec string, newPolicy func(spec string) (sched.Policy, error), now time.Time) {
	all := portfolio.Split(spec)
	switch {
	case len(all) < 2:
		p.contest, p.turns = nil, nil
		return
	case p.contest != nil && p.contest.spec == spec:
		return
	}
	if slices.ContainsFunc(p.turns, func(t PoolTurn) bool { return !slices.Contains(all, t.Policy) }) {
		p.turns = nil // of other policies
	}
	if len(p.turns) == 0 {
		p.turns = []PoolTurn{turnTo(all[0], now)}
	}
	p.contest = &contest{spec: spec}
	for _, one := range all {
		p.contest.Members = append(p.contest.Members, portfolio.Member{Spec: one, New: func(uint64) (sched.Policy, error) { return newPolicy(one) }})
	}
	p.contest.Now = slices.Index(all, p.turns[len(p.turns)-1].Policy)
}

// turnsFrom returns which policy decides at an instant, and the turns after it.
func (p *pool) turnsFrom(spec string, start time.Time) (first string, later []PoolTurn) {
	if p.contest == nil {
		return spec, nil
	}
	n := 1
	for n < len(p.turns) && p.turns[n].Since.Time.Before(start) {
		n++
	}
	return p.turns[n-1].Policy, slices.Clone(p.turns[n:])
}

// hear takes in a verdict, if there is one.
func (p *pool) hear(now time.Time) {
	k := p.contest
	if k == nil {
		return
	}
	select {
	case v := <-k.playing:
		k.playing = nil
		if !k.Take(v) {
			return
		}
	default:
		return
	}
	t := turnTo(k.Members[k.Now].Spec, now)
	if p.turns = append(p.turns, t); len(p.turns) > mostTurns {
		p.turns = slices.Delete(p.turns, 0, 1)
	}
	if p.run != nil {
		p.run.turns = append(p.run.turns, t)
	}
}

// contend has the policies of a pool play the rest, if it is time for that.
func (c *reconciler) contend(p *pool, now time.Time) {
	k := p.contest
	if k == nil || p.run == nil || k.playing != nil || now.Before(k.next) || !c.plays.enter() {
		return
	}
	k.next = now.Add(portfolio.Every) // also where there is too much to play: to count it takes time
	tasks := 0
	for _, m := range p.run.members {
		tasks += len(m.tasks)
	}
	if tasks > mostPlayed {
		c.plays.leave(time.Now())
		return
	}
	k.playing = make(chan *portfolio.Verdict, 1)
	go c.plays.judge(k.Portfolio, p.run.state(), k.playing)
}

// judge plays the rest under each policy and leaves the gate. What cannot be played says nothing.
func (g *playGate) judge(k portfolio.Portfolio, s *promise.State, to chan<- *portfolio.Verdict) {
	began := time.Now()
	v, err := k.Judge(context.Background(), s)
	if err != nil {
		v = &portfolio.Verdict{}
	}
	g.leave(began)
	to <- v
}

// turnsBefore tells whether it is another policy's turn, before whatever else happens at an instant or later.
func (r *run) turnsBefore(at sched.Time) bool {
	return len(r.turns) > 0 && r.instant(r.turns[0].Since.Time) < at
}

// turn has the next policy decide. What runs goes on.
func (r *run) turn() error {
	t := r.turns[0]
	r.turns = r.turns[1:]
	p, err := r.newPolicy(t.Policy)
	if err != nil {
		return fmt.Errorf("%w%w", errAnnotation, err)
	}
	s := r.core.Snapshot()
	s.Keep()
	if r.core, err = sched.Restore(s, p, r.limits); err != nil {
		return err
	}
	r.decides, r.wake = t.Policy, sched.Never
	return r.advance(max(r.now(), r.instant(t.Since.Time)))
}
