package sim

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do(0) to do(n-1) on as many goroutines as there are processors and returns when they are done. Indexes
// begin in order; after an error, or once ctx is cancelled, no more begin. The error returned is that of the lowest
// index, which does not depend on who was faster.
func Each(ctx context.Context, n int, do func(i int) error) error {
	return each(ctx, n, runtime.GOMAXPROCS(0), func(_, i int) error { return do(i) })
}

// each is Each on a number of goroutines, which tell do their own numbers, from 0.
func each(ctx context.Context, n, workers int, do func(worker, i int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Bool
		errs   = make([]error, n)
		wg     sync.WaitGroup
	)
	for worker := range min(n, workers) {
		wg.Go(func() {
			for !failed.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = do(worker, i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
