package suite

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tailcut/tailcut/sim"
)

// WriteFailing writes a Markdown table of the cells in which the upper end of a policy's interval is above a limit,
// the worst first. Where the lower end is not, the runs do not decide.
func WriteFailing(out io.Writer, all []*Outcome, name string, limit float64) error {
	type failing struct {
		o     *Outcome
		ratio sim.Estimate
	}
	var cells []failing
	for _, o := range all {
		r := o.Of(name)
		if r == nil {
			return fmt.Errorf("nothing is known of %s", name)
		}
		if math.IsNaN(r.Ratio.Mean) || r.Ratio.Mean+r.Ratio.Half > limit {
			cells = append(cells, failing{o, r.Ratio})
		}
	}
	slices.SortStableFunc(cells, func(a, b failing) int { return cmp.Compare(b.ratio.Mean, a.ratio.Mean) })
	if _, err := fmt.Fprintf(out, "| cell | best published | `%s` by it | decided |\n| --- | --- | ---: | --- |\n", name); err != nil {
		return err
	}
	for _, c := range cells {
		best := c.o.Rows[max(0, slices.IndexFunc(c.o.Rows, func(r Row) bool { return r.Best }))]
		decided := "no"
		if c.ratio.Mean-c.ratio.Half > limit {
			decided = "yes"
		}
		if _, err := fmt.Fprintf(out, "| %s | `%s` | %.2f ± %.2f | %s |\n", c.o.Cell.words(), best.Policy, c.ratio.Mean, c.ratio.Half, decided); err != nil {
			return err
		}
	}
	return nil
}

// words names the cell for readers.
func (c *Cell) words() string {
	text := c.Family
	if c.Size != "" {
		text += " of " + c.Size
	}
	text += fmt.Sprintf(", %s, reports %s, load %s", c.Service, c.Reports, c.Load)
	if c.Family != "array" {
		text += ", " + c.Slots + " slots"
	}
	text += fmt.Sprintf(", tasks of %s, sizes %s", c.Scale, c.Told)
	if c.Stations != "" {
		text += ", stages " + c.Stations
	}
	return text
}
