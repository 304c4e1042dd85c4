package diagnosis

import (
	"slices"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
)

// excess is by how much the tasks of a stage were slower than its typical task, which is the median, and why. Times are
// in seconds.
type excess struct {
	record  *history.StageRecord
	tasks   []replay.Hold
	held    []float64 // by task: how long it held its slot
	typical float64
	left    []float64          // of each task's excess, what is not told apart yet
	parts   map[Kind][]float64 // of the excess, by cause and task
	said    map[Kind]string    // evidence of a cause that makes some task slow
	slow    int32              // the machine that is slow, -1 if none is
}

// excessOf tells the excess of each task apart. Each cause takes of what those before it have left.
func excessOf(st *history.StageRecord, tasks []replay.Hold, r *Request) *excess {
	e := &excess{record: st, tasks: tasks, parts: map[Kind][]float64{}, said: map[Kind]string{}, slow: -1}
	for _, t := range tasks {
		e.held = append(e.held, t.Held.Seconds())
	}
	e.typical = lowerMedian(e.held)
	for _, h := range e.held {
		e.left = append(e.left, max(0, h-e.typical))
	}
	e.failures()
	e.skew(&r.Thresholds)
	e.measured(Scheduler, func(m *history.Metrics) float64 { return m.Delay.Seconds() },
		"between launch and end, a task lost up to %s to the scheduler, typically %s")
	e.measured(GC, func(m *history.Metrics) float64 { return m.GC.Seconds() },
		"a slow task's executor collected garbage for up to %s, typically %s")
	e.measured(ShuffleWait, func(m *history.Metrics) float64 { return m.FetchWait.Seconds() },
		"a slow task waited up to %s for shuffled data, typically %s")
	if !r.Again.Arranged { // where it is not known which tasks were first
		e.warmUp(&r.Thresholds)
	}
	e.recurring(r.Recurring[st])
	e.host(&r.Thresholds, r.Hosts)
	e.locality()
	e.spill()
	e.stragglers()
	return e
}

// take gives a task's excess to a cause, as much as there is left of it.
func (e *excess) take(cause Kind, task int, seconds float64) {
	seconds = min(seconds, e.left[task])
	if !(seconds > 0) {
		return
	}
	if e.parts[cause] == nil {
		e.parts[cause] = make([]float64, len(e.tasks))
	}
	e.parts[cause][task] += seconds
	e.left[task] -= seconds
}

// measured takes what a log measures, beyond what is typical.
func (e *excess) measured(cause Kind, of func(*history.Metrics) float64, evidence string) {
	all := make([]float64, len(e.tasks))
	for i := range e.tasks {
		all[i] = of(&e.tasks[i].Last.Metrics)
	}
	typical, most := lowerMedian(all), 0.0
	for i, x := range all {
		if x > typical && e.left[i] > 0 {
			e.take(cause, i, x-typical)
			most = max(most, x)
		}
	}
	if most > 0 {
		e.said[cause] = sprint(evidence, most, typical)
	}
}

// lowerMedian is the middle value, the lower of two; 0 of none.
func lowerMedian(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
