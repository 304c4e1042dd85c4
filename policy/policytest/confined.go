package policytest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// Confined is Sites where data may not be everywhere, and moved bytes and slots have prices: no attempt is where data
// of its task may not be, all jobs end, and a policy that leaves no slot free while a task waits leaves none free at a
// site where one may run. Prices alone change nothing unless money is worth something.
func Confined(t testing.TB, s *Subject, worlds int) {
	t.Helper()
	if confines := sched.Confines(s.New()); !confines {
		if s.AtSites {
			t.Errorf("%s chooses sites and does not say that it confines data", s.Name)
		}
		return
	}
	if !s.Money {
		for seed := range uint64(worlds / 8) {
			free, priced := MessySites(t, s.New(), Limits[0], seed), MessyPriced(t, s.New(), Limits[0], seed)
			free.Run()
			priced.Run()
			if diff := cmp.Diff(free.Orders, priced.Orders); diff != "" {
				t.Fatalf("world %d: prices change decisions of a policy to which money is worth nothing (-without +with):\n%s", seed, diff)
			}
		}
	}
	through(t, worlds, false, func(seed uint64, l sched.Limits) *World {
		l.MaxWait = 0
		return MessyConfined(t, &confining{s.New(), t, s.WorkConserving}, l, seed)
	})
}

// confining is a policy that chooses sites, watched.
type confining struct {
	sched.Policy
	tb         testing.TB
	conserving bool
}

// Confines tells what the policy does.
func (p *confining) Confines() bool { return sched.Confines(p.Policy) }

func (p *confining) Decide(v *sched.View, act *sched.Actions) {
	p.Policy.Decide(v, act)
	for row := range v.Rows().Attempts() {
		id := v.Rows().AttemptIn(row)
		if !v.Rows().Alive(id) {
			continue
		}
		if a := v.Attempt(id); !v.Sites().Allows(a.Task, v.Machine(a.Machine).Site) {
			p.tb.Errorf("%v: task %d runs on machine %d, where its data may not be", v.Now(), a.Task, a.Machine)
		}
	}
	for s, ok := v.WaitingStage(0); ok && p.conserving && v.FreeSlots() > 0; s, ok = v.WaitingStage(s + 1) {
		for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
			for k := range sched.SiteID(v.Sites().Len()) {
				if v.Sites().Allows(t, k) && v.Sites().FreeSlots(k) > 0 {
					p.tb.Errorf("%v: task %d waits, and a slot at site %d is free", v.Now(), t, k)
					return
				}
			}
		}
	}
}

// MessyConfined is MessySites where what is at a site may be there and at the first site, but for some tasks and jobs,
// and where moved bytes and slots have prices.
func MessyConfined(tb testing.TB, p sched.Policy, l sched.Limits, seed uint64) *World {
	w := NewWorld(tb, p, l)
	w.priced = true
	w.Bound = w.confine
	w.Connect(2 + int(seed%3))
	return w.mess(1, seed)
}

// MessyPriced is MessySites where moved bytes and slots have prices.
func MessyPriced(tb testing.TB, p sched.Policy, l sched.Limits, seed uint64) *World {
	w := NewWorld(tb, p, l)
	w.priced = true
	w.Connect(2 + int(seed%3))
	return w.mess(1, seed)
}

// confine says which data of a job is where it may be.
func (w *World) confine(spec *sched.JobSpec) {
	if spec.Retries == 3 {
		return
	}
	for k := range sched.SiteID(w.sites) {
		d := sched.Dataset{Name: "d", Sites: []sched.SiteID{0}}
		if k > 0 {
			d.Sites = append(d.Sites, k)
		}
		spec.Datasets = append(spec.Datasets, d)
	}
	for i := range spec.Stages {
		st := &spec.Stages[i]
		switch {
		case st.Tasks == 0:
		case len(st.Inputs) > 1 || i%3 == 0:
			for t, list := range st.Inputs {
				var reads []uint32
				if t%4 > 0 {
					reads = append(reads, uint32(list[0].Site))
				}
				st.Datasets = append(st.Datasets, reads)
			}
		case i%2 == 1:
			st.Datasets = [][]uint32{{uint32(w.sites - 1)}}
		}
		if i%2 == spec.MinShare%2 {
			st.Releases = []uint32{0, uint32(w.sites - 1)}
		}
	}
}

// price gives links and slots prices.
func price(n *sched.Network) {
	n.Price, n.Rent = make([]sched.Money, len(n.Bandwidth)), make([]sched.Money, n.Sites())
	for i := range n.Price {
		n.Price[i] = sched.Money(i*5%4) * sched.Unit / 50
	}
	for k := range n.Rent {
		n.Rent[k] = sched.Money(3-k%3) * sched.Unit / 10
	}
}
