package plan

import (
	"errors"
	"fmt"
	"math"
)

// Rule is what is done about the stragglers of a job whose n tasks all start at time 0, there being machines enough.
// The rules are those of this package: [Policy], [Forks], [Timeout], and what systems do, [Spark], [Flink] and
// [Hadoop].
type Rule interface {
	// Validate returns an error unless the rule is one for a job with that many tasks.
	Validate(tasks int) error
	// play carries the rule out on one job.
	play(j *playing)
}

// Evaluator evaluates the rules of one job by one method. Evaluate returns an error if the rule is none for the job,
// and one that is [ErrMethod] if the method has nothing to say about such rules.
type Evaluator interface {
	Evaluate(r Rule) (Outcome, error)
}

// ErrMethod says that a method does not evaluate such a rule.
var ErrMethod = errors.New("the method does not evaluate such a rule")

// Assessment is what a rule does to a job in full.
type Assessment struct {
	Outcome
	// LatencyDeviation and CostDeviation are the standard deviations of T, seconds, and of C, machine seconds per task;
	// +Inf if the variance diverges, NaN if they are not known.
	LatencyDeviation, CostDeviation float64
	// Quantile is the least t, seconds, by which the job is done with the probability that was asked for; NaN if none
	// was.
	Quantile float64
	// QuantileLow and QuantileHigh hold the quantile: with a confidence of 95 %, or for sure if it is exact. Both are
	// Quantile if nothing was rounded.
	QuantileLow, QuantileHigh float64
	// Exact is false of figures that were simulated; these have standard errors.
	Exact bool
}

// z95 is the 97.5 % quantile of the normal law.
const z95 = 1.959963984540054

// LatencyInterval returns what holds E[T] with a confidence of 95 %; of an exact figure it is that figure twice.
func (o Outcome) LatencyInterval() (low, high float64) {
	return o.Latency - z95*o.LatencyError, o.Latency + z95*o.LatencyError
}

// CostInterval is the same of E[C].
func (o Outcome) CostInterval() (low, high float64) {
	return o.Cost - z95*o.CostError, o.Cost + z95*o.CostError
}

// Assessor tells all about a rule. The probability u of the quantile is between 0 and 1, or 0 for none. The error is
// one that is [ErrMethod] if it has nothing to say about such rules.
type Assessor interface {
	Assess(r Rule, u float64) (Assessment, error)
}

// Assess assesses a rule by exact if that knows how, and otherwise by simulation.
func Assess(exact Assessor, simulate *Simulate, r Rule, u float64) (Assessment, error) {
	a, err := exact.Assess(r, u)
	if errors.Is(err, ErrMethod) {
		return simulate.Assess(r, u)
	}
	return a, err
}

// Assess returns all about a rule, exactly: of a [Policy] and of a [Timeout]; of other rules the error is [ErrMethod].
// The quantile has the error of [Exact.Within]. The probability u is between 0 and 1, or 0 for none.
func (e *Exact) Assess(r Rule, u float64) (Assessment, error) {
	a := Assessment{Exact: true, Quantile: math.NaN(), QuantileLow: math.NaN(), QuantileHigh: math.NaN()}
	if err := checkQuantile(u); err != nil {
		return a, err
	}
	var err error
	if a.Outcome, err = e.Evaluate(r); err != nil {
		return a, err
	}
	var latency, cost float64
	if t, ok := r.(Timeout); ok {
		s := t.schedule(e.law)
		latency, cost = s.variances(e.tasks, a.Outcome)
		if u > 0 {
			a.Quantile = s.latencyQuantile(e.tasks, u)
		}
	} else {
		p, err := single(r, e.tasks)
		if err != nil {
			return a, err
		}
		if latency, err = e.LatencyVariance(p); err != nil {
			return a, err
		}
		if cost, err = e.CostVariance(p); err != nil {
			return a, err
		}
		if u > 0 {
			if a.Quantile, err = e.LatencyQuantile(p, u); err != nil {
				return a, err
			}
		}
	}
	a.LatencyDeviation, a.CostDeviation = math.Sqrt(latency), math.Sqrt(cost)
	a.QuantileLow, a.QuantileHigh = a.Quantile, a.Quantile
	return a, nil
}

// single returns the single-fork policy that a rule is for a job; the error is ErrMethod if it is none.
func single(r Rule, tasks int) (Policy, error) {
	if err := r.Validate(tasks); err != nil {
		return Policy{}, err
	}
	p, ok := r.(Policy)
	if !ok {
		return p, fmt.Errorf("%T: %w", r, ErrMethod)
	}
	return p, nil
}

func checkQuantile(u float64) error {
	if !(u >= 0 && u < 1) {
		return fmt.Errorf("a quantile is between 0 and 1, got %g", u)
	}
	return nil
}
