package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

func candidate(name string, p sched.Policy) Candidate {
	return Candidate{Name: name, New: func(uint64) (sched.Policy, error) { return p, nil }}
}

func experiment(t *testing.T) *Experiment {
	return &Experiment{
		Workload: synth(t, busy), Runs: 5, Options: Options{Machines: 20, Limits: sched.DefaultLimits(), Model: model(t, "pareto:alpha=1.5,xm=10"), Seed: 9},
		Policies: []Candidate{candidate("plain", greedy{}), candidate("clones", greedy{clones: true})},
	}
}

// TestExperimentIsRuns: every cell is what Run says by itself, and is delivered once, in order.
func TestExperimentIsRuns(t *testing.T) {
	e := experiment(t)
	next := 0
	e.Done = func(c *Cell, jobs []JobResult) error {
		if c.Policy*e.Runs+c.Run != next {
			t.Errorf("policy %d, run %d delivered in place %d", c.Policy, c.Run, next)
		}
		next++
		o := e.Options
		o.Seed = RunSeed(9, c.Run)
		alone := simulate(t, e.Workload, greedy{clones: c.Policy == 1}, o)
		if d := cmp.Diff(alone.Jobs, jobs); d != "" {
			t.Errorf("policy %d, run %d: %s", c.Policy, c.Run, d)
		}
		if c.Stats != alone.Stats() || c.Events != alone.Events {
			t.Errorf("policy %d, run %d: %+v, want %+v", c.Policy, c.Run, c.Stats, alone.Stats())
		}
		return nil
	}
	x, err := e.Run(t.Context())
	if err != nil || next != 10 || len(x.Cells) != 10 {
		t.Errorf("%d cells delivered, %d returned, %v", next, len(x.Cells), err)
	}
}

// TestExperimentOnAnyNumberOfProcessors is under the race detector also the test that runs share nothing that changes, whatever the service.
func TestExperimentOnAnyNumberOfProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, service := range []string{
		"resample", "law", "sx", "machine:keep=1m", "capacity:law=(uniform:lo=0,hi=2)", "capacity:law=(twopoint:lo=0.2,hi=2,p=0.5),checkpoint=true",
	} {
		e := experiment(t)
		e.Runs, e.Options.Model = 3, model(t, service)
		e.Options.Faults = Faults{MTBF: 200 * sched.Second, MTTR: 20 * sched.Second}
		run := func(processors int) *Comparison {
			runtime.GOMAXPROCS(processors)
			x, err := e.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		if d := cmp.Diff(run(7), run(1), cmpopts.IgnoreFields(Cell{}, "Wall")); d != "" {
			t.Errorf("%s: %s", service, d)
		}
	}
}

// TestPairedDifferences: the mean of the differences is the difference of the means, and with common random numbers
// its interval is narrower than that of independent runs would be, the root of the sum of squares.
func TestPairedDifferences(t *testing.T) {
	e := experiment(t)
	e.Runs = 20
	x, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, b, d := x.Mean(0, MeanFlow), x.Mean(1, MeanFlow), x.Difference(1, 0, MeanFlow)
	if math.Abs(d.Mean-(b.Mean-a.Mean)) > 1e-9 || d.Mean >= 0 {
		t.Errorf("difference %v of %v and %v; clones should help", d.Mean, b.Mean, a.Mean)
	}
	if independent := math.Hypot(a.Half, b.Half); d.Half >= independent {
		t.Errorf("the paired interval ± %v is no narrower than ± %v", d.Half, independent)
	}
	if self := x.Difference(0, 0, MeanFlow); self.Mean != 0 || self.Half != 0 {
		t.Errorf("a policy differs from itself by %v", self)
	}
}

// TestRedraw: runs have workloads of their own, the same for all policies; with SameLuck they differ in nothing else.
func TestRedraw(t *testing.T) {
	e := experiment(t)
	e.Runs = 3
	var used [2][3]uint64
	e.Policies = []Candidate{candidate("plain", greedy{}), candidate("plain again", greedy{})}
	e.Redraw = func(seed uint64) (*trace.Workload, error) { return e.Workload.Resample(seed), nil }
	for k, same := range []bool{false, true} {
		e.SameLuck = same
		x, err := e.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for run := range 3 {
			a, b := x.Of(0)[run], x.Of(1)[run]
			if a.Stats != b.Stats {
				t.Errorf("run %d: policies met different workloads: %+v and %+v", run, a.Stats, b.Stats)
			}
			used[k][run] = math.Float64bits(a.MeanFlow)
			o := e.Options
			if o.Seed = RunSeed(9, run); same {
				o.Seed = RunSeed(9, 0)
			}
			if alone := simulate(t, e.Workload.Resample(RunSeed(9, run)), greedy{}, o); alone.Stats() != a.Stats {
				t.Errorf("run %d: %+v, want %+v", run, a.Stats, alone.Stats())
			}
		}
		if used[k][0] == used[k][1] || used[k][1] == used[k][2] {
			t.Errorf("runs have the same workload")
		}
	}
	wrong := errors.New("no workload")
	e.Redraw = func(uint64) (*trace.Workload, error) { return nil, wrong }
	if _, err := e.Run(t.Context()); err != wrong {
		t.Errorf("%v, want %v", err, wrong)
	}
}

func TestExperimentFails(t *testing.T) {
	full := errors.New("disk full")
	e := experiment(t)
	e.Done = func(c *Cell, _ []JobResult) error {
		if c.Policy == 1 {
			return full
		}
		return nil
	}
	if _, err := e.Run(t.Context()); err != full {
		t.Errorf("error %v, want that of Done", err)
	}
	e = experiment(t)
	e.Policies[1] = candidate("idler", lazy{})
	if _, err := e.Run(t.Context()); !errors.Is(err, ErrStuck) || fmt.Sprint(err)[:7] != "idler: " {
		t.Errorf("error %v, want who is stuck", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	e = experiment(t)
	e.Options.Tick = func(int) { cancel() }
	if x, err := e.Run(ctx); err != context.Canceled || x != nil {
		t.Errorf("cancelled: %v, %v", x, err)
	}
}
