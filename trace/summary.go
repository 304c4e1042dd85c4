package trace

import (
	"cmp"
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

// Summarize describes a workload. It needs eight bytes per task for the time being.
func Summarize(w *Workload) Summary {
	s := Summary{Jobs: len(w.Jobs), Tasks: w.Tasks(), WorkSeconds: w.WorkSeconds()}
	if s.Jobs == 0 {
		return s
	}
	s.FirstArrivalSeconds, s.LastArrivalSeconds = w.Jobs[0].Arrival.Seconds(), w.Jobs[s.Jobs-1].Arrival.Seconds()
	tasks, stages, gaps := make([]float64, s.Jobs), make([]float64, s.Jobs), make([]float64, s.Jobs-1)
	all := make([]sched.Time, 0, s.Tasks)
	var ratios []float64
	var scratch []sched.Time
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
			all = append(all, w.DurationsOf(&st)...)
			s.InputBytes += min(st.InputBytes, math.MaxInt64-s.InputBytes)
			scratch = append(scratch[:0], w.DurationsOf(&st)...)
			if ratio, ok := straggling(scratch); ok {
				ratios = append(ratios, ratio)
			}
		}
	}
	s.TasksPerJob, s.StagesPerJob, s.GapSeconds, s.Straggling = spread(tasks, itself), spread(stages, itself), spread(gaps, itself), spread(ratios, itself)
	s.TaskSeconds = spread(all, sched.Time.Seconds)
	return s
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

// spread describes a sample, which it sorts, in the unit of value.
func spread[T cmp.Ordered](x []T, value func(T) float64) Spread {
	n := len(x)
	if n == 0 {
		return Spread{}
	}
	slices.Sort(x)
	sum := 0.0
	for _, v := range x {
		sum += value(v)
	}
	at := func(p float64) float64 { return value(x[rank(p, n)]) }
	return Spread{N: n, Mean: sum / float64(n), Min: value(x[0]), P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: value(x[n-1])}
}

func itself(x float64) float64 { return x }

// rank is the index of a quantile among n sorted values.
func rank(p float64, n int) int { return max(0, int(math.Ceil(p*float64(n)-1e-9))-1) }
