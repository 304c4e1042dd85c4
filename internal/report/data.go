package report

import (
	"encoding/json"
	"io"
	"math"
	"strconv"

	"github.com/tailcut/tailcut/internal/show"
)

// WriteCSV writes every number of the page in long form, `section,table,row,column,value`: one row a cell of a table,
// one a coordinate of a plot (the row is the series' name and the point's index), and the claims as a table of that
// name.
func (p *Page) WriteCSV(w io.Writer) error {
	out := show.NewCSV(w)
	_ = out.Write([]string{"section", "table", "row", "column", "value"})
	for _, s := range p.Sections {
		for _, t := range s.Tables {
			writeCells(out, s.Title, t)
		}
		for _, pl := range s.Plots {
			for _, series := range pl.Series {
				writePoints(out, s.Title, pl.Name, series)
			}
		}
	}
	writeCells(out, "Verdicts", p.claims())
	out.Flush()
	return out.Error()
}

func writeCells(out show.CSV, section string, t Table) {
	for r, row := range t.Rows {
		for c, cell := range row {
			_ = out.Write([]string{section, t.Name, strconv.Itoa(r), t.Columns[c], exact(cell)})
		}
	}
}

func writePoints(out show.CSV, section, plot string, s Series) {
	for i := range s.X {
		row := s.Name + " " + strconv.Itoa(i)
		_ = out.Write([]string{section, plot, row, "x", exact(s.X[i])})
		_ = out.Write([]string{section, plot, row, "y", exact(s.Y[i])})
		if s.Low != nil {
			_ = out.Write([]string{section, plot, row, "low", exact(s.Low[i])})
			_ = out.Write([]string{section, plot, row, "high", exact(s.High[i])})
		} else if s.Kind == Spans {
			_ = out.Write([]string{section, plot, row, "end", exact(s.High[i])})
		}
	}
}

// exact writes a cell so that it reads back as the same.
func exact(cell any) string {
	switch x := cell.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case int:
		return strconv.Itoa(x)
	case bool:
		return strconv.FormatBool(x)
	default:
		return x.(string)
	}
}

// WriteJSON writes the page as one object with the schema "tailcut.report/v1". JSON has no infinities: they are the
// strings "+Inf" and "-Inf", and NaN is null.
func (p *Page) WriteJSON(w io.Writer) error {
	finite := Page{Name: p.Name, Title: p.Title, Intro: p.Intro, Known: p.Known, Sections: make([]Section, len(p.Sections))}
	for i, s := range p.Sections {
		tables := make([]Table, len(s.Tables))
		for j, t := range s.Tables {
			rows := make([][]any, len(t.Rows))
			for r, row := range t.Rows {
				for _, c := range row {
					rows[r] = append(rows[r], jsonable(c))
				}
			}
			t.Rows = rows
			tables[j] = t
		}
		s.Tables = tables
		finite.Sections[i] = s
	}
	failed := len(p.Failed())
	return json.NewEncoder(w).Encode(struct {
		Schema string `json:"schema"`
		Failed int    `json:"failed_claims"`
		Page
	}{"tailcut.report/v1", failed, finite})
}

// MarshalJSON writes the points with infinities as strings and NaN as null.
func (s Series) MarshalJSON() ([]byte, error) {
	list := func(xs []float64) []any {
		var out []any
		for _, x := range xs {
			out = append(out, jsonable(x))
		}
		return out
	}
	return json.Marshal(struct {
		Name      string `json:"name"`
		Kind      Kind   `json:"kind"`
		Published bool   `json:"published,omitempty"`
		X         []any  `json:"x"`
		Y         []any  `json:"y"`
		Low       []any  `json:"low,omitempty"`
		High      []any  `json:"high,omitempty"`
	}{s.Name, s.Kind, s.Published, list(s.X), list(s.Y), list(s.Low), list(s.High)})
}

func jsonable(cell any) any {
	x, ok := cell.(float64)
	switch {
	case !ok:
		return cell
	case math.IsNaN(x):
		return nil
	case math.IsInf(x, 0):
		return exact(x)
	}
	return x
}
