package policy

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestPareto: moments of the fitted law, and the formulas of digest section 20. The mean maximum of n Pareto(2, 2) is in errata.md, section 1, row 9.
func TestPareto(t *testing.T) {
	for _, c := range [][2]float64{{10, 1}, {10, 10}, {1246.7, 4000}} {
		p := kit.FitPareto(c[0], c[1])
		near(t, "mean", p.Mu*p.Alpha/(p.Alpha-1), c[0], 1e-9*c[0])
		near(t, "sd", p.Mu/(p.Alpha-1)*math.Sqrt(p.Alpha/(p.Alpha-2)), c[1], 1e-9*c[1])
		near(t, "one task", p.Longest(3, 1), p.Shortest(3), 1e-9*c[0])
	}
	p := kit.Pareto{Alpha: 2, Mu: 2}
	near(t, "shortest of 1", p.Shortest(1), 4, 1e-12)
	near(t, "shortest of 2", p.Shortest(2), 8.0/3, 1e-12)
	near(t, "longest of 100", p.Longest(1, 100), 35.493, 5e-4)
	near(t, "longest of 400", p.Longest(1, 400), 70.920, 5e-4)
	near(t, "longest of 1000", p.Longest(1, 1000), 112.114, 5e-4)
	certain := kit.FitPareto(7, 0)
	near(t, "always 7 s", certain.Longest(2, 50)+certain.Shortest(2), 14, 0)
}

// TestStragglerAge: digest section 21, 1 + sqrt(2)/2 for alpha = 2. Otherwise by the definition, with E[min(w, x)] as the integral of the survival.
func TestStragglerAge(t *testing.T) {
	near(t, "alpha = 2", kit.Pareto{Alpha: 2, Mu: 1}.StragglerAge(), 1+math.Sqrt2/2, 1e-10)
	near(t, "always the same", kit.FitPareto(5, 0).StragglerAge(), 2, 0)
	for _, alpha := range []float64{1.5, 2.5, 3, 10, 100} {
		w, mu := kit.Pareto{Alpha: alpha, Mu: 1}.StragglerAge(), (alpha-1)/alpha
		const steps = 200_000
		sum := mu
		for i := range steps {
			sum += math.Pow(mu/(mu+(w-mu)*(float64(i)+0.5)/steps), alpha) * (w - mu) / steps
		}
		near(t, "w", w, 2*sum, 1e-6)
	}
}

// spread returns a job of n tasks with a Pareto law of index 3: a mean of 10 s, mu = 20/3 s.
func spread(n int) *sched.JobSpec {
	return &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: n, Mean: 10 * sched.Second, SD: sched.FromSeconds(10 / math.Sqrt(3))}}}
}

// oneOrNine returns a job of n tasks that last 1 or 9 s, as the scheduler knows.
func oneOrNine(n int) *sched.JobSpec {
	s := sched.Second
	return &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: n, Mean: 5 * s, SD: 4 * s, Sample: []sched.Time{9 * s, s}}}}
}

// launchedPerTask returns the attempts that each task had in all.
func launchedPerTask(w *policytest.World) (all []uint32) {
	v := w.Core.View()
	for t := range v.Rows().Tasks() {
		all = append(all, v.Task(sched.TaskID(t)).Launched)
	}
	return all
}

// TestSCA has hand-worked examples of digest section 20. For one task f(c) = 20/3 x 3c/(3c-1): 10, 8, 7.5, 7.27, 7.14, 7.06, 7 s; the objective is
// f(c) (1 + gamma c): at gamma = 0.01 10.1, 8.16, 7.73, 7.56, 7.5, 7.48, 7.49, so six attempts are best, at gamma = 0.1 11, 9.6, 9.75, so two are.
func TestSCA(t *testing.T) {
	s := sched.Second
	cases := []struct {
		policytest.Story
		want []uint32
	}{
		{policytest.Story{Name: "alone", Policy: "sca", Machines: 20, Jobs: []*sched.JobSpec{spread(1)}}, []uint32{6}},
		{policytest.Story{Name: "dear machines", Policy: "sca:gamma=0.1", Machines: 20, Jobs: []*sched.JobSpec{spread(1)}}, []uint32{2}},
		{policytest.Story{Name: "r", Policy: "sca:copies=3", Machines: 20, Jobs: []*sched.JobSpec{spread(1)}}, []uint32{3}},
		{policytest.Story{Name: "slots", Policy: "sca", Machines: 4, Jobs: []*sched.JobSpec{spread(1)}}, []uint32{4}},
		{policytest.Story{Name: "all tasks alike", Policy: "sca", Machines: 5, Jobs: []*sched.JobSpec{spread(2)}}, []uint32{2, 2}},
		{policytest.Story{Name: "as many tasks as slots", Policy: "sca", Machines: 3, Jobs: []*sched.JobSpec{spread(3)}}, []uint32{1, 1, 1}},
		// the first clone of the single task saves 1.94 a slot; then each of its further ones less than what the pair's first saves: with x = 1/(3c), f(c) = 20/3 x
		// 2 / ((1-x) (2-x)): 12 and 9.09 s, (12 - 9.09 + 0.02 (10 - 2 x 8))/2 = 1.39; 0.435 for the single task's second, which does not fit any more
		{policytest.Story{Name: "the largest gain per slot", Policy: "sca", Machines: 6, Jobs: []*sched.JobSpec{spread(2), spread(1)}}, []uint32{2, 2, 2}},
		{policytest.Story{Name: "nothing known, no clones", Policy: "sca", Machines: 20, Jobs: []*sched.JobSpec{policytest.Tasks(2)}}, []uint32{1, 1}},
		// one of 1 and 9 s: f(c) = 1 + 8/2^c, times 1 + c/10: 5.5, 3.6, 2.6, 2.1, 1.875, 1.8, 1.806, so six attempts; the Pareto law of these moments, of index 2.6, has
		// 5.5, 4.57, 4.59, so two
		{policytest.Story{Name: "its own law", Policy: "sca:gamma=0.1", Machines: 20, Jobs: []*sched.JobSpec{oneOrNine(1)}}, []uint32{6}},
		{policytest.Story{Name: "a Pareto law instead", Policy: "sca:gamma=0.1,law=pareto", Machines: 20, Jobs: []*sched.JobSpec{oneOrNine(1)}}, []uint32{2}},
		{policytest.Story{Name: "no spread, no clones", Policy: "sca", Machines: 20, Jobs: []*sched.JobSpec{known(2, 10*s)}}, []uint32{1, 1}},
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			c.Lasts, c.Again = []sched.Time{10 * s}, 10*s
			if diff := cmp.Diff(c.want, launchedPerTask(played(t, &c.Story))); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSCAOrder: more tasks than slots. Stages that have begun go first, then the smallest workload. Job 0 is 4 tasks, job 1 is 3, which start at 0; job 2
// arrives with one task at 5 s.
func TestSCAOrder(t *testing.T) {
	w := on(t, "sca", sched.NoLimits())
	w.Machines(2)
	w.Submit(0, spread(4))
	w.Submit(0, spread(3))
	w.Submit(5*sched.Second, spread(1))
	w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 10 * sched.Second} }
	w.Run()
	if diff := cmp.Diff([]sched.TaskID{4, 5, 6, 7, 0, 1, 2, 3}, w.Launches()); diff != "" {
		t.Errorf("launched (-want +got):\n%s", diff)
	}
}

// TestESE has hand-worked examples of digest section 21. A stage of mean 10 s that does not vary: sigma* = 2, so a task is late while it has more than 20 s left.
func TestESE(t *testing.T) {
	s := sched.Second
	tellAll(t, []policytest.Story{
		{Name: "late at once", Policy: "ese", Machines: 4, Jobs: []*sched.JobSpec{known(2, 10*s)}, Lasts: []sched.Time{10 * s, 26 * s}, Again: 10 * s, Rate: true,
			Want: []string{"5s t1 #1 m2"}},
		{Name: "not late at the next slot", Policy: "ese", Machines: 4, Jobs: []*sched.JobSpec{known(2, 10*s)}, Lasts: []sched.Time{10 * s, 25 * s}, Again: 10 * s, Rate: true},
		{Name: "sigma", Policy: "ese:sigma=1", Machines: 4, Jobs: []*sched.JobSpec{known(2, 10*s)}, Lasts: []sched.Time{10 * s, 16 * s}, Again: 10 * s, Rate: true,
			Want: []string{"5s t1 #1 m2"}},
		{Name: "largest t_rem first, before waiting tasks", Policy: "ese:slot=10s", Machines: 3, Jobs: []*sched.JobSpec{known(4, 10*s)},
			Lasts: []sched.Time{10 * s, 45 * s, 50 * s, 10 * s}, Again: 10 * s, Rate: true, Want: []string{"10s t2 #1 m0", "20s t1 #1 m0"}},
		{Name: "two attempts at most", Policy: "ese:slot=0s", Machines: 9, Jobs: []*sched.JobSpec{known(1, 10*s)}, Lasts: []sched.Time{100 * s}, Again: 90 * s, Rate: true,
			Want: []string{"0s t0 #1 m1"}},
		{Name: "no reports", Policy: "ese", Machines: 4, Jobs: []*sched.JobSpec{known(2, 10*s)}, Lasts: []sched.Time{10 * s, 100 * s}, Again: 10 * s,
			Want: []string{"35s t1 #1 m0"}}, // looks at 10, 20 and 35 s, where t_rem is the age; sigma* E[x] is 20 s
	})
}

// TestESESmall: a small stage gets the attempts that are best for it alone, six as in TestSCA: fewer than 0.1 x 20/1 = 2 tasks. Two stages, and it
// is not small: 0.1 x 20/2 = 1. For two tasks the objective is 8.104 with five attempts and 8.108 with six.
func TestESESmall(t *testing.T) {
	cases := []struct {
		policytest.Story
		want []uint32
	}{
		{policytest.Story{Name: "small", Policy: "ese", Machines: 20, Jobs: []*sched.JobSpec{spread(1)}}, []uint32{6}},
		{policytest.Story{Name: "not so small", Policy: "ese", Machines: 20, Jobs: []*sched.JobSpec{spread(2)}}, []uint32{1, 1}},
		{policytest.Story{Name: "eta", Policy: "ese:eta=0.2", Machines: 20, Jobs: []*sched.JobSpec{spread(2)}}, []uint32{5, 5}},
		{policytest.Story{Name: "two of them", Policy: "ese", Machines: 20, Jobs: []*sched.JobSpec{spread(1), spread(1)}}, []uint32{1, 1}},
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			c.Lasts, c.Again = []sched.Time{10 * sched.Second}, 10*sched.Second
			if diff := cmp.Diff(c.want, launchedPerTask(played(t, &c.Story))); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
		})
	}
}
