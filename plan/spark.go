package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/dist"
)

// SparkRule is what Apache Spark's speculation does to a job whose tasks all start at once on machines enough: once the
// share Quantile of the tasks is done, a task that has run longer than Multiplier times the median of those done gets one
// clone. Since all tasks are of one age, that is a fork with one clone and a late start: at the first moment that fulfils
// both conditions. Left out are the interval of its checks, its least run time and its judgement of efficiency.
type SparkRule struct{ Quantile, Multiplier float64 }

// Spark4 returns the defaults of spark.speculation.quantile and multiplier since Spark 4; before, they were 0.75 and 1.5.
func Spark4() SparkRule { return SparkRule{Quantile: 0.9, Multiplier: 3} }

// Simulate plays the rule on jobs jobs, on the same luck as [Simulate] of the same seed.
func (r SparkRule) Simulate(l dist.Law, tasks, jobs int, seed uint64) (Outcome, error) {
	if err := check(l, tasks); err != nil {
		return Outcome{}, err
	}
	if jobs < 2 {
		return Outcome{}, fmt.Errorf("plan: a standard error wants at least 2 repetitions, got %d", jobs)
	}
	var latency, cost tally
	original := make([]float64, tasks)
	sorted := make([]float64, tasks)
	for job := range jobs {
		draw := stream(seed, uint64(job), 0)
		for i := range original {
			original[i] = dist.Sample(l, draw.next())
		}
		copy(sorted, original)
		slices.Sort(sorted)
		fork := r.fork(sorted)
		draw = stream(seed, uint64(job), 1)
		var last, sum float64
		for _, x := range original {
			u := draw.next()
			end := x
			sum += min(x, fork)
			if x > fork {
				rest := min(x-fork, dist.Sample(l, u))
				end = fork + rest
				sum += 2 * rest
			}
			last = max(last, end)
		}
		latency.add(last)
		cost.add(sum / float64(tasks))
	}
	return Outcome{Latency: latency.mean, Cost: cost.mean, LatencyError: latency.standardError(), CostError: cost.standardError()}, nil
}

// fork returns the moment at which all running tasks are cloned, +Inf if never: the first t with enough tasks done and
// t >= multiplier × the median of those done, which is sorted[done/2] as Spark has it. The median only moves when a task is done.
func (r SparkRule) fork(sorted []float64) float64 {
	n := len(sorted)
	for done := max(1, int(r.Quantile*float64(n))); done < n; done++ {
		from, until := sorted[done-1], sorted[done]
		if t := max(from, r.Multiplier*sorted[done/2]); t < until {
			return t
		}
	}
	return math.Inf(1)
}
