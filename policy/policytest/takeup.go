package policytest

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// Pauses is Worlds where jobs are paused, some before they arrive, and continued, and get other priorities, weights and
// deadlines meanwhile.
func Pauses(t testing.TB, s *Subject, worlds int) {
	t.Helper()
	through(t, worlds, s.WorkConserving, func(seed uint64, l sched.Limits) *World {
		w := MessyWorld(t, s.New(), l, seed)
		w.disturb(seed)
		return w
	})
}

// disturb pauses the jobs of a world for a while each, and changes them.
func (w *World) disturb(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	for j := range sched.JobID(w.Core.View().Rows().Jobs()) {
		at := sched.Time(r.IntN(60)) * sched.Second / 2
		for range r.IntN(4) {
			w.Facts.Push(sched.Event{At: at, Kind: sched.JobPaused, Job: j})
			at += sched.Time(r.IntN(40)) * sched.Second
			w.Facts.Push(sched.Event{At: at, Kind: sched.JobContinued, Job: j})
			w.Facts.Push(sched.Event{
				At: at - min(at, sched.Time(r.IntN(60))*sched.Second), Kind: sched.JobChanged, Job: j,
				Priority: int32(r.IntN(3)) - 1, Weight: []float64{0, 0.5, 3}[r.IntN(3)], Deadline: sched.Time(r.IntN(3)) * 100 * sched.Second,
			})
			at += sched.Time(r.IntN(40)) * sched.Second
		}
	}
}

// TakeUp is Worlds where now and then a fresh policy takes over, whatever runs: the core is made anew from a snapshot.
// In some of them no job may wait for long. Policies are those of next, one after the other. Policies that set the
// speed of machines are left out.
func TakeUp(t testing.TB, worlds int, next func(n int) *Subject) {
	t.Helper()
	takeUp(t, worlds, 1, 7, func(n int) (sched.Policy, *Subject) { return next(n).New(), next(n) })
}

// TakeUpClasses is TakeUp where there are two classes of slots.
func TakeUpClasses(t testing.TB, s *Subject, worlds int) {
	t.Helper()
	if sched.Paces(s.New()) {
		return
	}
	takeUp(t, worlds, 2, 7, func(int) (sched.Policy, *Subject) { return sched.PerClass(s.New(), s.New()), s })
}

// takeUp lets another policy take over at one in so many instants; never if that is 0. It returns the decisions.
func takeUp(t testing.TB, worlds, classes, every int, next func(n int) (sched.Policy, *Subject)) [][]sched.Decision {
	t.Helper()
	policy, s := next(0)
	if sched.Paces(policy) {
		return nil
	}
	return through(t, worlds, s.WorkConserving, func(seed uint64, l sched.Limits) *World {
		n := 0
		if seed%3 == 2 {
			l.MaxWait = 20 * sched.Second
		}
		policy, _ := next(n)
		w := NewWorld(t, policy, l)
		if w.Classes = classes; s.AtSites {
			w.Connect(2 + int(seed%3))
		}
		w.mess(classes, seed)
		if l.MaxWait > 0 {
			w.Lag = 0 // it follows from each wake, and of one that is not needed any more a fresh core knows nothing
		}
		w.disturb(seed)
		if seed%4 == 3 {
			w.wait(seed)
		}
		w.Between = func() {
			r := rand.New(rand.NewPCG(seed, uint64(w.Now)))
			if every == 0 || r.IntN(every) > 0 {
				return
			}
			n++
			if policy, _ := next(n); !sched.Paces(policy) {
				w.TakeUp(policy, l)
			}
		}
		return w
	})
}

// TakeUp replaces the core by one that is made from its snapshot, as a journal would keep it, and lets it decide.
func (w *World) TakeUp(p sched.Policy, l sched.Limits) {
	w.tb.Helper()
	text, err := json.Marshal(w.Core.Snapshot())
	if err != nil {
		w.tb.Fatal(err)
	}
	var s sched.Snapshot
	if err := json.Unmarshal(text, &s); err != nil {
		w.tb.Fatal(err)
	}
	if w.Core, err = sched.Restore(&s, p, l); err != nil {
		w.tb.Fatal(err)
	}
	w.Policy, w.wake = p, sched.Never
	w.advance(w.Now, nil)
}

// Memoryless checks that a policy keeps nothing that decides: the same world goes on in the same way, whether
// the policy is replaced by a fresh one now and then or not.
func Memoryless(t testing.TB, s *Subject, worlds int) {
	t.Helper()
	fresh := func(int) (sched.Policy, *Subject) { return s.New(), s }
	one, other := takeUp(t, worlds, 1, 0, fresh), takeUp(t, worlds, 1, 5, fresh)
	for seed := range one {
		a, b := launches(one[seed]), launches(other[seed])
		for i := range a {
			if i >= len(b) || a[i] != b[i] {
				t.Fatalf("world %d: decision %d is %+v, and with other policies taking over it is another", seed, i, a[i])
			}
		}
	}
}

// launches leaves out what is no decision about attempts.
func launches(all []sched.Decision) (orders []sched.Decision) {
	for i := range all {
		if all[i].Kind != sched.Wake {
			orders = append(orders, all[i])
		}
	}
	return orders
}
