package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestChronos has hand-worked runs of a job of two tasks with a deadline of 100 s: tau_est is 30 s, tau_kill 60 s. The original of task 0 lasts 90 s, that of
// task 1, the straggler, 200 s: at tau_est it has done 0.15. All other attempts of a whole task would last 80 s, so that one that resumes at tau_est lasts 68 s.
func TestChronos(t *testing.T) {
	s := sched.Second
	for _, c := range []struct {
		name, spec string
		want       []string
	}{
		{"clone", "chronos-clone:clones=1", []string{
			"0s launch t0 #0 from 0.00", "0s launch t0 #1 from 0.00", "0s launch t1 #0 from 0.00", "0s launch t1 #1 from 0.00",
			"1m0s kill t0 #0", "1m0s kill t1 #0", "1m20s close 0",
		}},
		{"restart: the first to be done at tau_kill is the clone", "chronos-restart:clones=2", []string{
			"0s launch t0 #0 from 0.00", "0s launch t1 #0 from 0.00",
			"30s launch t1 #1 from 0.00", "30s launch t1 #2 from 0.00",
			"1m0s kill t1 #2", "1m0s kill t1 #0", "1m50s close 0",
		}},
		{"resume: r+1 attempts", "chronos-resume:clones=1", []string{
			"0s launch t0 #0 from 0.00", "0s launch t1 #0 from 0.00",
			"30s kill t1 #0", "30s launch t1 #1 from 0.15", "30s launch t1 #2 from 0.15",
			"1m0s kill t1 #2", "1m38s close 0",
		}},
		{"later: less is left", "chronos-resume:clones=0,detect=0.8,kill=0.8", []string{
			"0s launch t0 #0 from 0.00", "0s launch t1 #0 from 0.00",
			"1m20s kill t1 #0", "1m20s launch t1 #1 from 0.40", "2m8s close 0",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, c.spec, sched.NoLimits())
			w.Machines(8)
			w.Submit(0, due(2, 100*s))
			w.Fate = policytest.Rated(policytest.Lasts(80*s, 90*s, 200*s))
			w.Run()
			if diff := cmp.Diff(c.want, orderLines(w, 0)); diff != "" {
				t.Errorf("orders (-want +got):\n%s", diff)
			}
		})
	}
}

// TestChronosChooses: r is the one of largest net utility, plan.Chronos, and none without a deadline.
func TestChronosChooses(t *testing.T) {
	s := sched.Second
	law := ",law=(pareto:alpha=1.5,xm=120)"
	for _, c := range []struct {
		spec     string
		deadline sched.Time
		want     uint32 // attempts of each of ten tasks
	}{
		{"chronos-clone:price=0" + law, 500 * s, 5}, // free: as many as allowed
		{"chronos-clone:price=0,max_attempts=3" + law, 500 * s, 3},
		{"chronos-clone:price=1" + law, 500 * s, 1},
		{"chronos-clone:price=0" + law, 0, 1},
		{"chronos-clone:price=0" + law, 100 * s, 1}, // no chance
		{"chronos-clone:clones=2", 500 * s, 3},
	} {
		w := on(t, c.spec, sched.NoLimits())
		w.Machines(60)
		w.Submit(0, due(10, c.deadline))
		w.Fate = policytest.Lasts(10*s, 10*s)
		w.Run()
		for task, got := range launchedPerTask(w) {
			if got != c.want {
				t.Errorf("%s, deadline %v: task %d had %d attempts, want %d", c.spec, c.deadline, task, got, c.want)
			}
		}
	}
}
