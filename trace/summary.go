package trace

import (
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Summary says what a workload is like.
type Summary struct {
	Jobs, Stages, Tasks, Edges int
	Deadlines                  int     // jobs that have one
	InputBytes                 int64   // of all stages that state it
	WorkSeconds                float64 // sum of all durations
	FirstArrivalSeconds        float64
	LastArrivalSeconds         float64
	TasksPerJob                Spread
	StagesPerJob               Spread
	TaskSeconds                Spread
	GapSeconds                 Spread // between arrivals; of nothing if there is one job
	// Straggling is the longest duration of a stage divided by the median, over the stages of at least StragglingTasks
	// tasks whose median is above 0.
	Straggling Spread
}

// StragglingTasks is how many tasks a stage needs to count for [Summary.Straggling].
const StragglingTasks = 10

// Spread describes a sample. All but N are 0 for an empty one. The quantile p is the smallest value that at least a
// fraction p of the sample does not exceed.
type Spread struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// Summarize describes a workload. It needs eight bytes for the time being per task of the stages whose tasks do not all
// last equally long.
func Summarize(w *Workload) Summary {
	s := Summary{Jobs: len(w.Jobs), Tasks: w.Tasks(), WorkSeconds: w.WorkSeconds()}
	if s.Jobs == 0 {
		return s
	}
	s.FirstArrivalSeconds, s.LastArrivalSeconds = w.Jobs[0].Arrival.Seconds(), w.Jobs[s.Jobs-1].Arrival.Seconds()
	tasks, stages, gaps := make([]float64, s.Jobs), make([]float64, s.Jobs), make([]float64, s.Jobs-1)
	var ratios []float64
	var all, scratch []sched.Time
	equal := map[sched.Time]int{} // tasks of the stages whose tasks last equally long
	driver, driven, took := w.Driven()
	s.Tasks, s.WorkSeconds = s.Tasks-driven, s.WorkSeconds-took
	for j := range w.Jobs {
		job := &w.Jobs[j]
		if j > 0 {
			gaps[j-1] = (job.Arrival - w.Jobs[j-1].Arrival).Seconds()
		}
		if job.Deadline > 0 {
			s.Deadlines++
		}
		tasks[j], stages[j] = float64(w.TasksOf(j)), float64(job.Stages)
		s.Stages += int(job.Stages)
		s.Edges += int(job.Edges)
		for _, st := range w.StagesOf(j) {
			if int(st.Class) == driver { // what nobody's slots are for
				tasks[j] -= float64(st.Tasks)
				stages[j]--
				s.Stages--
				continue
			}
			s.InputBytes += min(st.InputBytes, math.MaxInt64-s.InputBytes)
			d := w.DurationsOf(&st)
			if len(d) > 0 && allEqual(d) {
				equal[d[0]] += len(d)
				d = d[:min(len(d), StragglingTasks)] // as good as all of them
			} else {
				all = append(all, d...)
			}
			scratch = append(scratch[:0], d...)
			if ratio, ok := straggling(scratch); ok {
				ratios = append(ratios, ratio)
			}
		}
	}
	s.TasksPerJob, s.StagesPerJob, s.GapSeconds, s.Straggling = spread(tasks), spread(stages), spread(gaps), spread(ratios)
	s.TaskSeconds = durationSpread(all, equal)
	return s
}

func allEqual(d []sched.Time) bool {
	return !slices.ContainsFunc(d, func(x sched.Time) bool { return x != d[0] })
}

// Load returns the work that arrives per second and slot, on so many slots: 1 is all that they can do. It is infinite
// if all jobs arrive at once.
func (s *Summary) Load(slots int) float64 {
	return s.WorkSeconds / (s.LastArrivalSeconds - s.FirstArrivalSeconds) / float64(slots)
}

// straggling returns longest/median of a stage, if it counts. It sorts d.
func straggling(d []sched.Time) (float64, bool) {
	n := len(d)
	if n < StragglingTasks {
		return 0, false
	}
	slices.Sort(d)
	median := (d[(n-1)/2].Seconds() + d[n/2].Seconds()) / 2
	return d[n-1].Seconds() / median, median > 0
}

// spread describes a sample, which it sorts.
func spread(x []float64) Spread {
	slices.Sort(x)
	return spreadOf(len(x), func(yield func(float64, int) bool) {
		for _, v := range x {
			if !yield(v, 1) {
				return
			}
		}
	})
}

// durationSpread describes durations in seconds: single ones, which it sorts, and so many equal ones.
func durationSpread(single []sched.Time, equal map[sched.Time]int) Spread {
	slices.Sort(single)
	total := len(single)
	for _, n := range equal {
		total += n
	}
	return spreadOf(total, func(yield func(float64, int) bool) {
		rest := single
		for _, d := range slices.Sorted(maps.Keys(equal)) {
			for len(rest) > 0 && rest[0] < d {
				if !yield(rest[0].Seconds(), 1) {
					return
				}
				rest = rest[1:]
			}
			if !yield(d.Seconds(), equal[d]) {
				return
			}
		}
		for _, d := range rest {
			if !yield(d.Seconds(), 1) {
				return
			}
		}
	})
}

// spreadOf describes a sample of n values, which come in order and each with how often it is there.
func spreadOf(n int, values iter.Seq2[float64, int]) (s Spread) {
	s.N = n
	sum, seen := 0.0, 0
	for v, times := range values {
		if seen == 0 {
			s.Min = v
		}
		at := func(p float64, to *float64) {
			if k := rank(p, n); seen <= k && k < seen+times {
				*to = v
			}
		}
		at(0.5, &s.P50)
		at(0.9, &s.P90)
		at(0.99, &s.P99)
		s.Max = v
		sum += v * float64(times)
		seen += times
	}
	if n > 0 {
		s.Mean = sum / float64(n)
	}
	return s
}

// rank is the index of a quantile among n sorted values.
func rank(p float64, n int) int { return max(0, int(math.Ceil(p*float64(n)-1e-9))-1) }
