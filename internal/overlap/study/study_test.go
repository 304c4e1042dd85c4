package study

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/overlap"
)

func TestRead(t *testing.T) {
	zipped := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return b.String()
	}
	for _, c := range []struct {
		name, text string
		from       Source
		want       Jobs
	}{
		{"columns in any order", "id,shuffle,arrival,map\nx,2,0,1\ny,4,3,3\n", Source{},
			Jobs{All: []overlap.Demand{{Arrival: 0, Map: 1, Shuffle: 2}, {Arrival: 3, Map: 3, Shuffle: 4}}}},
		{"a spreadsheet's", "\ufeffarrival;map;shuffle;weight\n0;1;2;5\n", Source{}, Jobs{All: []overlap.Demand{{Map: 1, Shuffle: 2, Weight: 5}}}},
		{"sorted", zipped("arrival,map,shuffle\n5,1,1\n0,2,2\n5,3,3\n"), Source{Sort: true},
			Jobs{[]overlap.Demand{{Arrival: 0, Map: 2, Shuffle: 2}, {Arrival: 5, Map: 1, Shuffle: 1}, {Arrival: 5, Map: 3, Shuffle: 3}}, []int64{1, 0, 2}}},
		{"batch", "arrival,map,shuffle\n5,1,1\n0,2,2\n", Source{Batch: true}, Jobs{All: []overlap.Demand{{Arrival: 5, Map: 1, Shuffle: 1}, {Map: 2, Shuffle: 2}}}},
		// 4 s of each work arrive in 4 s; at load 0.5 it is 2 s
		{"scaled", "arrival,map,shuffle\n0,1,3\n4,3,1\n", Source{Load: 0.5},
			Jobs{All: []overlap.Demand{{Arrival: 0, Map: 0.5, Shuffle: 1.5}, {Arrival: 4, Map: 1.5, Shuffle: 0.5}}}},
	} {
		got, err := c.from.Read(strings.NewReader(c.text), "jobs.csv")
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
	for text, want := range map[string]string{
		"":                                     "jobs.csv:1: header: expected arrival,map,shuffle",
		"arrival,map\n0,1\n":                   "jobs.csv:1: shuffle: expected a column",
		"arrival,map,shuffle\n":                "jobs.csv:2: arrival: expected a job",
		"arrival,map,shuffle\n0,x,1\n":         `jobs.csv:2: map: expected a number, not "x"`,
		"arrival,map,shuffle\n0,1\n":           "jobs.csv:2: expected as many fields as the header has",
		"arrival,map,shuffle\n5,1,1\n4,1,1\n":  "jobs.csv:3: arrival: expected at least 5 as on line 2, not 4; --sort",
		"arrival,map,shuffle\n0,1,1\n0,-1,1\n": "jobs.csv:3: map",
	} {
		if _, err := (Source{}).Read(strings.NewReader(text), "jobs.csv"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// One job has no choice: it is mapped in 2 s, shuffled meanwhile, and done 3 s after its arrival, under every policy.
func TestRun(t *testing.T) {
	var log, text, table, fair strings.Builder
	r := Request{
		Policies: []string{"fcfs", " maxsrpt", LowerBound}, Jobs: Jobs{[]overlap.Demand{{Arrival: 1, Map: 2, Shuffle: 3}}, []int64{7}}, Load: 1, Speed: 1,
		Completions: &log, Fair: true,
	}
	got, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Results) != 3 || *got.Results[0].MeanFlow != 3 || *got.Results[1].MeanSlowdown != 1 || *got.LowerBound != 3 || got.Results[2].MedianFlow != nil {
		t.Errorf("%+v", got)
	}
	if want := "policy,job,arrival,completion\nfcfs,7,1,4\nmaxsrpt,7,1,4\n"; log.String() != want {
		t.Errorf("completions %q, want %q", log.String(), want)
	}
	for _, err := range []error{got.WriteText(&text), got.WriteCSV(&table), got.WriteFairness(&fair)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(text.String(), "1 job; no policy has a mean flow time below 3.00s") {
		t.Error(text.String())
	}
	if !strings.Contains(table.String(), "\nlower-bound,3,,,,,1,,3\n") {
		t.Error(table.String())
	}
	if !strings.Contains(fair.String(), "\nfcfs,3,3.25,1,1\n") && !strings.Contains(fair.String(), "\nfcfs,2.75,3,1,1\n") {
		t.Error(fair.String())
	}
	if page := got.Page(); len(page.Sections) != 2 || len(page.Sections[1].Plots[0].Series) != 2 {
		t.Errorf("%+v", page)
	}
}

// Without the bound nothing else changes.
func TestWithoutBound(t *testing.T) {
	r := Request{Policies: []string{"maxsrpt", "klps"}, Drawn: 3000, Load: 0.8, Speed: 1, Seed: 1}
	with, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Bound = "none"
	without, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if with.LowerBound == nil || without.LowerBound != nil {
		t.Errorf("bounds %v and %v", with.LowerBound, without.LowerBound)
	}
	for i, f := range without.Results {
		if *f.MeanFlow != *with.Results[i].MeanFlow || f.Relative != nil || with.Results[i].Relative == nil {
			t.Errorf("%+v, with the bound %+v", f, with.Results[i])
		}
	}
	r.Bound = "tight"
	tight, err := r.Run(t.Context())
	if err != nil || *tight.LowerBound < *with.LowerBound || *tight.Results[0].Relative < 1 {
		t.Errorf("the tight bound is %v, the paper's %v, %v", tight, *with.LowerBound, err)
	}
	var text strings.Builder
	if err := without.WriteText(&text); err != nil || strings.Contains(text.String(), "below") || !strings.Contains(text.String(), "3,000 jobs\n") && !strings.Contains(text.String(), "3000 jobs\n") {
		t.Error(text.String(), err)
	}
}

func TestWrong(t *testing.T) {
	for field, r := range map[string]Request{
		"policy": {Policies: []string{"lifo"}, Load: 1, Speed: 1},
		"jobs":   {Drawn: 1e13, Load: 1, Speed: 1},
		"load":   {Speed: 1},
		"warmup": {Load: 1, Speed: 1, Warmup: 1},
		"speed":  {Load: 1},
		"bound":  {Policies: []string{"fcfs"}, Load: 1, Speed: 1, Bound: "best"},
	} {
		var wrong *grammar.FieldError
		if err := r.Check(); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := (&Request{Policies: []string{LowerBound}, Bound: "none", Load: 1, Speed: 1}).Check(); err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Errorf("the bound alone, switched off: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	r := Request{Policies: []string{"fcfs"}, Drawn: 1e12, Load: 0.5, Speed: 1, Seed: 1}
	if _, err := r.Run(stopped); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
