package trace

import (
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Filter chooses jobs of a workload, and how fast they arrive. The zero value chooses all, as they arrive.
type Filter struct {
	Skip     int        // leave out the first jobs of the workload; the other fields see the rest
	MinTasks int        // leave out jobs of fewer tasks
	From, To sched.Time // keep jobs that arrive at From or later, and before To; a To of 0 is no bound
	Drop     *DropList  // leave out what is listed, if not nil
	Load     float64    // factor on the load: gaps between the arrivals of what is left are divided by it; 0 means 1
}

// Apply returns what is left of a workload. It shares everything but the rows of jobs with w, which keep their numbers, and says in a note how many are
// left if some are not. It is an error if none is, or if a field is out of range.
func (f *Filter) Apply(w *Workload) (*Workload, error) {
	switch {
	case f.Skip < 0:
		return nil, fmt.Errorf("trace: skip: expected at least 0 jobs, got %d", f.Skip)
	case f.MinTasks < 0:
		return nil, fmt.Errorf("trace: min-tasks: expected at least 0, got %d", f.MinTasks)
	case f.From < 0 || f.To < 0 || f.To > 0 && f.To <= f.From:
		return nil, fmt.Errorf("trace: from, to: expected instants of at least 0, the second behind the first, got %v and %v s", f.From.Seconds(), f.To.Seconds())
	case !(f.Load >= 0) || math.IsInf(f.Load, 0):
		return nil, fmt.Errorf("trace: scale-load: expected a positive number, got %v", f.Load)
	}
	left := *w
	left.Jobs = make([]Job, 0, len(w.Jobs)-min(f.Skip, len(w.Jobs)))
	for j := min(f.Skip, len(w.Jobs)); j < len(w.Jobs); j++ {
		if f.keeps(w, j) {
			left.Jobs = append(left.Jobs, w.Jobs[j])
		}
	}
	if len(left.Jobs) == 0 {
		return nil, fmt.Errorf("trace: %s: none of the %d jobs is left by the filters", w.Name, len(w.Jobs))
	}
	if len(left.Jobs) < len(w.Jobs) {
		left.Notes = append(slices.Clone(w.Notes), fmt.Sprintf("%s: kept %d of %d jobs", w.Name, len(left.Jobs), len(w.Jobs)))
	}
	return &left, left.scaleLoad(f.Load)
}

// keeps reports whether job j stays.
func (f *Filter) keeps(w *Workload, j int) bool {
	job := &w.Jobs[j]
	if job.Arrival < f.From || f.To > 0 && job.Arrival >= f.To {
		return false
	}
	if f.Drop != nil && f.Drop.has(w, j) {
		return false
	}
	return w.TasksOf(j) >= f.MinTasks
}

// scaleLoad divides the gaps between arrivals by a factor; the first job arrives as before.
func (w *Workload) scaleLoad(factor float64) error {
	if factor == 0 || factor == 1 {
		return nil
	}
	first := w.Jobs[0].Arrival
	for j := range w.Jobs {
		after := math.Round(float64(w.Jobs[j].Arrival-first) / factor)
		if after > float64(maxInstant-first) {
			return fmt.Errorf("trace: scale-load: expected a larger number than %v, job %d would arrive after %.0f s", factor, w.Jobs[j].Number, sched.Time(maxInstant).Seconds())
		}
		w.Jobs[j].Arrival = first + sched.Time(after)
	}
	return nil
}
