package overlap

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// study runs the workload of Section 5.3 and leaves out the first tenth of the jobs.
func study(spec string, t testing.TB, n int64, load float64) (*Summary, *Fairness) {
	s, f := &Summary{Skip: n / 10}, &Fairness{Skip: n / 10}
	Run(mustParse(t, spec), Synthetic(n, load, 1), func(c Completion) {
		s.Add(c)
		f.Add(c, c.Job.Alone())
	})
	if s.Jobs() != n-n/10 {
		t.Fatalf("%s: %d of %d jobs were done", spec, s.Jobs(), n-n/10)
	}
	return s, f
}

// The means of Section 5.3 at load 0.75 and 0.90, simulated by other programs with four seeds of 5*10^7 jobs; the paper prints 3.32/5.58,
// 3.55/5.66 and 6.50/16.28. Mean slowdowns, from the same programs, vary less.
var means = []struct {
	policy   string
	load     float64
	flow     float64
	slowdown float64
}{
	{"maxsrpt", 0.75, 3.321, 1.185}, {"maxsrpt", 0.90, 5.511, 1.273},
	{"splitsrpt", 0.75, 3.523, 1.530}, {"splitsrpt", 0.90, 5.579, 1.769},
	{"klps", 0.75, 6.537, 4.22}, {"klps", 0.90, 16.61, 10.8},
}

var bounds = []struct{ load, mean float64 }{{0.75, 2.359}, {0.90, 3.273}}

// compareMeans runs the study with n jobs and compares flow times and slowdowns within relative tolerances.
func compareMeans(t *testing.T, n int64, flow, slowdown float64) {
	for _, m := range means {
		s, _ := study(m.policy, t, n, m.load)
		t.Logf("%s at %v: mean flow time %.3f, slowdown %.3f, median %.3f", m.policy, m.load, s.MeanFlow(), s.MeanSlowdown(), s.FlowQuantile(0.5))
		near(t, m.policy+" flow time", s.MeanFlow(), m.flow, flow)
		near(t, m.policy+" slowdown", s.MeanSlowdown(), m.slowdown, slowdown)
	}
	for _, m := range bounds {
		b := NewBound(n / 10)
		for j := range Synthetic(n, m.load, 1) {
			b.Arrive(j)
		}
		b.Drain()
		t.Logf("lower bound at %v: %.3f", m.load, b.Mean())
		near(t, "lower bound", b.Mean(), m.mean, flow)
	}
}

func TestMeans(t *testing.T) { compareMeans(t, 1_000_000, 0.10, 0.10) }

// The bound is one: no policy's mean is below it.
func TestBound(t *testing.T) {
	for seed := range uint64(20) {
		b := NewBound(0)
		for j := range Synthetic(200, 0.9, seed) {
			b.Arrive(j)
		}
		b.Drain()
		for _, spec := range battery {
			var s Summary
			Run(mustParse(t, spec), Synthetic(200, 0.9, seed), s.Add)
			if s.MeanFlow() < b.Mean()*(1-1e-12) {
				t.Errorf("%s, seed %d: mean flow time %v is below the bound %v", spec, seed, s.MeanFlow(), b.Mean())
			}
		}
	}
}

// The bound by definition: two servers, each a station that serves one of the two sizes alone, and a period ends where
// both are idle when a job arrives.
func TestBoundTwin(t *testing.T) {
	check := func(t *rapid.T, jobs []Demand) {
		only := [2][]Demand{slices.Clone(jobs), slices.Clone(jobs)}
		for i := range jobs {
			only[0][i].Shuffle, only[1][i].Map = 0, 0
		}
		skip := rapid.IntRange(0, 3).Draw(t, "skip")
		b := NewBound(int64(skip))
		sum, latest := 0.0, 0.0
		var flow [2]float64
		var ends [2][]float64
		for s := range ends {
			ends[s] = runTwin(&twin{policy: Discipline{Kind: MaxSRPT}}, only[s])
		}
		for i, j := range jobs {
			b.Arrive(j)
			if j.Arrival >= latest {
				sum += max(flow[0], flow[1])
				flow = [2]float64{}
			}
			for s := range flow {
				latest = max(latest, ends[s][i])
				if i >= skip {
					flow[s] += ends[s][i] - j.Arrival
				}
			}
		}
		b.Drain()
		want := (sum + max(flow[0], flow[1])) / float64(max(1, len(jobs)-skip))
		if math.Abs(b.Mean()-want) > 1e-9*max(1, want) {
			t.Fatalf("%v, skip %d: got %v, want %v", jobs, skip, b.Mean(), want)
		}
	}
	t.Run("ties", rapid.MakeCheck(func(t *rapid.T) { check(t, dyadic(t)) }))
	t.Run("real", rapid.MakeCheck(func(t *rapid.T) { check(t, realJobs(t)) }))
}

// Memory depends on the queue: once it has been as long as it gets, more jobs allocate next to nothing.
func TestConstantMemory(t *testing.T) {
	for _, spec := range battery {
		p := mustParse(t, spec)
		if p.Literal {
			continue // unstable: its queue grows
		}
		sim := New(p, func(Completion) {})
		clock := 0.0
		batch := func() {
			start := clock
			for j := range Synthetic(100_000, 0.5, 2) {
				j.Arrival += start
				clock = j.Arrival
				sim.Arrive(j)
			}
		}
		batch()
		if n := testing.AllocsPerRun(2, batch); n > 50 {
			t.Errorf("%s: %v allocations for 100,000 more jobs", spec, n)
		}
	}
}
