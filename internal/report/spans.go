package report

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// spanLines draws horizontal lines, and is its own picture in the legend.
type spanLines struct {
	draw.LineStyle
	from plotter.XYs
	to   []float64
}

// Plot draws the lines.
func (s *spanLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, a := range s.from {
		c.StrokeLine2(s.LineStyle, x(a.X), y(a.Y), x(s.to[i]), y(a.Y))
	}
}

// DataRange returns what the axes must cover.
func (s *spanLines) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = plotter.XYRange(s.from)
	for _, x := range s.to {
		xmax = max(xmax, x)
	}
	return xmin, xmax, ymin, ymax
}

// Thumbnail draws the legend's sample.
func (s *spanLines) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(s.LineStyle, c.Min.X, y, c.Max.X, y)
}

// addSpans draws a series of spans and says how many there are.
func (p *Plot) addSpans(pl *plot.Plot, legend *plot.Legend, s Series, c color.RGBA) int {
	lines := &spanLines{LineStyle: draw.LineStyle{Color: c, Width: vg.Points(1)}}
	for i := range s.X {
		lines.from = append(lines.from, plotter.XY{X: s.X[i], Y: s.Y[i]})
		lines.to = append(lines.to, s.High[i])
	}
	pl.Add(lines)
	legend.Add(s.Name, lines)
	return len(lines.from)
}
