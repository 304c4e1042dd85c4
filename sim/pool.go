package sim

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do(0) to do(n-1) on as many goroutines as there are processors and returns when they are done. Indexes begin in order; after an error, or once ctx
// is cancelled, no more begin. The error returned is that of the lowest index, which does not depend on who was faster.
func Each(ctx context.Context, n int, do func(i int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Bool
		errs   = make([]error, n)
		wg     sync.WaitGroup
	)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for !failed.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = do(i); errs[i] != nil {
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
