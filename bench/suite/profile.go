package main

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/internal/suite"
)

// profile shows, for each of some policies, the share of cells in which it is within a factor of the best: the
// performance profile of Dolan and Moré (2002).
func profile(all []*suite.Outcome, policies []string) *report.Plot {
	p := &report.Plot{
		Name: "yardstick", Title: "How often a policy is close to the best published one",
		X: "mean flow time by that of the best published policy", Y: "share of cells, %", LogX: true,
	}
	const from, to = 0.5, 8
	for _, name := range policies {
		var ratios []float64
		for _, o := range all {
			if r := o.Of(name); r != nil && !math.IsNaN(r.Ratio.Mean) {
				ratios = append(ratios, r.Ratio.Mean)
			}
		}
		slices.Sort(ratios)
		s := report.Series{Name: name, Kind: report.Steps}
		share := func(i int) float64 { return 100 * float64(i) / float64(len(all)) }
		below, _ := slices.BinarySearch(ratios, from)
		s.X, s.Y = append(s.X, from), append(s.Y, share(below))
		for i, x := range ratios {
			if x >= from && x <= to {
				s.X, s.Y = append(s.X, x), append(s.Y, share(i+1))
			}
		}
		s.X, s.Y = append(s.X, to), append(s.Y, s.Y[len(s.Y)-1])
		p.Series = append(p.Series, s)
	}
	return p
}
