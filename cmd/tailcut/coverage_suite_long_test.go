//go:build long

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/simulation"
	"github.com/tailcut/tailcut/internal/suite"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// TestCoverageOfSuite counts how often intervals cover in the worlds of the declared suite whose repetitions are quick, those of recorded traces among
// them. The rules of warning were chosen without them, but for the arrays that TestCoverage has. docs/explain/coverage-suite.md shows what comes out by
// family; -rewrite writes it.

const (
	suiteRuns     = 200  // of each policy in a world
	largeRuns     = 100  // in one of more than largeWorld tasks
	largeWorld    = 2000 // tasks
	largestWorld  = 5000 // beyond which only the smallest of a family are simulated
	leastOfFamily = 3    // worlds that are simulated however large they are
)

// others are the means of all runs but those of an experiment: what its intervals should cover. They are known less well than those of TestCoverage, so
// that intervals seem to cover a little less often than they do: by one percent for normal means, in large worlds by two.
type others struct{ mean, p99, ratio float64 }

func truthOf(x *sim.Comparison, policy, from, to int) (o others) {
	first := 0.0
	for k := range x.Runs {
		if from <= k && k < to {
			continue
		}
		c := &x.Of(policy)[k]
		o.mean += c.MeanFlow
		o.p99 += c.P99Flow
		first += x.Of(0)[k].MeanFlow
	}
	n := float64(x.Runs - (to - from))
	return others{o.mean / n, o.p99 / n, o.mean / first}
}

// family is what is counted of one, or of all.
type familyCoverage struct {
	cells, rows, ratios int
	mean, p99, ratio    coverage
}

func (f *familyCoverage) measure(x *sim.Comparison, policy int) {
	if s := x.Mean(policy, sim.MeanFlow); s.Half <= 1e-9*s.Mean {
		return // nothing is drawn that matters
	}
	f.rows++
	share := 100 / float64(x.Runs/perExperiment)
	if policy > 0 {
		f.ratios++
	}
	for k := 0; k < x.Runs; k += perExperiment {
		part := sim.Comparison{Runs: perExperiment, Tail: x.Tail}
		for _, p := range []int{0, policy} {
			part.Cells = append(part.Cells, x.Of(p)[k:k+perExperiment]...)
		}
		truth := truthOf(x, policy, k, k+perExperiment)
		s := part.Mean(1, sim.MeanFlow)
		f.mean.add(part.Interval(1, sim.MeanFlow), truth.mean, s.Mean, s.Half, share)
		s = part.Mean(1, p99)
		f.p99.add(part.Interval(1, p99), truth.p99, s.Mean, s.Half, share)
		if policy > 0 {
			v := part.Versus(1)
			f.ratio.add(part.VersusRatio(1), truth.ratio, 1+v.Difference.Mean/v.First, v.Difference.Half/v.First, share)
		}
	}
}

func (f *familyCoverage) line(name string) string {
	n, m := float64(f.rows), float64(f.ratios)
	return fmt.Sprintf("| %s | %d | %d | %.1f | %.1f | %.1f | %.0f | %.1f | %.1f | %.1f | %.1f |\n", name, f.cells, f.rows, f.mean.student/n, f.mean.interval/n,
		f.mean.silent/n, f.mean.warned/n, f.p99.interval/n, f.p99.silent/n, f.ratio.interval/m, f.ratio.silent/m)
}

func TestCoverageOfSuite(t *testing.T) {
	t.Chdir("../..")
	traces := os.Getenv("TAILCUT_TRACES")
	if traces == "" {
		traces = "../shared/traces"
	}
	if _, err := os.Stat(traces); err != nil {
		t.Skipf("no traces: %v", err)
	}
	var names []string
	by, all := map[string]*familyCoverage{}, &familyCoverage{}
	for _, w := range suiteWorlds(t, declaredCells(t), traces) {
		x := w.simulate(t)
		name := w.cell.Family
		if by[name] == nil {
			by[name] = &familyCoverage{}
			names = append(names, name)
		}
		for _, c := range []*familyCoverage{by[name], all} {
			c.cells++
			for k := range coveragePolicies {
				c.measure(x, k)
			}
		}
		t.Logf("%s: done", w.cell.ID())
	}
	slices.Sort(names)
	var table strings.Builder
	for _, name := range names {
		c := by[name]
		table.WriteString(c.line(name))
		allowed := 7 + 330*math.Sqrt(0.07*0.93/float64(c.rows*largeRuns/perExperiment))
		for _, silent := range []float64{c.mean.silent / float64(c.rows), c.p99.silent / float64(c.rows), c.ratio.silent / float64(c.ratios)} {
			if silent > allowed {
				t.Errorf("%s: missed without a warning in %.1f %%", name, silent)
			}
		}
	}
	table.WriteString(all.line("**all**"))
	for _, silent := range []float64{all.mean.silent / float64(all.rows), all.p99.silent / float64(all.rows), all.ratio.silent / float64(all.ratios)} {
		if silent > 7 {
			t.Errorf("missed without a warning in %.1f %% over all rows", silent)
		}
	}
	comparePage(t, "docs/explain/coverage-suite.md", table.String())
}

// suiteWorld is one of the declared suite.
type suiteWorld struct {
	cell *suite.Cell
	*suite.World
}

// suiteWorlds returns the worlds that are simulated, the smallest first. It skips the test where a trace is missing.
func suiteWorlds(t *testing.T, cells []suite.Cell, traces string) (all []suiteWorld) {
	for i := range cells {
		at, err := cells[i].World(traces)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("a trace is missing: %v", err)
		}
		if err != nil {
			t.Fatalf("%s: %v", cells[i].ID(), err)
		}
		all = append(all, suiteWorld{&cells[i], at})
	}
	slices.SortStableFunc(all, func(a, b suiteWorld) int { return cmp.Compare(a.Workload.Tasks(), b.Workload.Tasks()) })
	of := map[string]int{}
	return slices.DeleteFunc(all, func(w suiteWorld) bool {
		of[w.cell.Family]++
		return w.Workload.Tasks() > largestWorld && of[w.cell.Family] > leastOfFamily
	})
}

func (w *suiteWorld) simulate(t *testing.T) *sim.Comparison {
	runs := suiteRuns
	if w.Workload.Tasks() > largeWorld {
		runs = largeRuns
	}
	res, err := (&simulation.Request{
		Workload: w.Workload, Machines: w.Slots, Service: w.Service, Progress: w.Progress, Noise: w.Noise, NoiseKind: w.Kind,
		Policies: coveragePolicies, Runs: runs, Seed: 1, Limits: sched.DefaultLimits(),
	}).Run(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", w.cell.ID(), err)
	}
	return res.Comparison
}
