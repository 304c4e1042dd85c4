package reproduce

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/tailcut/tailcut/trace"
)

// mostInTime bounds the share of the jobs' value that any scheduler can win by their deadlines, whatever it knows
// beforehand and however lucky it is, if the tasks of a job take no less than so many seconds. A job with a task that
// takes longer than there is time is none of them. Of the others it lets each be divided at will: all slots together
// are one machine as fast as all of them, and a part of a job counts as that part. What such a machine can do in time
// is a polymatroid, so that the most is had by taking jobs in order of their value for their work, of each as much as
// still fits.
func mostInTime(w *trace.Workload, slots int, least func(job int) []float64) float64 {
	return mostInTimeBy(w, slots, least, least)
}

// mostInTimeBy is mostInTime for jobs whose tasks take some seconds of machine time on average, and no less than
// others.
func mostInTimeBy(w *trace.Workload, slots int, least, takes func(job int) []float64) float64 {
	var jobs []dueWork
	var value []float64
	all, won := 0.0, 0.0
	for j := range w.Jobs {
		job := &w.Jobs[j]
		worth := cmp.Or(job.Value, job.Weight, 1)
		all += worth
		if slices.Max(least(j)) > job.Deadline.Seconds() {
			continue
		}
		work := 0.0
		for _, x := range takes(j) {
			work += x / float64(slots)
		}
		jobs, value = append(jobs, dueWork{job.Arrival.Seconds(), (job.Arrival + job.Deadline).Seconds(), work}), append(value, worth)
	}
	order := make([]int, len(jobs))
	whole := make([]float64, len(jobs))
	for j := range jobs {
		order[j], whole[j] = j, jobs[j].work
		jobs[j].work = 0
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(whole[a]*value[b], whole[b]*value[a]) })
	for _, j := range order {
		if jobs[j].work = whole[j]; feasible(jobs) {
			won += value[j]
			continue
		}
		lo, hi := 0.0, 1.0
		for hi-lo > 1e-3 {
			mid := (lo + hi) / 2
			if jobs[j].work = mid * whole[j]; feasible(jobs) {
				lo = mid
			} else {
				hi = mid
			}
		}
		jobs[j].work = lo * whole[j]
		won += hi * value[j]
	}
	return won / all
}

// dueWork is work, in seconds of the one machine, that has to be done between two instants.
type dueWork struct{ from, until, work float64 }

// feasible tells whether one machine that may interrupt jobs can do them all in time: by the earliest deadline first
// (Horn 1974). Jobs are in order of arrival.
func feasible(jobs []dueWork) bool {
	const rounding = 1e-9
	var left dueHeap
	now := 0.0
	for next := 0; next < len(jobs) || len(left) > 0; {
		if len(left) == 0 {
			now = max(now, jobs[next].from)
		}
		for next < len(jobs) && jobs[next].from <= now {
			heap.Push(&left, jobs[next])
			next++
		}
		first := &left[0]
		end := now + first.work
		if next < len(jobs) && jobs[next].from < end {
			first.work -= jobs[next].from - now
			now = jobs[next].from
			continue
		}
		if now = end; now > first.until+rounding {
			return false
		}
		heap.Pop(&left)
	}
	return true
}

// dueHeap has the earliest deadline on top.
type dueHeap []dueWork

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].until < h[j].until }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)        { *h = append(*h, x.(dueWork)) }
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
