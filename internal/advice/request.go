// Package advice recommends when to clone the last tasks of a job, and how often, from the durations of its tasks: it
// searches the single-fork policies, compares them with what is done now and with the rules of other systems, and says
// what settings those need. How a policy is evaluated is the business of package plan.
package advice

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
)

// Request asks for a recommendation for one job. [Defaults] returns what is usual.
type Request struct {
	// What the durations of tasks are drawn from, seconds: what was measured, or if that is nil a law.
	Sample *durations.Sample
	Law    laws.Law

	Tasks     int     // of the job, from 1 to MaxTasks; 0 for those of the sample, or ManyTasks if these are too many
	MaxClones int     // most clones of a task to consider, from 0 to MaxClones
	Forks     int     // most forks of a job to search, 1 or 2; 0 for 1
	Lambda    float64 // price of a machine second in seconds of latency, of the cost-sensitive optimum; at least 0
	// Quantile judges by the time when the job is done with this probability, between 0 and 1, instead of by the mean;
	// 0 for the mean.
	Quantile float64
	Method   string // how policies are evaluated, one of Methods
	Rounds   int    // repetitions of the methods bootstrap and simulate, at least 2; 0 for what some seconds allow
	Seed     uint64 // of all that is simulated or resampled

	Now     string       // what is done now, as a rule such as spark or timeout:after=30s; "" for no clones
	Compare []string     // other rules to evaluate
	Own     *plan.Policy // another policy to evaluate; nil for none
	// Confidence tells how sure the recommendation is, by resampling. It wants a sample.
	Confidence bool
}

// Limits of what is planned exactly within a minute or so.
const (
	MaxTasks  = 100_000
	ManyTasks = 20_000 // what a larger job is planned as, unless somebody says something else
	MaxClones = 64
	maxRounds = 100_000_000
)

// Methods are the ways to evaluate policies, the usual one first.
var Methods = []string{"exact", "theorem1", "closed-form", "bootstrap", "simulate"}

// Defaults returns a request that lacks only what durations are drawn from, and with a law the number of tasks.
func Defaults() Request {
	return Request{MaxClones: 4, Lambda: 0.1, Method: Methods[0], Seed: 1}
}

// Invalid is an error of a request. Its text begins with the field that is wrong, in lower case: "max-clones: ...".
type Invalid struct{ error }

func invalid(format string, args ...any) error { return Invalid{fmt.Errorf(format, args...)} }

// Unwrap returns what is wrong with the field.
func (e Invalid) Unwrap() error { return e.error }

// check fills what is left open, and returns an error unless the request can be answered.
func (r *Request) check() error {
	if r.Tasks == 0 && r.Sample != nil {
		if r.Tasks = r.Sample.Tasks; r.Tasks > MaxTasks {
			r.Tasks = ManyTasks
		}
	}
	own := plan.Policy{}
	if r.Own != nil {
		own = *r.Own
	}
	switch {
	case r.Sample == nil && r.Law == nil:
		return invalid("durations: expected a sample or a law")
	case r.Tasks < 1 || r.Tasks > MaxTasks:
		return invalid("tasks: expected a number from 1 to %d, got %d", MaxTasks, r.Tasks)
	case own.Stragglers < 0 || own.Stragglers > r.Tasks:
		return invalid("stragglers: expected a number from 0 to the %d tasks, got %d", r.Tasks, own.Stragglers)
	case own.Clones < 0 || own.Clones > MaxClones:
		return invalid("clones: expected a number from 0 to %d, got %d", MaxClones, own.Clones)
	case r.MaxClones < 0 || r.MaxClones > MaxClones:
		return invalid("max-clones: expected a number from 0 to %d, got %d", MaxClones, r.MaxClones)
	case r.Forks < 0 || r.Forks > 2:
		return invalid("forks: expected 1 or 2, got %d", r.Forks)
	case r.Forks == 2 && r.Quantile != 0:
		return invalid("forks: two forks are searched for the least mean, so they do not go with a quantile")
	case !(r.Lambda >= 0) || math.IsInf(r.Lambda, 1):
		return invalid("lambda: expected a finite number of at least 0, got %g", r.Lambda)
	case r.Quantile != 0 && !(r.Quantile > 0 && r.Quantile < 1):
		return invalid("quantile: expected a number between 0 and 1, got %g", r.Quantile)
	case r.Rounds != 0 && (r.Rounds < 2 || r.Rounds > maxRounds):
		return invalid("rounds: expected a number from 2 to %d, got %d", maxRounds, r.Rounds)
	case r.Confidence && r.Sample == nil:
		return invalid("confidence: expected a sample of durations, not a law")
	}
	return nil
}

// law returns the law of a task's duration.
func (r *Request) law() laws.Law {
	if r.Sample != nil {
		return r.Sample.Law
	}
	return r.Law
}

// rolls tells whether the method rolls dice.
func (r *Request) rolls() bool { return r.Method == "bootstrap" || r.Method == "simulate" }

// repetitions is how often a method that rolls dice does: as asked for, or as often as some seconds allow.
func (r *Request) repetitions() int {
	if r.Rounds > 0 {
		return r.Rounds
	}
	return max(20, min(1000, 2_000_000/r.Tasks))
}

// evaluator returns the evaluator of the method for a law; exact is that of the method of this name.
func (r *Request) evaluator(l laws.Law, exact plan.Evaluator) (plan.Evaluator, error) {
	switch r.Method {
	case "exact":
		return exact, nil
	case "theorem1":
		return plan.NewTheorem1(l, r.Tasks)
	case "closed-form":
		return plan.NewClosedForm(l, r.Tasks)
	case "simulate":
		return plan.NewSimulate(l, r.Tasks, r.repetitions(), r.Seed)
	case "bootstrap":
		sample, ok := l.(*laws.Empirical)
		if !ok {
			return nil, invalid("method: bootstrap needs a sample of durations, not the law %s; use exact or simulate", l)
		}
		return plan.NewBootstrap(sample, r.Tasks, r.repetitions(), r.Seed)
	}
	return nil, invalid("method: expected one of %v, got %q", Methods, r.Method)
}
