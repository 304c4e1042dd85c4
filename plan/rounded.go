package plan

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
)

// Rounded returns a sample of at most most >= 3 distinct values that is close to l: its largest values as they are, to
// a third of the number, since the latency hangs on them, and the others in groups of equal size, each replaced by its
// mean, so that the mean stays. A grid costs the square of the number of distinct values; [Shortlist] tells what is
// then worth evaluating exactly.
func Rounded(l *laws.Empirical, most int) *laws.Empirical {
	if l.Distinct() <= most {
		return l
	}
	kept := most / 3
	grouped := l.Distinct() - kept
	_, _, upTo := l.Value(grouped - 1)
	var values []float64
	var counts []int
	var sum float64
	size, done := 0, 0
	for i := range l.Distinct() {
		v, count, _ := l.Value(i)
		sum += v * float64(count)
		size += count
		done += count
		full := done*(most-kept) >= upTo*(len(values)+1)
		if i >= grouped-1 || full {
			values = append(values, sum/float64(size))
			counts = append(counts, size)
			sum, size = 0, 0
		}
	}
	rounded, err := laws.NewEmpiricalCounts(values, counts)
	if err != nil { // means that rounding made equal: the values differ by no more than that
		return l
	}
	return rounded
}

// shortlisted is of how many kinds the best are on the shortlist.
const shortlisted = 12

// Shortlist returns, in the order of [Policies], the baseline and the policies of which one is the optimum if the
// choices are nearly right: the few best of (20), and those of (19) with a budget a little smaller or as it is, of any
// kind and of each number of clones and mode that is among the best. The budget is the cost of the baseline, and that
// of each of the others.
func Shortlist(choices []Choice, tasks int, lambda float64, others ...Outcome) []Policy {
	list := []Policy{{}}
	few := func(figure func(Choice) float64) {
		var first, second Policy // the baseline for none
		lowest, next := math.Inf(1), math.Inf(1)
		for _, c := range choices {
			switch x := figure(c); {
			case x < lowest:
				first, second, lowest, next = c.Policy, first, x, lowest
			case x < next:
				second, next = c.Policy, x
			}
		}
		list = append(list, first, second)
	}
	few(func(c Choice) float64 { return Objective(c.Outcome, tasks, lambda) })
	var budgets []float64
	for _, now := range append(others, choices[0].Outcome) {
		budgets = append(budgets, now.Cost, now.Cost*(1-1e-5), now.Cost*(1-1e-3))
	}
	for _, budget := range budgets {
		few(func(c Choice) float64 {
			if c.Cost <= budget {
				return c.Latency
			}
			return math.Inf(1)
		})
		within := slices.DeleteFunc(slices.Clone(choices[1:]), func(c Choice) bool { return c.Cost > budget })
		for i, c := range Best(within, choices[0].Outcome, len(within)) {
			if i < shortlisted || c.Clones == 1 && c.Original == Keep { // what Spark and Hadoop can do
				list = append(list, c.Policy)
			}
		}
	}
	slices.SortFunc(list, func(a, b Policy) int {
		if a.before(b) {
			return -1
		}
		if b.before(a) {
			return 1
		}
		return 0
	})
	return slices.Compact(list)
}
