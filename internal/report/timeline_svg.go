package report

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
)

// What a timeline measures, in pixels. Its rows become thinner where a run has many slots.
const (
	timelineWidth = 760.0
	timelineEdge  = 10.0 // left and right of the bars
	rowHeight     = 18.0
	thinnest      = 2.0
	mostOfRun     = 360.0 // the height of a run's rows beyond which they become thinner
	timelineFont  = 12.0
	barFont       = 10.0
)

// timelineHead is the style. Colours are Okabe and Ito's; ink follows the reader's choice of light or dark.
const timelineHead = `<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%[1]v" height="%[2]v" viewBox="0 0 %[1]v %[2]v" font-family="system-ui,Liberation Sans,Arial,Helvetica,sans-serif" font-size="%[3]v">
<style>
text { fill: #24292f } .title { font-weight: 600 } .bar { font-size: 10px; fill: #000; pointer-events: none }
.grid { stroke: #8885; stroke-width: 1 } .end { stroke: #24292f; stroke-width: 1.5; stroke-dasharray: 4 3 }
.attempt { fill: #56B4E9; stroke: #2d86b8 } .straggler { fill: #E69F00; stroke: #a87300 } .clone { fill: #009E73; stroke: #00694b }
.wasted { fill-opacity: .25; stroke-dasharray: 3 2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .end { stroke: #e6edf3 } .wasted + .bar { fill: #e6edf3 } }
</style>
`

// WriteSVG draws the timeline as a file that browsers show, on whatever is behind it.
func (t *Timeline) WriteSVG(w io.Writer) error {
	d := drawing{Timeline: t, last: t.end()}
	y := 0.0
	for i := range t.Runs {
		y = d.run(&t.Runs[i], y)
	}
	y = d.axis(y)
	y = d.legend(y)
	_, err := fmt.Fprintf(w, timelineHead+"%[4]s</svg>\n", timelineWidth, y, timelineFont, d.out.String())
	return err
}

// drawing is a timeline that is being drawn.
type drawing struct {
	*Timeline
	last float64 // when the last run ended
	out  strings.Builder
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.out, format, args...) }

// x is where an instant is.
func (d *drawing) x(seconds float64) float64 {
	return timelineEdge + seconds/d.last*(timelineWidth-2*timelineEdge)
}

// run draws a run below y and returns where it ends.
func (d *drawing) run(r *TimelineRun, y float64) float64 {
	rows := r.rows()
	height := min(rowHeight, max(thinnest, mostOfRun/float64(max(1, len(rows)))))
	y += timelineFont + 8
	d.printf("<text class=\"title\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", timelineEdge, y, html.EscapeString(show.OneLine(r.Title)))
	y += 6
	for _, tick := range ticks(0, d.last) {
		d.printf("<path class=\"grid\" d=\"M%.1f %.1fv%.1f\"/>\n", d.x(tick.value), y, height*float64(len(rows)))
	}
	for _, row := range rows {
		for _, b := range d.merge(row) {
			d.bar(&b, y, height)
		}
		y += height
	}
	d.printf("<path class=\"end\" d=\"M%.1f %.1fv%.1f\"/>\n", d.x(r.End), y+3, -height*float64(len(rows))-6)
	return y + 6
}

// merge makes one bar of neighbours of one kind that are too small to be seen: a file has some thousand bars at most,
// however many attempts there were.
func (d *drawing) merge(row []Bar) (all []Bar) {
	const seen = 0.5
	for _, b := range row {
		if n := len(all); n > 0 {
			last := &all[n-1]
			if d.x(b.End)-d.x(last.End) < seen && d.x(b.End)-d.x(b.Start) < seen && kindOf(&b) == kindOf(last) {
				last.End, last.Label, last.Note = b.End, "", ""
				continue
			}
		}
		all = append(all, b)
	}
	return all
}

// bar draws an attempt into a row that begins at y.
func (d *drawing) bar(b *Bar, y, height float64) {
	gap := height / 9
	from, to := d.x(b.Start), d.x(b.End)
	d.printf("<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\">", kindOf(b).class, from, y+gap, max(0.5, to-from), height-2*gap)
	if b.Note != "" {
		d.printf("<title>%s</title>", html.EscapeString(show.OneLine(b.Note)))
	}
	d.printf("</rect>\n")
	if height >= barFont+4 && to-from > float64(len(b.Label))*barFont*digitWidth+6 {
		d.printf("<text class=\"bar\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", from+3, y+height/2+3.5, html.EscapeString(b.Label))
	}
}

// axis draws the time below all runs.
func (d *drawing) axis(y float64) float64 {
	y += timelineFont
	for i, tick := range ticks(0, d.last) {
		anchor, label := "middle", tick.label
		if i == 0 {
			anchor, label = "start", label+" s"
		}
		if x := d.x(tick.value); x < timelineWidth-2*timelineEdge {
			d.printf("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, label)
		}
	}
	return y + 6
}

// legend draws a sample of each kind that occurs.
func (d *drawing) legend(y float64) float64 {
	x := timelineEdge
	y += timelineFont
	for _, k := range d.kinds() {
		wide := 14 + 6 + float64(len(k.name))*6.4 + 18
		if x+wide > timelineWidth {
			x, y = timelineEdge, y+1.5*timelineFont
		}
		d.printf("<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"11\" rx=\"2\"/>\n", k.class, x, y-10)
		d.printf("<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x+20, y, k.name)
		x += wide
	}
	return y + 10
}
