package main

import (
	"math"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/internal/suite"
	"github.com/tailcut/tailcut/sim"
)

// A policy that was stuck in a cell is close to the best at no factor there.
func TestProfile(t *testing.T) {
	var all []*suite.Outcome
	for _, x := range []float64{1, 3, math.NaN(), 9} {
		all = append(all, &suite.Outcome{Rows: []suite.Row{{Policy: "own", Ratio: sim.Estimate{Mean: x}}}})
	}
	s := profile(all, []string{"own"}).Series[0]
	if !slices.Equal(s.X, []float64{0.5, 1, 3, 8}) || !slices.Equal(s.Y, []float64{0, 25, 50, 50}) {
		t.Errorf("%+v", s)
	}
}
