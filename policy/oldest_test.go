package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// cloneOldest clones whatever single attempt has run longest, once for each, and compares it every time with that which a search finds.
type cloneOldest struct {
	tb      testing.TB
	order   kit.Order
	kept    kit.Oldest
	twin    map[sched.AttemptID]bool
	ids     kit.Arena[sched.AttemptID]
	clones  int
	returns int // of attempts whose sibling ended without result
}

func (p *cloneOldest) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	switch ev.Kind {
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		delete(p.twin, ev.Attempt)
		p.kept.Ended(v, ev.Attempt)
		if a, ok := kit.Survivor(v, ev.Task); ok && ev.Kind != sched.AttemptDone {
			p.add(v, a)
			p.returns++
		}
	}
}

func (p *cloneOldest) add(v *sched.View, a sched.AttemptID) {
	p.twin[a] = true
	p.kept.Add(v, a)
}

func (p *cloneOldest) Decide(v *sched.View, act *sched.Actions) {
	for t, m, ok := p.order.Next(v); ok; t, m, ok = p.order.Next(v) {
		p.add(v, p.order.Launch(v, act, t, m))
	}
	for {
		p.Compare(v)
		a, ok := p.kept.First()
		if !ok || v.AttemptRoom(v.Rows().TaskOf(a)) == 0 || v.CloneRoom() == 0 {
			return
		}
		p.kept.Pass(v)
		delete(p.twin, a)
		m, _ := v.FreeMachine(0)
		p.order.Clone(v, act, v.Rows().TaskOf(a), m, sched.Straggling)
		p.clones++
	}
}

func (p *cloneOldest) Compare(v *sched.View) {
	var want sched.AttemptID
	for a := range p.twin {
		x, y := v.Attempt(a), v.Attempt(want)
		if want == 0 || x.Started < y.Started || x.Started == y.Started && x.Task < y.Task {
			want = a
		}
	}
	if got, ok := p.kept.First(); got != want || ok != (want != 0) {
		p.tb.Fatalf("at %v the oldest is %d, want %d", v.Now(), got, want)
	}
}

func TestOldestAgainstSearch(t *testing.T) {
	clones, returns := 0, 0
	for seed := range uint64(200) {
		p := &cloneOldest{tb: t, twin: map[sched.AttemptID]bool{}}
		p.kept.Reset(4, &p.ids)
		policytest.MessyWorld(t, p, sched.DefaultLimits(), seed).Run()
		clones, returns = clones+p.clones, returns+p.returns
	}
	if clones < 700 || returns < 100 {
		t.Errorf("only %d clones, %d survivors", clones, returns)
	}
}
