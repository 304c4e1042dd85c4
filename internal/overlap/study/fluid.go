package study

import (
	"fmt"
	"io"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/trace"
)

// FluidJobs reads a workload that states bytes, such as SWIM's, as jobs of the fluid model: in order of arrival, with
// map input and shuffle as sizes, in bytes. [overlap.ScaleToLoad] makes seconds of them.
func FluidJobs(r io.Reader, name string) ([]overlap.Demand, error) {
	const whole = 1 << 50 // tasks do not matter: one a stage
	w, err := (&trace.Importer{Split: whole, ReduceSplit: whole}).Read(r, name)
	if err != nil {
		return nil, err
	}
	jobs := make([]overlap.Demand, len(w.Jobs))
	stated := false
	for i, j := range w.Jobs {
		jobs[i].Arrival = j.Arrival.Seconds()
		for s, stage := range w.StagesOf(i) {
			stated = stated || stage.InputBytes > 0
			switch s {
			case 0:
				jobs[i].Map = float64(stage.InputBytes)
			case 1:
				jobs[i].Shuffle = float64(stage.InputBytes)
			default:
				return nil, fmt.Errorf("%s: job %d: expected a map and a reduce stage, got %d stages", name, i, j.Stages)
			}
		}
	}
	if !stated {
		return nil, fmt.Errorf("%s: expected a workload with map input and shuffle bytes", name)
	}
	return jobs, nil
}
