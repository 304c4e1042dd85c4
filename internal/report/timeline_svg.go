package report

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
)

// What a timeline measures, in pixels. Its rows become thinner where a run has many slots, and only some are drawn
// where they are very many.
const (
	timelineWidth = 760.0
	timelineEdge  = 10.0 // left and right of the bars
	rowHeight     = 18.0
	thinnest      = 2.0
	thin          = 5.0   // below it bars have no edges, which would hide them
	mostOfRun     = 360.0 // the height of a run's rows beyond which they become thinner
	mostRows      = 400
	timelineFont  = 12.0
	barFont       = 10.0
	letter        = 6.4 // how wide one is
	longestHost   = 18  // letters
)

// timelineStyle is the style, each selector below a scope. Colours are Okabe and Ito's; ink follows the reader's choice
// of light or dark.
const timelineStyle = `%[1]stext { fill: #24292f } %[1]s.title { font-weight: 600 } %[1]s.bar { font-size: 10px; fill: #000; pointer-events: none }
%[1]s.grid { stroke: #8885; stroke-width: 1 } %[1]s.end { stroke: #24292f; stroke-width: 1.5; stroke-dasharray: 4 3 }
%[1]s.attempt { fill: #56B4E9; stroke: #2d86b8 } %[1]s.straggler { fill: #E69F00; stroke: #a87300 } %[1]s.clone { fill: #009E73; stroke: #00694b }
%[1]s.wasted { fill-opacity: .25; stroke-dasharray: 3 2 } %[1]s.many { fill: none; stroke: #56B4E9 }
@media (prefers-color-scheme: dark) { %[1]stext { fill: #e6edf3 } %[1]s.end { stroke: #e6edf3 } %[1]s.wasted + .bar { fill: #e6edf3 } }
`

const timelineHead = `<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%[1]v" height="%[2]v" viewBox="0 0 %[1]v %[2]v" font-family="system-ui,Liberation Sans,Arial,Helvetica,sans-serif" font-size="%[3]v">
<style>
%[4]s</style>
`

// WriteSVG draws the timeline as a file that browsers show, on whatever is behind it.
func (t *Timeline) WriteSVG(w io.Writer) error {
	body, height := t.draw()
	_, err := fmt.Fprintf(w, timelineHead+"%[5]s</svg>\n", timelineWidth, height, timelineFont, fmt.Sprintf(timelineStyle, ""), body)
	return err
}

// draw returns the picture without its style, and how high it is.
func (t *Timeline) draw() (body string, height float64) {
	d := drawing{Timeline: t, last: t.end(), left: timelineEdge}
	for i := range t.Runs {
		for k := range t.Runs[i].Bars {
			if host := t.Runs[i].Bars[k].Host; host != "" {
				d.left = max(d.left, timelineEdge+1.15*letter*float64(min(longestHost, len([]rune(host))))+6)
			}
		}
	}
	y := 0.0
	for i := range t.Runs {
		y = d.run(&t.Runs[i], y)
	}
	height = d.legend(d.axis(y))
	return d.out.String(), height
}

// drawing is a timeline that is being drawn.
type drawing struct {
	*Timeline
	last float64 // when the last run ended
	left float64 // where the bars begin
	out  strings.Builder
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.out, format, args...) }

// x is where an instant is.
func (d *drawing) x(seconds float64) float64 {
	return d.left + seconds/d.last*(timelineWidth-timelineEdge-d.left)
}

// run draws a run below y and returns where it ends.
func (d *drawing) run(r *TimelineRun, y float64) float64 {
	all := r.rows()
	rows, title := all, show.OneLine(r.Title)
	if len(all) > mostRows {
		rows = longest(all)
		title += fmt.Sprintf(" (the %d of %s with the longest attempts)", mostRows, show.Count(len(all), "slot"))
	}
	height := min(rowHeight, max(thinnest, mostOfRun/float64(max(1, len(rows)))))
	y += timelineFont + 8
	d.printf("<text class=\"title\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", timelineEdge, y, html.EscapeString(title))
	y += 6
	for _, tick := range timeTicks(d.last) {
		d.printf("<path class=\"grid\" d=\"M%.1f %.1fv%.1f\"/>\n", d.x(tick.value), y, height*float64(len(rows)))
	}
	d.hosts(rows, y, height)
	bars := 0
	for i, row := range rows {
		rows[i] = d.merge(row)
		bars += len(rows[i])
	}
	for _, row := range rows {
		row = d.plain(row, bars > mostBars, y, height)
		for i := range row {
			d.bar(&row[i], y, height)
		}
		y += height
	}
	d.printf("<path class=\"end\" d=\"M%.1f %.1fv%.1f\"/>\n", d.x(r.End), y+3, -height*float64(len(rows))-6)
	return y + 6
}

// longest are the rows with the longest attempts, in their order.
func longest(all [][]Bar) (some [][]Bar) {
	of := make([]float64, len(all))
	for i, row := range all {
		for _, b := range row {
			of[i] = max(of[i], b.End-b.Start)
		}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(of[b], of[a]) })
	for _, i := range slices.Sorted(slices.Values(order[:mostRows])) {
		some = append(some, all[i])
	}
	return some
}

// hosts writes the names of the hosts beside their rows, where there is room, and a line where another begins.
func (d *drawing) hosts(rows [][]Bar, y, height float64) {
	from, written := y, y-1
	for i, row := range rows {
		host := row[0].Host
		if host != "" && (i == 0 || rows[i-1][0].Host != host) {
			at := from + float64(i)*height
			d.printf("<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", timelineEdge, at, timelineWidth-timelineEdge)
			if at >= written {
				d.printf("<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", timelineEdge, at+timelineFont-1, html.EscapeString(show.Trim(host, longestHost)))
				written = at + timelineFont + 1
			}
		}
	}
}

// mostBars is how many bars of a run each get an element of their own. Of more, those of plain attempts are one path a
// row, which browsers draw quickly.
const mostBars = 3000

// plain draws the plain attempts of a row as one path, if they are many, and returns the others.
func (d *drawing) plain(row []Bar, many bool, y, height float64) (others []Bar) {
	if !many {
		return row
	}
	var path strings.Builder
	for i := range row {
		if b := &row[i]; kindOf(b) != kinds[0].kind {
			others = append(others, *b)
		} else {
			from := d.x(b.Start)
			fmt.Fprintf(&path, "M%.1f %.1fh%.1f", from, y+height/2, max(0.3, d.x(b.End)-from-0.3))
		}
	}
	if path.Len() > 0 {
		d.printf("<path class=\"many\" stroke-width=\"%.1f\" d=\"%s\"/>\n", height*7/9, path.String())
	}
	return others
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
	gap, edge := height/9, ""
	if height < thin {
		edge = ` stroke-width="0"`
	}
	from, to := d.x(b.Start), d.x(b.End)
	d.printf("<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\"%s>", kindOf(b).class, from, y+gap, max(0.5, to-from), height-2*gap, edge)
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
	for i, tick := range timeTicks(d.last) {
		anchor, label := "middle", tick.label
		if i == 0 {
			anchor = "start"
		}
		if x := d.x(tick.value); x < timelineWidth-2*timelineEdge {
			d.printf("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, label)
		}
	}
	return y + 6
}

// timeTicks are ticks at seconds from 0 on, in seconds, minutes or hours; the first says which.
func timeTicks(last float64) []tick {
	unit, name := 1.0, " s"
	switch {
	case last > 3*3600:
		unit, name = 3600, " h"
	case last > 5*60:
		unit, name = 60, " min"
	}
	all := ticks(0, last/unit)
	for i := range all {
		all[i].value *= unit
	}
	all[0].label += name
	return all
}

// legend draws a sample of each kind that occurs.
func (d *drawing) legend(y float64) float64 {
	x := timelineEdge
	y += timelineFont
	for _, k := range d.kinds() {
		wide := 14 + 6 + float64(len(k.name))*letter + 18
		if x+wide > timelineWidth {
			x, y = timelineEdge, y+1.5*timelineFont
		}
		d.printf("<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"11\" rx=\"2\"/>\n", k.class, x, y-10)
		d.printf("<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x+20, y, k.name)
		x += wide
	}
	return y + 10
}
