package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestGini compares with all pairs.
func TestGini(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 1))
	for range 100 {
		var s sample
		s.reset()
		n := 2 + r.IntN(20)
		for range n {
			s.add(r.ExpFloat64())
		}
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

// lone plays jobs of one task on 40 slots, of which half are in use without clones. It returns the machine time and
// the mean flow time.
func lone(t *testing.T, spec string, jobs int, redrawn bool) (machine, flow float64, clones int) {
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
		return policytest.Fate{Lasts: sched.FromSeconds(10 * x.ExpFloat64())}
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

// TestAutoLoneTasks: where no task reports and none can be compared with others of its stage, idle slots run clones as
// long as these win; where they never win, they cost less than a hundredth of the machine time.
func TestAutoLoneTasks(t *testing.T) {
	for _, redrawn := range []bool{true, false} {
		jobs := 5000 // so that the first clones, which tell, are few
		if redrawn {
			jobs = 1000
		}
		machine, flow, _ := lone(t, "fifo", jobs, redrawn)
		own, ownFlow, clones := lone(t, "auto", jobs, redrawn)
		t.Logf("redrawn %v: machine time %.4f of fifo's, mean flow time %.3f, %d clones", redrawn, own/machine, ownFlow/flow, clones)
		if redrawn && (ownFlow > 0.9*flow || own > 1.1*machine) {
			t.Errorf("clones help: machine time %.3f and mean flow time %.3f of fifo's", own/machine, ownFlow/flow)
		}
		if !redrawn && own > 1.01*machine {
			t.Errorf("clones cannot help: machine time %.4f of fifo's", own/machine)
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
