package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
)

// What a picture measures, in points: 18 by 9 cm, of which the legend at the right has 4.6.
const (
	svgWidth, svgHeight = 510.24, 255.12
	legendWidth         = 130.39
	margin              = 6
	tickLength          = 4
)

// Sizes of letters, in points, and how wide a digit is as a share of that.
const (
	titleSize, labelSize, tickSize = 10, 9, 8
	digitWidth                     = 0.56
)

// palette is Okabe and Ito's: readers who do not tell red from green tell these apart.
var palette = []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#948200"}

// WriteSVG draws the plot. Points with a coordinate that is no finite number, or not positive on a logarithmic axis,
// are left out. A plot without a point that can be drawn is an error.
func (p *Plot) WriteSVG(w io.Writer) error {
	c := chart{Plot: p, x: newAxis(p.LogX), y: newAxis(p.LogY)}
	var drawn [][]point
	for _, s := range p.Series {
		ps := p.points(s)
		drawn = append(drawn, ps)
		for _, at := range ps {
			c.x.cover(at.x, at.end)
			c.y.cover(at.low, at.high)
		}
	}
	if c.x.low > c.x.high {
		return fmt.Errorf("report: plot %s has no finite point", p.Name)
	}
	c.x.settle(false)
	c.y.settle(true)
	c.place()
	c.printf(`<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%vpt" height="%vpt" viewBox="0 0 %v %v" font-family="Liberation Sans,Arial,Helvetica,sans-serif" fill="none">
`, svgWidth, svgHeight, svgWidth, svgHeight)
	c.printf("<rect width=\"%v\" height=\"%v\" fill=\"#FFFFFF\"/>\n", svgWidth, svgHeight)
	c.frame()
	row := 0
	for i, s := range p.Series {
		if len(drawn[i]) > 0 {
			c.series(s, drawn[i], style(s, i), row)
			row++
		}
	}
	c.printf("</svg>\n")
	_, err := io.WriteString(w, c.out.String())
	return err
}

// point is one of a series: its interval or, for spans, its end are its own place where there is none.
type point struct{ x, y, low, high, end float64 }

// points is what of a series can be drawn.
func (p *Plot) points(s Series) (all []point) {
	good := func(x float64, log bool) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) && (!log || x > 0) }
	for i := range s.X {
		at := point{s.X[i], s.Y[i], s.Y[i], s.Y[i], s.X[i]}
		if !good(at.x, p.LogX) || !good(at.y, p.LogY) {
			continue
		}
		if s.Low != nil && good(s.Low[i], p.LogY) && good(s.High[i], p.LogY) {
			at.low, at.high = s.Low[i], s.High[i]
		}
		if s.Kind == Spans {
			at.end = s.High[i]
		}
		all = append(all, at)
	}
	return all
}

// axis maps values to places on the picture.
type axis struct {
	log       bool
	low, high float64
	from, to  float64 // where low and high are, in points
}

func newAxis(log bool) axis { return axis{log: log, low: math.Inf(1), high: math.Inf(-1)} }

func (a *axis) cover(values ...float64) {
	for _, v := range values {
		a.low, a.high = min(a.low, v), max(a.high, v)
	}
}

// settle keeps the axis from having no length, and lets one of amounts begin at 0 if that is not far.
func (a *axis) settle(amounts bool) {
	switch {
	case a.log && a.high < a.low*1.01:
		a.low, a.high = a.low/2, a.high*2
	case a.log:
	case amounts && a.low > 0 && a.low < a.high/2:
		a.low = 0
	case a.low == a.high:
		a.low, a.high = a.low-1, a.high+1
	}
}

func (a *axis) at(v float64) float64 {
	share := (v - a.low) / (a.high - a.low)
	if a.log {
		share = math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	return a.from + share*(a.to-a.from)
}

// tick is a mark at an axis; without a label it is a small one.
type tick struct {
	value float64
	label string
}

func (a *axis) ticks() (all []tick) {
	if !a.log {
		return ticks(a.low, a.high)
	}
	for power := math.Pow10(int(math.Floor(math.Log10(a.low)))); power <= a.high; power *= 10 {
		for i := range 9 {
			t := tick{value: power * float64(i+1)}
			if i == 0 {
				t.label = strconv.FormatFloat(power, 'g', -1, 64)
			}
			if t.value >= a.low*(1-1e-12) && t.value <= a.high*(1+1e-12) {
				all = append(all, t)
			}
		}
	}
	return all
}

// ticks puts five to ten labels at multiples of 1, 2 or 5 times a power of ten.
func ticks(low, high float64) (all []tick) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/5)))
	for _, times := range []float64{5, 2} {
		if (high-low)/(step*times) >= 5 {
			step *= times
			break
		}
	}
	digits := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-12); i++ {
		all = append(all, tick{i * step, strconv.FormatFloat(i*step+0, 'f', digits, 64)})
	}
	return all
}

// chart is a plot that is being drawn.
type chart struct {
	*Plot
	x, y axis
	out  strings.Builder
}

func (c *chart) printf(format string, args ...any) { fmt.Fprintf(&c.out, format, args...) }

// place finds out how much room the axes have beside what is written.
func (c *chart) place() {
	longest := 0
	for _, t := range c.y.ticks() {
		longest = max(longest, len(t.label))
	}
	c.x.from = margin + 1.5*labelSize + float64(longest)*digitWidth*tickSize + 2*tickLength
	c.x.to = svgWidth - legendWidth - 2*margin
	c.y.from = svgHeight - margin - 1.5*labelSize - 1.5*tickSize - tickLength
	c.y.to = margin
	if c.Title != "" {
		c.y.to += 1.8 * titleSize
	}
}

// text writes a line; anchor is start, middle or end, which says what of it is at x.
func (c *chart) text(x, y float64, size int, anchor, more, line string) {
	c.printf("<text x=\"%.2f\" y=\"%.2f\" font-size=\"%d\" text-anchor=\"%s\" fill=\"#000000\"%s>%s</text>\n", x, y, size, anchor, more, html.EscapeString(line))
}

func (c *chart) line(x1, y1, x2, y2 float64, style string) {
	c.printf("<path d=\"M%.2f %.2fL%.2f %.2f\" %s/>\n", x1, y1, x2, y2, style)
}

// frame draws all but the data.
func (c *chart) frame() {
	const grid, axis = `stroke="#E1E1E1"`, `stroke="#000000" stroke-width="0.5"`
	for _, t := range c.x.ticks() {
		at, length := c.x.at(t.value), tickLength/2.0
		if t.label != "" {
			c.line(at, c.y.from, at, c.y.to, grid)
			c.text(at, c.y.from+tickLength+tickSize, tickSize, "middle", "", t.label)
			length = tickLength
		}
		c.line(at, c.y.from, at, c.y.from+length, axis)
	}
	for _, t := range c.y.ticks() {
		at, length := c.y.at(t.value), tickLength/2.0
		if t.label != "" {
			c.line(c.x.from, at, c.x.to, at, grid)
			c.text(c.x.from-1.5*tickLength, at+0.35*tickSize, tickSize, "end", "", t.label)
			length = tickLength
		}
		c.line(c.x.from-length, at, c.x.from, at, axis)
	}
	c.line(c.x.from, c.y.from, c.x.to, c.y.from, axis)
	c.line(c.x.from, c.y.from, c.x.from, c.y.to, axis)
	across, up := (c.x.from+c.x.to)/2, (c.y.from+c.y.to)/2
	c.text(across, svgHeight-margin, labelSize, "middle", "", c.X)
	c.text(margin+labelSize, up, labelSize, "middle", fmt.Sprintf(` transform="rotate(-90 %d %.2f)"`, margin+labelSize, up), c.Y)
	if c.Title != "" {
		c.text(across, margin+titleSize, titleSize, "middle", "", c.Title)
	}
}
