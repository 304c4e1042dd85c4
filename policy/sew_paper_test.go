package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// mapReduce returns a job of n maps and m reduces of known mean.
func mapReduce(n, m int, mean sched.Time) *sched.JobSpec {
	return &sched.JobSpec{
		Stages: []sched.StageSpec{{Tasks: n, Mean: mean}, {Tasks: m, Mean: mean}},
		Edges:  []sched.Edge{{From: 0, To: 1}},
	}
}

// startLines returns every launch as "instant task #number".
func startLines(w *policytest.World) (all []string) {
	for i := range w.Orders {
		if d := &w.Orders[i]; d.Kind == sched.Launch {
			all = append(all, fmt.Sprintf("%v t%d #%d", d.At, d.Task, d.Number))
		}
	}
	return all
}

// TestSEW has hand-worked examples of digest section 9 on four slots, two for maps (unless said otherwise). Job 0 has maps 0, 1, 2 and reduce 3, job 1 map 4
// and reduce 5.
func TestSEW(t *testing.T) {
	s := sched.Second
	one := &sched.Limits{Attempts: 1, Clones: sched.CloneBudget{Floor: sched.Unlimited}}
	jobs := []*sched.JobSpec{mapReduce(3, 1, 10*s), mapReduce(1, 1, 10*s)}
	cases := []struct {
		policytest.Story
		want []string
	}{
		// Upsilon is 40 and 20: job 1 first, and its reduce too
		{policytest.Story{Name: "smallest workload first, no clones", Policy: "sew", Limits: one, Jobs: jobs, Lasts: []sched.Time{10 * s}},
			[]string{"0s t4 #0", "0s t0 #0", "10s t1 #0", "10s t2 #0", "10s t5 #0", "20s t3 #0"}},
		// job 1 has long maps now: its reduce is first in order, but waits until 10 s; job 0's may run at 2 s, if all maps are to be done before, at 20 s
		{policytest.Story{Name: "a reduce that may run goes ahead", Policy: "sew", Limits: one, Machines: 8,
			Jobs:  []*sched.JobSpec{mapReduce(2, 2, 10*s), mapReduce(1, 1, 10*s)},
			Lasts: []sched.Time{2 * s, 2 * s, 5 * s, 5 * s, 10 * s, 5 * s}},
			[]string{"0s t4 #0", "0s t0 #0", "0s t1 #0", "2s t2 #0", "2s t3 #0", "10s t5 #0"}},
		{policytest.Story{Name: "but not in the box", Policy: "sew:strict=true", Limits: one, Machines: 8,
			Jobs:  []*sched.JobSpec{mapReduce(2, 2, 10*s), mapReduce(1, 1, 10*s)},
			Lasts: []sched.Time{2 * s, 2 * s, 5 * s, 5 * s, 10 * s, 5 * s}},
			[]string{"0s t4 #0", "0s t0 #0", "0s t1 #0", "10s t5 #0", "10s t2 #0", "10s t3 #0"}},
		// two slots: the task's first attempt and a clone; the reduce slots never clone maps
		{policytest.Story{Name: "clones within the group", Policy: "sew", Jobs: []*sched.JobSpec{mapReduce(1, 1, 10*s)}, Lasts: []sched.Time{10 * s}, Again: 10 * s},
			[]string{"0s t0 #0", "0s t0 #1", "10s t1 #0", "10s t1 #1"}},
		// four slots for maps: tasks 0 and 1 take turns. Task 1 is done at 4 s; the turn for its slots is then task 0's alone
		{policytest.Story{Name: "clones take turns", Policy: "sew", Machines: 8, Jobs: []*sched.JobSpec{mapReduce(2, 0, 10*s)}, Lasts: []sched.Time{10 * s, 4 * s}, Again: 20 * s},
			[]string{"0s t0 #0", "0s t1 #0", "0s t0 #1", "0s t1 #1", "4s t0 #2", "4s t0 #3"}},
		{policytest.Story{Name: "waiting tasks before clones", Policy: "sew", Jobs: []*sched.JobSpec{mapReduce(3, 0, 10*s)}, Lasts: []sched.Time{10 * s, 4 * s}, Again: 20 * s},
			[]string{"0s t0 #0", "0s t1 #0", "4s t2 #0", "8s t0 #1"}},
		{policytest.Story{Name: "five slots, three for maps", Policy: "sew", Machines: 5, Limits: one, Jobs: []*sched.JobSpec{mapReduce(5, 0, 10*s)}, Lasts: []sched.Time{10 * s}},
			[]string{"0s t0 #0", "0s t1 #0", "0s t2 #0", "10s t3 #0", "10s t4 #0"}},
		{policytest.Story{Name: "all for maps", Policy: "sew:maps=1", Limits: one, Jobs: []*sched.JobSpec{mapReduce(5, 0, 10*s)}, Lasts: []sched.Time{10 * s}},
			[]string{"0s t0 #0", "0s t1 #0", "0s t2 #0", "0s t3 #0", "10s t4 #0"}},
		{policytest.Story{Name: "a single slot serves both", Policy: "sew", Machines: 1, Limits: one, Jobs: jobs[1:], Lasts: []sched.Time{10 * s}},
			[]string{"0s t0 #0", "10s t1 #0"}},
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if c.Machines == 0 {
				c.Machines = 4
			}
			if diff := cmp.Diff(c.want, startLines(played(t, &c.Story))); diff != "" {
				t.Errorf("launches (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSEWOrder: lambda adds standard deviations. Job 0 is 1 x 10 s +- 10 s, job 1 is 1 x 15 s +- 1 s.
func TestSEWOrder(t *testing.T) {
	s := sched.Second
	spread := func(mean, sd sched.Time) *sched.JobSpec {
		return &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1, Mean: mean, SD: sd}}}
	}
	for policy, want := range map[string][]sched.TaskID{"sew:lambda=0": {0, 1}, "sew:lambda=0.5": {0, 1}, "sew": {1, 0}} {
		st := policytest.Story{Policy: policy, Machines: 1, Jobs: []*sched.JobSpec{spread(10*s, 10*s), spread(15*s, s)}, Lasts: []sched.Time{10 * s}}
		if diff := cmp.Diff(want, played(t, &st).Launches()); diff != "" {
			t.Errorf("%s: launches (-want +got):\n%s", policy, diff)
		}
	}
}

// TestSEWRatio: Theorem 3 bounds the total flow time at lambda = 0 by Delta+2 times the larger of two lower bounds. Map jobs with tasks of one known duration, so Delta = 1
// and cloning is of no use: the sum is at most three times that of the fluid schedule that gives the map slots to the jobs one by one in order of
// their work (8), and of the jobs' own durations (17).
func TestSEWRatio(t *testing.T) {
	const slots = 8
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := on(t, "sew:lambda=0", sched.NoLimits())
		w.Machines(2 * slots)
		type size struct{ work, mean float64 }
		var sizes []size
		for range 1 + r.IntN(12) {
			n, mean := 1+r.IntN(20), 1+r.IntN(9)
			w.Submit(0, known(n, sched.Time(mean)*sched.Second))
			sizes = append(sizes, size{float64(n * mean), float64(mean)})
		}
		w.Fate = func(d *sched.Decision) policytest.Fate {
			return policytest.Fate{Lasts: w.Core.View().Stage(d.Stage).Mean}
		}
		w.Run()
		flow, own, fluid, before := 0.0, 0.0, 0.0, 0.0
		for j, x := range sizes {
			flow += w.Core.View().Job(sched.JobID(j)).Closed.Seconds()
			own += x.mean
		}
		for len(sizes) > 0 {
			least := 0
			for i := range sizes {
				if sizes[i].work < sizes[least].work {
					least = i
				}
			}
			before += sizes[least].work / slots
			fluid += before
			sizes = append(sizes[:least], sizes[least+1:]...)
		}
		if bound := math.Max(own, fluid); flow > 3*bound {
			t.Fatalf("seed %d: total flow time %v, lower bound %v", seed, flow, bound)
		}
	}
}
