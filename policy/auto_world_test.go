package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// sameAgain is a world in which clones cannot help: a task takes as long again on every attempt.
type sameAgain struct {
	name    string
	lasts   func(r *rand.Rand) sched.Time // of a task
	reports sched.Time
}

var samesAgain = []sameAgain{
	{"heavy tail", func(r *rand.Rand) sched.Time { return sched.FromSeconds(4 * math.Pow(1-r.Float64(), -1/1.5)) }, 0},
	{"heavy tail, reports", func(r *rand.Rand) sched.Time { return sched.FromSeconds(4 * math.Pow(1-r.Float64(), -1/1.5)) }, sched.Second},
	{"exponential", func(r *rand.Rand) sched.Time { return sched.FromSeconds(10 * r.ExpFloat64()) }, 0},
	{"exponential, reports", func(r *rand.Rand) sched.Time { return sched.FromSeconds(10 * r.ExpFloat64()) }, sched.Second},
	{"slow tenth", func(r *rand.Rand) sched.Time {
		if r.IntN(10) == 0 {
			return 80 * sched.Second
		}
		return 10 * sched.Second
	}, 0},
	{"all equal", func(*rand.Rand) sched.Time { return 10 * sched.Second }, 0},
}

// run plays jobs of 30 tasks on some slots, load of which they need. It returns the seconds of slots that attempts
// took, and the mean flow time.
func (s *sameAgain) run(t *testing.T, spec string, jobs, slots int, load float64, seed uint64) (machine, flow float64, clones int) {
	const tasks = 30
	w := on(t, spec, sched.DefaultLimits())
	w.Machines(slots)
	r := rand.New(rand.NewPCG(seed, 18))
	lasts := make([]sched.Time, jobs*tasks)
	at := 0.0
	for j := range jobs {
		w.Submit(sched.FromSeconds(at), policytest.Tasks(tasks))
		at += r.ExpFloat64() * tasks * 10 / (load * float64(slots))
		for i := range tasks {
			lasts[j*tasks+i] = s.lasts(r)
		}
	}
	w.Fate = func(d *sched.Decision) policytest.Fate {
		return policytest.Fate{Lasts: lasts[d.Task], Reports: s.reports}
	}
	for w.Step() {
	}
	v := w.Core.View()
	for j := range sched.JobID(jobs) {
		job := v.Job(j)
		machine += job.Fruitful.Seconds() + job.Fruitless.Seconds()
		flow += (job.Closed - job.Arrived).Seconds() / float64(jobs)
	}
	return machine, flow, len(w.Clones())
}

// TestAutoWhereClonesCannotHelp: auto finds out, and wastes about a hundredth of the machine time, and less than one of
// the mean flow time; and no more in the long run, in which it tries again now and then. How much the first jobs waste
// differs, so six draws of them count together. On many slots more clones begin before it can know, and with so few
// jobs that is a fiftieth. In overload originals end for clones, which are then done first: that these win says nothing.
// There the order of jobs decides on the flow time.
func TestAutoWhereClonesCannotHelp(t *testing.T) {
	for _, s := range samesAgain {
		for _, c := range []struct {
			draws       uint64
			jobs, slots int
			load, most  float64
		}{{6, 200, 100, 0.5, 1.012}, {1, 1000, 100, 0.5, 1.01}, {1, 200, 1000, 0.5, 1.02}, {1, 200, 100, 1.3, 1.02}} {
			t.Run(fmt.Sprintf("%s/%d jobs, %d slots, load %g", s.name, c.jobs, c.slots, c.load), func(t *testing.T) {
				t.Parallel()
				var machine, flow, own, ownFlow, clones float64
				for seed := range c.draws {
					x, y, _ := s.run(t, "fifo", c.jobs, c.slots, c.load, seed+1)
					machine, flow = machine+x, flow+y
					x, y, n := s.run(t, "auto", c.jobs, c.slots, c.load, seed+1)
					own, ownFlow, clones = own+x, ownFlow+y, clones+float64(n)
				}
				t.Logf("machine time %.4f of fifo's, mean flow time %.3f, %v clones", own/machine, ownFlow/flow, clones)
				if own > c.most*machine {
					t.Errorf("machine time %.4f of fifo's", own/machine)
				}
				if c.load < 1 && ownFlow > 1.01*flow {
					t.Errorf("mean flow time %.4f of fifo's", ownFlow/flow)
				}
			})
		}
	}
}

// claims plays 300 jobs of 1 to 60 tasks on 10 slots, nine tenths of which they need. They say how long their tasks
// last; what every tenth says is wrong by a factor. With a factor of 0 no job says anything. It returns the mean flow
// time and the longest: of the others, and of every tenth job.
func claims(t *testing.T, factor float64) (mean float64, longest [2]float64) {
	const jobs, slots = 300, 10
	w := on(t, "auto", sched.NoLimits())
	w.Machine(0, slots)
	r := rand.New(rand.NewPCG(2, 18))
	at := 0.0
	for j := range jobs {
		n := 1 + r.IntN(10)
		if r.IntN(10) == 0 {
			n *= 6
		}
		says := 10.
		if j%10 == 5 || factor == 0 {
			says *= factor
		}
		w.Submit(sched.FromSeconds(at), &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: n, Mean: sched.FromSeconds(says)}}})
		at += r.ExpFloat64() * 8.25 * 10 / (0.9 * slots)
	}
	w.Fate = func(d *sched.Decision) policytest.Fate {
		x := rand.New(rand.NewPCG(uint64(d.Task), uint64(d.Number)))
		return policytest.Fate{Lasts: sched.FromSeconds(5 + 10*x.Float64())}
	}
	w.Run()
	for j := range sched.JobID(jobs) {
		job := w.Core.View().Job(j)
		flow := (job.Closed - job.Arrived).Seconds()
		mean += flow / jobs
		which := 0
		if j%10 == 5 {
			which = 1
		}
		longest[which] = max(longest[which], flow)
	}
	return mean, longest
}

// TestAutoWrongClaims: a job whose size is unknown, or told ten times too small or too large, starves nobody: no job
// takes longer than the longest does if all claims are right, but for a tenth. TestMaxWait has the bound on waiting.
func TestAutoWrongClaims(t *testing.T) {
	_, right := claims(t, 1)
	for _, factor := range []float64{0, 0.1, 10} {
		mean, longest := claims(t, factor)
		t.Logf("claims %g times the truth: mean flow time %.1f s, longest %.0f s (%.0f s for jobs that are right); right claims %.0f s",
			factor, mean, longest[1], longest[0], max(right[0], right[1]))
		if most := max(longest[0], longest[1]); most > 1.1*max(right[0], right[1]) {
			t.Errorf("claims %g times the truth: a job takes %.0f s", factor, most)
		}
	}
}

// resultOf plays a workload under a new policy.
func resultOf(t *testing.T, w *trace.Workload, spec string, o sim.Options) *sim.Result {
	t.Helper()
	p, err := New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	res, err := sim.Run(t.Context(), w, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// flowBeside plays a policy and another one in draws of a workload, and returns the mean flow time as a part of the other's.
func flowBeside(t *testing.T, spec, other, workload, service string, draws uint64, o sim.Options) float64 {
	t.Helper()
	model, err := sim.ParseService(service)
	if err != nil {
		t.Fatal(err)
	}
	o.Model = model
	var own, beside float64
	for o.Seed = range draws {
		w, err := trace.Synthesize(workload, o.Seed)
		if err != nil {
			t.Fatal(err)
		}
		own += resultOf(t, w, spec, o).Stats().MeanFlow
		beside += resultOf(t, w, other, o).Stats().MeanFlow
	}
	return own / beside
}

// untold makes a workload, of whose durations nothing is stated.
func untold(t *testing.T, spec string) *trace.Workload {
	t.Helper()
	w, err := trace.Synthesize(spec, 5)
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.Stages {
		w.Stages[i].Mean, w.Stages[i].SD = 0, 0
	}
	return w
}

// TestAutoManyAreSlow: in a stage of thousands of tasks hundreds are slow at once, and all have clones soon.
func TestAutoManyAreSlow(t *testing.T) {
	const s, tasks = sched.Second, 8000
	end := func(spec string, reports sched.Time) sched.Time {
		w := on(t, spec, sched.DefaultLimits())
		w.Machine(0, tasks)
		w.Submit(0, policytest.Tasks(tasks))
		r := rand.New(rand.NewPCG(3, 18))
		w.Fate = func(d *sched.Decision) policytest.Fate {
			f := policytest.Fate{Lasts: sched.FromSeconds(10 + r.Float64()), Reports: reports}
			if r.IntN(20) == 0 {
				f.Lasts *= 10
			}
			return f
		}
		w.Run()
		return w.Core.View().Now()
	}
	for _, reports := range []sched.Time{0, s} {
		first, auto := end("fifo", reports), end("auto", reports)
		t.Logf("reports every %v: done at %v, without clones at %v", reports, auto, first)
		if auto > 45*s || first < 100*s {
			t.Errorf("reports every %v: done at %v, without clones at %v", reports, auto, first)
		}
	}
}
