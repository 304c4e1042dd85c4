package sim

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// Law returns the law of how many times its intrinsic time an attempt at a site takes, once its data is there: slowdown
// over speed. It is for policies that are told the truth instead of learning it. Values ascend. A law of speeds counts
// as its eight quantiles at odd sixteenths, and a law of slowdowns that has no atoms as 64 quantiles likewise.
func (c *Cluster) Law(k sched.SiteID) (values, chances []float64) {
	const quantiles = 8
	s := &c.Sites[k]
	var all []laws.Atom
	for _, a := range slowdowns(s.Slowdown) {
		for q := range quantiles {
			all = append(all, laws.Atom{Value: a.Value / s.Speed.Quantile((float64(q)+0.5)/quantiles), Mass: a.Mass / quantiles})
		}
	}
	slices.SortFunc(all, func(a, b laws.Atom) int { return cmp.Compare(a.Value, b.Value) })
	for _, a := range all {
		if n := len(values); n > 0 && values[n-1] == a.Value {
			chances[n-1] += a.Mass
			continue
		}
		values, chances = append(values, a.Value), append(chances, a.Mass)
	}
	return values, chances
}

// slowdowns returns a law of slowdowns by values and their chances.
func slowdowns(law laws.Law) []laws.Atom {
	if law == nil {
		return []laws.Atom{{Value: 1, Mass: 1}}
	}
	if all := laws.Atoms(law); all != nil {
		return all
	}
	const quantiles = 64
	all := make([]laws.Atom, quantiles)
	for q := range all {
		all[q] = laws.Atom{Value: max(0, law.Quantile((float64(q)+0.5)/quantiles)), Mass: 1.0 / quantiles}
	}
	return all
}
