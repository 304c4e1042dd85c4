package show

import (
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table is a table for a terminal, in the style of all verbs: no frame, headers as they are given, and in its cells
// nothing foreign is more than text.
type Table struct{ out table.Writer }

// NewTable begins a table whose columns are aligned to the left.
func NewTable(header ...any) Table {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Format.Header = text.FormatDefault
	t.SuppressTrailingSpaces()
	t.AppendHeader(header)
	return Table{t}
}

// NewNumbers begins a table whose first column names what the figures in the others are of.
func NewNumbers(header ...any) Table {
	t := NewTable(header...)
	t.AlignRight(2, len(header))
	return t
}

// AlignRight aligns the columns of numbers from first to last, counted from 1; no others.
func (t Table) AlignRight(first, last int) {
	var columns []int
	for n := first; n <= last; n++ {
		columns = append(columns, n)
	}
	t.AlignRightEach(columns...)
}

// AlignRightEach aligns these columns of numbers, counted from 1; no others.
func (t Table) AlignRightEach(columns ...int) {
	var right []table.ColumnConfig
	for _, n := range columns {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.out.SetColumnConfigs(right)
}

// HideEmptyColumns leaves out columns that are empty in all rows.
func (t Table) HideEmptyColumns() { t.out.SuppressEmptyColumns() }

// Row appends a row.
func (t Table) Row(cells ...any) {
	safe := make(table.Row, len(cells))
	for i, cell := range cells {
		safe[i] = cell
		if s, ok := cell.(string); ok {
			safe[i] = OneLine(s)
		}
	}
	t.out.AppendRow(safe)
}

// String returns the table without a line's end behind it.
func (t Table) String() string { return t.out.Render() }

// Trim cuts text that is wider than so many columns.
func Trim(s string, most int) string { return text.Trim(s, most) }
