package live

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// Four tasks of 10 ms on two sites of two slots: the input of all is at the first, so those at the second begin 3 ms + 1000 bytes at 100 kB/s = 13 ms later. Of each result the task
// that follows reads 500 bytes: it runs at the first site and waits 3 ms + 10 ms for what the second made.
func TestFetch(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		h := header(2, 0, 4, 1)
		apart(h)
		// 1 for 1000 bytes from the first site to the second, half of it back, and 1 for a second of a slot at the second
		h.Network.Price, h.Network.Rent = []sched.Money{0, 1e6 * sched.Unit, 5e5 * sched.Unit, 0}, []sched.Money{0, 3600 * sched.Unit}
		exec := newFake(t, newDisk(), alike(10*ms))
		begun := map[place]sched.Time{}
		r := create(t, path, h, never)
		exec.hook = func(deed string, p place) {
			if deed == "start" {
				begun[p] = sched.Time(time.Since(r.start).Truncate(ms)) // the run begins a nanosecond late
			}
		}
		s := finish(t, r, exec)
		at := func(n int) sched.Time { return sched.Time(n) * sched.Millisecond }
		// The fourth ends at 23 ms; the last task begins at 23 + 13 ms and ends 10 ms later.
		want := map[place]sched.Time{{0, 0, 0}: 0, {0, 1, 0}: 0, {0, 2, 0}: at(13), {0, 3, 0}: at(13), {1, 0, 0}: at(36)}
		if d := cmp.Diff(want, begun); d != "" {
			t.Errorf("began (-want +got):\n%s", d)
		}
		if s.Flow != at(46) {
			t.Errorf("took %v, want 46 ms", s.Flow)
		}
		sites := []SiteSummary{{"site0", 2, 3, 0.043, 1000, 0.5}, {"site1", 2, 2, 0.046, 2000, 2.046}}
		if d := cmp.Diff(sites, s.Sites); d != "" {
			t.Errorf("sites (-want +got):\n%s", d)
		}
		var told []sched.Event
		for _, b := range batches(t, path) {
			for _, f := range b.Facts {
				if f.Kind == sched.DataFetched {
					told = append(told, sched.Event{At: f.At / sched.Millisecond * sched.Millisecond, Machine: f.Machine, Site: f.Site, Bytes: f.Bytes, Span: f.Span})
				}
			}
		}
		one := sched.Event{At: at(13), Machine: 1, Site: 0, Bytes: 1000, Span: at(13)}
		if d := cmp.Diff([]sched.Event{one, one, {At: at(36), Machine: 0, Site: 1, Bytes: 1000, Span: at(13)}}, told); d != "" {
			t.Errorf("facts (-want +got):\n%s", d)
		}
		mustReplay(t, path, never)
	})
}

// An attempt that waits for data is killed without ever having begun, and the engine can die while it waits.
func TestKilledWhileItFetches(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		h := header(2, 0, 3)
		apart(h)
		h.Network.Bandwidth = []float64{1, 1, 1, 1} // 1000 s
		exec := newFake(t, newDisk(), func(a Attempt) fate { return fate{takes: 100 * ms} })
		r := create(t, path, h, 20*ms) // clones of all, one of them far away
		ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
		defer cancel()
		if err := errors.Join(r.Loop(ctx, exec, Watcher{}), exec.Close()); err != nil {
			t.Fatal(err)
		}
		exec = newFake(t, exec.disk, func(a Attempt) fate { return fate{takes: 100 * ms} })
		r = reopen(t, path, 20*ms)
		s := finish(t, r, exec)
		if s.State != "succeeded" || s.Attempts == 3 || s.Sites[1].Tasks != 0 || s.Sites[1].Bytes != 0 || s.Flow > sched.Second {
			t.Errorf("summary: %+v", s)
		}
		mustReplay(t, path, 20*ms)
	})
}
