package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/tailcut/tailcut/dist"
)

// Simulate evaluates a policy by playing it: n durations, a fork at the k-th smallest, fresh attempts for the tasks that
// are then unfinished. It knows nothing of the other methods' formulas, takes any law, and tells its standard errors.
//
// The duration of an attempt is a function of seed, job, attempt number and task, so that policies are compared on the
// same luck and a clone more shifts nobody else's.
type Simulate struct {
	law   dist.Law
	tasks int
	jobs  int
	seed  uint64
}

// NewSimulate returns the evaluator that plays the job jobs >= 2 times.
func NewSimulate(l dist.Law, tasks, jobs int, seed uint64) (*Simulate, error) {
	if err := check(l, tasks); err != nil {
		return nil, err
	}
	if jobs < 2 {
		return nil, fmt.Errorf("plan: a standard error wants at least 2 repetitions, got %d", jobs)
	}
	return &Simulate{l, tasks, jobs, seed}, nil
}

// Evaluate returns the means over the jobs and their standard errors.
func (m *Simulate) Evaluate(p Policy) (Outcome, error) {
	if err := p.Validate(m.tasks); err != nil {
		return Outcome{}, err
	}
	if p.Baseline() {
		p = Policy{}
	}
	var latency, cost tally
	original := make([]float64, m.tasks)
	sorted := make([]float64, m.tasks)
	for job := range m.jobs {
		t, c := m.play(uint64(job), p, original, sorted)
		latency.add(t)
		cost.add(c)
	}
	return Outcome{Latency: latency.mean, Cost: cost.mean, LatencyError: latency.standardError(), CostError: cost.standardError()}, nil
}

// play runs one job and returns its latency and its cost per task.
func (m *Simulate) play(job uint64, p Policy, original, sorted []float64) (latency, cost float64) {
	draw := stream(m.seed, job, 0)
	for i := range original {
		original[i] = dist.Sample(m.law, draw.next())
	}
	copy(sorted, original)
	slices.Sort(sorted)
	fork := 0.0
	if done := m.tasks - p.Stragglers; done > 0 {
		fork = sorted[done-1]
	}
	if p.Stragglers == 0 {
		fork = math.Inf(1)
	}
	fresh := make([]uniform, 0, 8)
	first := 1 // the attempt number of the first clone
	count := p.Clones
	if p.Original == Kill {
		count++
	}
	for a := range count {
		fresh = append(fresh, stream(m.seed, job, uint64(first+a)))
	}
	var sum float64
	for _, x := range original {
		rest := x - fork
		if p.Original == Kill {
			rest = math.Inf(1)
		}
		for a := range fresh {
			if u := fresh[a].next(); x > fork {
				rest = min(rest, dist.Sample(m.law, u))
			}
		}
		if x <= fork {
			latency = max(latency, x)
			sum += x
			continue
		}
		latency = max(latency, fork+rest)
		sum += fork + float64(p.Clones+1)*rest
	}
	return latency, sum / float64(m.tasks)
}

// Bootstrap is Algorithm 1 of the paper, literally: the fork at the k-th smallest of n values drawn from the sample, and
// the residuals drawn from the fixed law (7) of a fork at F⁻¹(1-p), whatever the fork that was drawn. For that reason it does
// not agree with itself at the edge: keeping the original without clones is not the baseline there, and on small heavy-tailed
// samples its cost is off by -2..+16 % and its latency by up to +52 %. Here that policy is the baseline by definition.
type Bootstrap struct {
	theorem *Theorem1
	sample  *dist.Empirical
	rounds  int
	seed    uint64
}

// NewBootstrap returns the evaluator that repeats the sampling rounds >= 2 times; the paper's m, there 1000.
func NewBootstrap(sample *dist.Empirical, tasks, rounds int, seed uint64) (*Bootstrap, error) {
	t, err := NewTheorem1(sample, tasks)
	if err != nil {
		return nil, err
	}
	if rounds < 2 {
		return nil, fmt.Errorf("plan: a standard error wants at least 2 repetitions, got %d", rounds)
	}
	return &Bootstrap{t, sample, rounds, seed}, nil
}

// Evaluate returns T~ and C~ of Algorithm 1 and their standard errors.
func (b *Bootstrap) Evaluate(p Policy) (Outcome, error) {
	n := b.theorem.exact.tasks
	if err := p.Validate(n); err != nil {
		return Outcome{}, err
	}
	if p.Baseline() {
		p = Policy{}
	}
	k := n - p.Stragglers
	y := b.residual(p)
	values := make([]float64, n)
	var latency, cost tally
	for round := range b.rounds {
		draw := stream(b.seed, uint64(round), 0)
		for i := range values {
			values[i] = dist.Sample(b.sample, draw.next())
		}
		slices.Sort(values)
		var t1, c1, t2, rest float64
		for _, x := range values[:k] {
			t1 = x
			c1 += x
		}
		draw = stream(b.seed, uint64(round), 1)
		for range p.Stragglers {
			v := y.value(draw.next())
			t2 = max(t2, v)
			rest += v
		}
		c2 := float64(p.Stragglers)*t1 + float64(p.Clones+1)*rest
		latency.add(t1 + t2)
		cost.add((c1 + c2) / float64(n))
	}
	return Outcome{Latency: latency.mean, Cost: cost.mean, LatencyError: latency.standardError(), CostError: cost.standardError()}, nil
}

// stairs is a law as the survival below each of its ends.
type stairs struct{ ends, survival []float64 }

// residual returns the law (7).
func (b *Bootstrap) residual(p Policy) stairs {
	var y stairs
	if p.Stragglers == 0 {
		return y
	}
	var end float64
	b.theorem.steps(p, func(width, S float64) {
		end += width
		y.ends = append(y.ends, end)
		y.survival = append(y.survival, S)
	})
	return y
}

// value returns inf{y : P(Y > y) <= 1-u}.
func (y stairs) value(u float64) float64 {
	i := sort.Search(len(y.survival), func(i int) bool { return y.survival[i] <= 1-u })
	if i == 0 {
		return 0
	}
	return y.ends[i-1]
}

// uniform draws numbers in (0, 1).
type uniform struct{ source *rand.PCG }

// stream returns the numbers of one attempt of all tasks of one job.
func stream(seed, job, attempt uint64) uniform {
	return uniform{rand.NewPCG(scatter(seed)^scatter(job+1), scatter(scatter(job)+attempt))}
}

func (u uniform) next() float64 { return (float64(u.source.Uint64()>>11) + 0.5) / (1 << 53) }

// scatter is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// tally is Welford's running mean and variance.
type tally struct {
	count, mean, squares float64
}

func (t *tally) add(x float64) {
	t.count++
	d := x - t.mean
	t.mean += d / t.count
	t.squares += d * (x - t.mean)
}

// standardError of the mean.
func (t *tally) standardError() float64 { return math.Sqrt(t.squares / (t.count - 1) / t.count) }
