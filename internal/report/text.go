package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const width = 100 // of a line of prose

// WriteText writes the page for a terminal: prose, tables, and all verdicts at the end. Plots are only named.
func (p *Page) WriteText(w io.Writer) error {
	p = p.shown()
	var b strings.Builder
	heading(&b, p.Title, '=')
	paragraphs(&b, p.Intro)
	for _, s := range p.Sections {
		heading(&b, s.Title, '-')
		paragraphs(&b, s.Text)
		if len(s.Lines) > 0 {
			fmt.Fprintf(&b, "  %s\n\n", strings.Join(s.Lines, "\n  "))
		}
		for i := range s.Tables {
			b.WriteString(s.Tables[i].text())
			b.WriteByte('\n')
		}
		for _, pl := range s.Plots {
			fmt.Fprintf(&b, "(plot %s: %s)\n", pl.Name, first(pl.Title, pl.Y+" against "+pl.X))
		}
		if len(s.Plots) > 0 {
			b.WriteByte('\n')
		}
	}
	if t := p.claims(); len(t.Rows) > 0 {
		heading(&b, "Verdicts", '-')
		fmt.Fprintf(&b, "%s\n%s\n", t.text(), p.Tally())
	}
	if reasons := p.reasons(); len(reasons) > 0 {
		b.WriteByte('\n')
		heading(&b, "Why claims fail that are known to", '-')
		for _, r := range reasons {
			fmt.Fprintf(&b, "%s\n\n", text.WrapSoft(r.What+": "+r.Why, width))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func heading(b *strings.Builder, title string, line byte) {
	fmt.Fprintf(b, "%s\n%s\n\n", title, strings.Repeat(string(line), text.StringWidthWithoutEscSequences(title)))
}

func paragraphs(b *strings.Builder, all []string) {
	for _, p := range all {
		fmt.Fprintf(b, "%s\n\n", text.WrapSoft(p, width))
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (t *Table) text() string {
	out := table.NewWriter()
	out.SetStyle(table.StyleLight)
	out.Style().Options = table.OptionsNoBordersAndSeparators
	out.Style().Format.Header = text.FormatDefault
	header, configs := make(table.Row, len(t.Columns)), make([]table.ColumnConfig, len(t.Columns))
	for i, c := range t.Columns {
		header[i] = c
		configs[i] = table.ColumnConfig{Number: i + 1, WidthMax: 60, WidthMaxEnforcer: text.WrapSoft}
		if t.numeric(i) {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	out.SetColumnConfigs(configs)
	out.SuppressTrailingSpaces()
	out.AppendHeader(header)
	for _, row := range t.Rows {
		cells := make(table.Row, len(row))
		for i, c := range row {
			cells[i] = short(c)
		}
		out.AppendRow(cells)
	}
	caption := ""
	if t.Caption != "" {
		caption = text.WrapSoft(t.Caption, width) + "\n"
	}
	return caption + out.Render() + "\n"
}

// numeric reports whether column i holds numbers only.
func (t *Table) numeric(i int) bool {
	some := false
	for _, row := range t.Rows {
		switch row[i].(type) {
		case int, float64:
			some = true
		case nil:
		default:
			return false
		}
	}
	return some
}

// short writes a cell for people: four significant digits, never in the form 1e+06.
func short(cell any) string {
	x, ok := cell.(float64)
	switch {
	case cell == nil || ok && math.IsNaN(x):
		return ""
	case !ok:
		return fmt.Sprint(cell)
	case math.IsInf(x, 0):
		return fmt.Sprint(x)
	case x == 0:
		return "0"
	}
	digits := 3 - int(math.Floor(math.Log10(math.Abs(x))))
	return strconv.FormatFloat(x, 'f', min(max(digits, 0), 9), 64)
}
