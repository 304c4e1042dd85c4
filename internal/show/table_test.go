package show

import "testing"

// Foreign text in a cell is text, numbers stand to the right, and a column of nothing can be left out.
func TestTable(t *testing.T) {
	table := NewNumbers("of", "figure", "")
	table.HideEmptyColumns()
	table.Row("one\x1b[2J", 7, "")
	table.Row("two", 10, "")
	const want = " of          figure\n one\\x1b[2J       7\n two             10"
	if got := table.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
