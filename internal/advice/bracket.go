package advice

import (
	"sync"

	"github.com/tailcut/tailcut/plan"
)

// bracket bounds no policy twice: what is searched is shown afterwards. Any number of goroutines may use it.
type bracket struct {
	*plan.Bracket
	mu    sync.Mutex
	found map[plan.Policy][2]plan.Outcome
}

// Bounds is that of [plan.Bracket].
func (b *bracket) Bounds(r plan.Rule) (low, high plan.Outcome, err error) {
	p, ok := r.(plan.Policy)
	if !ok {
		return b.Bracket.Bounds(r)
	}
	b.mu.Lock()
	known, ok := b.found[p]
	b.mu.Unlock()
	if ok {
		return known[0], known[1], nil
	}
	if low, high, err = b.Bracket.Bounds(p); err == nil { // perhaps on two goroutines at once, which find the same
		b.mu.Lock()
		b.found[p] = [2]plan.Outcome{low, high}
		b.mu.Unlock()
	}
	return low, high, err
}

// Evaluate is that of [plan.Bracket].
func (b *bracket) Evaluate(r plan.Rule) (plan.Outcome, error) {
	low, high, err := b.Bounds(r)
	if err != nil {
		return plan.Outcome{}, err
	}
	return plan.Between(low, high), nil
}
