package overlap

// Summary collects the flow times of one policy in constant memory. Its zero value counts all jobs; Skip is set before
// the first job.
type Summary struct {
	Skip int64 // jobs that do not count, the first to arrive: the warm-up

	jobs     int64
	flow     float64
	slowdown float64
	longest  float64
	flows    Quantiles
}

// Add counts a completion.
func (s *Summary) Add(c Completion) { s.add(&c) }

// AddAll counts completions.
func (s *Summary) AddAll(all []Completion) {
	for i := range all {
		s.add(&all[i])
	}
}

func (s *Summary) add(c *Completion) {
	if c.Index < s.Skip {
		return
	}
	flow := c.Time - c.Job.Arrival // [Completion.Flow] and slowdown, without max and its look for NaN
	if flow < 0 {
		flow = 0
	}
	alone := c.Job.Map
	if c.Job.Shuffle > alone {
		alone = c.Job.Shuffle
	}
	s.jobs++
	s.flow += flow
	if alone > 0 {
		s.slowdown += flow / alone
	} else {
		s.slowdown++
	}
	if flow > s.longest {
		s.longest = flow
	}
	s.flows.Add(flow)
}

// Jobs is the number of completions that count.
func (s *Summary) Jobs() int64 { return s.jobs }

// MeanFlow and MaxFlow are in seconds, 0 without jobs.
func (s *Summary) MeanFlow() float64 { return s.flow / float64(max(1, s.jobs)) }
func (s *Summary) MaxFlow() float64  { return s.longest }

// MeanSlowdown is the mean of [Completion.Slowdown], 0 without jobs.
func (s *Summary) MeanSlowdown() float64 { return s.slowdown / float64(max(1, s.jobs)) }

// FlowQuantile returns a quantile of the flow times in seconds, with the error that [Quantiles] states.
func (s *Summary) FlowQuantile(p float64) float64 { return s.flows.At(p) }

// The buckets of the paper's Section 5.3.
const (
	FairnessBuckets = 400
	FairnessWidth   = 0.25 // of max(x, y), in seconds of a station
)

// Fairness is the slowdown by size: the paper's Figure 9. Jobs of size [FairnessBuckets]*[FairnessWidth] or more are
// left out.
type Fairness struct {
	Skip int64 // as in [Summary]

	buckets [FairnessBuckets]struct {
		jobs     int64
		slowdown float64
	}
}

// Add counts a completion under a size, which differs from [Demand.Alone] when the stations' speed is not 1.
func (f *Fairness) Add(c Completion, size float64) {
	if c.Index < f.Skip || !(size < FairnessBuckets*FairnessWidth) {
		return
	}
	b := &f.buckets[int(size/FairnessWidth)]
	b.jobs++
	b.slowdown += c.Slowdown()
}

// Bucket returns the number of jobs with a size in [i, i+1)*[FairnessWidth], and their mean slowdown, 0 without jobs.
func (f *Fairness) Bucket(i int) (jobs int64, slowdown float64) {
	b := &f.buckets[i]
	return b.jobs, b.slowdown / float64(max(1, b.jobs))
}
