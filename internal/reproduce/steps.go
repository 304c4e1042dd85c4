package reproduce

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// each runs the steps, no more at once than there are workers, and tells of progress. It returns the first error.
func (o *Options) each(ctx context.Context, steps []func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Workers))
	var mu sync.Mutex
	done := 0
	for _, step := range steps {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := step(ctx); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; o.Progress != nil {
				o.Progress(done, len(steps))
			}
			return nil
		})
	}
	return group.Wait()
}
