// Package report turns a result into something to read: text for a terminal, CSV and JSON for programs, one HTML file
// with plots that opens without a network.
//
// The code that computes a result describes it once, as a [Page]; the page does not depend on that code. Numbers
// stay numbers until they are written, so that CSV and JSON keep every digit where text shows four.
package report

// Page is one result, from its title down to its verdicts.
type Page struct {
	Name     string    `json:"name"` // one word, the file's name without its suffix: "srew"
	Title    string    `json:"title"`
	Intro    []string  `json:"intro,omitempty"` // paragraphs
	Sections []Section `json:"sections"`
	Known    []Known   `json:"known,omitempty"` // claims that are expected to fail, and why
}

// Section is a part of a page: usually one table or figure of a paper.
type Section struct {
	Title  string   `json:"title"`
	Text   []string `json:"text,omitempty"`  // paragraphs
	Lines  []string `json:"lines,omitempty"` // to be copied as they are
	Tables []Table  `json:"tables,omitempty"`
	Plots  []Plot   `json:"plots,omitempty"`
	Claims []Claim  `json:"claims,omitempty"`

	Timelines []*Timeline `json:"-"` // above the text, on HTML pages only
}

// Table is a table of numbers and words.
type Table struct {
	Name    string   `json:"name"` // one word, unique in the page: programs find the table by it
	Caption string   `json:"caption,omitempty"`
	Columns []string `json:"columns"` // with units: "mean flow (s)"
	Rows    [][]any  `json:"rows"`    // cells are string, int, float64, bool, or nil where there is nothing to say
}

// Add appends a row. Its cells are string, int, float64, bool or nil, one a column.
func (t *Table) Add(cells ...any) { t.Rows = append(t.Rows, cells) }

// Plot is a picture with two axes.
type Plot struct {
	Name   string   `json:"name"` // one word, unique in the page
	Title  string   `json:"title,omitempty"`
	X      string   `json:"x"` // the axes' labels, with units
	Y      string   `json:"y"`
	LogX   bool     `json:"log_x,omitempty"` // points that are not positive are left out
	LogY   bool     `json:"log_y,omitempty"`
	Series []Series `json:"series"`
}

// Kind says how a series is drawn.
type Kind string

// The kinds of series.
const (
	Line   Kind = "line"
	Steps  Kind = "steps"  // constant up to the next x: empirical distributions
	Points Kind = "points" // not connected
	// horizontal lines at y from x to High: who did something when; finite numbers on linear axes
	Spans Kind = "spans"
	// filled steps: histograms; the last x is the right end of the last bar and its y is not drawn
	Bars Kind = "bars"
)

// Series is one line of a plot.
type Series struct {
	Name      string    `json:"name"`
	Kind      Kind      `json:"kind"`
	Published bool      `json:"published,omitempty"` // values that a paper printed: drawn dashed and hollow
	X         []float64 `json:"x"`
	Y         []float64 `json:"y"`
	Low       []float64 `json:"low,omitempty"` // the interval at each x, drawn as an error bar; nil if there is none
	High      []float64 `json:"high,omitempty"`
}
