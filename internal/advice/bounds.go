package advice

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/tailcut/tailcut/plan"
)

// bounds are figures between which those of all durations lie, where these were rounded.
type bounds struct {
	low, high                 plan.Outcome
	quantileLow, quantileHigh float64 // NaN without a quantile
}

// bound fills the bounds of every rule that is printed and not simulated, if durations were rounded.
func (a *Advice) bound(ctx context.Context) error {
	if a.bracket == nil || a.Method != "exact" { // other methods have errors of their own
		return nil
	}
	a.bounds = map[plan.Rule]bounds{}
	timed := map[plan.Rule]bool{} // whether the quantile is printed too
	for _, c := range a.optima.Frontier {
		timed[c.Policy] = false
	}
	for _, c := range append([]plan.Choice{a.optima.Baseline, a.optima.LatencySensitive, a.optima.CostSensitive}, a.best...) {
		timed[c.Policy] = true
	}
	if a.own != nil {
		timed[a.own.Policy] = true
	}
	for _, c := range append([]comparison{a.now}, a.compared...) {
		if c.Exact {
			timed[c.rule] = true
		}
	}
	rules := slices.Collect(maps.Keys(timed))
	var mu sync.Mutex
	return each(ctx, len(rules), func(i int) error {
		r := rules[i]
		b := bounds{quantileLow: math.NaN(), quantileHigh: math.NaN()}
		var err error
		if b.low, b.high, err = a.bracket.Bounds(r); err == nil && timed[r] && a.Quantile > 0 {
			b.quantileLow, b.quantileHigh, err = a.bracket.QuantileBounds(r, a.Quantile)
		}
		if err == nil { // a rule without bounds is shown without
			mu.Lock()
			a.bounds[r] = b
			mu.Unlock()
		}
		return nil
	})
}

// boundsOf returns the bounds of a rule, if it has any.
func (a *Advice) boundsOf(r plan.Rule) (bounds, bool) {
	if _, ok := r.(plan.Forks); ok || a.bracket == nil { // several forks are simulated, and no key of a map
		return bounds{}, false
	}
	b, ok := a.bounds[r]
	return b, ok
}

// quantileOf is boundsOf for a rule whose quantile has bounds too.
func (a *Advice) quantileOf(r plan.Rule) (bounds, bool) {
	b, ok := a.boundsOf(r)
	return b, ok && !math.IsNaN(b.quantileLow)
}

// off bounds the error of all figures that are printed and not simulated, as shares of the figures.
func (a *Advice) off() Off {
	var off Off
	for _, b := range a.bounds {
		one := OffBetween(b.low, b.high)
		off.Latency, off.Cost = max(off.Latency, one.Latency), max(off.Cost, one.Cost)
		if !math.IsNaN(b.quantileLow) {
			off.Quantile = max(off.Quantile, half(b.quantileLow, b.quantileHigh))
		}
	}
	return off
}

// OffBetween is how far the middles between two bounds may be off.
func OffBetween(low, high plan.Outcome) Off {
	return Off{Latency: half(low.Latency, high.Latency), Cost: half(low.Cost, high.Cost)}
}

// half is half of the distance of two bounds, as a share of their middle.
func half(low, high float64) float64 {
	if !(low+high > 0) || math.IsInf(low, 1) {
		return 0
	}
	return (high - low) / (high + low)
}

// rounding says how large samples are rounded and how far that puts the figures off; nothing of others.
func (a *Advice) rounding() []string {
	if a.bracket == nil {
		return nil
	}
	if len(a.bounds) == 0 {
		return []string{fmt.Sprintf("durations rounded to %d values; --method exact shows the error bound",
			a.searchedTo())}
	}
	off := a.off()
	quantile := ""
	if a.Quantile > 0 {
		quantile = fmt.Sprintf(", %.2g %% (%g %% done by)", 100*off.Quantile, 100*a.Quantile)
	}
	return []string{
		fmt.Sprintf("durations rounded to %d values for the search, and to %d for the result, by %.2g %% at most:",
			a.searchedTo(), bracketTo, 100*a.bracket.Step()),
		fmt.Sprintf("errors of figures that are not simulated: at most %.2g %% (latency), %.2g %% (machine time)%s", 100*off.Latency, 100*off.Cost, quantile),
	}
}
