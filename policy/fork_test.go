package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/plan/rule"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestForkGolden has hand-worked forks: section 2 of the paper, on the definition of pi_keep and pi_kill, and what fork.go adds for scarce slots.
func TestForkGolden(t *testing.T) {
	s := sched.Second
	steps := []sched.Time{1 * s, 2 * s, 3 * s, 10 * s, 20 * s}
	cases := []struct {
		name, policy string
		machines     int
		limits       sched.Limits
		lasts        []sched.Time
		clones       []string
		end, cost    sched.Time // makespan, machine time of all attempts
	}{
		// k = round(5 x 0.6) = 3: at 3 s tasks 3 and 4 get one attempt more, which ends at 7 s: 1+2+3 + 2 x (7+4)
		{"keep", "fork:p=0.4,r=1", 10, sched.NoLimits(), steps, []string{"3s t3 #1 m0", "3s t4 #1 m1"}, 7 * s, 28 * s},
		// at 3 s both are killed, two new attempts each: 1+2+3 + 2 x (3+4+4)
		{"kill", "fork:p=0.4,r=1,original=kill", 10, sched.NoLimits(), steps,
			[]string{"3s t3 #1 m0", "3s t4 #1 m1", "3s t3 #2 m2", "3s t4 #2 m3"}, 7 * s, 28 * s},
		{"kill without clones is a restart", "fork:p=0.4,r=0,original=kill", 10, sched.NoLimits(), steps,
			[]string{"3s t3 #1 m0", "3s t4 #1 m1"}, 7 * s, 20 * s},
		{"keep without clones is the baseline", "fork:p=0.4,r=0", 10, sched.NoLimits(), steps, nil, 20 * s, 36 * s},
		{"p=0 is the baseline", "fork:p=0,r=3,original=kill", 10, sched.NoLimits(), steps, nil, 20 * s, 36 * s},
		// k = 0: at the start, everything twice
		{"p=1", "fork:p=1,r=1", 10, sched.NoLimits(), []sched.Time{1 * s, 9 * s},
			[]string{"0s t0 #1 m5", "0s t1 #1 m6", "0s t2 #1 m7", "0s t3 #1 m8", "0s t4 #1 m9"}, 4 * s, 2*s + 8*4*s},
		// 5 machines, all attempts of the first clone before any second; at 7 s the clones end everything
		{"clones wait for slots", "fork:p=0.4,r=2", 5, sched.NoLimits(), steps,
			[]string{"3s t3 #1 m0", "3s t4 #1 m1", "3s t3 #2 m2"}, 7 * s, 32 * s},
		{"and for the budget", "fork:p=0.4,r=2", 10, sched.Limits{Attempts: 4, Clones: sched.CloneBudget{Floor: 1}}, steps,
			[]string{"3s t3 #1 m0", "7s t4 #1 m0"}, 11 * s, 1*s + 2*s + 3*s + 7*s + 4*s + 11*s + 4*s},
		{"the limit per task drops what it refuses", "fork:p=0.4,r=5", 10, sched.Limits{Attempts: 2, Clones: sched.CloneBudget{Floor: sched.Unlimited}}, steps,
			[]string{"3s t3 #1 m0", "3s t4 #1 m1"}, 7 * s, 28 * s},
		// k = 2, at 2 s. Machine 0 runs tasks 0, 2 and 4 until 1, 4 and 8 s, machine 1 tasks 1 and 3 until 2 and 12 s: the first slot that no task
		// waits for is free at 8 s, and then task 3 gets its clone
		{"fresh tasks first", "fork:p=0.6,r=1", 2, sched.NoLimits(), []sched.Time{1 * s, 2 * s, 3 * s, 10 * s, 4 * s},
			[]string{"8s t3 #1 m0"}, 12 * s, 1*s + 2*s + 3*s + 10*s + 4*s + 4*s},
		// k = 2 and 3: at 2 s tasks 2 to 4 get a clone each, at 3 s task 2 is done and tasks 3 and 4 get a second one. The first end at 6 s: 1+2+3+1 +
		// 2 x (6+4+3)
		{"a second fork", "fork:p=0.6,r=1,p2=0.4,r2=1", 10, sched.NoLimits(), steps,
			[]string{"2s t2 #1 m0", "2s t3 #1 m1", "2s t4 #1 m5", "3s t3 #2 m0", "3s t4 #2 m2"}, 6 * s, 33 * s},
		// at 3 s originals and clones of tasks 3 and 4 are killed, and two new attempts of each start: 1+2+3+1 + 2 x (3+1+4+4)
		{"a second fork that kills", "fork:p=0.6,r=1,p2=0.4,r2=1,original2=kill", 10, sched.NoLimits(), steps,
			[]string{"2s t2 #1 m0", "2s t3 #1 m1", "2s t4 #1 m5", "3s t3 #2 m0", "3s t4 #2 m1", "3s t3 #3 m2", "3s t4 #3 m3"}, 7 * s, 31 * s},
		// with three more slots than tasks the first fork wants nine clones, of which three start; what is left of its wishes ends with the second
		{"a fork that kills forgets what waits", "fork:p=0.6,r=3,p2=0.4,r2=0,original2=kill", 5, sched.NoLimits(), steps,
			[]string{"2s t2 #1 m0", "2s t3 #1 m1", "3s t3 #2 m0", "3s t4 #1 m1"}, 7 * s, 1*s + 2*s + 3*s + 1*s + 2*3*s + 1*s + 2*4*s},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, c.policy, c.limits)
			w.Machines(c.machines)
			w.Submit(0, policytest.Tasks(5))
			w.Fate = policytest.Lasts(4*s, c.lasts...)
			w.Run()
			if diff := cmp.Diff(c.clones, w.Clones()); diff != "" {
				t.Errorf("new attempts (-want +got):\n%s", diff)
			}
			job := w.Core.View().Job(0)
			if cost := job.Fruitful + job.Fruitless; w.Now != c.end || cost != c.cost {
				t.Errorf("ended at %v after %v of machine time, want %v and %v", w.Now, cost, c.end, c.cost)
			}
		})
	}
}

// TestForkCount: k = round(n(1-p)); errata, section 2: floor(n (1-p)) in doubles is wrong for 98,369 pairs.
func TestForkCount(t *testing.T) {
	for n := 1; n <= 1000; n++ {
		for s := 0; s <= n; s++ {
			r := rule.Fork{P: float64(s) / float64(n)}
			at := sched.Stage{Tasks: uint32(n), Done: uint32(n - s)}
			before := at
			before.Done--
			if !forked(r, &at) || s < n && forked(r, &before) {
				t.Fatalf("n=%d p=%d/%d: it does not fork at %d", n, s, n, n-s)
			}
		}
	}
}

// TestForkClosedForm compares simulation with unlimited slots with the closed forms, n = 400. Latency E[T], cost E[C] per task. Exact values for finite n from
// errata.md, section 1 (ShiftedExp: the formulas there; Pareto keep: quadrature, 14.61 and 3.8076; kill: evaluations.md, section 5, T to 0.5 %).
func TestForkClosedForm(t *testing.T) {
	t.Parallel()
	pareto := func(r *rand.Rand) float64 { return 2 * math.Exp(r.ExpFloat64()/2) }
	shifted := func(r *rand.Rand) float64 { return 1 + r.ExpFloat64() }
	h := func(n int) (sum float64) {
		for i := 1; i <= n; i++ {
			sum += 1 / float64(i)
		}
		return sum
	}
	u, series := 1-math.Exp(-1), 0.0
	for i := 1; i <= 40; i++ {
		series += math.Pow(u, float64(i)) / float64(i)
	}
	cases := []struct {
		name, policy string
		draw         func(*rand.Rand) float64
		latency, tol float64
		cost         float64
	}{
		{"Pareto(2,2) keep", "fork:p=0.1,r=1", pareto, 14.61, 0.005, 3.8076},
		{"Pareto(2,2) kill", "fork:p=0.1,r=1,original=kill", pareto, 12.50, 0.0625, 3.901},
		{"ShiftedExp(1,1) keep", "fork:p=0.1,r=1", shifted, 1 + h(400) - h(40) + (h(40)+series)/2, 0, 2 + 0.1*u},
		{"ShiftedExp(1,1) kill", "fork:p=0.1,r=1,original=kill", shifted, 2 + h(400) - h(40) + h(40)/2, 0, 2.2},
	}
	runs := 300
	if testing.Short() {
		runs = 40
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var latency, cost moments
			for run := range uint64(runs) {
				w := on(t, c.policy, sched.NoLimits())
				w.Machine(0, 480)
				w.Submit(0, policytest.Tasks(400))
				w.Fate = func(d *sched.Decision) policytest.Fate {
					return policytest.Fate{Lasts: sched.FromSeconds(c.draw(rand.New(rand.NewPCG(run, uint64(d.Task)<<16|uint64(d.Number)))))}
				}
				w.Run()
				job := w.Core.View().Job(0)
				latency.add(w.Now.Seconds())
				cost.add((job.Fruitful + job.Fruitless).Seconds() / 400)
			}
			latency.expect(t, "latency", c.latency, c.tol)
			cost.expect(t, "cost", c.cost, 0.0005)
		})
	}
}

// moments are those of a sample.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }

// expect fails if the mean is more than five standard errors, and the rounding of the expected value, away.
func (m *moments) expect(t *testing.T, what string, want, rounding float64) {
	t.Helper()
	mean := m.sum / m.n
	se := math.Sqrt((m.squares/m.n - mean*mean) / (m.n - 1))
	if d := math.Abs(mean - want); !(d <= 5*se+rounding) {
		t.Errorf("%s %.4f +- %.4f, want %.4f", what, mean, se, want)
	}
	t.Logf("%s %.4f +- %.4f (%.4f)", what, mean, se, want)
}
