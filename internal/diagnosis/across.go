package diagnosis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/laws"
)

// mostAcross is how many candidates are played in all nights.
const mostAcross = 4

// Across is what the best settings of a system give over many nights.
type Across struct {
	System string   `json:"system"`
	Lines  []string `json:"lines"`
	Nights int      `json:"runs"`
	Saved  float64  `json:"saved_ratio"`     // of the time, on average over nights
	Low    *float64 `json:"saved_low_ratio"` // 95 % interval of that average; nil for fewer than two nights
	High   *float64 `json:"saved_high_ratio"`
	Sure   bool     `json:"sure"` // the interval is above 0, and the average worth it
}

// PlayAcross plays the best candidates of some nights' diagnoses in every night, and returns the one that saves most on
// average; nil if none saves anything.
func PlayAcross(ctx context.Context, nights []Request, proposed []*Diagnosis) (best *Across, err error) {
	p := proposals(proposed)
	if len(p.candidates) == 0 {
		return nil, nil
	}
	all := make([]int, len(p.candidates))
	tasks := 0
	for k := range all {
		all[k] = k
	}
	for i := range nights {
		tasks += nights[i].tasks()
	}
	saved := make([][]float64, len(all)) // by candidate and night
	for i := range nights {
		r := &nights[i]
		Keep(*r)
		rules := replay.Rules{Runs: max(leastPlays, min(mostPlays, playedTasks/max(1, tasks*len(all)))), Seed: r.Seed}
		rules = p.rules(rules, all)
		rules.Specs = append([]string{r.Again.Rule}, rules.Specs...)
		taken, err := r.Again.Whole(ctx, rules)
		if err != nil {
			return nil, fmt.Errorf("%s: replay: %w", r.Log, err)
		}
		for k := range all {
			saved[k] = append(saved[k], taken[k+1].Saves(taken[0]))
		}
	}
	for k, c := range p.candidates {
		mean, half := laws.MeanInterval(saved[k], 0.95)
		if mean <= 0 || best != nil && mean <= best.Saved {
			continue
		}
		best = &Across{System: p.system, Lines: c.lines, Nights: len(nights), Saved: mean}
		if len(nights) > 1 {
			low, high := mean-half, min(mean+half, 1) // nothing saves more than all
			best.Low, best.High, best.Sure = &low, &high, low > 0 && mean >= leastWorth
		}
	}
	if best != nil && best.High != nil && *best.High < leastWorth {
		return nil, nil
	}
	return best, nil
}

// Proposes tells whether the diagnosis has candidates that are worth playing in other nights.
func (d *Diagnosis) Proposes() bool { return d.own != nil && len(d.own.candidates) > 0 }

// proposals are the fastest candidates of each diagnosis.
func proposals(proposed []*Diagnosis) *played {
	all := &played{}
	for _, d := range proposed {
		if d.own == nil {
			continue
		}
		all.system = d.own.system
		order := make([]int, len(d.own.survivors))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.own.whole[a].Mean, d.own.whole[b].Mean) })
		for _, i := range order[:min(len(order), max(1, mostAcross/len(proposed)))] {
			c := d.own.candidates[d.own.survivors[i]]
			if !slices.ContainsFunc(all.candidates, func(o candidate) bool { return o.spec == c.spec }) {
				all.candidates = append(all.candidates, c)
			}
		}
	}
	return all
}
