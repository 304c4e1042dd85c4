package policy

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/internal/resume"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// due is a job of n resumable tasks with a deadline.
func due(n int, deadline sched.Time) *sched.JobSpec {
	return &sched.JobSpec{Deadline: deadline, Stages: []sched.StageSpec{{Tasks: n, Resumable: true}}}
}

// orderLines prints launches and kills: instant, task, number, and the fraction from which an attempt goes on.
func orderLines(w *policytest.World, from sched.Time) (all []string) {
	for i := range w.Orders {
		switch d := &w.Orders[i]; {
		case d.At < from:
		case d.Kind == sched.Launch:
			all = append(all, fmt.Sprintf("%v launch t%d #%d from %.2f", d.At, d.Task, d.Number, d.From))
		case d.Kind == sched.Kill && d.Reason != sched.SiblingWon:
			all = append(all, fmt.Sprintf("%v kill t%d #%d", d.At, d.Task, d.Number))
		case d.Kind == sched.Close:
			all = append(all, fmt.Sprintf("%v close %d", d.At, d.Job))
		}
	}
	return all
}

const shedLaw = "law=(pareto:alpha=1.5,xm=120)"

// TestShedAlone: line 5 of Algorithm 1, r = floor((lambda m - N - 1)/N), up to four clones.
func TestShedAlone(t *testing.T) {
	for _, c := range []struct {
		spec      string
		slots, n  int
		want      uint32 // attempts of each task
		wantLimit uint32 // the same where three attempts are allowed
	}{
		{"shed:", 9, 2, 4, 3},
		{"shed:", 8, 2, 3, 3},
		{"shed:", 100, 2, 5, 3},
		{"shed:max_attempts=2,", 100, 2, 2, 2},
		{"shed:lambda=0.5,", 16, 2, 3, 3},
		{"shed:master_slots=0,", 8, 2, 4, 3},
		{"shed:", 8, 10, 2, 2}, // r = -1 in the paper, in waves of four
	} {
		for _, l := range []sched.Limits{sched.NoLimits(), {Attempts: 3, Clones: sched.CloneBudget{Floor: sched.Unlimited}}} {
			w := on(t, c.spec+shedLaw, l)
			w.Machines(c.slots)
			w.Submit(0, due(c.n, 500*sched.Second))
			w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 10 * sched.Second} }
			w.Run()
			want := c.want
			if l.Attempts > 0 {
				want = c.wantLimit
			}
			for task, got := range launchedPerTask(w) {
				if got != want {
					t.Errorf("%s on %d slots, %d tasks: task %d had %d attempts, want %d", c.spec, c.slots, c.n, task, got, want)
				}
			}
		}
	}
}

// TestShedArrival works Algorithm 1 by hand. Job 0 has two tasks, whose originals last 100 s and 200 s and all other attempts 300 s; alone on 12 slots it
// has r = 4. At 60 s, job 1 arrives with three tasks: kappa = 12-5-2 = 5. R_0 = (1-(0.7 x 120/440)^1.5)^2 = 0.840 and R_1 = (1-(120/500)^1.5)^3 = 0.687, so job 1 is
// first, 0.959 then; job 0 takes the last two slots. Of job 0 the originals are ahead, at 0.6 and 0.3, and go on.
func TestShedArrival(t *testing.T) {
	s := sched.Second
	for _, c := range []struct {
		name, spec string
		want       []string
	}{
		{"no time to launch", "", []string{
			"1m0s launch t0 #5 from 0.60", "1m0s launch t1 #5 from 0.30",
		}},
		{"10 s to launch: equations (14) and (15)", ",launch=10s", []string{
			"1m0s launch t0 #5 from 0.70", "1m0s launch t1 #5 from 0.35",
		}},
		{"50 s to launch: the first task will be done", ",launch=50s", []string{
			"1m0s launch t1 #5 from 0.55",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, "shed:"+shedLaw+c.spec, sched.NoLimits())
			w.Machines(12)
			w.Submit(0, due(2, 500*s))
			w.Submit(60*s, due(3, 560*s))
			w.Fate = policytest.Rated(policytest.Lasts(300*s, 100*s, 200*s, 300*s))
			for w.Now < 60*s && w.Step() {
			}
			want := []string{}
			for _, task := range []int{0, 1} {
				for n := 4; n > 0; n-- {
					want = append(want, fmt.Sprintf("1m0s kill t%d #%d", task, n))
				}
			}
			for task := range 3 {
				want = append(want, fmt.Sprintf("1m0s launch t%d #0 from 0.00", 2+task))
			}
			want = append(want, c.want...)
			for task := range 3 {
				want = append(want, fmt.Sprintf("1m0s launch t%d #1 from 0.00", 2+task))
			}
			if diff := cmp.Diff(want, orderLines(w, 60*s)); diff != "" {
				t.Errorf("orders (-want +got):\n%s", diff)
			}
		})
	}
}

// TestShedLate: a job past its deadline is killed when the next one arrives, line 2 of Algorithm 1, or goes on without clones; by
// default it has those for which slots are left: none beside job 1 and two masters, one when that is done.
func TestShedLate(t *testing.T) {
	s := sched.Second
	for spec, want := range map[string][]string{
		"shed:late=kill,":   {"2m30s kill t0 #1", "2m30s kill t0 #0", "2m30s close 0", "2m30s launch t1 #0 from 0.00", "2m30s launch t1 #1 from 0.00", "2m40s close 1"},
		"shed:late=demote,": {"2m30s kill t0 #1", "2m30s launch t1 #0 from 0.00", "2m40s close 1", "5m0s close 0"},
		"shed:":             {"2m30s kill t0 #1", "2m30s launch t1 #0 from 0.00", "2m40s close 1", "2m40s launch t0 #2 from 0.00", "5m0s close 0"},
	} {
		w := on(t, spec+"max_attempts=2,"+shedLaw, sched.NoLimits())
		w.Machines(3)
		w.Submit(0, due(1, 130*s))
		w.Submit(150*s, due(1, 1000*s))
		w.Fate = policytest.Lasts(300*s, 300*s, 10*s)
		w.Run()
		if diff := cmp.Diff(want, orderLines(w, 1)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}

// TestShedQueue: what does not fit waits, and nobody passes it (kappa < 0). On four slots job 0 takes three and one for its master; job 1 needs three, so it
// starts when job 0 is done at 40 s, and job 2, which needs two, only when a task of job 1 is.
func TestShedQueue(t *testing.T) {
	s := sched.Second
	w := on(t, "shed:"+shedLaw, sched.NoLimits())
	w.Machines(4)
	for i, n := range []int{3, 2, 1} {
		w.Submit(sched.Time(i)*10*s, due(n, 1000*s))
	}
	w.Fate = policytest.Lasts(1000*s, 20*s, 30*s, 40*s, 10*s, 20*s, 5*s)
	w.Run()
	starts := map[sched.TaskID]sched.Time{}
	for _, d := range w.Orders {
		if d.Kind == sched.Launch && d.Number == 0 {
			starts[d.Task] = d.At
		}
	}
	if diff := cmp.Diff(map[sched.TaskID]sched.Time{0: 0, 1: 0, 2: 0, 3: 40 * s, 4: 40 * s, 5: 50 * s}, starts); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}
}

// TestShedKeepsTheForemost: of several attempts the one that has done most goes on, wherever it began; one that has not begun is not it.
func TestShedKeepsTheForemost(t *testing.T) {
	r := resume.NewResuming(10 * sched.Second)
	s := sched.Second
	for _, c := range []struct {
		name string
		a, b sched.Attempt // a goes on
	}{
		{"further", sched.Attempt{Progress: 0.5, ProgressAt: 50 * s, Number: 1}, sched.Attempt{Progress: 0.4, ProgressAt: 50 * s}},
		{"further by now", sched.Attempt{Progress: 0.5, ProgressAt: 60 * s, Number: 1}, sched.Attempt{Progress: 0.55, ProgressAt: 100 * s}},
		{"faster", sched.Attempt{Progress: 0.5, Rate: 0.01, ProgressAt: 60 * s, Number: 1}, sched.Attempt{Progress: 0.5, Rate: 0.005, ProgressAt: 60 * s}},
		{"as far: the older", sched.Attempt{}, sched.Attempt{Number: 1}},
		{"begun", sched.Attempt{Progress: 0.1, ProgressAt: 100 * s}, sched.Attempt{From: 0.3, Progress: 0.3, Started: 95 * s, ProgressAt: 95 * s, Number: 1}},
	} {
		if r.Compare(&c.a, &c.b, 100*s) <= 0 || r.Compare(&c.b, &c.a, 100*s) >= 0 {
			t.Errorf("%s: the wrong one goes on", c.name)
		}
	}
}
