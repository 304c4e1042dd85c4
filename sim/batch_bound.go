package sim

import "slices"

// The lower bounds of Section 3.1 of the paper on SREW (Xu et al., IEEE TPDS 2017) on the expected sum of flow times,
// for jobs that all arrive at once on machines of the model [Capacity]. They are bounds if a task's mean is its work
// p, as (3) has it; a mean that was measured is larger, because the last slot of a task is not used up, and then they
// are not: of U(0, 2) and p = 1.9, a hundred clones end in one slot with probability 0.994, and (8) with the measured
// mean is 1.29. LowerBound is their like for any workload.

// BatchJob is a job of maps and, behind a barrier, reduces: how many, and the mean duration of one in seconds, E^m
// and E^r.
type BatchJob struct {
	Maps, Reduces       int
	MapMean, ReduceMean float64
}

// PathBound returns (8): the sum over jobs of (E^m + E^r)/Delta, for no task is done at more than the peak. A phase
// without tasks takes no time.
func PathBound(jobs []BatchJob, peak float64) (sum float64) {
	for _, j := range jobs {
		if j.Maps > 0 {
			sum += j.MapMean / peak
		}
		if j.Reduces > 0 {
			sum += j.ReduceMean / peak
		}
	}
	return sum
}

// WorkBound returns (17): the sum over jobs, in order of their work, of (N+1-j)(m_j E_j^m + r_j E_j^r)/M, for
// together the machines do no more than M times the mean.
func WorkBound(jobs []BatchJob, machines int) (sum float64) {
	works := make([]float64, len(jobs))
	for i, j := range jobs {
		works[i] = float64(j.Maps)*j.MapMean + float64(j.Reduces)*j.ReduceMean
	}
	slices.Sort(works)
	for i, w := range works {
		sum += float64(len(jobs)-i) * w / float64(machines)
	}
	return sum
}

// BatchBound returns (18), the larger of both.
func BatchBound(jobs []BatchJob, machines int, peak float64) float64 {
	return max(PathBound(jobs, peak), WorkBound(jobs, machines))
}
