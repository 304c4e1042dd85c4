//go:build long

package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/simulation"
	"github.com/tailcut/tailcut/internal/suite"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// TestCoverage counts how often the intervals of ten repetitions have in them what very many repetitions show. The page docs/explain/coverage.md shows
// all rows; -rewrite writes it.

const (
	coverageRuns  = 3000 // of each policy in a world; the truth is their mean
	perExperiment = 10
	mostSimulated = 150 // tasks of a world of the declared suite
)

var coveragePolicies = []string{"fifo", "spark", "srew"}

// coverageWorld is a world, and its request but for the runs.
type coverageWorld struct {
	name    string
	request simulation.Request
}

func synthetic(t *testing.T, spec string) *trace.Workload {
	w, err := trace.Synthesize(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// declaredCells are those of the declared suite.
func declaredCells(t *testing.T) []suite.Cell {
	f, err := os.Open("bench/suite/cells.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cells, err := suite.ReadCells(f)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// coverageWorlds are some that anybody can run, and the generated ones of the declared suite that have few tasks.
func coverageWorlds(t *testing.T) (all []coverageWorld) {
	nightly, err := (&trace.Importer{}).Load("docs/data/validation/nightly.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, coverageWorld{name: "the example of simulate's page, Pareto 1.5", request: simulation.Request{Workload: nightly, Machines: 20, Service: "law"}})
	for _, law := range []string{"lognormal:mean=10,sd=8", "pareto:alpha=2.5,xm=10"} {
		w := synthetic(t, "synth:jobs=1;tasks=40;law="+law+";arrivals=batch")
		all = append(all, coverageWorld{name: "40 tasks on 60 slots, " + law, request: simulation.Request{Workload: w, Machines: 60, Service: "law"}})
	}
	const queue = "synth:jobs=20;tasks=2;law=exp:mean=10;arrivals=poisson:rate=0.4"
	all = append(all, coverageWorld{name: "a queue of 20 jobs, drawn anew (--replicate both)", request: simulation.Request{
		Workload: synthetic(t, queue), Machines: 10, Replicate: simulation.Both, Redraw: func(seed uint64) (*trace.Workload, error) { return trace.Synthesize(queue, seed) },
	}})
	cells := declaredCells(t)
	for i := range cells {
		c := &cells[i]
		if c.Family != "array" || c.Size == "10000" || c.Size == "1000" {
			continue
		}
		at, err := c.World("")
		if err != nil {
			t.Fatal(err)
		}
		if at.Workload.Tasks() > mostSimulated {
			continue
		}
		all = append(all, coverageWorld{name: c.ID(), request: simulation.Request{
			Workload: at.Workload, Machines: at.Slots, Service: at.Service, Progress: at.Progress, Noise: at.Noise, NoiseKind: at.Kind,
		}})
	}
	return all
}

// coverage counts, in percent of the experiments.
type coverage struct {
	student  float64 // Student's interval covers
	interval float64 // ours does
	silent   float64 // ours does not, and nothing warns
	warned   float64
}

func (c *coverage) add(i sim.Interval, truth, mean, half, share float64) {
	near := 1e-9 * math.Abs(truth) // what is equal in all runs is so but for rounding
	if math.Abs(mean-truth) <= half+near {
		c.student += share
	}
	covers := i.Low-near <= truth && truth <= i.High+near
	switch {
	case covers:
		c.interval += share
	case i.Doubt == sim.Sound:
		c.silent += share
	}
	if i.Doubt != sim.Sound {
		c.warned += share
	}
}

// row is what a policy shows in a world: of its mean flow time, its 99th percentile, and its ratio to the first.
type coverageRow struct {
	mean, p99, ratio coverage
	median           float64 // the interval of the median repetition covers the median of all
	varies           bool
}

func p99(c *sim.Cell) float64 { return c.P99Flow }

// measure cuts the runs of a policy into experiments.
func measureCoverage(x *sim.Comparison, policy int) (r coverageRow) {
	truth, far, ratio, middle := x.Mean(policy, sim.MeanFlow), x.Mean(policy, p99), x.VersusRatio(policy), x.Middle(policy, sim.MeanFlow)
	r.varies = truth.Half > 1e-9*truth.Mean
	experiments := x.Runs / perExperiment
	share := 100 / float64(experiments)
	for k := range experiments {
		part := sim.Comparison{Runs: perExperiment, Tail: x.Tail}
		for _, p := range []int{0, policy} {
			part.Cells = append(part.Cells, x.Of(p)[k*perExperiment:(k+1)*perExperiment]...)
		}
		s := part.Mean(1, sim.MeanFlow)
		r.mean.add(part.Interval(1, sim.MeanFlow), truth.Mean, s.Mean, s.Half, share)
		s = part.Mean(1, p99)
		r.p99.add(part.Interval(1, p99), far.Mean, s.Mean, s.Half, share)
		v := part.Versus(1)
		r.ratio.add(part.VersusRatio(1), ratio.Value, 1+v.Difference.Mean/v.First, v.Difference.Half/v.First, share)
		if m := part.Middle(1, sim.MeanFlow); m.Low <= middle.Value && middle.Value <= m.High {
			r.median += share
		}
	}
	return r
}

// sequential repeats experiments that stop when the interval is within a share, and says how often it covers, and after how many runs. Runs are drawn
// from those that there are, with replacement. With eager it looks after every fifth run from the tenth on, at Student's interval.
func sequential(flows []float64, tail, within float64, eager bool) (covers, runs float64) {
	const times, most = 100, 320
	truth := sim.EstimateOf(flows).Mean
	rng := rand.New(rand.NewPCG(5, 6))
	for range times {
		var part sim.Comparison
		for look := 0; ; {
			if look = sim.NextLook(look, most); eager {
				look = min(most, max(perExperiment, part.Runs+5))
			}
			for part.Runs < look {
				flow := flows[rng.IntN(len(flows))]
				part.Cells = append(part.Cells, sim.Cell{Stats: sim.Stats{MeanFlow: flow}})
				part.Runs++
			}
			part.Tail = tail
			i := part.Interval(0, sim.MeanFlow)
			stop := i.Within(within)
			if eager {
				s := part.Mean(0, sim.MeanFlow)
				i.Low, i.High = s.Mean-s.Half, s.Mean+s.Half
				stop = s.Half <= within*s.Mean
			}
			if stop || look >= most {
				if i.Low <= truth && truth <= i.High {
					covers += 100. / times
				}
				runs += float64(part.Runs) / times
				break
			}
		}
	}
	return covers, runs
}

// tailOf is the exponent of the heaviest law of a request, as the simulation has it.
func tailOf(r *simulation.Request) float64 {
	tail := sim.ServiceTail(r.Service, r.Workload)
	if r.Redraw != nil {
		tail = min(tail, sim.WorkloadTail(r.Workload))
	}
	return tail
}

// knownRuns are runs of earlier tests, in the file that TAILCUT_COVERAGE names: the seeds are the same each time, so what is there need not be simulated
// again. A line has world, policy, run, mean flow time and 99th percentile.
type knownRuns struct {
	path  string
	cells map[string][]sim.Cell
}

func readKnown(t *testing.T) *knownRuns {
	k := &knownRuns{path: os.Getenv("TAILCUT_COVERAGE"), cells: map[string][]sim.Cell{}}
	text, err := os.ReadFile(k.path)
	if err != nil && k.path != "" && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		part := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		var c sim.Cell
		if _, err := fmt.Sscan(strings.Join(part[1:], " "), &c.Policy, &c.Run, &c.MeanFlow, &c.P99Flow); err != nil {
			t.Fatalf("%s: %q: %v", k.path, line, err)
		}
		k.cells[part[0]] = append(k.cells[part[0]], c)
	}
	return k
}

// of returns the runs of a world, nil if they are not all there.
func (k *knownRuns) of(world string, tail float64) *sim.Comparison {
	cells := k.cells[world]
	if len(cells) != len(coveragePolicies)*coverageRuns {
		return nil
	}
	x := &sim.Comparison{Cells: cells, Runs: coverageRuns, Tail: tail}
	for i := range cells {
		cells[i].Paired = sim.Paired{Jobs: 1, MeanFlow: cells[i].MeanFlow, FirstMeanFlow: cells[i%coverageRuns].MeanFlow}
	}
	return x
}

// add keeps the runs of a world, with nine digits, as they are used whether they are read again or not.
func (k *knownRuns) add(t *testing.T, world string, x *sim.Comparison) {
	for i := range x.Cells {
		c := &x.Cells[i]
		for _, v := range []*float64{&c.MeanFlow, &c.P99Flow, &c.Paired.MeanFlow, &c.Paired.FirstMeanFlow} {
			*v, _ = strconv.ParseFloat(strconv.FormatFloat(*v, 'g', 9, 64), 64)
		}
	}
	if k.path == "" {
		return
	}
	f, err := os.OpenFile(k.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var text strings.Builder
	for i := range x.Cells {
		c := &x.Cells[i]
		fmt.Fprintf(&text, "%s\t%d\t%d\t%.9g\t%.9g\n", world, c.Policy, c.Run, c.MeanFlow, c.P99Flow)
	}
	if _, err := f.WriteString(text.String()); err != nil {
		t.Fatal(err)
	}
}

func TestCoverage(t *testing.T) {
	t.Chdir("../..")
	var table, stops, sums strings.Builder
	var all coverageRow
	rows, stopped, lazy, eager := 0.0, 0.0, 0.0, 0.0
	known := readKnown(t)
	for _, w := range coverageWorlds(t) {
		r := w.request
		h := fnv.New64a()
		h.Write([]byte(w.name))
		r.Policies, r.Runs, r.Seed, r.Limits = coveragePolicies, coverageRuns, h.Sum64(), sched.DefaultLimits()
		res := known.of(w.name, tailOf(&r))
		if res == nil {
			full, err := r.Run(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", w.name, err)
			}
			res = full.Comparison
			known.add(t, w.name, res)
		}
		for k, name := range coveragePolicies {
			c := measureCoverage(res, k)
			if !c.varies {
				continue
			}
			rows++
			ratio := "| | "
			if k > 0 {
				ratio = fmt.Sprintf("| %.1f | %.1f ", c.ratio.interval, c.ratio.silent)
			}
			fmt.Fprintf(&table, "| %s | `%s` | %.1f | %.1f | %.1f | %.0f | %.1f | %.1f %s| %.1f |\n", strings.ReplaceAll(w.name, "|", " "), name,
				c.mean.student, c.mean.interval, c.mean.silent, c.mean.warned, c.p99.interval, c.p99.silent, ratio, c.median)
			allowed := 7 + 330*math.Sqrt(0.07*0.93/(coverageRuns/perExperiment))
			if c.mean.silent > allowed || c.p99.silent > allowed || k > 0 && c.ratio.silent > allowed {
				t.Errorf("%s, %s: missed without a warning in %.1f %% (p99 %.1f %%, ratio %.1f %%)", w.name, name, c.mean.silent, c.p99.silent, c.ratio.silent)
			}
			if c.median < 93 {
				t.Errorf("%s, %s: the interval of the median repetition covers in %.1f %%", w.name, name, c.median)
			}
			all.mean.sum(c.mean)
			all.p99.sum(c.p99)
			if k > 0 {
				all.ratio.sum(c.ratio)
				all.median++ // counts rows with ratios
			}
			var flows []float64
			for _, cell := range res.Of(k) {
				flows = append(flows, cell.MeanFlow)
			}
			a, n := sequential(flows, res.Tail, 0.1, false)
			b, m := sequential(flows, res.Tail, 0.1, true)
			fmt.Fprintf(&stops, "| %s | `%s` | %.1f | %.0f | %.1f | %.0f |\n", w.name, name, a, n, b, m)
			stopped++
			lazy, eager = lazy+a, eager+b
		}
		t.Logf("%s: done", w.name)
	}
	for _, s := range []struct {
		name string
		c    coverage
		n    float64
	}{{"mean flow time", all.mean, rows}, {"99th percentile", all.p99, rows}, {"ratio to `fifo`", all.ratio, all.median}} {
		fmt.Fprintf(&sums, "| %s | %.1f | %.1f | %.1f | %.0f |\n", s.name, s.c.student/s.n, s.c.interval/s.n, s.c.silent/s.n, s.c.warned/s.n)
		if s.c.silent/s.n > 7 {
			t.Errorf("%s: missed without a warning in %.1f %% over all rows", s.name, s.c.silent/s.n)
		}
	}
	fmt.Fprintf(&stops, "| all rows | | %.1f | | %.1f | |\n", lazy/stopped, eager/stopped)
	if lazy/stopped < 92 { // the rows have 100 experiments each, so their mean has a standard error of 0.5
		t.Errorf("stopping by doubling covers in %.1f %% over all rows", lazy/stopped)
	}
	comparePage(t, "docs/explain/coverage.md", sums.String(), table.String(), stops.String())
}

func (c *coverage) sum(d coverage) {
	c.student += d.student
	c.interval += d.interval
	c.silent += d.silent
	c.warned += d.warned
}
