package history

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// table reads rows of a table whose first line names the columns.
type table struct {
	in      *lines
	columns []string
	row     [][]byte
}

// find returns the index of the first of the names that is a column, -1 if none is.
func (t *table) find(names ...string) int {
	for _, n := range names {
		if i := slices.Index(t.columns, n); i >= 0 {
			return i
		}
	}
	return -1
}

// header takes the names of the columns.
func (t *table) header(fields [][]byte) {
	for _, f := range fields {
		t.columns = append(t.columns, string(bytes.TrimSpace(f)))
	}
}

// cell returns a cell of the row, nil of a column that is not there.
func (t *table) cell(column int) []byte {
	if column < 0 || column >= len(t.row) {
		return nil
	}
	return bytes.TrimSpace(t.row[column])
}

// split parts a row and checks how many cells it has.
func (t *table) split(line []byte, by string) error {
	t.row = appendSplit(t.row[:0], line, by)
	if len(t.row) != len(t.columns) {
		return t.in.wrong("", fmt.Errorf("expected %d columns as in the first line, got %d", len(t.columns), len(t.row)))
	}
	return nil
}

// expected complains about a cell.
func (t *table) expected(column int, what string) error {
	return t.in.expected(t.columns[column], what, t.cell(column))
}

// lacks complains about columns that are not there.
func (t *table) lacks(what string) error {
	names := strings.Fields(strings.Join(t.columns, " ")) // a name may have an end of line in it
	return t.in.wrong("", fmt.Errorf("expected %s; there are: %s", what, abridged([]byte(strings.Join(names, " ")))))
}

// appendSplit is bytes.Split without a new slice.
func appendSplit(parts [][]byte, line []byte, by string) [][]byte {
	for {
		part, rest, found := bytes.Cut(line, []byte(by))
		parts = append(parts, part)
		if !found {
			return parts
		}
		line = rest
	}
}
