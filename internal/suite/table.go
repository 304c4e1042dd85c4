package suite

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// world is a column of the table: a group of cells.
type world struct {
	name string
	has  func(*Cell) bool
}

var worlds = []world{
	{"all", func(*Cell) bool { return true }},
	{"array", func(c *Cell) bool { return c.Family == "array" }},
	{"mix", func(c *Cell) bool { return c.Family == "mix" }},
	{"DAG", func(c *Cell) bool { return c.Family == "tpch" || c.Family == "alibaba" || c.Family == "montage" }},
	{"trace", func(c *Cell) bool { return c.Family == "google" || c.Family == "facebook" || c.Family == "hadoop" }},
	{"load to 0.5", func(c *Cell) bool { return c.Family != "array" && c.Load <= "0.5" }},
	{"load from 0.8", func(c *Cell) bool { return c.Family != "array" && c.Load > "0.5" }},
	{"no reports", func(c *Cell) bool { return c.Reports == "none" }},
	{"wrong reports", func(c *Cell) bool { return c.Reports != "none" && c.Reports != "every" }},
	{"sizes unknown", func(c *Cell) bool { return c.Told == "unknown" }},
	{"tasks to 1 s", func(c *Cell) bool { return c.Scale == "100ms" || c.Scale == "1s" }},
}

// WriteTable writes a Markdown table: rows policies, columns worlds, cells the geometric mean of the ratios to the best
// published policy; then the share of cells in which a policy is within 2 % and 10 % of the best with its whole
// interval, its worst cell, and its machine time against that of reference. It leaves out policies that are not in
// shown, unless that is empty, and worlds that have no cell.
func WriteTable(out io.Writer, all []*Outcome, reference string, shown []string) error {
	worlds := slices.DeleteFunc(slices.Clone(worlds), func(w world) bool {
		return len(all) > 0 && !slices.ContainsFunc(all, func(o *Outcome) bool { return w.has(&o.Cell) })
	})
	var b strings.Builder
	b.WriteString("| policy |")
	for _, w := range worlds {
		fmt.Fprintf(&b, " %s |", w.name)
	}
	fmt.Fprintf(&b, " within 2 %% | within 10 %% | worst | time of %s |\n| --- |%s\n", reference, strings.Repeat(" ---: |", len(worlds)+4))
	if len(all) == 0 {
		_, err := io.WriteString(out, b.String())
		return err
	}
	type line struct {
		mean float64
		text string
	}
	var lines []line
	for i := range all[0].Rows {
		if len(shown) > 0 && !slices.Contains(shown, all[0].Rows[i].Policy) {
			continue
		}
		l := line{}
		l.text = fmt.Sprintf("| `%s` |", all[0].Rows[i].Policy)
		for k, w := range worlds {
			m := geometric(all, i, w.has)
			if k == 0 {
				l.mean = m
			}
			l.text += " " + number(m) + " |"
		}
		near, close, worst, time := shares(all, i, reference)
		l.text += fmt.Sprintf(" %.0f %% | %.0f %% | %s | %s |\n", 100*near, 100*close, number(worst), number(time))
		lines = append(lines, l)
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		switch {
		case a.mean < b.mean || math.IsNaN(b.mean) && !math.IsNaN(a.mean):
			return -1
		case a.mean > b.mean || math.IsNaN(a.mean) && !math.IsNaN(b.mean):
			return 1
		}
		return 0
	})
	for _, l := range lines {
		b.WriteString(l.text)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func number(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// geometric returns the geometric mean of a policy's ratios over the cells of a world in which it ended.
func geometric(all []*Outcome, i int, has func(*Cell) bool) float64 {
	sum, n := 0.0, 0
	for _, o := range all {
		if r := o.Rows[i].Ratio.Mean; has(&o.Cell) && !math.IsNaN(r) {
			sum += math.Log(r)
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return math.Exp(sum / float64(n))
}

// shares returns the share of cells with the upper end of the ratio's interval up to 1.02 and up to 1.10, the largest
// ratio, and the machine time by that of the reference, as a geometric mean. A policy that was stuck is in neither
// share.
func shares(all []*Outcome, i int, reference string) (near, close, worst, time float64) {
	n, times := 0, 0
	for _, o := range all {
		r := &o.Rows[i]
		n++
		if math.IsNaN(r.Ratio.Mean) {
			continue
		}
		upper := r.Ratio.Mean + r.Ratio.Half
		if upper <= 1.02 {
			near++
		}
		if upper <= 1.10 {
			close++
		}
		worst = max(worst, r.Ratio.Mean)
		if ref := slices.IndexFunc(o.Rows, func(r Row) bool { return r.Policy == reference && !r.Stuck }); ref >= 0 {
			time += math.Log(r.MachineHours / o.Rows[ref].MachineHours)
			times++
		}
	}
	return near / float64(n), close / float64(n), worst, math.Exp(time / float64(times))
}
