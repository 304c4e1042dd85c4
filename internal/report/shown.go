package report

import "github.com/tailcut/tailcut/internal/show"

// shown returns the page with all text as it can be shown.
func (p *Page) shown() *Page {
	q := &Page{Name: show.OneLine(p.Name), Title: show.OneLine(p.Title), Intro: each(p.Intro, show.Lines)}
	for _, s := range p.Sections {
		s.Title, s.Text, s.Lines = show.OneLine(s.Title), each(s.Text, show.Lines), each(s.Lines, show.OneLine)
		tables := make([]Table, len(s.Tables))
		for i, t := range s.Tables {
			tables[i] = Table{Name: show.OneLine(t.Name), Caption: show.Lines(t.Caption), Columns: each(t.Columns, show.OneLine)}
			for _, row := range t.Rows {
				tables[i].Rows = append(tables[i].Rows, each(row, shownCell))
			}
		}
		plots := append([]Plot(nil), s.Plots...)
		for i := range plots {
			pl := &plots[i]
			pl.Name, pl.Title, pl.X, pl.Y = show.OneLine(pl.Name), show.OneLine(pl.Title), show.OneLine(pl.X), show.OneLine(pl.Y)
			pl.Series = append([]Series(nil), pl.Series...)
			for k := range pl.Series {
				pl.Series[k].Name = show.OneLine(pl.Series[k].Name)
			}
		}
		claims := append([]Claim(nil), s.Claims...)
		for i := range claims {
			c := &claims[i]
			c.What, c.Published, c.Measured, c.Known = show.Lines(c.What), show.Lines(c.Published), show.Lines(c.Measured), show.Lines(c.Known)
		}
		s.Tables, s.Plots, s.Claims = tables, plots, claims
		q.Sections = append(q.Sections, s)
	}
	return q
}

func shownCell(cell any) any {
	if s, ok := cell.(string); ok {
		return show.Lines(s)
	}
	return cell
}

func each[T any](all []T, as func(T) T) (out []T) {
	for _, x := range all {
		out = append(out, as(x))
	}
	return out
}
