package sched

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Advance: what it refuses, and that the order in which a driver lists simultaneous facts is nobody's business.

func TestAdvanceRefusesWhatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name string
		now  Time
		f    Event
	}{
		{"time goes back", 4, Event{At: 4, Kind: TimerFired}},
		{"fact of the past", 9, Event{At: 4, Kind: TimerFired}},
		{"fact of the future", 9, Event{At: 10, Kind: TimerFired}},
		{"unknown machine joined", 9, Event{At: 9, Kind: MachineJoined, Machine: 1}},
		{"unknown machine lost", 9, Event{At: 9, Kind: MachineLost, Machine: 1}},
		{"unknown job arrived", 9, Event{At: 9, Kind: JobArrived, Job: 1}},
		{"unknown job cancelled", 9, Event{At: 9, Kind: JobCancelled, Job: 1}},
		{"unknown job retried", 9, Event{At: 9, Kind: JobRetried, Job: 1}},
		{"no attempt", 9, Event{At: 9, Kind: AttemptDone}},
		{"unknown row", 9, Event{At: 9, Kind: AttemptDone, Attempt: attemptID(1, 1)}},
		{"a row that cannot be", 9, Event{At: 9, Kind: AttemptFailed, Attempt: math.MaxUint64}},
		{"a generation that is not given out yet", 9, Event{At: 9, Kind: AttemptDone, Attempt: attemptID(0, 2)}},
		{"progress below 0", 9, Event{At: 9, Kind: AttemptProgress, Attempt: attemptID(0, 1), Progress: -0.1}},
		{"progress above 1", 9, Event{At: 9, Kind: AttemptProgress, Attempt: attemptID(0, 1), Progress: 1.1}},
		{"progress that is no number", 9, Event{At: 9, Kind: AttemptProgress, Attempt: attemptID(0, 1), Progress: math.NaN()}},
		{"rate below 0", 9, Event{At: 9, Kind: AttemptProgress, Attempt: attemptID(0, 1), Rate: -1}},
		{"infinite rate", 9, Event{At: 9, Kind: AttemptProgress, Attempt: attemptID(0, 1), Rate: math.Inf(1)}},
		{"a consequence, which is not for drivers to say", 9, Event{At: 9, Kind: JobDone}},
		{"no kind at all", 9, Event{At: 9, Kind: 200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, NoLimits(), 1)
			w.arrive(tasks(2))
			a := w.launch(0, 0)
			w.at(5)
			w.seen = nil
			w.next = func(*Actions) { t.Error("the policy was asked") }
			before := fmt.Sprintf("%+v", w.Core)
			facts := []Event{{At: 9, Kind: MachineLost}, c.f, {At: 8, Kind: AttemptDone, Attempt: a}} // the others are in order
			ds, err := w.Advance(c.now, facts)
			if err == nil {
				t.Fatalf("accepted, decisions %v", ds)
			}
			if after := fmt.Sprintf("%+v", w.Core); after != before {
				t.Errorf("%v changed\n%s\nto\n%s", err, before, after)
			}
			if facts[0].Kind != MachineLost || facts[1].Kind != c.f.Kind {
				t.Error("the refused facts were sorted")
			}
			w.told("")
		})
	}
}

func TestFactsOfOneBatchHappenAtTheirInstants(t *testing.T) {
	w := newWorld(t, NoLimits(), 2)
	j := w.arrive(tasks(2))
	a, b := w.launch(0, 0), w.launch(1, 0)
	if _, err := w.Advance(9, []Event{{At: 7, Kind: AttemptDone, Attempt: b}, {At: 4, Kind: AttemptDone, Attempt: a}}); err != nil {
		t.Fatal(err)
	}
	if job := w.View().Job(j); job.Fruitful != 11 || job.Closed != 7 || w.View().Now() != 9 {
		t.Errorf("job is %+v at %v", job, w.View().Now())
	}
}

// A driver may list simultaneous facts in any order: what follows is the same, to the byte.
func TestOrderOfSimultaneousFactsDoesNotMatter(t *testing.T) {
	run := func(shuffle func([]Event)) (string, []Event) {
		w := newWorld(t, NoLimits(), 3, 3, 3)
		one, two := w.arrive(tasks(3)), w.arrive(tasks(2))
		late := tasks(1)
		three, err := w.Submit(&late)
		if err != nil {
			t.Fatal(err)
		}
		w.at(0, lostMachine(2))
		a, b, c := w.launch(0, 0), w.launch(0, 1), w.launch(1, 0)
		d, e := w.launch(2, 1), w.launch(3, 1)
		facts := []Event{
			done(a), done(b), failed(c), failed(b), done(c), // who is first of two winners; done before failed
			progress(d, 0.2, 0), progress(d, 0.7, 0), progress(d, 0.7, 1), // which report stands
			progress(e, 0.5, 2), lostMachine(1), lostMachine(1), joined(2), // progress before the machine goes
			cancelled(two), {Kind: JobArrived, Job: three}, cancelled(one), {Kind: TimerFired},
		}
		shuffle(facts)
		w.seen = nil
		ds := w.at(5, facts...)
		v := w.View()
		return fmt.Sprintf("%v\n%v\n%+v\n%+v%+v%+v%+v", ds, w.seen, *pictureOf(v), v.attempts, v.progress, v.here, v.machines), facts
	}
	want, sorted := run(func([]Event) {})
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		got, facts := run(func(f []Event) { rng.Shuffle(len(f), func(i, j int) { f[i], f[j] = f[j], f[i] }) })
		if got != want || !slices.Equal(facts, sorted) {
			t.Fatalf("another order of the facts gives\n%s\nwant\n%s", got, want)
		}
	}
}

// A whole cluster may report in the same instant, in an order that is the worst for a sort by insertion.
func TestLargeBatchIsSortedInTime(t *testing.T) {
	const n = 200_000
	facts := make([]Event, n)
	for i := range facts {
		facts[i] = Event{Kind: MachineJoined, Machine: MachineID(n - i)}
	}
	start := time.Now()
	new(sorter).sort(facts)
	if took := time.Since(start); took > 5*time.Second { // 0.01 s as integers, a minute by insertion
		t.Errorf("%d facts took %v to sort", n, took)
	}
	if !slices.IsSortedFunc(facts, func(a, b Event) int { return a.compare(&b) }) {
		t.Error("the facts are not in order")
	}
}

func TestSortKeepsFactsThatAreEqual(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 31, 32, 33, 500, 501} {
		facts := make([]Event, n)
		for i := range facts { // Task is no part of the order
			facts[i] = Event{At: Time(rng.IntN(3)), Kind: EventKind(rng.IntN(8)), Machine: MachineID(rng.IntN(2)), Task: TaskID(i)}
		}
		if n%2 == 0 { // of one instant, as nearly always, and some attempts report twice
			for i := range facts {
				facts[i].At, facts[i].Kind, facts[i].Machine = 0, AttemptProgress, 0
				facts[i].Attempt, facts[i].Progress = attemptID(int32(rng.IntN(n)), 1), float64(rng.IntN(3))
			}
		}
		want := slices.Clone(facts)
		slices.SortStableFunc(want, func(a, b Event) int { return a.compare(&b) })
		new(sorter).sort(facts)
		if !slices.Equal(facts, want) {
			t.Errorf("%d facts are not in the order of a stable sort", n)
		}
	}
}

// BenchmarkSort sorts what a policy is told of attempts that were launched together, in rows of any order.
func BenchmarkSort(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			facts, shuffled := make([]Event, n), make([]Event, n)
			for i, row := range rng.Perm(n) {
				shuffled[i] = Event{Kind: AttemptProgress, Attempt: attemptID(int32(row), 1), Rate: rng.Float64()}
			}
			var s sorter
			for b.Loop() {
				copy(facts, shuffled)
				s.sort(facts)
			}
			if !inOrder(facts) {
				b.Fatal("the facts are not in order")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/fact")
		})
	}
}

func TestMachinesHaveSlots(t *testing.T) {
	for _, slots := range []int{-1, 0, 1<<20 + 1} {
		if _, err := New(&world{t: t}, NoLimits()).AddMachine(0, slots); err == nil {
			t.Errorf("a machine of %d slots is accepted", slots)
		}
	}
}
