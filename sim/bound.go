package sim

import (
	"container/heap"
	"slices"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// LowerBound returns a mean flow time in seconds that no policy can beat on a workload and cluster, whatever it knows
// beforehand, however many clones it makes and however lucky it is; with a [Capacity] model and jobs that all arrive at
// once, in the mean over luck. It is 0 where nothing is known. Policies that set the speed of the machines are not
// meant.
//
// It is the larger of two bounds, which are (8) and (17) of the paper on SREW (Xu et al., IEEE TPDS 2017) for jobs
// that arrive when they like. First, no job ends before its longest chain of tasks could, were each to last as short
// as its service allows. Second, the slots are no better than one machine as fast as all of them, on which SRPT is
// optimal (Schrage 1968), and each task costs machine time at least as long.
//
// The shortest time of a task is often far below its mean: under the model resample it is the shortest of its stage.
// So the bound is good for saying how much is left to gain at most, not how much is.
func LowerBound(w *trace.Workload, o Options) (float64, error) {
	if o.Cluster != nil {
		return 0, nil
	}
	if o.Model == nil {
		o.Model = Resample
	}
	if o.Speed == 0 {
		o.Speed = 1
	}
	service, err := o.Model(w, o.Machines, o.Seed)
	if err != nil || len(w.Jobs) == 0 {
		return 0, err
	}
	l, ok := service.(limited)
	// a report may claim work that was not done, and an attempt resume there
	if !ok || o.Progress.Noise > 0 && resumes(w) {
		return 0, nil
	}
	least := shortest(w, l, &o)
	work := least
	if c, ok := l.(*machineCapacity); ok && w.Horizon() == 0 {
		work = shortest(w, whole{c}, &o)
	}
	path, works := 0.0, make([]float64, len(w.Jobs))
	var finder trace.PathFinder
	for j := range w.Jobs {
		path += finder.Alone(least, j).Seconds()
		works[j] = needed(work, j)
	}
	return max(path, srpt(w.Jobs, works, float64(o.slots()))) / float64(len(w.Jobs)), nil
}

// limited is a service that knows how short an attempt can be.
type limited interface {
	// least sets to[i] to the least time that an attempt of task i of a stage takes, at speed 1.
	least(a *Attempt, to []sched.Time)
}

func resumes(w *trace.Workload) bool {
	return slices.ContainsFunc(w.Stages, func(st trace.StageRow) bool { return st.Resumable })
}

// shortest returns the workload with the least time that each task can take.
func shortest(w *trace.Workload, l limited, o *Options) *trace.Workload {
	least, wait := *w, sched.Time(0)
	if o.Wait != nil {
		wait = max(0, sched.FromSeconds(o.Wait.Quantile(0)))
	}
	least.Durations = make([]sched.Time, len(w.Durations))
	for j := range w.Jobs {
		for i := range w.StagesOf(j) {
			st := &w.StagesOf(j)[i]
			a := Attempt{Recorded: w.DurationsOf(st)}
			if st.Law >= 0 {
				a.Law = w.Laws[st.Law]
			}
			to := least.DurationsOf(st)
			l.least(&a, to)
			for t := range to {
				to[t] = scaled(to[t], 1/o.Speed) + o.LaunchDelay + wait
			}
		}
	}
	return &least
}

func (resample) least(a *Attempt, to []sched.Time) {
	if len(to) > 0 {
		fill(to, slices.Min(a.Recorded))
	}
}

func (statedLaw) least(a *Attempt, to []sched.Time) { fill(to, seconds(a.Law.Quantile(0))) }

func (o oneLaw) least(_ *Attempt, to []sched.Time) { fill(to, seconds(o.law.Quantile(0))) }

func (s sizeTimesSlowdown) least(a *Attempt, to []sched.Time) {
	stretch(a.Recorded, s.slowdown.Quantile(0), to)
}

func (s *machineSlowdown) least(a *Attempt, to []sched.Time) {
	stretch(a.Recorded, s.law.Quantile(0), to)
}

func (c *machineCapacity) least(a *Attempt, to []sched.Time) { stretch(a.Recorded, 1/c.Peak(), to) }

// whole is the model capacity in the mean over luck, if all jobs arrive at once: together the slots do as much work
// as slots of unit speed, and SRPT is the best order however fast they happen to be. With later arrivals the mean
// says nothing, for what is done in lucky slots cannot be stored.
type whole struct{ *machineCapacity }

func (whole) least(a *Attempt, to []sched.Time) { copy(to, a.Recorded) }

func fill(to []sched.Time, t sched.Time) {
	for i := range to {
		to[i] = t
	}
}

func stretch(d []sched.Time, factor float64, to []sched.Time) {
	for i := range to {
		to[i] = scaled(d[i], max(0, factor))
	}
}

// needed returns the machine time of a job in seconds: of each stage the shortest tasks that suffice.
func needed(w *trace.Workload, j int) (sum float64) {
	for _, st := range w.StagesOf(j) {
		d := w.DurationsOf(&st)
		if st.Need > 0 && int(st.Need) < len(d) {
			d = slices.Clone(d)
			slices.Sort(d)
			d = d[:st.Need]
		}
		for _, x := range d {
			sum += x.Seconds()
		}
	}
	return sum
}

// srpt returns the sum of flow times of jobs on one machine of a given speed, shortest remaining work first.
func srpt(jobs []trace.JobRow, works []float64, speed float64) (flow float64) {
	var left remaining
	now := jobs[0].Arrival.Seconds()
	for next := 0; next < len(jobs) || len(left) > 0; {
		until := now
		if next < len(jobs) {
			until = jobs[next].Arrival.Seconds()
		}
		for len(left) > 0 && (next == len(jobs) || now+left[0]/speed <= until) {
			took := heap.Pop(&left).(float64) / speed
			flow += took * float64(len(left)+1)
			now += took
		}
		if next == len(jobs) {
			break
		}
		if len(left) > 0 {
			left[0] -= (until - now) * speed
			flow += (until - now) * float64(len(left))
		}
		now = max(now, until)
		heap.Push(&left, works[next])
		next++
	}
	return flow
}

// remaining is a heap of works.
type remaining []float64

func (r remaining) Len() int           { return len(r) }
func (r remaining) Less(i, j int) bool { return r[i] < r[j] }
func (r remaining) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *remaining) Push(x any)        { *r = append(*r, x.(float64)) }
func (r *remaining) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}
