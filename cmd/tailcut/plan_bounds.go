package main

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tailcut/tailcut/plan"
)

// forkBounds are figures between which those of all durations lie, where these were rounded.
type forkBounds struct {
	low, high                 plan.Outcome
	quantileLow, quantileHigh float64 // NaN without --quantile
}

// bound fills the bounds of every rule that is printed and not simulated, if durations were rounded.
func (a *forkAnswer) bound() {
	if a.bracket == nil || a.flags.method.value != "exact" { // other methods have errors of their own
		return
	}
	a.bounds = map[plan.Rule]forkBounds{}
	timed := map[plan.Rule]bool{} // whether the quantile is printed too
	for _, c := range a.advice.Frontier {
		timed[c.Policy] = false
	}
	for _, c := range append([]plan.Choice{a.advice.Baseline, a.advice.LatencySensitive, a.advice.CostSensitive}, a.best...) {
		timed[c.Policy] = true
	}
	if a.evaluated != nil {
		timed[a.evaluated.Policy] = true
	}
	for _, c := range append([]comparison{a.now}, a.compared...) {
		if c.Exact {
			timed[c.rule] = true
		}
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	for r, with := range timed {
		group.Go(func() error {
			b := forkBounds{quantileLow: math.NaN(), quantileHigh: math.NaN()}
			var err error
			if b.low, b.high, err = a.bracket.Bounds(r); err == nil && with && a.flags.quantile > 0 {
				b.quantileLow, b.quantileHigh, err = a.bracket.QuantileBounds(r, a.flags.quantile)
			}
			if err == nil {
				mu.Lock()
				a.bounds[r] = b
				mu.Unlock()
			}
			return nil
		})
	}
	_ = group.Wait()
}

// boundsOf returns the bounds of a rule, if it has any.
func (a *forkAnswer) boundsOf(r plan.Rule) (forkBounds, bool) {
	if _, ok := r.(plan.Forks); ok || a.bracket == nil { // several forks are simulated, and no key of a map
		return forkBounds{}, false
	}
	b, ok := a.bounds[r]
	return b, ok
}

// quantileOf is boundsOf for a rule whose quantile has bounds too.
func (a *forkAnswer) quantileOf(r plan.Rule) (forkBounds, bool) {
	b, ok := a.boundsOf(r)
	return b, ok && !math.IsNaN(b.quantileLow)
}

// off bounds the error of all figures that are printed and not simulated, as shares of the figures.
func (a *forkAnswer) off() forkOff {
	var off forkOff
	for _, b := range a.bounds {
		one := offBetween(b.low, b.high)
		off.Latency, off.Cost = max(off.Latency, one.Latency), max(off.Cost, one.Cost)
		if !math.IsNaN(b.quantileLow) {
			off.Quantile = max(off.Quantile, half(b.quantileLow, b.quantileHigh))
		}
	}
	return off
}

// offBetween is how far the middles between two bounds may be off.
func offBetween(low, high plan.Outcome) forkOff {
	return forkOff{Latency: half(low.Latency, high.Latency), Cost: half(low.Cost, high.Cost)}
}

// half is half of the distance of two bounds, as a share of their middle.
func half(low, high float64) float64 {
	if !(low+high > 0) || math.IsInf(low, 1) {
		return 0
	}
	return (high - low) / (high + low)
}

// rounding says how large samples are rounded and how far that puts the figures off; nothing of others.
func (a *forkAnswer) rounding() []string {
	if a.bracket == nil {
		return nil
	}
	if len(a.bounds) == 0 {
		return []string{fmt.Sprintf("searched and evaluated with the durations rounded to %d values; --method exact bounds by how much that is off",
			searchedTo(a.flags.maxClones, a.tasks))}
	}
	off := a.off()
	quantile := ""
	if a.flags.quantile > 0 {
		quantile = fmt.Sprintf(", %.2g %% (%g %% done by)", 100*off.Quantile, 100*a.flags.quantile)
	}
	return []string{
		fmt.Sprintf("searched with the durations rounded to %d values; found policies rounded to %d, by %.2g %% at most:",
			searchedTo(a.flags.maxClones, a.tasks), bracketTo, 100*a.bracket.Step()),
		fmt.Sprintf("figures that are not simulated are off by at most %.2g %% (latency), %.2g %% (machine time)%s", 100*off.Latency, 100*off.Cost, quantile),
	}
}
