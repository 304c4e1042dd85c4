package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// drawSample returns 2 to 21 durations.
func drawSample(r *rand.Rand, law func() float64) *sample {
	var s sample
	s.reset()
	for range 2 + r.IntN(20) {
		s.add(law())
	}
	return &s
}

// TestGini compares with all pairs.
func TestGini(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 1))
	for range 100 {
		s := drawSample(r, r.ExpFloat64)
		n := len(s.sorted)
		lesser, sum := 0.0, 0.0
		for i, x := range s.sorted {
			sum += x / float64(n)
			for k, y := range s.sorted {
				if k != i {
					lesser += min(x, y) / float64(n*(n-1))
				}
			}
		}
		if g, ok := s.gini(); !ok || math.Abs(g-(1-lesser/sum)) > 1e-9 {
			t.Fatalf("%v: %v, want %v", s.sorted, g, 1-lesser/sum)
		}
	}
	equal := sample{sorted: []float64{3, 3, 3}}
	if g, ok := equal.gini(); !ok || math.Abs(g) > 1e-12 {
		t.Errorf("equal durations: %v", g)
	}
	if _, ok := (&sample{sorted: []float64{3}}).gini(); ok {
		t.Error("of one duration something is known")
	}
}

// lone plays jobs of one task on 40 slots, of which half are in use without clones; each attempt reports so often, or
// not at all. It returns the machine time and the mean flow time.
func lone(t *testing.T, spec string, jobs int, redrawn bool, reports sched.Time) (machine, flow float64, clones int) {
	const slots = 40
	w := on(t, spec, sched.DefaultLimits())
	w.Machines(slots)
	r := rand.New(rand.NewPCG(62, 2))
	at := 0.0
	for range jobs {
		w.Submit(sched.FromSeconds(at), policytest.Tasks(1))
		at += r.ExpFloat64() * 10 / (0.5 * slots)
	}
	w.Fate = func(d *sched.Decision) policytest.Fate {
		number := uint64(0)
		if redrawn {
			number = uint64(d.Number)
		}
		x := rand.New(rand.NewPCG(uint64(d.Task), number))
		return policytest.Fate{Lasts: sched.FromSeconds(10 * x.ExpFloat64()), Reports: reports}
	}
	w.Run()
	v := w.Core.View()
	for j := range jobs {
		job := v.Job(sched.JobID(j))
		machine += job.Fruitful.Seconds() + job.Fruitless.Seconds()
		flow += (job.Closed - job.Arrived).Seconds() / float64(jobs)
	}
	return machine, flow, len(w.Clones())
}

// TestAutoLoneTasks: where no task can be compared with others of its stage, idle slots run clones as long as these
// win, whether tasks report or not; where they never win, only the first ones cost machine time.
func TestAutoLoneTasks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		redrawn bool
		jobs    int
		reports sched.Time
		most    float64 // of fifo's machine time
	}{{true, 1000, 0, 1.1}, {false, 2500, 0, 1.01}, {true, 400, 2 * sched.Second / 5, 1.1}, {false, 400, 2 * sched.Second / 5, 1.08}} {
		machine, flow, _ := lone(t, "fifo", c.jobs, c.redrawn, c.reports)
		own, ownFlow, clones := lone(t, "auto", c.jobs, c.redrawn, c.reports)
		t.Logf("%+v: machine time %.4f of fifo's, mean flow time %.3f, %d clones", c, own/machine, ownFlow/flow, clones)
		if c.redrawn && ownFlow > 0.9*flow {
			t.Errorf("%+v: clones help: mean flow time %.3f of fifo's", c, ownFlow/flow)
		}
		if own > c.most*machine {
			t.Errorf("%+v: machine time %.4f of fifo's", c, own/machine)
		}
	}
}

// TestAutoTinyTasks: jobs of one task of a tenth of a second have no clones where starts differ as much as
// on a busy machine.
func TestAutoTinyTasks(t *testing.T) {
	w := on(t, "auto", sched.DefaultLimits())
	w.Machines(4)
	const jobs = 50
	for j := range jobs {
		w.Submit(sched.Time(j)*sched.Second, policytest.Tasks(1))
	}
	r := rand.New(rand.NewPCG(105, 2))
	w.Fate = func(*sched.Decision) policytest.Fate {
		x := sched.FromSeconds(0.02 * r.ExpFloat64())
		return policytest.Fate{Lasts: x + sched.Second/10, Starts: x}
	}
	w.Run()
	if n := len(w.Clones()); n > 0 {
		t.Errorf("%d clones in %d jobs", n, jobs)
	}
}
