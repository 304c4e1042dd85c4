package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// What MSER-5 leaves out: all that differs from the rest, nothing where nothing does, and in a series that never ends
// to grow all but the six batches that it must keep.
func TestMSER(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name     string
		of       func(i int) float64
		from, to int
	}{
		{"a step", func(i int) float64 { return map[bool]float64{true: 0, false: 10}[i < 40] + float64(i%2) }, 40, 40},
		{"equal", func(int) float64 { return 3 }, 0, 0},
		{"noise", func(int) float64 { return r.NormFloat64() }, 0, 30},
		{"a ramp, and noise", func(i int) float64 { return min(float64(i), 60) + r.NormFloat64() }, 50, 65},
		{"growth", func(i int) float64 { return float64(i) }, 370, 370},
	} {
		x := make([]float64, 400)
		for i := range x {
			x[i] = c.of(i)
		}
		if got := mser(x); got < c.from || got > c.to {
			t.Errorf("%s: left out %d, expected %d to %d", c.name, got, c.from, c.to)
		}
	}
}

func TestReadCut(t *testing.T) {
	for text, want := range map[string]string{
		"none": "none", "0": "none", "5": "5,0", "5,3": "5,3", "2h,30m": "2h0m0s,30m0s", "0,1s": "0,1s", "auto": "none",
		"x": "", "-1": "", "5,": "5,0", "5,x": "", "-2h": "", "1,2,3": "",
	} {
		var c cut
		err := c.read(text)
		if got := c.String(); err == nil && got != want || err != nil && want != "" {
			t.Errorf("%q: %q, %v; expected %q", text, got, err, want)
		}
	}
}

// four jobs of 4, 3, 1 and 2 s arrive at 0, 1, 2 and 3 s. First come first served they take 4, 6, 6 and 7 s on one
// machine, the shortest first 4, 9, 3 and 4 s.
func four(t *testing.T) *trace.Workload {
	t.Helper()
	w, err := (&trace.Importer{}).Read(strings.NewReader("0 1 4 4\n1 1 3 3\n2 1 1 1\n3 1 2 2\n"), "four.tr")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func runFour(t *testing.T, r Request) *Result {
	t.Helper()
	r.Workload, r.Machines, r.Service, r.Policies = four(t), 1, "recorded", []string{"fifo", "srpt"}
	res, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// What is cut is in no figure but the makespan and the use of the machine.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		cut         string
		first, srpt float64
		ratio       float64
		clipped     string
	}{
		{"none", 23. / 4, 5, 5 * 4. / 23, "tttt"},
		{"1", 19. / 3, 16. / 3, 16. / 19, "fttt"},
		{"1,1", 6, 6, 1, "fttf"},
		{"2s,1500ms", 0, 0, 0, ""},
		{"1s,1500ms", 6, 9, 1.5, "ftff"},
	} {
		if c.clipped == "" {
			_, err := (&Request{Workload: four(t), Machines: 1, Cut: c.cut}).Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), "cut: 2s,1500ms leaves none of the 4 jobs of four.tr") {
				t.Errorf("%s: %v", c.cut, err)
			}
			continue
		}
		var jobs bytes.Buffer
		r := runFour(t, Request{Cut: c.cut, Jobs: &jobs})
		first, second := &r.Cells[0], &r.Cells[1]
		if first.MeanFlow != c.first || second.MeanFlow != c.srpt || r.VersusRatio(1).Value != c.ratio {
			t.Errorf("%s: mean flow times %v and %v, ratio %v; expected %v, %v, %v", c.cut, first.MeanFlow, second.MeanFlow, r.VersusRatio(1).Value, c.first, c.srpt, c.ratio)
		}
		if first.Makespan != 10 || first.Utilisation != 1 {
			t.Errorf("%s: makespan %v, used %v", c.cut, first.Makespan, first.Utilisation)
		}
		said := ""
		for _, line := range strings.Split(strings.TrimSpace(jobs.String()), "\n")[1:5] {
			said += line[strings.LastIndex(line, ",")+1:][:1]
		}
		if c.cut != "none" && said != c.clipped {
			t.Errorf("%s: measured %s, expected %s", c.cut, said, c.clipped)
		}
		if (r.LowerBound > 0) != (c.cut == "none") {
			t.Errorf("%s: bound %v of all jobs", c.cut, r.LowerBound)
		}
	}
}

// The rule cuts what begins empty, the same for all policies and repetitions, and says so. It refuses batches, few jobs
// and clusters that are never steady. What it has cut can be given back.
func TestCutByRule(t *testing.T) {
	const queue = "synth:jobs=2000;tasks=1;law=1;arrivals=poisson:rate=%v"
	run := func(spec, cut string, machines int) *Result {
		r, err := (&Request{
			Workload: synthetic(spec), Machines: machines, Policies: []string{"fifo", "srpt"}, Cut: cut, Runs: 20, Replicate: Both, Service: "exp:mean=1",
			Redraw: func(seed uint64) (*trace.Workload, error) { return trace.Synthesize(spec, seed) }, NoTiming: true,
		}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	steady := fmt.Sprintf(queue, 0.8)
	r := run(steady, CutAuto, 1)
	if c := r.Cut; c.Refused != "" || c.First+c.Measured+c.Last != 2000 || c.First < 5 || c.First > 600 || c.Last < 5 || c.Last > 100 {
		t.Errorf("%+v", c)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "The same again: --cut "+r.Cut.Cut+".\n") {
		t.Errorf("%v\n%s", err, &text)
	}
	again := run(steady, r.Cut.Cut, 1)
	if diff := cmp.Diff(figuresOf(r), figuresOf(again)); diff != "" {
		t.Error(diff)
	}
	for spec, reason := range map[string]string{
		fmt.Sprintf(queue, 1.2):                                 "never is",
		"synth:jobs=2000;tasks=1;law=1;arrivals=batch":          "all jobs arrive at once",
		"synth:jobs=99;tasks=1;law=1;arrivals=poisson:rate=0.5": "99 jobs are too few",
	} {
		r := run(spec, CutAuto, 1)
		if c := r.Cut; !strings.Contains(c.Refused, reason) || c.Cut != "none" || c.Measured != len(r.Workload.Jobs) {
			t.Errorf("%s: %+v", spec, c)
		}
		if text.Reset(); r.WriteText(&text) != nil || !strings.Contains(text.String(), "Warning: nothing is cut: ") {
			t.Errorf("%s: no warning in\n%s", spec, &text)
		}
	}
}

func figuresOf(r *Result) []RunFigures {
	all := r.RunFigures()
	for i := range all {
		all[i].Cut = ""
	}
	return all
}

// Who asks for no cut hears where one would matter: where the first jobs of a stream end sooner than the others. Not of
// batches, nor of jobs that are few, nor of a few that are quick.
func TestHint(t *testing.T) {
	for _, c := range []struct {
		name             string
		jobs, quick, gap int
		told             bool
	}{
		{"a stream", 300, 60, 10, true},
		{"a batch", 300, 60, 0, false},
		{"few jobs", 150, 30, 10, false},
		{"a few are quick", 300, 10, 10, false},
	} {
		var lines strings.Builder
		for j := range c.jobs {
			took := 8
			if j < c.quick {
				took = 2
			}
			fmt.Fprintf(&lines, "%d 1 %d %d\n", j*c.gap, took, took)
		}
		for _, cut := range []string{"", "none"} {
			w, err := (&trace.Importer{}).Read(strings.NewReader(lines.String()), c.name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := (&Request{Workload: w, Machines: 1, Cut: cut, Service: "recorded"}).Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			want := "Warm-up: the first 60 of 300 jobs end sooner than the others, as where a cluster begins empty. Without them the mean flow time of fifo is 18 % longer; --cut auto"
			if err := r.WriteText(&text); err != nil || strings.Contains(text.String(), want) != (c.told && cut == "") || strings.Contains(text.String(), "Warm-up") && !c.told {
				t.Errorf("%s, cut %q: %v\n%s", c.name, cut, err, &text)
			}
		}
	}
}

// Classes have figures and pairs of their own, and are over the measured jobs.
func TestBy(t *testing.T) {
	r := runFour(t, Request{By: "duration:2s,1h"})
	if diff := cmp.Diff([]string{"duration<2s", "2s<=duration<1h", "duration>=1h"}, r.Classes); diff != "" {
		t.Error(diff)
	}
	short, long := r.Class(0), r.Class(1)
	if short.Cells[0].MeanFlow != 6 || short.VersusRatio(1).Value != 0.5 || long.VersusRatio(1).Value != 1 || long.Cells[1].MeanFlow != 17./3 || r.Class(2).Runs != 0 {
		t.Errorf("%+v, %+v", short.Cells, long.Cells)
	}
	if x := long.Cells[0]; x.Fruitful != 9 || x.Utilisation != 0.9 || x.Makespan != 10 || short.Cells[1].Makespan != 5 {
		t.Errorf("%+v", x)
	}
	var b strings.Builder
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var of struct {
		Results []struct {
			Classes []struct {
				Class string
				Mean  float64 `json:"mean_flow_seconds"`
			}
		}
		Summary []struct{ Classes []ClassFigures }
	}
	if err := json.Unmarshal([]byte(b.String()), &of); err != nil {
		t.Fatal(err)
	}
	if x := of.Results[1].Classes; len(x) != 2 || x[0].Class != "duration<2s" || x[0].Mean != 3 {
		t.Errorf("%+v", x)
	}
	if x := of.Summary[1].Classes; len(x) != 2 || x[1].Jobs != 3 || *x[0].Intervals[0].Ratio.Value != 0.5 || x[0].Intervals[5].Figure != "machine_seconds" {
		t.Errorf("%+v", x)
	}
	b.Reset()
	if err := r.WriteCSV(&b); err != nil || strings.Count(b.String(), "\n") != 7 || !strings.HasPrefix(b.String(), "policy,class,run,") || strings.Contains(b.String(), ",classes,") {
		t.Errorf("%v\n%s", err, &b)
	}
	if r := runFour(t, Request{By: "tasks", Cut: "1,1"}); r.Class(0).Cells[1].MeanFlow != 6 || r.Class(0).Cells[0].Succeeded != 2 {
		t.Errorf("%+v", r.Class(0).Cells)
	}
}

func TestByNames(t *testing.T) {
	const lines = `{"name":"etl","priority":1,"stages":[{"durations_seconds":[1]}]}
{"name":"adhoc","priority":10,"stages":[{"durations_seconds":[1,2]},{"durations_seconds":[1]}]}
{"name":"etl","priority":9,"stages":[{"durations_seconds":[1]}]}
`
	for by, want := range map[string]string{
		"name": "adhoc 1; etl 2", "priority": "10 1; 9 1; 1 1", "tasks:2,3": "tasks<2 2; tasks>=3 1", "stages": "stages<2 2; stages>=2 1", "work:2s": "work<2s 2; work>=2s 1",
		"size": "by: expected name, priority, or a number", "name:2": `by: expected no bounds for name, not "2"`, "tasks:3,3": "by: expected bounds of tasks that increase", "work:5": "by: expected bounds of work that increase",
	} {
		w, err := (&trace.Importer{}).Read(strings.NewReader(lines), "names")
		if err != nil {
			t.Fatal(err)
		}
		r, err := (&Request{Workload: w, Machines: 1, By: by}).Run(t.Context())
		if err != nil {
			if !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, expected %s", by, err, want)
			}
			continue
		}
		var got []string
		for _, c := range r.classes() {
			got = append(got, fmt.Sprintf("%s %v", c.label, c.of.Mean(0, func(x *sim.Cell) float64 { return float64(x.Succeeded) }).Mean))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s: %s, expected %s", by, s, want)
		}
	}
}
