package overlap

import (
	"errors"
	"math"
)

// ErrNoSpan says that jobs that all arrive at once have no load.
var ErrNoSpan = errors.New("expected jobs that arrive at different times, as load is work per time")

// ScaleToLoad scales map sizes by one factor and shuffle sizes by another, so that either station has the given load,
// above 0, from the first arrival to the last: the capacity of the stations in place of the unit of the sizes, as in
// the paper's Section 5.2. Sizes may be in any unit before; a station without work keeps none. Jobs are in order of
// arrival.
func ScaleToLoad(jobs []Demand, load float64) error {
	var x, y float64
	for _, j := range jobs {
		x += j.Map
		y += j.Shuffle
	}
	span := 0.0
	if len(jobs) > 0 {
		span = jobs[len(jobs)-1].Arrival - jobs[0].Arrival
	}
	if span == 0 {
		return ErrNoSpan
	}
	maps, shuffles := load*span/x, load*span/y
	for i := range jobs {
		if j := &jobs[i]; j.Map > 0 {
			j.Map *= maps
		}
		if j := &jobs[i]; j.Shuffle > 0 {
			j.Shuffle *= shuffles
		}
	}
	return nil
}

// CubeRootRatios changes shuffle sizes so that the ratio of shuffle to map size of every job is the cube root of what
// it was: jobs closer to balance, for the paper's Figure 7(b). Jobs without map work stay as they are. Scale the jobs
// before and after.
func CubeRootRatios(jobs []Demand) {
	for i := range jobs {
		if j := &jobs[i]; j.Map > 0 {
			j.Shuffle = j.Map * math.Cbrt(j.Shuffle/j.Map)
		}
	}
}
