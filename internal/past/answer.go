package past

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How long a history is waited for that may be on a disk which does not answer. Where nothing is promised by it, the
// job goes on without it.
const (
	Soon = 2 * time.Second  // at the start of a job, and when something that takes a moment is asked
	Late = 10 * time.Second // at the end, when it is written, too
)

// calls are those that wait for a disk: each holds a thread, for as long as the disk does not answer.
var calls = make(chan struct{}, 64)

// await returns what do returns, or an error when ctx is done: then do goes on, and nobody hears of it.
func await[T any](ctx context.Context, path string, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		select {
		case calls <- struct{}{}:
			defer func() { <-calls }()
		case <-ctx.Done():
			return
		}
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
			return none, err
		}
		return none, fmt.Errorf("%s: the disk does not answer", path)
	}
}
