package plan

import (
	"iter"
	"math"
	"slices"
)

// Choice is a policy with what it does.
type Choice struct {
	Policy
	Outcome
}

// Advice is what [Optimise] finds.
type Advice struct {
	Baseline Choice
	// LatencySensitive has the least E[T] among the policies whose E[C] is at most the baseline's: (19).
	LatencySensitive Choice
	// CostSensitive has the least Objective = E[T] + λ n E[C]: (20).
	CostSensitive Choice
	Objective     float64
	// Frontier are the policies that no other beats in both latency and cost, by increasing cost.
	Frontier []Choice
}

// tie is the relative difference below which two figures are equal: the better policy is then the one with fewer
// stragglers, then fewer clones, then the kept original.
const tie = 1e-9

// Policies lists the different single-fork policies of a job with at most maxClones clones, in the order of ties: the
// baseline once, and a fork at the start once, as keep, since nothing is there to kill.
func Policies(tasks, maxClones int) iter.Seq[Policy] {
	return func(yield func(Policy) bool) {
		if !yield(Policy{}) {
			return
		}
		for s := 1; s <= tasks; s++ {
			for r := 0; r <= maxClones; r++ {
				if r > 0 && !yield(Policy{s, r, Keep}) {
					return
				}
				if s < tasks && !yield(Policy{s, r, Kill}) {
					return
				}
			}
		}
	}
}

// EvaluateAll evaluates policies, and leaves out those of which the evaluator knows nothing.
func EvaluateAll(e Evaluator, policies iter.Seq[Policy]) []Choice {
	var out []Choice
	for p := range policies {
		if o, err := e.Evaluate(p); err == nil {
			out = append(out, Choice{p, o})
		}
	}
	return out
}

// Optimise picks from the choices, of which the first is the baseline and the rest follow in the order of [Policies].
// lambda >= 0 is the price of a machine second in seconds of latency.
func Optimise(choices []Choice, tasks int, lambda float64) Advice {
	base := choices[0]
	budget := base.Cost * (1 + tie)
	latency := func(c Choice) float64 {
		if c.Cost <= budget {
			return c.Latency
		}
		return math.Inf(1)
	}
	total := func(c Choice) float64 { return Objective(c.Outcome, tasks, lambda) }
	a := Advice{Baseline: base, LatencySensitive: least(choices, latency), CostSensitive: least(choices, total)}
	a.Objective = total(a.CostSensitive)
	a.Frontier = Frontier(choices)
	return a
}

// Objective returns E[T] + λ n E[C]: (20).
func Objective(o Outcome, tasks int, lambda float64) float64 {
	if lambda == 0 {
		return o.Latency
	}
	return o.Latency + lambda*float64(tasks)*o.Cost
}

// Best returns the choices of least E[T] that are faster than what is done now and cost no more, at most so many, best
// first. They differ in more than the number of stragglers: there is one for each number of clones and mode. With now
// the baseline it is (19).
func Best(choices []Choice, now Outcome, most int) []Choice {
	type kind struct {
		clones   int
		original Original
	}
	groups := map[kind][]Choice{}
	var kinds []kind
	for _, c := range choices {
		k := kind{c.Clones, c.Original}
		if c.Baseline() || c.Cost > now.Cost*(1+tie) || !(c.Latency < now.Latency*(1-tie)) {
			continue
		}
		if groups[k] == nil {
			kinds = append(kinds, k)
		}
		groups[k] = append(groups[k], c)
	}
	var best []Choice
	for _, k := range kinds {
		best = append(best, least(groups[k], func(c Choice) float64 { return c.Latency }))
	}
	slices.SortFunc(best, byLatency)
	return best[:min(most, len(best))]
}

// least returns the first choice within a tie of the least figure, the first of all if none is finite.
func least(choices []Choice, figure func(Choice) float64) Choice {
	lowest := math.Inf(1)
	for _, c := range choices {
		lowest = min(lowest, figure(c))
	}
	if math.IsInf(lowest, 1) {
		return choices[0]
	}
	i := slices.IndexFunc(choices, func(c Choice) bool { return figure(c) <= lowest+tie*math.Abs(lowest) })
	return choices[i]
}

// Frontier returns the choices that no other beats in both latency and cost, by increasing cost. It wants at least one.
func Frontier(choices []Choice) []Choice {
	sorted := slices.Clone(choices)
	slices.SortFunc(sorted, byCost)
	var out []Choice
	lowest := math.Inf(1)
	for _, c := range sorted {
		if c.Latency < lowest*(1-tie) {
			out = append(out, c)
			lowest = c.Latency
		}
	}
	if out == nil {
		return choices[:1:1]
	}
	return out
}

func byCost(a, b Choice) int {
	if c := compare(a.Cost, b.Cost); c != 0 {
		return c
	}
	return byLatency(a, b)
}

func byLatency(a, b Choice) int {
	if c := compare(a.Latency, b.Latency); c != 0 {
		return c
	}
	if a.before(b.Policy) {
		return -1
	}
	if b.before(a.Policy) {
		return 1
	}
	return 0
}

func compare(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
