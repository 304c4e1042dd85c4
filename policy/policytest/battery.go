package policytest

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// Subject is a policy with its parameters, and what it claims of itself.
type Subject struct {
	Name           string // for people: the policy's, with the parameters given
	New            func() sched.Policy
	Progress       bool // decides by reported progress
	WorkConserving bool // leaves no slot free while a task waits
	AtSites        bool // chooses between sites
	Money          bool // and weighs prices
}

// Of returns the policy of an entry with parameters in the form param=value,param=value.
func Of(tb testing.TB, e *kit.Entry, params string) *Subject {
	tb.Helper()
	args, err := e.Parse(params)
	if err != nil {
		tb.Fatal(err)
	}
	name := e.Name
	if params != "" {
		name += ":" + params
	}
	sites := ""
	if e.Param("sites") != nil {
		sites = args.Choice("sites")
	}
	return &Subject{
		Name: name, New: func() sched.Policy { return e.New(args.WithSeed(1)) }, Progress: e.Progress || e.ProgressIf != nil && e.ProgressIf(args),
		// delay and iridium let a slot wait for a task that is to run there
		WorkConserving: e.WorkConserving && sites != "delay" && sites != "iridium",
		AtSites:        e.Needs.Sites || sites != "" && sites != "any",
		Money:          e.Param("money") != nil && args.Float("money") > 0,
	}
}

// Seen is what happened in the worlds of a battery: without clones and retried jobs they have tested little.
type Seen struct{ Clones, Retried int }

// Run holds a policy to the contract of sched.Policy and to the claims of its entry, with its defaults and with every
// other setting given, each in the form param=value,param=value:
//
//	no order is refused, no limit on attempts and clones is exceeded
//	every job ends, also where attempts fail, machines are lost, clocks are late, reports come twice or are wrong, and attempts wait before they begin
//	the same world twice gives the same decisions
//	no slot stays free while a task waits, if the entry says WorkConserving
//	no attempt is where data of its task may not be, if the policy chooses sites
//	jobs end just as well where no clone is allowed, with one attempt a task
//	a policy can take over where another left off, and hand over, whatever runs, waits or is paused
//	jobs are paused and continued, and their rank changes
//	nothing is allocated once tables have their size
//	retiring jobs changes no decision, and the policy keeps nothing of them
//	reports of progress matter if the entry says Progress, and do not if it does not
//
// Allocations are counted alone, the rest is tried side by side: policies of an entry may share nothing that changes.
// The worlds are random and the same in every run. With -short there are fewer, with -tags long five
// times as many.
func Run(t *testing.T, e *kit.Entry, settings ...string) (seen Seen) {
	t.Helper()
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	for i, params := range append([]string{""}, settings...) {
		s := Of(t, e, params)
		t.Run(s.Name, func(t *testing.T) {
			worlds, few := 60, 8
			if i > 0 {
				worlds, few = 40, 2
			}
			t.Run("steady", func(t *testing.T) { AllocatesNothing(t, s) }) // alone: others wait for the end
			test := func(name string, f func(t *testing.T)) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					f(t)
				})
			}
			test("worlds", func(t *testing.T) { seen.add(Worlds(t, s, worlds)) })
			test("classes", func(t *testing.T) { Classes(t, s, 30) })
			test("waits", func(t *testing.T) { Waits(t, s, 30) })
			if s.AtSites {
				test("sites", func(t *testing.T) { Sites(t, s, 40) })
			}
			test("confined", func(t *testing.T) { Confined(t, s, 40) })
			test("pauses", func(t *testing.T) { Pauses(t, s, few) })
			test("bounds", func(t *testing.T) { Bounds(t, s, 3*few) })
			test("take up", func(t *testing.T) {
				TakeUp(t, few, func(int) *Subject { return s })
				TakeUpClasses(t, s, few/2)
			})
			test("no clones", func(t *testing.T) { WithoutClones(t, s) })
			test("hand over", func(t *testing.T) {
				HandOver(t, s.New, inOrder)
				HandOver(t, inOrder, s.New)
			})
			if i == 0 {
				test("forgets", func(t *testing.T) { Forgets(t, s) })
				test("reports", func(t *testing.T) { Reports(t, s) })
			}
		})
	}
	return seen
}

func (s *Seen) add(more Seen) {
	s.Clones += more.Clones
	s.Retried += more.Retried
}

// inOrder is a policy without clones: jobs in order of their arrival.
func inOrder() sched.Policy { return &arrivals{kit.OrderOf(kit.ByArrival)} }

type arrivals struct{ order kit.Order }

func (p *arrivals) Observe(v *sched.View, ev *sched.Event)   { p.order.Observe(v, ev) }
func (p *arrivals) Decide(v *sched.View, act *sched.Actions) { p.order.Fill(v, act) }

// Worlds runs a policy in so many worlds of several jobs, stages, edges, failures, losses and ties.
func Worlds(t testing.TB, s *Subject, worlds int) (seen Seen) {
	t.Helper()
	for _, orders := range through(t, worlds, s.WorkConserving, func(seed uint64, l sched.Limits) *World { return MessyWorld(t, s.New(), l, seed) }) {
		seen.count(orders)
	}
	return seen
}

// Classes is Worlds where there are two classes of slots, each with a policy of its own. Policies that set the speed of
// all machines are left out.
func Classes(t testing.TB, s *Subject, worlds int) { PerClass(t, s, s, worlds) }

// PerClass is Classes with one policy for each.
func PerClass(t testing.TB, first, second *Subject, worlds int) {
	t.Helper()
	if sched.Paces(first.New()) || sched.Paces(second.New()) {
		return
	}
	through(t, worlds, first.WorkConserving && second.WorkConserving, func(seed uint64, l sched.Limits) *World {
		return MessyClasses(t, 2, sched.PerClass(first.New(), second.New()), l, seed)
	})
}

// Sites is Worlds where machines are at several sites and tasks read data there.
func Sites(t testing.TB, s *Subject, worlds int) {
	t.Helper()
	through(t, worlds, s.WorkConserving, func(seed uint64, l sched.Limits) *World { return MessySites(t, s.New(), l, seed) })
}

// Waits is Worlds where attempts wait before they begin, some for longer than any lasts; of some nobody tells that they
// have begun.
func Waits(t testing.TB, s *Subject, worlds int) {
	t.Helper()
	through(t, worlds, s.WorkConserving, func(seed uint64, l sched.Limits) *World {
		w := MessyWorld(t, s.New(), l, seed)
		w.wait(seed)
		return w
	})
}

// wait lets the attempts of a world wait.
func (w *World) wait(seed uint64) {
	w.Core.WaitToBegin()
	w.Waits = func(d *sched.Decision) sched.Time {
		r := rand.New(rand.NewPCG(seed, uint64(d.Task)<<20|uint64(d.Number)|1<<60))
		return []sched.Time{0, -1, sched.Second, sched.Time(r.IntN(60)) * sched.Second, sched.Time(r.IntN(1800)) * sched.Second}[r.IntN(5)]
	}
}

// through runs what build makes of seeds to the end and checks every step, under different limits, every fourth of them
// twice: the decisions must be the same. Every eighth retires its jobs the second time, which must change nothing. It
// returns the decisions of the first times.
func through(t testing.TB, worlds int, conserving bool, build func(seed uint64, l sched.Limits) *World) (all [][]sched.Decision) {
	t.Helper()
	worlds = max(min(worlds, 2), worlds/fewer)
	if testing.Short() {
		worlds /= 4
	}
	for seed := range uint64(worlds) {
		l := Limits[seed%uint64(len(Limits))]
		run := func(retires bool) []sched.Decision {
			w := build(seed, l)
			w.again, w.Retires = int(seed%3), retires
			return inspect(t, w, conserving, l, seed)
		}
		first := run(false)
		all = append(all, first)
		if seed%4 > 0 {
			continue
		}
		retires := seed%8 == 4
		if diff := cmp.Diff(first, run(retires)); diff != "" {
			t.Fatalf("seed %d: the same world twice (retiring jobs the second time: %v), not the same decisions (-first +second):\n%s", seed, retires, diff)
		}
	}
	return all
}

func (s *Seen) count(orders []sched.Decision) {
	closed := map[sched.JobID]bool{}
	for i := range orders {
		switch d := &orders[i]; {
		case d.Kind == sched.Launch && (d.Reason == sched.Straggling || d.Reason == sched.Cloning):
			s.Clones++
		case d.Kind == sched.Close:
			if closed[d.Job] {
				s.Retried++
			}
			closed[d.Job] = true
		}
	}
}

// WithoutClones checks that a limit of one attempt makes a policy about redundancy its base: as many launches as tasks
// where nothing fails.
func WithoutClones(t testing.TB, s *Subject) {
	t.Helper()
	w := NewWorld(t, s.New(), sched.Limits{Attempts: 1, Clones: sched.CloneBudget{Floor: sched.Unlimited}})
	w.Machine(0, 4)
	w.Submit(0, &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 40}}})
	w.Fate = func(d *sched.Decision) Fate { return Fate{Lasts: sched.Time(1+d.Task%7) * 20 * sched.Second} }
	w.Run()
	if got := w.Core.View().Job(0); got.Clones > 0 || got.State != sched.JobSucceeded {
		t.Errorf("%d clones, state %d", got.Clones, got.State)
	}
}

// AllocatesNothing runs jobs that come and go until all tables have their size, then counts allocations. Where the race
// detector or the tag invariants allocates, it does nothing.
func AllocatesNothing(t testing.TB, s *Subject) {
	t.Helper()
	if !allocationsCount {
		return
	}
	sites := 0
	if s.AtSites {
		sites = 8
	}
	x := NewSteady(t, s.New(), s.Progress, 200, 40, 1000, sites)
	for x.Events < 30_000 && x.Step() {
	}
	before := x.Events
	if n := testing.AllocsPerRun(4000, func() { x.Step() }); n > 0 {
		t.Errorf("%v allocations per step", n)
	}
	if x.Events-before < 2000 {
		t.Errorf("only %d events were measured", x.Events-before)
	}
}
