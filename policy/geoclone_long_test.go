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

// TestGeocloneAtScale checks what GeoClone's decisions cost in the largest world of its paper (section VI-A): 500 sites, 150,000 slots, Facebook-like jobs at the highest rate, 0.15 jobs
// per second for each 30,000 slots. Between decisions are 5 s; while jobs arrive one may take 2 ms of processor time in the mean and 100 ms at most with four attempts of a task, and a run of 2,000 jobs 60 s. The printed rule starts hundreds of
// attempts of a task, 150,000 at once when the first jobs come: its bound is on what a launch takes, the core's part included.
func TestGeocloneAtScale(t *testing.T) {
	const jobs = 2000
	w, err := (&trace.MontageJobs{Jobs: jobs, Mix: "facebook", Rate: 0.15 * 150_000 / 30_000, Scale: 19, Seed: 1}).Workload("scale")
	if err != nil {
		t.Fatal(err)
	}
	c, err := sim.LoadCluster("synth:waxman;sites=500;slots=150000;skew=1", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		spec   string
		clones int // at least, per task

		mean, longest, launch time.Duration // at most; 0 for no bound
	}{{"geoclone:stop=best", 20, 0, 0, 20 * time.Microsecond}, {"geoclone:stop=best,copies=4", 2, 2 * time.Millisecond, 100 * time.Millisecond, 0}} {
		inner, err := policy.New(x.spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		p := &stopwatch{Policy: inner, until: w.Jobs[jobs-1].Arrival, slot: 5 * sched.Second}
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
		if n := res.Stats().Clones; len(res.Jobs) != jobs || p.slots < 500 || n < x.clones*len(w.Durations) {
			t.Errorf("%s: %d jobs, %d decisions, %d clones of %d tasks: too little happened to be measured", x.spec, len(res.Jobs), p.slots, n, len(w.Durations))
		}
		launch := p.spent / time.Duration(max(1, p.launches))
		t.Logf("%s: %v for each of %d launches", x.spec, launch, p.launches)
		if x.mean > 0 && (mean > x.mean || p.longest > x.longest) || x.launch > 0 && launch > x.launch || took > time.Minute {
			t.Errorf("%s: a decision takes %v in the mean and %v at most, want %v and %v; a launch %v, want %v; the run %v, want at most 60 s", x.spec, mean, p.longest, x.mean, x.longest, launch, x.launch, took)
		}
	}
}
