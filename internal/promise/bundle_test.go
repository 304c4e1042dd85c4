package promise

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// Jobs that have begun, whose stages have begun or not, can be played on with fewer tasks, whatever runs; and what is
// left of them is as much work as before.
func TestBundledSnapshots(t *testing.T) {
	l := mustParse(t, "lognormal:mean=20,sd=20")
	for k := range 200 {
		rng := rand.New(rand.NewPCG(uint64(k), 3))
		var specs []sched.JobSpec
		var law []laws.Law
		var past []*Durations
		for range 1 + rng.IntN(5) {
			s := sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1 + rng.IntN(100), Resumable: rng.IntN(2) == 0}}}
			for range rng.IntN(3) {
				s.Edges = append(s.Edges, sched.Edge{From: len(s.Stages) - 1, To: len(s.Stages), Kind: sched.Barrier})
				s.Stages = append(s.Stages, sched.StageSpec{Tasks: 1 + rng.IntN(100)})
			}
			specs, law, past = append(specs, s), append(law, l), append(past, &Durations{Past: []Run{{Ended: []float64{10, 20, 30}}}})
		}
		w := newWorld(t, uint64(k), []string{"fifo", "srpt", "spark", "mantri"}[k%4], 1+rng.IntN(12), specs, law)
		w.until(sched.FromSeconds(rng.Float64() * 400))
		s := w.state("srpt", past)
		g := newGame(s, 1+rng.IntN(40))
		for i := range g.snapshot.Jobs {
			if a, b := waitingOf(&s.Snapshot.Jobs[i], nil), waitingOf(&g.snapshot.Jobs[i], g.find(s.Snapshot.Jobs[i].ID)); a-b > 1e-6*a || b-a > 1e-6*a {
				t.Fatalf("world %d, job %d: %v tasks are left, bundled %v", k, i, a, b)
			}
		}
		for n := range 3 {
			if err := g.play(n); err != nil {
				t.Fatalf("world %d: %v", k, err)
			}
		}
		for _, j := range g.jobs {
			if slices.Contains(j.ends, sched.Never) {
				t.Errorf("world %d: job %d does not end", k, j.ID)
			}
		}
	}
}

// waitingOf counts the tasks of a job that have not ended, a bundle as what it stands for.
func waitingOf(j *sched.SavedJob, p *player) float64 {
	if j.State > sched.JobActive {
		return 0
	}
	over := map[int]bool{}
	for t := range j.Singly() {
		over[int(t.Index)] = t.State >= sched.TaskDone
	}
	n, first := 0.0, 0
	for k := range j.Spec.Stages {
		for i := range j.Spec.Stages[k].Tasks {
			switch at := first + i; {
			case over[at]:
			case p == nil:
				n++
			default:
				n += p.sizeOf(k, j.Task+sched.TaskID(at))
			}
		}
		first += j.Spec.Stages[k].Tasks
	}
	return n
}

// A large array that has begun is promised an end as soon as one that has not, and it is the right one.
func TestLargeArrayThatHasBegun(t *testing.T) {
	const tasks, slots, mean = 60_000, 50, 10.0
	l := mustParse(t, "lognormal:mean=10,sd=10")
	w := newWorld(t, 1, "fifo", slots, []sched.JobSpec{{Stages: []sched.StageSpec{{Tasks: tasks}}}}, []laws.Law{l})
	w.until(sched.FromSeconds(2000))
	s := w.state("fifo", []*Durations{{}})
	if g := newGame(s, MostTasks); g.snapshot.Jobs[0].Spec.Stages[0].Tasks > 2*MostTasks {
		t.Errorf("%d tasks are played", g.snapshot.Jobs[0].Spec.Stages[0].Tasks)
	}
	promises, err := s.Foresee(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	p := promises[0]
	w.until(sched.Never)
	from, to := p.Interval()
	if end := epoch.Add(time.Duration(w.ended[0])); !p.Known() || end.Before(from) || end.After(to) {
		t.Errorf("it ended at %v, promised between %v and %v", end, from, to)
	}
	whole := time.Duration(tasks * mean / slots * float64(time.Second))
	if off := p.Middle().Sub(epoch.Add(whole)).Abs(); off > whole/20 {
		t.Errorf("promised %v, it should take %v", p.Middle().Sub(epoch), whole)
	}
}
