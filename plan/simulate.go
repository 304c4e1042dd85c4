package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
)

// Simulate evaluates a rule by playing it: n durations, and fresh ones for what the rule starts. It knows nothing of
// the other methods' formulas, takes any law and any rule, and tells its standard errors. All rules meet the same luck.
type Simulate struct {
	law   laws.Law
	tasks int
	jobs  int
	seed  uint64
}

// NewSimulate returns the evaluator that plays the job jobs >= 2 times.
func NewSimulate(l laws.Law, tasks, jobs int, seed uint64) (*Simulate, error) {
	if err := check(l, tasks); err != nil {
		return nil, err
	}
	if jobs < 2 {
		return nil, fmt.Errorf("a standard error wants at least 2 repetitions, got %d", jobs)
	}
	return &Simulate{l, tasks, jobs, seed}, nil
}

// Evaluate returns the means over the jobs and their standard errors.
func (m *Simulate) Evaluate(r Rule) (Outcome, error) {
	a, err := m.Assess(r, 0)
	return a.Outcome, err
}

// EvaluateEach is Evaluate of several policies on the same jobs, which is less work than one after the other.
func (m *Simulate) EvaluateEach(policies []Policy) ([]Outcome, error) {
	rules := make([]Rule, len(policies))
	for i, p := range policies {
		rules[i] = p
	}
	all, err := m.AssessAll(rules, 0)
	out := make([]Outcome, len(all))
	for i, a := range all {
		out[i] = a.Outcome
	}
	return out, err
}

// Assess returns all about a rule. The probability u is between 0 and 1, or 0 for no quantile.
func (m *Simulate) Assess(r Rule, u float64) (Assessment, error) {
	all, err := m.AssessAll([]Rule{r}, u)
	if err != nil {
		return Assessment{}, err
	}
	return all[0], nil
}

// AssessAll assesses several rules on the same jobs, which is less work than one after the other.
func (m *Simulate) AssessAll(rules []Rule, u float64) ([]Assessment, error) {
	if err := checkQuantile(u); err != nil {
		return nil, err
	}
	for _, r := range rules {
		if err := r.Validate(m.tasks); err != nil {
			return nil, err
		}
	}
	latency, cost := make([]tally, len(rules)), make([]tally, len(rules))
	times := make([][]float64, len(rules))
	j := newJob(m.law, m.tasks)
	for number := range m.jobs {
		j.reset(m.seed, uint64(number))
		for i, r := range rules {
			j.start()
			r.play(j)
			t, c := j.finish()
			latency[i].add(t)
			cost[i].add(c)
			if u > 0 {
				times[i] = append(times[i], t)
			}
		}
	}
	all := make([]Assessment, len(rules))
	for i := range all {
		t, c := &latency[i], &cost[i]
		all[i] = Assessment{
			Outcome:          Outcome{Latency: t.mean, Cost: c.mean, LatencyError: t.standardError(), CostError: c.standardError()},
			LatencyDeviation: math.Sqrt(t.variance()), CostDeviation: math.Sqrt(c.variance()),
		}
		all[i].Quantile, all[i].QuantileLow, all[i].QuantileHigh = sampleQuantile(times[i], u)
	}
	return all, nil
}

// Versus returns by how much a rule's latency and cost exceed those of another on the same jobs: the means of the
// differences and their standard errors.
func (m *Simulate) Versus(rule, other Rule) (Outcome, error) {
	for _, r := range []Rule{rule, other} {
		if err := r.Validate(m.tasks); err != nil {
			return Outcome{}, err
		}
	}
	var latency, cost tally
	j := newJob(m.law, m.tasks)
	for number := range m.jobs {
		j.reset(m.seed, uint64(number))
		j.start()
		rule.play(j)
		t, c := j.finish()
		j.start()
		other.play(j)
		otherT, otherC := j.finish()
		latency.add(t - otherT)
		cost.add(c - otherC)
	}
	return Outcome{Latency: latency.mean, Cost: cost.mean, LatencyError: latency.standardError(), CostError: cost.standardError()}, nil
}

// sampleQuantile returns the quantile of a sample of at least 2, and the order statistics that hold that of its law
// with a confidence of 95 %, by the normal approximation of the binomial law; NaN of an empty one.
func sampleQuantile(times []float64, u float64) (at, low, high float64) {
	if len(times) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	slices.Sort(times)
	n := float64(len(times))
	rank := func(x float64) float64 { return times[int(min(max(math.Ceil(x), 1), n))-1] }
	spread := z95 * math.Sqrt(n*u*(1-u))
	return rank(n * u), rank(n*u - spread), rank(n*u + spread + 1)
}
