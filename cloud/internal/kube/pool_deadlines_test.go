package kube

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// Jobs of a pool share one division of all its slots under shed: each has as many attempts as plan.Joint gives it beside
// the others, which differs from what it would have on its own share. A Job that comes later takes slots from clones of
// the one before.
func TestPoolDividesSlotsOnce(t *testing.T) {
	const slots = 12
	law := laws.Pareto{Alpha: 1.5, Xm: 10}
	works := []plan.Work{{Tasks: 2, Law: law, Deadline: 15}, {Tasks: 4, Law: law, Deadline: 60}}
	divide := func(slots int, works ...plan.Work) []int {
		pool := plan.Pool{Slots: slots, Lambda: 1, MaxAttempts: 5, HopelessLast: true}
		return (&plan.Joint{}).Optimise(pool, plan.UtilityMaxMin, works).Clones
	}
	together := divide(slots, works...)
	if alone := divide(slots/2, works[0]); alone[0] == together[0] {
		t.Fatalf("the first Job has %d clones of each task alone and together", alone[0])
	}
	p := newPool("pool")
	limits := sched.DefaultLimits()
	limits.Attempts, limits.OwnAttempts, limits.Clones = 5, false, sched.CloneBudget{Floor: sched.Unlimited}
	how := rules{policy: "shed", shared: true, limits: limits}
	newPolicy := func(string) (sched.Policy, error) {
		return policy.New("shed:law=(pareto:alpha=1.5,xm=10),master_slots=0", 1)
	}
	names := []string{"tight", "loose"}
	now := epoch
	visit := func(i int) *member {
		w := works[i]
		e := &entry{
			name: types.NamespacedName{Namespace: "ns", Name: names[i]}, over: make(indexSet, w.Tasks),
			want: settings{policy: "shed", completions: w.Tasks, most: slots, start: epoch, deadline: epoch.Add(time.Duration(w.Deadline) * time.Second)},
		}
		if x := p.entries[types.UID(names[i])]; x != nil {
			for _, a := range x.m.indexes {
				for _, a := range a.attempts {
					e.sights = append(e.sights, sight{ref: a.ref, clone: a.clone, live: true, phase: running, begun: epoch})
				}
			}
		}
		m, _, err := p.visit(types.UID(names[i]), e, how, taken{slots}, newPolicy, now)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	tight := visit(0)
	if n := len(tight.tied); n != 10 {
		t.Errorf("alone the tight Job has %d attempts, want 10", n)
	}
	now = now.Add(time.Second)
	visit(0)
	loose := visit(1)
	if len(loose.tied) < works[1].Tasks || len(tight.tied)+len(loose.tied) > slots {
		t.Errorf("beside %d attempts the second Job has %d, and %d tasks", len(tight.tied), len(loose.tied), works[1].Tasks)
	}
	p = newPool("pool")
	p.expected.Insert("tight", "loose")
	now = epoch
	for i := range names { // as after a restart of the controller, so that both are there at once
		p.latest = now
		visit(i)
	}
	for i, name := range names {
		m := p.entries[types.UID(name)].m
		if got, want := len(m.tied), works[i].Tasks*(together[i]+1); got != want {
			t.Errorf("%s has %d attempts, want %d", name, got, want)
		}
	}
}
