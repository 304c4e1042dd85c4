package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample() *Page {
	t := Table{Name: "means", Caption: "Mean flow time.", Columns: []string{"policy", "paper (s)", "ours (s)"}}
	t.Add("fifo", 860, 859.98765)
	t.Add("a <b>, \"c\"", nil, math.Inf(1))
	return &Page{
		Name: "sample", Title: "A sample", Intro: []string{"Why this is here."},
		Sections: []Section{{
			Title: "Table 3", Text: []string{"What it shows."}, Tables: []Table{t},
			Plots: []Plot{{Name: "cdf", X: "flow time (s)", Y: "share of jobs", LogX: true, Series: []Series{
				{Name: "fifo", Kind: Steps, X: []float64{0, 1, 10, 100}, Y: []float64{0, .2, .5, 1}},
				{Name: "paper", Kind: Line, Published: true, X: []float64{5, 50}, Y: []float64{.4, math.NaN()}},
				{Name: "sweep", Kind: Points, X: []float64{3, 30}, Y: []float64{.3, .6}, Low: []float64{.2, math.Inf(-1)}, High: []float64{.4, .7}},
				{Name: "histogram", Kind: Bars, X: []float64{1, 2, 4}, Y: []float64{.1, .3, 0}},
			}}},
			Claims: []Claim{
				Check(true, "srew is best", "742 s", "700 s"), Check(false, "dolly is second", "", "it is last"),
				{What: "the testbed's mean", Published: "457 s", Measured: "160 s", Verdict: Reported},
			},
		}},
	}
}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `A sample
========

Why this is here.

Table 3
-------

What it shows.

Mean flow time.
 policy      paper (s)  ours (s)
 fifo              860     860.0
 a <b>, "c"                 +Inf

(plot cdf: share of jobs against flow time (s))

Verdicts
--------

 verdict   claim               published  measured
 HOLDS     srew is best        742 s      700 s
 FAILS     dolly is second                it is last
 REPORTED  the testbed's mean  457 s      160 s

Claims: 1 held, 1 failed (0 as expected), 0 undecided, 1 reported only.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		cell any
		want string
	}{
		{nil, ""}, {math.NaN(), ""}, {0.0, "0"}, {12345.6, "12346"}, {859.98765, "860.0"}, {-0.0123456, "-0.01235"}, {1e-12, "0.000000000"},
		{1234567.0, "1234567"}, {7, "7"}, {"x", "x"}, {true, "true"}, {math.Inf(-1), "-Inf"},
	} {
		if got := short(c.cell); got != c.want {
			t.Errorf("short(%v) = %q, want %q", c.cell, got, c.want)
		}
	}
}

func TestCSV(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"section,table,row,column,value\n", "Table 3,means,0,ours (s),859.98765\n", "Table 3,means,1,policy,\"a <b>, \"\"c\"\"\"\n", "Table 3,means,1,ours (s),+Inf\n",
		"Table 3,cdf,sweep 0,low,0.2\n", "Verdicts,claims,1,verdict,FAILS\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema   string `json:"schema"`
		Failed   int    `json:"failed_claims"`
		Name     string `json:"name"`
		Sections []struct {
			Tables []struct{ Rows [][]any }
			Plots  []struct {
				Series []struct{ Y, Low []any }
			}
			Claims []Claim
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Sections[0]
	if got.Schema != "tailcut.report/v1" || got.Failed != 1 || got.Name != "sample" || s.Tables[0].Rows[1][2] != "+Inf" ||
		s.Tables[0].Rows[1][1] != nil || s.Plots[0].Series[1].Y[1] != nil || s.Plots[0].Series[2].Low[1] != "-Inf" || len(s.Claims) != 3 {
		t.Errorf("got %s", b.Bytes())
	}
}

func TestHTML(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{"<h1>A sample</h1>", "a &lt;b&gt;", `<td class="n">860.0</td>`, "<svg", "flow time (s)", "1 of the claims", `class="fails"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for _, foreign := range []string{"<script", "src=", "@import", "<link"} {
		if strings.Contains(got, foreign) {
			t.Errorf("%q: the page needs another file", foreign)
		}
	}
}

func TestSVGRefusesNothing(t *testing.T) {
	empty := Plot{Name: "empty", Series: []Series{{Name: "s", X: []float64{1}, Y: []float64{math.NaN()}}}}
	if err := empty.WriteSVG(&strings.Builder{}); err == nil || !strings.Contains(err.Error(), "empty has no finite point") {
		t.Errorf("got %v", err)
	}
	one := Plot{Name: "one", LogX: true, LogY: true, Series: []Series{{Name: "s", X: []float64{1, 0}, Y: []float64{5, 1}}}}
	if err := one.WriteSVG(&strings.Builder{}); err != nil {
		t.Error(err)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"}, {0, 5124, "0 1000 2000 3000 4000 5000"}, {3.2, 3.31, "3.20 3.22 3.24 3.26 3.28 3.30"},
		{-3, 4, "-3 -2 -1 0 1 2 3 4"}, {0.05, 0.95, "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9"},
	} {
		var got []string
		for _, tick := range ticks(c.low, c.high) {
			got = append(got, tick.label)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%v to %v: -want +got:\n%s", c.low, c.high, diff)
		}
	}
}

// Names are escaped, points are where their values are, and what cannot be drawn is left out.
func TestSVG(t *testing.T) {
	p := sample().Sections[0].Plots[0]
	p.Title = "a <b>"
	var b strings.Builder
	if err := p.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]int{
		"a &lt;b&gt;</text>": 1, ">flow time (s)</text>": 1, ">histogram</text>": 1, ">100</text>": 1,
		"<circle":      2 + 2 + 1, // with their samples; the paper's second point is none
		"fill-opacity": 1, "stroke-dasharray": 2,
	} {
		if got := strings.Count(b.String(), want); got != n {
			t.Errorf("%d times %q, want %d", got, want, n)
		}
	}
}

func TestLogarithmicAxis(t *testing.T) {
	a := axis{log: true, low: 0.5, high: 200, from: 0, to: 1}
	var got []string
	for _, tick := range a.ticks() {
		if tick.label != "" {
			got = append(got, tick.label)
		}
	}
	if diff := cmp.Diff([]string{"1", "10", "100"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if at := a.at(10); math.Abs(at-0.5) > 1e-12 { // the middle of 0.5 and 200
		t.Errorf("10 is at %v", at)
	}
}
