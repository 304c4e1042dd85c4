// Package show writes numbers, spans, amounts, tables and foreign text for people and spreadsheets. It knows nothing
// of what they are of.
package show

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
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

// InWords is an error's text, with what the system says of a file in the words of all others: "FILE: what is wrong",
// without the name of a call, and once.
func InWords(err error) string {
	text := err.Error()
	var of *fs.PathError
	if !errors.As(err, &of) {
		return text
	}
	problem := of.Err.Error()
	if errors.Is(of, syscall.EISDIR) {
		problem = "expected a file, found a folder"
	}
	text = strings.Replace(text, of.Error(), of.Path+": "+problem, 1)
	return strings.Replace(text, of.Path+": "+of.Path+": ", of.Path+": ", 1)
}
