package reproduce

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/tailcut/tailcut/trace"
)

// mostInTime bounds the share of jobs that any scheduler can finish by their deadlines, whatever it knows beforehand
// and however lucky it is, if a job takes no less machine time than so many seconds. It lets jobs be divided at will:
// all slots together are one machine as fast as all of them, and a part of a job counts as that part. What such a
// machine can do in time is a polymatroid, so that the most is had by taking jobs in order of their work, of each as
// much as still fits.
func mostInTime(w *trace.Workload, slots int, least func(job int) float64) float64 {
	jobs := make([]dueWork, len(w.Jobs))
	for j := range w.Jobs {
		job := &w.Jobs[j]
		jobs[j] = dueWork{job.Arrival.Seconds(), (job.Arrival + job.Deadline).Seconds(), least(j) / float64(slots)}
	}
	if feasible(jobs) {
		return 1
	}
	order := make([]int, len(jobs))
	whole := make([]float64, len(jobs))
	for j := range jobs {
		order[j], whole[j] = j, jobs[j].work
		jobs[j].work = 0
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(whole[a], whole[b]) })
	sum := 0.0
	for _, j := range order {
		if jobs[j].work = whole[j]; feasible(jobs) {
			sum++
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
		sum += hi
	}
	return sum / float64(len(jobs))
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
