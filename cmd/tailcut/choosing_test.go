package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestChoosingPicture: the picture of the page about choosing a policy shows what the commands of that page print.
// -rewrite draws it anew.
func TestChoosingPicture(t *testing.T) {
	const page, picture = "../../docs/explain/choosing-a-policy.md", "../../docs/pictures/choosing-a-policy.svg"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string) string {
		_, value, _ := strings.Cut(string(text), "    $ "+name+"=")
		value, _, _ = strings.Cut(value, "\n")
		return strings.Trim(value, "'")
	}
	var charts []barChart
	for _, c := range []struct{ machines, title string }{
		{"25", "100 tasks on 25 slots"}, {"120", "100 tasks on 120 slots"},
	} {
		if !strings.Contains(string(text), "--machines "+c.machines+" ") {
			t.Fatalf("the page does not simulate %s machines", c.machines)
		}
		var out, errs bytes.Buffer
		if status := tailcut([]string{"simulate", set("JOBS"), "--machines", c.machines, "--policy", set("POLICIES"), "--format", "json"}, strings.NewReader(""), &out, &errs); status != 0 {
			t.Fatalf("exit status %d: %s", status, &errs)
		}
		charts = append(charts, chartOf(t, c.title, out.Bytes()))
	}
	want := drawBars(charts)
	if *rewritePages {
		if err := os.WriteFile(picture, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(picture)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the page's commands print (%v); run go test ./cmd/tailcut -run 'TestChoosingPicture|TestPages/.*choosing' -rewrite", picture, err)
	}
}

// barChart has a bar for each policy: the time of a job and the machine time, both as a share of the first's.
type barChart struct {
	title string
	names []string
	times []float64
	costs []float64
}

func chartOf(t *testing.T, title string, result []byte) barChart {
	t.Helper()
	var r struct {
		Results []struct {
			Policy    string
			Mean      float64 `json:"mean_flow_seconds"`
			Fruitful  float64 `json:"fruitful_seconds"`
			Fruitless float64 `json:"fruitless_seconds"`
		}
	}
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatal(err)
	}
	c := barChart{title: title}
	first := r.Results[0]
	for _, x := range r.Results {
		c.names = append(c.names, x.Policy)
		c.times = append(c.times, x.Mean/first.Mean)
		c.costs = append(c.costs, (x.Fruitful+x.Fruitless)/(first.Fruitful+first.Fruitless))
	}
	return c
}

// drawBars draws charts one below the other.
func drawBars(charts []barChart) string {
	const width, left, right, row = 760.0, 90.0, 120.0, 22.0
	var b strings.Builder
	y := 20.0
	fmt.Fprintf(&b, "<text class=\"title\" x=\"10\" y=\"%.0f\">Mean time of a job, as a share of fifo's</text>\n", y)
	fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">machine time</text>\n", width-10, y)
	for _, c := range charts {
		y += 26
		fmt.Fprintf(&b, "<text class=\"title\" x=\"10\" y=\"%.0f\">%s</text>\n", y, c.title)
		y += 8
		for i, name := range c.names {
			class := "clones"
			if i == 0 {
				class = "none"
			}
			wide := c.times[i] * (width - left - right)
			fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%s</text>\n", left-8, y+15, name)
			fmt.Fprintf(&b, "<rect class=\"%s\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" rx=\"2\"/>\n", class, left, y+3, wide, row-6)
			fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"%.0f\">%.0f %%</text>\n", left+wide+6, y+15, 100*c.times[i])
			fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%.0f %%</text>\n", width-10, y+15, 100*c.costs[i])
			y += row
		}
	}
	return fmt.Sprintf(`<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%[1]v" height="%[2]v" viewBox="0 0 %[1]v %[2]v" font-family="system-ui,Liberation Sans,Arial,Helvetica,sans-serif" font-size="13">
<style>
text { fill: #24292f } .title { font-weight: 600 } .none { fill: #E69F00 } .clones { fill: #009E73 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }
</style>
%[3]s</svg>
`, width, y+8, b.String())
}
