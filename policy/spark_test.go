package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestSparkThreshold has hand-worked examples of digest section 15. Ten tasks run at once; the first nine last 1 s to 9 s unless said
// otherwise, task 9 lasts 100 s; clones last 1 s.
func TestSparkThreshold(t *testing.T) {
	s := sched.Second
	steps := []sched.Time{1 * s, 2 * s, 3 * s, 4 * s, 5 * s, 6 * s, 7 * s, 8 * s, 9 * s, 100 * s}
	ms := func(n int) sched.Time { return sched.Time(n) * sched.Millisecond }
	cases := []struct {
		name, policy string
		lasts        []sched.Time
		want         []string
	}{
		// nine finished at 9 s, median 5 s, threshold 15 s; strictly longer: seen at the check of 15.1 s
		{"Spark 4", "spark", steps, []string{"15.1s t9 #1 m0"}},
		// seven finished at 7 s, median 4 s, threshold 6 s: tasks 7 to 9 have run 7 s, oldest first; the machines of tasks 0, 1, 2 are free
		{"Spark 3", "spark3", steps, []string{"7s t7 #1 m0", "7s t8 #1 m1", "7s t9 #1 m2"}},
		// eight finished at 8 s: the upper of the middle two, 5 s, threshold 8 s; 9 s for task 8 comes before... at 8.1 s both 8 and 9 are above
		{"upper median", "spark:quantile=0.8,multiplier=1.6", steps, []string{"8.1s t8 #1 m0", "8.1s t9 #1 m1"}},
		{"a longer interval", "spark:interval=10s", steps, []string{"20s t9 #1 m0"}},
		{"min_runtime", "spark:min_runtime=30s", steps, []string{"30.1s t9 #1 m0"}},
		// threshold max(3 x 10 ms, 100 ms): above it at 100 ms + 1 ns, seen at 200 ms
		{"short tasks", "spark", []sched.Time{ms(10), ms(10), ms(10), ms(10), ms(10), ms(10), ms(10), ms(10), ms(10), 100 * s},
			[]string{"200ms t9 #1 m0"}},
		{"quantile not reached", "spark:quantile=1", steps, nil},
		{"task_threshold is for stages that fit one machine", "spark:quantile=1,task_threshold=2s", steps, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, c.policy, sched.NoLimits())
			w.Machines(10)
			w.Submit(0, policytest.Tasks(10))
			w.Fate = policytest.Lasts(s, c.lasts...)
			w.Run()
			if diff := cmp.Diff(c.want, w.Clones()); diff != "" {
				t.Errorf("clones (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSparkSingleTask: one task is never judged by the median, only by task_threshold.
func TestSparkSingleTask(t *testing.T) {
	for policy, want := range map[string][]string{
		"spark:quantile=0,multiplier=0":                  nil,
		"spark:task_threshold=2s":                        {"2.1s t0 #1 m1"},
		"spark:task_threshold=2s,order=fair,interval=3s": {"3s t0 #1 m1"},
	} {
		w := on(t, policy, sched.NoLimits())
		w.Machines(2)
		w.Submit(0, policytest.Tasks(1))
		w.Fate = policytest.Lasts(sched.Second, 10*sched.Second)
		w.Run()
		if diff := cmp.Diff(want, w.Clones()); diff != "" {
			t.Errorf("%s: clones (-want +got):\n%s", policy, diff)
		}
	}
}

// TestSparkHosts: the clone waits for a machine that never ran the task, however long another slot of its own machine is free, unless there is
// no other machine.
func TestSparkHosts(t *testing.T) {
	for _, c := range []struct {
		machines int
		want     []string
	}{
		// machine 0 runs tasks 0 and 1, machine 1 tasks 2 and 3. Task 1 is marked at 3.1 s; slots are free on machine 0 from 1 s, on machine 1
		// from 50 s, when the other job is done.
		{2, []string{"50s t1 #1 m1"}},
		{1, []string{"3.1s t1 #1 m0"}},
	} {
		w := on(t, "spark:quantile=0.5", sched.NoLimits())
		for range c.machines {
			w.Machine(0, 2)
		}
		w.Submit(0, policytest.Tasks(2))
		if c.machines == 2 {
			w.Submit(0, policytest.Tasks(2))
		}
		s := sched.Second
		w.Fate = policytest.Lasts(s, s, 100*s, 50*s, 51*s)
		w.Run()
		if diff := cmp.Diff(c.want, w.Clones()[:1]); diff != "" {
			t.Errorf("%d machines: clones (-want +got):\n%s", c.machines, diff)
		}
	}
}

// TestSparkAtMostTwo: a task has two attempts at most, and the survivor of two is judged anew.
func TestSparkAtMostTwo(t *testing.T) {
	w := on(t, "spark:quantile=0.5", sched.NoLimits())
	w.Machines(5)
	w.Submit(0, &sched.JobSpec{Retries: 9, Stages: []sched.StageSpec{{Tasks: 2}}})
	w.Fate = func(d *sched.Decision) policytest.Fate {
		if d.Task == 0 {
			return policytest.Fate{Lasts: sched.Second}
		}
		return policytest.Fate{Lasts: []sched.Time{5 * sched.Second, 100 * sched.Second}[min(d.Number, 1)], Fails: d.Number == 0}
	}
	w.Run()
	// marked at 3.1 s; the original fails at 5 s, and the clone is above the threshold 3 s after its start
	want := []string{"3.1s t1 #1 m0", "6.2s t1 #2 m2"}
	if diff := cmp.Diff(want, w.Clones()); diff != "" {
		t.Errorf("clones (-want +got):\n%s", diff)
	}
}

// TestSparkAfterAFailedClone: there is no second one.
func TestSparkAfterAFailedClone(t *testing.T) {
	w := on(t, "spark:quantile=0.5", sched.NoLimits())
	w.Machines(5)
	w.Submit(0, &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 2}}})
	w.Fate = func(d *sched.Decision) policytest.Fate {
		if d.Task == 0 {
			return policytest.Fate{Lasts: sched.Second}
		}
		return policytest.Fate{Lasts: []sched.Time{100 * sched.Second, 2 * sched.Second}[min(d.Number, 1)], Fails: d.Number > 0}
	}
	w.Run()
	if diff := cmp.Diff([]string{"3.1s t1 #1 m0"}, w.Clones()); diff != "" {
		t.Errorf("clones (-want +got):\n%s", diff)
	}
}
