package run

import (
	"context"
	"errors"
	"time"
)

// afterInterrupt is how long what is kept of a run may take once its user does not want to wait any more. A history
// that answers takes a fraction of it.
const afterInterrupt = 500 * time.Millisecond

// errInterrupted is why something is not kept.
var errInterrupted = errors.New("interrupted before the history had answered")

// patient returns a context for what is kept of a job that has ended. It is done after a limit; that of a run is done
// soon after ctx, too, as if it had been late. A server that ends keeps all that it can.
func (p *Prepared) patient(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	if p.server != nil {
		return limited, cancel
	}
	shorter, end := context.WithCancelCause(limited)
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(afterInterrupt, func() { end(context.DeadlineExceeded) })
	})
	return shorter, func() {
		stop()
		cancel()
	}
}

// unlessInterrupted says so if a wait ended because the user did not want it any more.
func unlessInterrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}
