//go:build long && unix

package policy_test

import (
	"context"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/cputime"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// stopwatch is a policy whose decisions are timed, in processor time, until an instant: when jobs come no more there is less and less to decide.
type stopwatch struct {
	sched.Policy
	until   sched.Time
	slot    sched.Time // time between decisions
	spent   time.Duration
	slots   int // of time in which it was asked
	last    sched.Time
	longest time.Duration

	launches int // a decision only launches
}

func (p *stopwatch) Decide(v *sched.View, act *sched.Actions) {
	live, begin := v.Cluster().Live(), cputime.Used()
	p.Policy.Decide(v, act)
	took := cputime.Used() - begin
	if v.Now() > p.until {
		return
	}
	p.spent += took
	p.launches += int(v.Cluster().Live() - live)
	p.longest = max(p.longest, took)
	if slot := v.Now() / p.slot; p.slots == 0 || slot > p.last {
		p.slots, p.last = p.slots+1, slot
	}
}

// TestGeocloneAtScale checks what GeoClone's decisions cost in the largest world of its paper (section VI-A): 500 sites,
// 150,000 slots, Facebook-like jobs at the highest rate, 0.15 jobs per second for each 30,000 slots, 2,000 of them.
// Between decisions are 5 s. While jobs arrive, one may take 2 ms of processor time on average and 100 ms at most, the
// core's part included, and the run a minute. stop=best starts hundreds of attempts of a task, 78,683 at once when the
// first job comes: its bound is on what a launch takes, and 60 jobs say it. That decisions are those of a slow
// search is in TestGeocloneTies and the oracles.
func TestGeocloneAtScale(t *testing.T) {
	c, err := sim.LoadCluster("synth:waxman;sites=500;slots=150000;skew=1", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		spec   string
		jobs   int
		clones int // at least, per task

		mean, longest, launch time.Duration // at most; 0 for no bound
	}{
		{"geoclone", 2000, 5, 2 * time.Millisecond, 100 * time.Millisecond, 0},
		{"geoclone:copies=4", 2000, 2, 2 * time.Millisecond, 100 * time.Millisecond, 0},
		{"geoclone:stop=best", 60, 20, 0, 0, 10 * time.Microsecond},
	} {
		w, err := (&trace.MontageJobs{Jobs: x.jobs, Mix: "facebook", Rate: 0.15 * 150_000 / 30_000, Scale: 19, Seed: 1}).Workload("scale")
		if err != nil {
			t.Fatal(err)
		}
		inner, err := policy.New(x.spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		p := &stopwatch{Policy: inner, until: w.Jobs[x.jobs-1].Arrival, slot: 5 * sched.Second}
		start := cputime.Used()
		res, err := sim.Run(context.Background(), w, p, sim.Options{Cluster: c, Limits: sched.NoLimits(), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		took := cputime.Used() - start
		mean := p.spent / time.Duration(p.slots)
		t.Logf("%s: %v of processor time, %d decisions of %v in the mean, the longest call %v, %d attempts", x.spec, took, p.slots, mean, p.longest, res.Stats().Attempts)
		for i := range res.Jobs {
			if j := &res.Jobs[i]; j.Failed || j.Completion <= j.Arrival {
				t.Fatalf("%s: job %d is not done", x.spec, i)
			}
		}
		if n := res.Stats().Clones; len(res.Jobs) != x.jobs || p.slots < x.jobs/5 || n < x.clones*len(w.Durations) {
			t.Errorf("%s: %d jobs, %d decisions, %d clones of %d tasks: too little happened to be measured", x.spec, len(res.Jobs), p.slots, n, len(w.Durations))
		}
		launch := p.spent / time.Duration(max(1, p.launches))
		t.Logf("%s: %v for each of %d launches", x.spec, launch, p.launches)
		if x.mean > 0 && (mean > x.mean || p.longest > x.longest) || x.launch > 0 && launch > x.launch || took > time.Minute {
			t.Errorf("%s: a decision takes %v in the mean and %v at most, want %v and %v; a launch %v, want %v; the run %v, want at most 60 s", x.spec, mean, p.longest, x.mean, x.longest, launch, x.launch, took)
		}
	}
}
