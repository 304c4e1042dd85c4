package sizing

import (
	"context"
	"sync/atomic"
	"testing"
)

// Whoever watches sees all plays, and no more.
func TestWatch(t *testing.T) {
	r := again(t, "-", equal(), 4)
	var done atomic.Int64
	total, stopped := 0, false
	r.Watch = func(_ string, tasks int) (func(int), func()) {
		total = tasks
		return func(n int) { done.Add(int64(n)) }, func() { stopped = true }
	}
	if _, err := Plan(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if int(done.Load()) != total || total == 0 || !stopped {
		t.Errorf("%d of %d tasks are done at the end", done.Load(), total)
	}
}
