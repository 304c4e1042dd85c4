package advice

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tailcut/tailcut/plan"
)

// each calls do for every 0 <= i < n, on all cores, until one fails or the context ends, and returns the first error.
func each(ctx context.Context, n int, do func(i int) error) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error {
			if err := within.Err(); err != nil {
				return err
			}
			return do(i)
		})
	}
	return group.Wait()
}

// sweep evaluates the exact grid on all cores. A block of many tasks is large, so no more than one per core is held.
func sweep(ctx context.Context, e *plan.Exact, maxClones int) ([]plan.Choice, error) {
	s := e.Sweep(maxClones)
	parts := make([]plan.Block, min(s.Blocks(), runtime.GOMAXPROCS(0)))
	for first := 0; first < s.Blocks(); first += len(parts) {
		some := parts[:min(len(parts), s.Blocks()-first)]
		if err := each(ctx, len(some), func(i int) error { some[i] = s.Block(first + i); return nil }); err != nil {
			return nil, err
		}
		for _, b := range some {
			s.Add(b)
		}
	}
	return plan.EvaluateAll(s.Grid(), plan.Policies(e.Tasks(), maxClones)), nil
}

// evaluateAll evaluates policies one by one, so many at a time.
func evaluateAll(ctx context.Context, by plan.Evaluator, policies []plan.Policy, part int) ([]plan.Choice, error) {
	parts := make([][]plan.Choice, (len(policies)+part-1)/part)
	err := each(ctx, len(parts), func(i int) error {
		some := policies[i*part : min(len(policies), (i+1)*part)]
		parts[i] = plan.EvaluateAll(by, slices.Values(some))
		return nil
	})
	return slices.Concat(parts...), err
}

// dice is a method whose policies meet the same luck, so that many are less work than one after the other.
type dice interface {
	EvaluateEach(policies []plan.Policy) ([]plan.Outcome, error)
}

// evaluateEach sets the outcomes of choices, an equal part of them on each core.
func evaluateEach(ctx context.Context, by dice, choices []*plan.Choice) error {
	parts := runtime.GOMAXPROCS(0)
	return each(ctx, parts, func(part int) error {
		some := choices[part*len(choices)/parts : (part+1)*len(choices)/parts]
		policies := make([]plan.Policy, len(some))
		for i, c := range some {
			policies[i] = c.Policy
		}
		outcomes, err := by.EvaluateEach(policies)
		for i, o := range outcomes {
			some[i].Outcome = o
		}
		return err
	})
}
