package report

import (
	"fmt"
	"strings"
)

// style is how series number i draws its lines. Dashes tell those apart for which the palette was used up.
func style(s Series, i int) (of strokes) {
	of.colour, of.width = palette[i%len(palette)], 1.4
	switch s.Kind {
	case Bars:
		of.width = 0.7
	case Spans:
		of.width = 1
	}
	if round := i / len(palette); round > 0 {
		of.dashes = fmt.Sprintf(` stroke-dasharray="%d 2"`, 2*round)
	}
	if s.Published {
		of.dashes = ` stroke-dasharray="5 3"`
	}
	return of
}

type strokes struct {
	colour string
	width  float64
	dashes string
}

func (s strokes) String() string {
	return fmt.Sprintf("stroke=\"%s\" stroke-width=\"%v\"%s", s.colour, s.width, s.dashes)
}

// few is up to how many points of a line are marked.
const few = 40

// series draws one, and its sample in a row of the legend.
func (c *chart) series(s Series, ps []point, of strokes, row int) {
	const sample = 17 // how wide it is
	x, y := svgWidth-legendWidth, 4*margin+float64(row)*1.5*tickSize
	c.text(x+sample+margin, y+0.35*tickSize, tickSize, "start", "", s.Name)
	if s.Kind != Points {
		c.line(x, y, x+sample, y, of.String())
	}
	if dots := s.Kind == Points || s.Kind == Line && len(ps) <= few; dots {
		c.dot(x+sample/2.0, y, s.Published, of)
		for _, p := range ps {
			c.dot(c.x.at(p.x), c.y.at(p.y), s.Published, of)
		}
	}
	switch s.Kind {
	case Points:
	case Spans:
		for _, p := range ps {
			c.line(c.x.at(p.x), c.y.at(p.y), c.x.at(p.end), c.y.at(p.y), of.String())
		}
	default:
		path := c.path(ps, s.Kind != Line)
		if s.Kind == Bars {
			first, last := c.x.at(ps[0].x), c.x.at(ps[len(ps)-1].x)
			c.printf("<path d=\"%sL%.2f %.2fL%.2f %.2fZ\" fill=\"%s\" fill-opacity=\"0.35\"/>\n", path, last, c.y.from, first, c.y.from, of.colour)
		}
		c.printf("<path d=\"%s\" %s stroke-linejoin=\"round\"/>\n", path, of)
	}
	if s.Low != nil {
		for _, p := range ps {
			c.interval(c.x.at(p.x), c.y.at(p.low), c.y.at(p.high), of.colour)
		}
	}
}

// path goes through the points, in steps if it is to be constant up to the next.
func (c *chart) path(ps []point, steps bool) string {
	var b strings.Builder
	for i, p := range ps {
		x, y := c.x.at(p.x), c.y.at(p.y)
		switch {
		case i == 0:
			fmt.Fprintf(&b, "M%.2f %.2f", x, y)
		case steps:
			fmt.Fprintf(&b, "H%.2fV%.2f", x, y)
		default:
			fmt.Fprintf(&b, "L%.2f %.2f", x, y)
		}
	}
	return b.String()
}

// dot marks a point; what a paper printed is hollow.
func (c *chart) dot(x, y float64, hollow bool, of strokes) {
	paint := "fill"
	if hollow {
		paint = "stroke"
	}
	c.printf("<circle cx=\"%.2f\" cy=\"%.2f\" r=\"2.2\" %s=\"%s\"/>\n", x, y, paint, of.colour)
}

// interval draws an error bar.
func (c *chart) interval(x, low, high float64, colour string) {
	const half = 2.5
	c.printf("<path d=\"M%.2f %.2fV%.2fM%.2f %.2fh%vM%.2f %.2fh%v\" stroke=\"%s\"/>\n", x, low, high, x-half, low, 2*half, x-half, high, 2*half, colour)
}
