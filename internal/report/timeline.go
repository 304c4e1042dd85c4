package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
)

// Timeline is a picture of what the slots of runs did when, one run above the other over the same axis of time.
type Timeline struct{ Runs []TimelineRun }

// TimelineRun is a run in a timeline.
type TimelineRun struct {
	Title string
	End   float64 // seconds from the run's start to its end, or to the last that is known of it
	Bars  []Bar
}

// Bar is an attempt in a timeline.
type Bar struct {
	Host       string  // whose slots it is drawn among; "" for none
	Label      string  // short, to stand inside the bar: the task's number
	Note       string  // what a reader sees who points at the bar
	Start, End float64 // seconds from the run's start
	Clone      bool
	Straggler  bool
	Wasted     bool // its result does not count
}

// kind is what a bar's colour and letter say.
type kind struct {
	name, class string
	fill        byte
}

// The kinds of bars, in the legend's order. Each bar is of one.
var kinds = []struct {
	kind
	fits func(b *Bar) bool
}{
	{kind{"attempt", "attempt", '='}, func(b *Bar) bool { return !b.Clone && !b.Straggler && !b.Wasted }},
	{kind{"straggler", "straggler", '#'}, func(b *Bar) bool { return !b.Clone && b.Straggler && !b.Wasted }},
	{kind{"clone", "clone", '+'}, func(b *Bar) bool { return b.Clone && !b.Wasted }},
	{kind{"attempt, result not used", "attempt wasted", '.'}, func(b *Bar) bool { return !b.Clone && !b.Straggler && b.Wasted }},
	{kind{"straggler, result not used", "straggler wasted", 'x'}, func(b *Bar) bool { return !b.Clone && b.Straggler && b.Wasted }},
	{kind{"clone, result not used", "clone wasted", '-'}, func(b *Bar) bool { return b.Clone && b.Wasted }},
}

func kindOf(b *Bar) kind {
	for i := range kinds {
		if kinds[i].fits(b) {
			return kinds[i].kind
		}
	}
	panic("report: a bar of no kind")
}

// kinds returns those that occur, in the legend's order.
func (t *Timeline) kinds() (all []kind) {
	there := map[string]bool{}
	for i := range t.Runs {
		for k := range t.Runs[i].Bars {
			there[kindOf(&t.Runs[i].Bars[k]).class] = true
		}
	}
	for i := range kinds {
		if there[kinds[i].class] {
			all = append(all, kinds[i].kind)
		}
	}
	return all
}

// end is when the last run ended.
func (t *Timeline) end() float64 {
	end := 0.0
	for i := range t.Runs {
		end = max(end, t.Runs[i].End)
		for k := range t.Runs[i].Bars {
			end = max(end, t.Runs[i].Bars[k].End)
		}
	}
	return end
}

// rows gives each bar the first row of its host that is free when it starts: there are as many rows as slots were ever
// in use. Hosts are in order of their names.
func (r *TimelineRun) rows() (all [][]Bar) {
	bars := slices.Clone(r.Bars)
	slices.SortStableFunc(bars, func(a, b Bar) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Start, b.Start)) })
	first := 0 // row of the host
	for n, b := range bars {
		if n > 0 && bars[n-1].Host != b.Host {
			first = len(all)
		}
		i := slices.IndexFunc(all[first:], func(row []Bar) bool { return row[len(row)-1].End <= b.Start })
		if i += first; i < first {
			all = append(all, nil)
			i = len(all) - 1
		}
		all[i] = append(all[i], b)
	}
	return all
}

// Empty tells whether there is nothing to draw.
func (t *Timeline) Empty() bool { return !(t.end() > 0) }

// narrowest is the width of a terminal for which a timeline is drawn if the terminal is narrower.
const narrowest = 40

// WriteText draws the timeline for a terminal of some columns: a row of characters for each slot.
func (t *Timeline) WriteText(w io.Writer, columns int) error {
	var b strings.Builder
	slots := 0
	for i := range t.Runs {
		slots = max(slots, len(t.Runs[i].rows()))
	}
	indent := len(fmt.Sprint(slots)) + 2
	width, end := max(columns, narrowest)-indent-1, t.end()
	at := func(seconds float64) int { return int(math.Round(seconds / end * float64(width))) }
	for i := range t.Runs {
		r := &t.Runs[i]
		fmt.Fprintf(&b, "%s\n", show.OneLine(r.Title))
		for slot, row := range r.rows() {
			line := []byte(strings.Repeat(" ", width+1))
			for k := range row {
				row[k].write(line, at(row[k].Start), at(row[k].End))
			}
			fmt.Fprintf(&b, "%*d %s\n", indent-1, slot+1, strings.TrimRight(string(line), " "))
		}
	}
	line := []byte(strings.Repeat(" ", width+1))
	for _, tick := range ticks(0, end) {
		if from := at(tick.value); from+len(tick.label) <= len(line) {
			copy(line[from:], tick.label)
		}
	}
	fmt.Fprintf(&b, "%*s%s\n%s", indent, "", strings.TrimRight(string(line), " "), t.letters(columns, indent))
	_, err := io.WriteString(w, b.String())
	return err
}

// letters is the legend of the text.
func (t *Timeline) letters(columns, indent int) string {
	all := []string{"seconds from left to right"}
	for _, k := range t.kinds() {
		all = append(all, string(k.fill)+" "+k.name)
	}
	var b strings.Builder
	column := columns
	for i, entry := range all {
		if column += 3 + len(entry); column > columns {
			fmt.Fprintf(&b, "%s%*s", strings.Repeat("\n", min(i, 1)), indent, "")
			column = indent + len(entry)
		} else {
			b.WriteString("   ")
		}
		b.WriteString(entry)
	}
	return b.String() + "\n"
}

// write draws a bar into a line of text: its ends are |, and its label stands at its beginning if there is room.
func (b *Bar) write(line []byte, from, to int) {
	for i := from; i <= to; i++ {
		line[i] = kindOf(b).fill
	}
	line[from], line[to] = '|', '|'
	if to-from > len(b.Label) {
		copy(line[from+1:], b.Label)
	}
}
