package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What comes from outside (names of stages, files and jobs, what a task has said, fields of logs) is data wherever it
// is shown. There is one function per kind of place: OneLine for terminals, errors and pages, NewCSV for tables.

// OneLine returns text as it can be shown in a line: a terminal obeys nothing in it, and it does not end the line or
// turn its direction. Control characters, bytes that are no UTF-8, and marks without a picture, such as those that turn
// the direction of text, are shown as escapes.
func OneLine(text string) string {
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r == utf8.RuneError:
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				fmt.Fprintf(&b, `\x%02x`, text[i])
			} else {
				b.WriteRune(r) // it stands there itself
			}
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// Lines is OneLine for text that may have several lines.
func Lines(text string) string {
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = OneLine(lines[i])
	}
	return strings.Join(lines, "\n")
}

func hidden(r rune) bool { return r == utf8.RuneError || !unicode.IsGraphic(r) }

// CSV writes rows whose cells no spreadsheet takes for a formula.
type CSV struct{ out *csv.Writer }

// NewCSV returns a writer of rows.
func NewCSV(w io.Writer) CSV { return CSV{csv.NewWriter(w)} }

// Write writes a row.
func (c CSV) Write(row []string) error {
	safe := make([]string, len(row))
	for i, cell := range row {
		safe[i] = Cell(cell)
	}
	return c.out.Write(safe)
}

// WriteAll writes rows, and all that was written before.
func (c CSV) WriteAll(rows [][]string) error {
	for _, row := range rows {
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.out.Flush()
	return c.out.Error()
}

// Flush writes what is still held back; Error tells of the first failure.
func (c CSV) Flush() { c.out.Flush() }

// Error returns the first error of a write.
func (c CSV) Error() error { return c.out.Error() }

// Cell returns the text of a cell as a spreadsheet can show it. What would be a formula there, because it begins with
// one of = + - @ and is no number, or with a tab or a carriage return, begins with an apostrophe instead.
func Cell(text string) string {
	if text == "" {
		return ""
	}
	if strings.IndexByte("=+-@\t\r", text[0]) >= 0 {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			text = "'" + text
		}
	}
	return Lines(text)
}

// shown returns the page with all text as it can be shown.
func (p *Page) shown() *Page {
	q := &Page{Name: OneLine(p.Name), Title: OneLine(p.Title), Intro: each(p.Intro, Lines)}
	for _, s := range p.Sections {
		s.Title, s.Text = OneLine(s.Title), each(s.Text, Lines)
		tables := make([]Table, len(s.Tables))
		for i, t := range s.Tables {
			tables[i] = Table{Name: OneLine(t.Name), Caption: Lines(t.Caption), Columns: each(t.Columns, OneLine)}
			for _, row := range t.Rows {
				tables[i].Rows = append(tables[i].Rows, each(row, shownCell))
			}
		}
		plots := append([]Plot(nil), s.Plots...)
		for i := range plots {
			pl := &plots[i]
			pl.Name, pl.Title, pl.X, pl.Y = OneLine(pl.Name), OneLine(pl.Title), OneLine(pl.X), OneLine(pl.Y)
			pl.Series = append([]Series(nil), pl.Series...)
			for k := range pl.Series {
				pl.Series[k].Name = OneLine(pl.Series[k].Name)
			}
		}
		claims := append([]Claim(nil), s.Claims...)
		for i := range claims {
			c := &claims[i]
			c.What, c.Published, c.Measured, c.Known = Lines(c.What), Lines(c.Published), Lines(c.Measured), Lines(c.Known)
		}
		s.Tables, s.Plots, s.Claims = tables, plots, claims
		q.Sections = append(q.Sections, s)
	}
	return q
}

func shownCell(cell any) any {
	if s, ok := cell.(string); ok {
		return Lines(s)
	}
	return cell
}

func each[T any](all []T, show func(T) T) (out []T) {
	for _, x := range all {
		out = append(out, show(x))
	}
	return out
}
