package trace

import (
	"fmt"
	"math"
	"slices"
	"time"

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

// FilterError says which field of a [Filter] has a value that it cannot have.
type FilterError struct {
	Field   string // as the flag is called: skip, min-tasks, from, to, scale-load
	Problem error  // what was expected
}

// Error names field and problem.
func (e *FilterError) Error() string { return e.Field + ": " + e.Problem.Error() }

// Unwrap returns the problem.
func (e *FilterError) Unwrap() error { return e.Problem }

// check returns a FilterError, or nil.
func (f *Filter) check(jobs int) error {
	wrong := func(field, format string, args ...any) error { return &FilterError{field, fmt.Errorf(format, args...)} }
	switch {
	case f.Skip < 0 || f.Skip >= jobs:
		return wrong("skip", "expected between 0 and %d of the %d jobs, not %d", jobs-1, jobs, f.Skip)
	case f.MinTasks < 0:
		return wrong("min-tasks", "expected at least 0, not %d", f.MinTasks)
	case f.From < 0:
		return wrong("from", "expected an instant of at least 0s, not %v", time.Duration(f.From))
	case f.To < 0 || f.To > 0 && f.To <= f.From:
		return wrong("to", "expected an instant after --from, not %v", time.Duration(f.To))
	case !(f.Load >= 0) || math.IsInf(f.Load, 0):
		return wrong("scale-load", "expected a positive number, not %v", f.Load)
	}
	return nil
}

// Apply returns what is left of a workload. It shares everything but the rows of jobs with w, which keep their numbers,
// and says in a note how many are left if some are not. It is an error if none is, and a [FilterError] if a field is
// out of range.
func (f *Filter) Apply(w *Workload) (*Workload, error) {
	if err := f.check(len(w.Jobs)); err != nil {
		return nil, err
	}
	left := *w
	left.Jobs = make([]JobRow, 0, len(w.Jobs)-f.Skip)
	for j := f.Skip; j < len(w.Jobs); j++ {
		if f.keeps(w, j) {
			left.Jobs = append(left.Jobs, w.Jobs[j])
		}
	}
	if len(left.Jobs) == 0 {
		return nil, fmt.Errorf("%s: the filters remove all %d jobs", w.Name, len(w.Jobs))
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
			return &FilterError{"scale-load", fmt.Errorf("expected a larger number than %v, job %d would arrive after %.0f s",
				factor, w.Jobs[j].Number, sched.Time(maxInstant).Seconds())}
		}
		w.Jobs[j].Arrival = first + sched.Time(after)
	}
	return nil
}
