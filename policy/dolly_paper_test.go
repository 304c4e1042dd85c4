package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// TestDollyCopies has the golden counts of digest section 17 and errata section 6, for epsilon = 5 %.
func TestDollyCopies(t *testing.T) {
	for p, want := range map[float64][4]int{0.1: {2, 3, 3, 4}, 0.2: {3, 4, 4, 5}, 0.6: {9, 11, 12, 15}} {
		for i, n := range []float64{5, 10, 20, 100} {
			if got := dollyCopies(0.05, p, n); got != want[i] {
				t.Errorf("n=%v p=%v: %d attempts, want %d", n, p, got, want[i])
			}
		}
	}
	for _, c := range []struct {
		n, p float64
		want int
	}{
		{10, 0.05, 2}, {5, 0.4, 6},
		{0.6, 0.6, 5}, {0.4, 0.4, 3}, {0.2, 0.2, 1}, // the literal form of Shed: 4.90, 2.31, 0.92
		{5, 0, 1}, {1e9, 0.5, 35},
	} {
		if got := dollyCopies(0.05, c.p, c.n); got != c.want {
			t.Errorf("n=%v p=%v: %d attempts, want %d", c.n, c.p, got, c.want)
		}
	}
	// 1-PoCD is of the job; of a task it is 1-PoCD^(1/n) (errata, section 6)
	for i, n := range []float64{5, 10, 20} {
		if got, want := dollyCopies(0.05, -math.Expm1(math.Log(0.4)/n), n), []int{3, 3, 2}[i]; got != want {
			t.Errorf("n=%v, PoCD 0.4: %d attempts, want %d", n, got, want)
		}
	}
}

// TestDollyCopiesExact: a ratio of logarithms that is whole is not rounded up. With n = 1 the ratio is ln(eps)/ln(p): eps = p^c asks for c.
func TestDollyCopiesExact(t *testing.T) {
	for c := 2; c < 12; c++ {
		for _, p := range []float64{0.1, 0.2, 0.3, 0.5, 0.7} {
			if got := dollyCopies(math.Pow(p, float64(c)), p, 1); got != c {
				t.Errorf("eps = %v^%d: %d attempts", p, c, got)
			}
		}
	}
}

// TestDollyCopiesByDefinition: c is the smallest number with 1-(1-p^c)^n <= eps.
func TestDollyCopiesByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		p, n, eps := 0.001+0.9*r.Float64(), float64(1+r.IntN(5000)), 0.001+0.5*r.Float64()
		straggles := func(c int) float64 { return -math.Expm1(n * math.Log1p(-math.Pow(p, float64(c)))) }
		c := dollyCopies(eps, p, n)
		if straggles(c) > eps*(1+1e-6) || c > 1 && straggles(c-1) <= eps*(1-1e-6) {
			t.Fatalf("n=%v p=%v eps=%v: %d attempts leave %v, one less %v", n, p, eps, c, straggles(c), straggles(c-1))
		}
	}
}

// TestDolly has hand-worked admissions. Jobs of tasks that last 10 s; p = 0.1, so c is 2 for 5 tasks and 3 for 10 and 20.
func TestDolly(t *testing.T) {
	s := sched.Second
	cases := []struct {
		name, policy string
		slots        int
		limits       sched.Limits
		jobs         []int      // tasks
		every        sched.Time // between arrivals
		want         string     // attempts of each job's tasks
	}{
		{"within all bounds", "dolly:p=0.1,budget=0.1", 100, sched.NoLimits(), []int{5}, 0, "[2 2 2 2 2]"},
		{"budget: 2 x 5 > 0.05 x 199", "dolly:p=0.1", 199, sched.NoLimits(), []int{5}, 0, "[1 1 1 1 1]"},
		{"budget: 2 x 5 = 0.05 x 200", "dolly:p=0.1", 200, sched.NoLimits(), []int{5}, 0, "[2 2 2 2 2]"},
		{"threshold: 10 > 0.8 x 12", "dolly:p=0.1,budget=1", 12, sched.NoLimits(), []int{5}, 0, "[1 1 1 1 1]"},
		{"threshold: 10 < 0.8 x 13", "dolly:p=0.1,budget=1", 13, sched.NoLimits(), []int{5}, 0, "[2 2 2 2 2]"},
		{"small jobs first", "dolly:p=0.1", 200, sched.NoLimits(), []int{10, 5}, 0, "[1 1 1 1 1 1 1 1 1 1] [2 2 2 2 2]"},
		{"the budget is in use for 10 s", "dolly:p=0.1", 200, sched.NoLimits(), []int{5, 5, 5}, 7 * s, "[2 2 2 2 2] [1 1 1 1 1] [2 2 2 2 2]"},
		{"more attempts for more tasks", "dolly:p=0.1,budget=1", 100, sched.NoLimits(), []int{10}, 0, "[3 3 3 3 3 3 3 3 3 3]"},
		{"the limit on attempts", "dolly:p=0.1,budget=1", 100, sched.Limits{Attempts: 2, Clones: sched.CloneBudget{Floor: sched.Unlimited}}, []int{10}, 0,
			"[2 2 2 2 2 2 2 2 2 2]"},
		{"the clone budget: all or none", "dolly:p=0.1,budget=1", 100, sched.Limits{Attempts: 4, Clones: sched.CloneBudget{Floor: 4}}, []int{5}, 0, "[1 1 1 1 1]"},
		{"Shed: as many whatever the size", "dolly-shed:p=0.4", 100, sched.NoLimits(), []int{2, 9}, 0, "[3 3] [3 3 3 3 3 3 3 3 3]"},
		{"one task in a job", "dolly:p=0.1,budget=1", 100, sched.NoLimits(), []int{1}, 0, "[2]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, c.policy, c.limits)
			w.Machines(c.slots)
			for i, n := range c.jobs {
				w.Submit(sched.Time(i)*c.every, policytest.Tasks(n))
			}
			w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 10 * s} }
			w.Run()
			v, got := w.Core.View(), ""
			for j := range v.Rows().Jobs() {
				st := v.Stage(v.Job(sched.JobID(j)).FirstStage)
				var n []uint32
				for task := st.First; task < st.First+sched.TaskID(st.Tasks); task++ {
					n = append(n, v.Task(task).Launched)
				}
				got += fmt.Sprint(n) + " "
			}
			if diff := cmp.Diff(c.want+" ", got); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDollyUnder: without a budget to clone with, Dolly is the policy underneath.
func TestDollyUnder(t *testing.T) {
	w, err := trace.Synthesize("synth:jobs=20;tasks=12;law=pareto:alpha=1.3,xm=20;arrivals=poisson:rate=0.1", 1)
	if err != nil {
		t.Fatal(err)
	}
	for under, alone := range map[string]string{"late,min_age=5s": "late:min_age=5s", "late,order=fair": "late:order=fair", "mantri": "mantri", "none": "fifo"} {
		var jobs [2][]sim.JobResult
		for i, spec := range []string{"dolly:budget=0,under=" + under, alone} {
			p, err := New(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			res, err := sim.Run(t.Context(), w, p, sim.Options{Machines: 40, Limits: sched.DefaultLimits(), Progress: sim.Progress{Every: 2 * sched.Second}, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			jobs[i] = res.Jobs
		}
		if diff := cmp.Diff(jobs[1], jobs[0]); diff != "" {
			t.Errorf("under=%s (-%s +dolly):\n%s", under, alone, diff)
		}
	}
}

// TestDollyLimits: the limits that nobody asked for follow the budget. A job of 10 tasks on 1,000 idle slots gets 3 attempts a task with p = 0.1. What a user
// asks for holds, and is counted: 2 x 10 clones are more than 10; with 2 attempts a task they are 10, and as many are withheld.
func TestDollyLimits(t *testing.T) {
	one, ten := sched.DefaultLimits(), sched.DefaultLimits()
	one.Attempts, one.OwnAttempts = 2, false
	ten.Clones = sched.CloneBudget{Floor: 10}
	for _, c := range []struct {
		name             string
		limits           sched.Limits
		clones, withheld int
	}{{"default", sched.DefaultLimits(), 20, 0}, {"--clone-budget 10", ten, 0, 20}, {"--max-attempts 2", one, 10, 10}} {
		w := on(t, "dolly:p=0.1", c.limits)
		w.Machines(1000)
		w.Submit(0, policytest.Tasks(10))
		w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 10 * sched.Second} }
		w.Run()
		if got := int(w.Core.View().Job(0).Clones); got != c.clones || w.Core.Withheld() != c.withheld {
			t.Errorf("%s: %d clones, %d withheld; want %d and %d", c.name, got, w.Core.Withheld(), c.clones, c.withheld)
		}
	}
}

// TestDollyBudget: whatever happens to jobs, the budget is whole again when they are over.
func TestDollyBudget(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"dolly:budget=1,threshold=1,p=0.3", "dolly:budget=1,threshold=1,p=0.3,whole=stage"} {
		most := 0
		for seed := range uint64(200) {
			p, err := New(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			w := policytest.MessyWorld(t, p, sched.NoLimits(), seed)
			w.Seen = func(sched.Time, []sched.Decision) { most = max(most, p.(*dolly).spent) }
			w.Run()
			if left := p.(*dolly).spent; left != 0 {
				t.Fatalf("%s, seed %d: %d left in the books", spec, seed, left)
			}
		}
		if most == 0 {
			t.Errorf("%s: nothing was ever cloned", spec)
		}
	}
}

// TestDollyByStage: a job of 10 tasks, of one, and of 3 that each wait for one of the first 10, with p = 0.1 on 200 slots. As a whole it has the price 3 x 14 = 42 > 0.05 x 200, and nothing is cloned. Stage by stage, the first has
// the price 3 x 10 and is not; the second 2 x 1; the third, which is tried when its first task waits, 2 x 3.
func TestDollyByStage(t *testing.T) {
	for spec, want := range map[string]string{"dolly:p=0.1": "1x10 1x1 1x3", "dolly:p=0.1,whole=stage": "1x10 2x1 2x3", "dolly:p=0.1,whole=stage,budget=0.2": "3x10 2x1 2x3"} {
		w := on(t, spec, sched.NoLimits())
		w.Machines(200)
		w.Submit(0, &sched.JobSpec{
			Stages: []sched.StageSpec{{Tasks: 10}, {Tasks: 1}, {Tasks: 3}},
			Edges:  []sched.Edge{{From: 0, To: 1}, {From: 0, To: 2, Kind: sched.PerTask, Pairs: [][2]uint32{{0, 0}, {1, 1}, {2, 2}}}},
		})
		w.Fate = func(d *sched.Decision) policytest.Fate {
			return policytest.Fate{Lasts: sched.Time(10+d.Task) * sched.Second}
		}
		w.Run()
		v, got := w.Core.View(), ""
		for s := range sched.StageID(3) {
			st := v.Stage(s)
			got += fmt.Sprintf(" %dx%d", v.Task(st.First).Launched, st.Tasks)
			for task := st.First; task < st.First+sched.TaskID(st.Tasks); task++ {
				if v.Task(task).Launched != v.Task(st.First).Launched {
					t.Errorf("%s: tasks of stage %d have %d and %d attempts", spec, s, v.Task(st.First).Launched, v.Task(task).Launched)
				}
			}
		}
		if got != " "+want {
			t.Errorf("%s: attempts%s, want %s", spec, got, want)
		}
	}
}

// TestStragglers: of 1, 2, 3, 4, 6, 7 s the upper median is 4 s, so 7 s straggles and 6 s does not; of the last thousand stages only.
func TestStragglers(t *testing.T) {
	s := sched.Second
	x := stragglers{prior: 0.25}
	if x.share() != 0.25 {
		t.Errorf("before anything is known: %v", x.share())
	}
	x.add([]sched.Time{7 * s, 1 * s, 6 * s, 2 * s, 4 * s, 3 * s}, 1.5)
	if x.share() != 1.0/6 {
		t.Errorf("one of six: %v", x.share())
	}
	for range len(x.last) {
		x.add([]sched.Time{s, s}, 1.5)
	}
	if x.share() != 0 {
		t.Errorf("none of the last thousand: %v", x.share())
	}
}
