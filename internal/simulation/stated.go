package simulation

import (
	"fmt"
	"slices"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// stated says of how many stages that take time the workload tells schedulers the mean duration beforehand. Those of
// drivers do not count: no policy asks for them.
func stated(w *trace.Workload) string {
	driver, _, _ := w.Driven()
	told, all := 0, 0
	for j := range w.Jobs {
		for _, st := range w.StagesOf(j) {
			if int(st.Class) == driver && driver >= 0 || !slices.ContainsFunc(w.DurationsOf(&st), func(d sched.Time) bool { return d > 0 }) {
				continue
			}
			if all++; st.Mean > 0 {
				told++
			}
		}
	}
	switch {
	case told == all:
		return "stated by the workload"
	case told == 0:
		return "not stated by the workload"
	}
	return fmt.Sprintf("stated by the workload for %d of %s", told, show.Count(all, "stage"))
}
