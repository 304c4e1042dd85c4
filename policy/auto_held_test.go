package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// sizesAndSlowdowns plays eight jobs of 40 tasks on 100 slots, a quarter of which they need if nothing is slow. A task has a
// size of its own, and each attempt a slowdown with a heavy tail: lognormal with a deviation as large as the mean, and
// Pareto's law with a tail of 1.5. It returns the mean flow time.
func sizesAndSlowdowns(t *testing.T, spec string, seed uint64) (flow float64) {
	const jobs, tasks, slots = 8, 40, 100
	w := on(t, spec, sched.DefaultLimits())
	w.Machines(slots)
	r := rand.New(rand.NewPCG(seed, 130))
	sizes := make([]float64, jobs*tasks)
	at := 0.0
	for j := range jobs {
		w.Submit(sched.FromSeconds(at), policytest.Tasks(tasks))
		at += 15 * r.ExpFloat64()
		for i := range tasks {
			sizes[j*tasks+i] = 10 * math.Exp(math.Sqrt(math.Ln2)*r.NormFloat64()-math.Ln2/2)
		}
	}
	w.Fate = func(d *sched.Decision) policytest.Fate {
		x := rand.New(rand.NewPCG(seed+uint64(d.Task)<<16, uint64(d.Number)))
		return policytest.Fate{Lasts: sched.FromSeconds(sizes[d.Task] * math.Pow(1-x.Float64(), -1/1.5)), Reports: sched.Second}
	}
	for w.Step() {
	}
	for j := range sched.JobID(jobs) {
		job := w.Core.View().Job(j)
		flow += (job.Closed - job.Arrived).Seconds() / jobs
	}
	return flow
}

// TestAutoKeepsWhatReportsItIsQuicker: where tasks have sizes and attempts slowdowns, many clones of a large task are no
// quicker. Those that report that they are stay nevertheless, so auto is as good as Mantri, which believes reports.
func TestAutoKeepsWhatReportsItIsQuicker(t *testing.T) {
	own, mantri := 0.0, 0.0
	for seed := range uint64(5) {
		own += sizesAndSlowdowns(t, "auto", seed)
		mantri += sizesAndSlowdowns(t, "mantri", seed)
	}
	t.Logf("mean flow time %.3f of mantri's", own/mantri)
	if own > 1.1*mantri {
		t.Errorf("mean flow time %.3f of mantri's, want 1.1 at most", own/mantri)
	}
}

// TestWorthByReports: the likelier it is by report that an attempt is quicker, the less it counts that its task may be
// large; and a report that it is as slow says nothing.
func TestWorthByReports(t *testing.T) {
	large := tally{0.01, 0.01, 0.98}
	f := fewer{mean: 100, paced: 40, age: 1, oldest: 10, same: 1}
	worth, anew := f.worth(&large, 0, 50), f.anew(&large)
	if want := large[byChance]; anew != want {
		t.Errorf("without a report a new duration has a chance of %v, want %v", anew, want)
	}
	for _, f.same = range []float64{0.5, 0.1, 1e-3, 0} {
		w, a := f.worth(&large, 0, 50), f.anew(&large)
		if w <= worth || a <= anew {
			t.Errorf("same %v: worth %v and chance %v, want more than %v and %v", f.same, w, a, worth, anew)
		}
		worth, anew = w, a
	}
	if anew != 1 {
		t.Errorf("what is certainly quicker is so with a chance of %v", anew)
	}
}

// TestAsNew: a clone is worth as much of what a new one would save as it saves itself, and never more than all of it.
func TestAsNew(t *testing.T) {
	f := fewer{mean: 100, cloned: 40}
	for _, c := range []struct{ mean, want float64 }{{40, 1}, {20, 1}, {70, 0.5}, {100, 0}, {110, 0}} {
		if got := f.asNew(c.mean); got != c.want {
			t.Errorf("with %v s left: %v, want %v", c.mean, got, c.want)
		}
	}
	if f.cloned = 100; f.asNew(50) != 0 {
		t.Error("a clone is worth something where a new one would save nothing")
	}
}

// TestAutoKeepsManyClones: of large stages with sizes and heavy slowdowns many tasks are slow at once, and reports are
// rare. No clone by itself ends its stage earlier, so each would give its place to a clone of another task before it
// has said anything; and what is begun anew again and again is large. Mantri does neither.
func TestAutoKeepsManyClones(t *testing.T) {
	t.Parallel()
	flow := flowBeside(t, "auto", "mantri", "synth:jobs=15;tasks=200;law=lognormal:mean=10,sd=10;arrivals=poisson:rate=0.04;known=false",
		"sx:slowdown=(pareto:alpha=1.5,xm=1)", 4, sim.Options{Machines: 300, Slots: 1, Limits: sched.DefaultLimits(), Progress: sim.Progress{Every: 10 * sched.Second}})
	t.Logf("flow time %.3f of mantri's", flow)
	if flow > 1.17 {
		t.Errorf("flow time %.3f of mantri's, want 1.17 at most", flow)
	}
}
