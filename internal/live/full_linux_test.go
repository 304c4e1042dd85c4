package live

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailcut/tailcut/internal/disk/disktest"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// smallDisk gives a farm a journal on a disk of its own, and returns what fills that but for so many bytes, and what
// makes room again.
func smallDisk(t *testing.T, f *farm) (fill func(left int64), relieve func()) {
	t.Helper()
	root, fill, relieve := disktest.Small(t)
	f.folder = filepath.Join(root, "journal")
	return fill, relieve
}

// replays checks that all segments follow from each other.
func (f *farm) replays(t *testing.T) {
	t.Helper()
	var paths []string
	all, err := trace.Segments(f.folder)
	for _, n := range all {
		paths = append(paths, trace.SegmentPath(f.folder, n))
	}
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	if _, err := Chain(paths, f.policies, nil); err != nil {
		t.Error(err)
	}
}

// While the journal's disk is full, nothing starts and nothing is taken in. What runs ends, and when there is room all
// goes on, with what was accepted before.
func TestJournalFull(t *testing.T) {
	f := newFarm(t, 2)
	fill, relieve := smallDisk(t, f)
	var said []string
	f.watch.Short = func(why string) { said = append(said, why) }
	tale(t, f, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := f.start(ctx)
		id := s.submit(t, jobOf("a", 200))
		time.Sleep(25 * ms)
		fill(100)
		time.Sleep(20 * time.Second)
		synctest.Wait() // nobody writes what is read here
		started := len(f.disk("a").started)
		if started > 180 {
			t.Errorf("%d attempts were started on a full disk", started)
		}
		for name, err := range map[string]error{
			"submit": second(s.Submit(ctx, jobOf("b", 1))), "cancel": s.Cancel(ctx, id), "pause": s.Pause(ctx, id), "policy": s.SetPolicy(ctx, "nervous", 2, f.limits),
		} {
			if !errors.Is(err, trace.ErrNoRoom) {
				t.Errorf("%s: %v", name, err)
			}
		}
		hasty, done := context.WithTimeout(ctx, time.Millisecond)
		var state string
		if err := s.Look(hasty, func(x Sight) { state = x.Job(id).State() }); err != nil || state != "running" {
			t.Errorf("who looks sees a job that is %q: %v", state, err)
		}
		done()
		if len(said) != 1 || !strings.Contains(said[0], "no room for the journal") {
			t.Errorf("said: %q", said)
		}
		relieve()
		time.Sleep(5 * time.Second)
		s.submit(t, jobOf("b", 1))
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.states(t); got["a"] != "succeeded" || got["b"] != "succeeded" || len(f.disk("a").result) != 200 || len(f.disk("a").started) != 200 {
			t.Errorf("%v: %d results of %d attempts", got, len(f.disk("a").result), len(f.disk("a").started))
		}
		f.replays(t)
		cancel()
		s.stop(t)
		f.replays(t)
	})
}

func second(_ sched.JobID, err error) error { return err }

// A submission that would take the last room is refused, and what runs goes on. So is another policy, for which there is
// no room; the one that decides stays.
func TestJournalNearlyFull(t *testing.T) {
	f := newFarm(t, 2)
	fill, relieve := smallDisk(t, f)
	tale(t, f, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := f.start(ctx)
		big := jobOf("big", 1)
		big.Held, big.Command = true, []byte(`"`+strings.Repeat("x", 100<<10)+`"`)
		s.submit(t, big)
		s.submit(t, jobOf("a", 200))
		fill(64 << 10)
		if _, err := s.Submit(ctx, jobOf("b", 1)); !errors.Is(err, trace.ErrNoRoom) || !strings.Contains(err.Error(), f.folder) {
			t.Error(err)
		}
		if err := s.SetPolicy(ctx, "patient", 1, f.limits); !errors.Is(err, trace.ErrNoRoom) {
			t.Error(err)
		}
		time.Sleep(5 * time.Second)
		var policy string
		if err := s.Look(ctx, func(x Sight) { policy, _, _ = x.Policy() }); err != nil || policy != "nervous" {
			t.Error(policy, err)
		}
		if got := s.states(t); got["a"] != "succeeded" {
			t.Errorf("%v", got)
		}
		relieve()
		if err := s.SetPolicy(ctx, "patient", 1, f.limits); err != nil {
			t.Error(err)
		}
		s.submit(t, jobOf("b", 1))
		time.Sleep(time.Second)
		cancel()
		s.stop(t)
		f.replays(t)
	})
}

// An engine that is to end while the disk is full ends at once, and says what to do. Nothing accepted is lost.
func TestJournalFullAtTheEnd(t *testing.T) {
	f := newFarm(t, 2)
	fill, relieve := smallDisk(t, f)
	tale(t, f, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := f.start(ctx)
		s.submit(t, jobOf("a", 200))
		time.Sleep(25 * ms)
		fill(100)
		time.Sleep(20 * time.Second)
		cancel()
		if err := <-s.ended; !errors.Is(err, trace.ErrNoRoom) || !strings.Contains(err.Error(), "make room there and start again") {
			t.Error(err)
		}
		relieve()
		ctx, cancel = context.WithCancel(t.Context())
		s = f.start(ctx)
		time.Sleep(5 * time.Second)
		if got := s.states(t); got["a"] != "succeeded" || len(f.disk("a").result) != 200 {
			t.Errorf("%v", got)
		}
		cancel()
		s.stop(t)
	})
}
