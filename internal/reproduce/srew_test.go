package reproduce

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// The whole experiment on few jobs: every table and figure is there and can be drawn, and the same seed gives the same bytes.
func TestSREWPage(t *testing.T) {
	scale := srewScale{
		cluster: 60, jobs: 12, window: 3600 * sched.Second, table: 2, sweep: 2, other: 2, luck: 3, told: 2, toldJobs: 4, kinds: reportsKinds, speed: 1, speedJobs: 6, others: []int{6},
		betas: []float64{0.7, 1}, lambdas: []float64{0, 1}, machines: []int{6000, 7000, 10_000, 11_000}, slots: []int{5, 60},
	}
	var pages [2]bytes.Buffer
	for i := range pages {
		page, err := scale.run(context.Background(), Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		checkKnown(t, srewKnown, page.Sections)
		if err := page.WriteHTML(&pages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pages[0].Bytes(), pages[1].Bytes()) {
		t.Error("two runs with one seed differ")
	}
	for _, want := range []string{"Table 3", "figure2a", "figure2b", "figure3a", "figure3b", "figure4a", "figure4b", "figure5a", "figure5b", "jobs6", "best", "checkpoints", "reports_persistent", "theorem4", "figure3a_best", "figure3b_baselines", "figure4a_best", "figure5b_best", "shares_baselines"} {
		if !strings.Contains(pages[0].String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// A part that runs alone has the same sections as in the whole page.
func TestSREWParts(t *testing.T) {
	scale := srewScale{
		cluster: 60, jobs: 8, window: 3600 * sched.Second, table: 2, sweep: 2, other: 2, luck: 2, told: 2, toldJobs: 4, kinds: reportsKinds[:2], speed: 1, speedJobs: 4, others: []int{6},
		betas: []float64{0.7, 1}, lambdas: []float64{0, 1}, machines: []int{6000, 7000, 10_000, 11_000}, slots: []int{5, 60},
	}
	whole, err := scale.run(context.Background(), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rest := whole.Sections
	for _, name := range srewParts {
		part, err := scale.run(context.Background(), Options{Seed: 1, Only: []string{name}})
		if err != nil {
			if name == "real" { // this scale has none
				continue
			}
			t.Fatal(err)
		}
		n := len(part.Sections)
		if diff := cmp.Diff(rest[:n], part.Sections, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: (-whole +alone)\n%s", name, diff)
		}
		rest = rest[n:]
	}
	if len(rest) > 0 {
		t.Errorf("no part has %q", rest[0].Title)
	}
}

// The readings that the sweeps take for the best are rows of Table 3, one for each baseline in their order.
func TestBestRows(t *testing.T) {
	for b, best := range bestRows {
		if !slices.Contains(srewRows, best) || best.policy != baselines[b] || srewRows[rowSCA+b].policy != baselines[b] {
			t.Errorf("%+v", best)
		}
	}
}

// Without traces the page says what is missing and runs nothing.
func TestSREWWithoutTraces(t *testing.T) {
	r, err := newSREWReality(&srewFull, &Options{Traces: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.sections(); len(r.steps()) != 0 || len(s) != 1 || !strings.Contains(s[0].Text[0], "Skipped") {
		t.Errorf("%d steps, sections %v", len(r.steps()), s)
	}
}

// fixed is a series of given mean flow times in seconds, by policy and run.
func fixed(flows ...[]float64) *series {
	s := newSeries(1, 1, 1, len(flows[0]), make([]string, len(flows)), nil)
	for p := range flows {
		for k, f := range flows[p] {
			s.Of(p)[k].MeanFlow, s.Of(p)[k].Paired = f, sim.Paired{Jobs: 1, MeanFlow: f, FirstMeanFlow: flows[0][k]}
		}
	}
	return s
}

// The published Table 3 bears out the claims on it; with the rows of SREW and Mantri exchanged two fail.
func TestReductionClaims(t *testing.T) {
	published := fixed([]float64{741, 743}, []float64{810, 812}, []float64{827, 829}, []float64{837, 839}, []float64{859, 861})
	for _, c := range reductionClaims(published, "") {
		if c.Verdict != report.Holds {
			t.Errorf("published: %s: %s, %s", c.What, c.Measured, c.Verdict)
		}
	}
	exchanged := fixed([]float64{859, 861}, []float64{810, 812}, []float64{827, 829}, []float64{837, 839}, []float64{741, 743})
	for i, c := range reductionClaims(exchanged, "") {
		if c.Verdict != report.Fails {
			t.Errorf("exchanged, claim %d: %s: %s, %s", i, c.What, c.Measured, c.Verdict)
		}
	}
}

func TestBetas(t *testing.T) {
	betas := []float64{0.1, 0.5, 0.7, 0.9, 1}
	for name, c := range map[string]struct {
		flows []float64
		least report.Verdict
		fall  string
	}{
		"as published":          {[]float64{900, 600, 500, 505, 510}, report.Holds, "falls by 67 ± 0 s for each 0.1 up to 0.7, by -3 ± 1 s beyond"},
		"plateau up to 1":       {[]float64{900, 600, 510, 505, 500}, report.Holds, "falls by 65 ± 0 s for each 0.1 up to 0.7, by 3 ± 1 s beyond"},
		"minimum inside":        {[]float64{900, 600, 550, 500, 600}, report.Fails, "falls by 58 ± 0 s for each 0.1 up to 0.7, by -17 ± 1 s beyond"},
		"falls to the last one": {[]float64{900, 800, 700, 600, 500}, report.Fails, "falls by 33 ± 0 s for each 0.1 up to 0.7, by 67 ± 1 s beyond"},
		"rises from the first":  {[]float64{500, 600, 700, 800, 900}, report.Fails, "falls by -33 ± 0 s for each 0.1 up to 0.7, by -67 ± 1 s beyond"},
	} {
		var runs [][]float64
		for i, f := range c.flows {
			runs = append(runs, []float64{f - float64(i)/10, f + float64(i)/10})
		}
		if got := leastBeta("", betas, fixed(runs...)).claim(""); got.Verdict != c.least {
			t.Errorf("%s: %s, %s, want %s", name, got.Measured, got.Verdict, c.least)
		}
		if got := betaFall("", betas, fixed(runs...)); got.Verdict != report.Reported || !strings.HasPrefix(got.Measured, c.fall) {
			t.Errorf("%s: %s, %s, want %s", name, got.Measured, got.Verdict, c.fall)
		}
	}
}

func TestLeastBetas(t *testing.T) {
	holds, fails := fixed([]float64{900, 901}, []float64{500, 501}, []float64{505, 506}), fixed([]float64{900, 901}, []float64{700, 701}, []float64{500, 501})
	for _, c := range []struct {
		extracts []*series
		want     report.Verdict
		said     string
	}{
		{[]*series{holds, holds}, report.Holds, "extract 1: minimum at 0.7"},
		{[]*series{holds, fails}, report.Fails, "extract 2: minimum at 1"},
		{[]*series{fails, holds}, report.Fails, "extract 1: minimum at 1"},
	} {
		s := srewFigure2{scale: &srewScale{betas: []float64{0.1, 0.7, 1}}, extracts: c.extracts}
		claims := s.betaSection().Claims
		if got := claims[0]; got.Verdict != c.want || !strings.HasPrefix(got.Measured, c.said) {
			t.Errorf("%s: %s, want %s: %s", got.Verdict, got.Measured, c.want, c.said)
		}
		for _, other := range claims[1:] {
			if other.Verdict != report.Reported {
				t.Errorf("%s: %s, want it reported", other.What, other.Verdict)
			}
		}
	}
}

func TestMachinesClaims(t *testing.T) {
	machines := []int{5000, 6000, 7000, 10_000, 11_000}
	gains := func(means ...float64) (all []sim.Estimate) {
		for _, m := range means {
			all = append(all, sim.Estimate{Mean: m, Half: 1})
		}
		return all
	}
	for name, c := range map[string]struct {
		gains []sim.Estimate
		want  [2]report.Verdict
	}{
		"as published":     {gains(200, 190, 80, 10), [2]report.Verdict{report.Holds, report.Holds}},
		"a straight line":  {gains(100, 100, 100, 100), [2]report.Verdict{report.Holds, report.Fails}},
		"rises at the end": {gains(200, 190, 80, -20), [2]report.Verdict{report.Fails, report.Holds}},
	} {
		for i, got := range machinesClaims(machines, c.gains) {
			if got.Verdict != c.want[i] {
				t.Errorf("%s: %s: %s, want %s", name, got.What, got.Verdict, c.want[i])
			}
		}
	}
}

// What workloads differ by is not in a sweep's intervals; with two points what is left is the interval of the halved difference, times Morey's correction.
func TestLevelled(t *testing.T) {
	s := fixed([]float64{110, 1011, 5012}, []float64{100, 1000, 5000})
	got := levelled([][]sim.Cell{s.Of(0), s.Of(1)})
	d := s.Difference(0, 1, sim.MeanFlow)
	if math.Abs(got[0].Mean-got[1].Mean-d.Mean) > 1e-9 || math.Abs(got[0].Half-d.Half/math.Sqrt2) > 1e-9 || math.Abs(got[1].Half-d.Half/math.Sqrt2) > 1e-9 {
		t.Errorf("%v, difference %v", got, d)
	}
}

// A flow time that is one of the grid's counts as within it; a job that failed was never done.
func TestFlowShares(t *testing.T) {
	var jobs []sim.JobResult
	for _, seconds := range []float64{1, 300, 300.1, 1500, 1e6} {
		jobs = append(jobs, sim.JobResult{Arrival: 7 * sched.Second, Completion: 7*sched.Second + sched.FromSeconds(seconds)})
	}
	jobs = append(jobs, sim.JobResult{Completion: 2 * sched.Second, Failed: true})
	s := newSeries(1, 1, 1, 1, []string{""}, nil)
	s.shares[0][0] = flowShares(jobs)
	if at300, at1500 := s.share(0, 300).Mean, s.share(0, 1500).Mean; at300 != 2./6 || at1500 != 4./6 {
		t.Errorf("%v within 300 s and %v within 1500 s, want 2/6 and 4/6", at300, at1500)
	}
}
