package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// still is an executor whose attempts never end.
type still struct{ live.Executor }

func (still) Start(live.Attempt)   {}
func (still) Kill(sched.AttemptID) {}
func (still) Clean() error         { return nil }
func (still) Close() error         { return nil }

// serve makes a server's journal of some segments, and returns the folders of the server and of its archive.
func serve(t *testing.T) (folder, archive string) {
	t.Helper()
	folder, archive = t.TempDir(), t.TempDir()
	e, err := live.OpenEngine(live.Config{
		Folder: filepath.Join(folder, ServerJournal), Archive: archive, Policy: "fifo", Limits: sched.DefaultLimits(), Policies: policiesOf,
		Machines: []trace.JournalMachine{{Name: "m", Slots: 2}}, Reports: func() <-chan live.Report { return nil },
		Open: func(*live.Job) (live.Executor, error) { return still{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Loop(ctx) }()
	change := map[string]func(context.Context, string, uint64, sched.Limits) error{"srpt": e.SetPolicy, "fair": e.HandTo, "late": e.SetPolicy}
	for i, policy := range []string{"srpt", "fair", "late"} {
		spec := sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 3}}}
		if _, err := e.Submit(ctx, &trace.JournalJob{Name: fmt.Sprint(i), Run: fmt.Sprint(i), Spec: spec, Stages: []string{"only"}}); err != nil {
			t.Fatal(err)
		}
		if err := change[policy](ctx, policy, 1, sched.DefaultLimits()); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return folder, archive
}

func TestReplayChain(t *testing.T) {
	folder, archive := serve(t)
	for _, c := range []struct {
		path     string
		segments int
	}{{folder, 1}, {filepath.Join(folder, ServerJournal), 1}, {archive, 4}, {trace.SegmentPath(archive, 2), 1}} {
		j, err := Open(c.path)
		if err != nil {
			t.Fatal(err)
		}
		res, err := j.Replay(false)
		if err != nil || res.Segments != c.segments || res.Torn {
			t.Errorf("%s: %+v, %v", c.path, res, err)
		}
		if _, err := j.Replay(true); err != live.ErrMany {
			t.Errorf("attempts of %s: %v", c.path, err)
		}
	}
	j, err := Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	res, err := j.Replay(false)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := res.WriteText(&text); err != nil || !strings.Contains(text.String(), "each of the 4 segments begins as the one before ends") {
		t.Errorf("%q, %v", text.String(), err)
	}
}

func TestReplayChainBroken(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(archive string) error
		want string
	}{
		"missing": {func(a string) error { return os.Remove(trace.SegmentPath(a, 3)) }, "segment 4 follows segment 2"},
		"cut off": {func(a string) error {
			info, err := os.Stat(trace.SegmentPath(a, 2))
			if err != nil {
				return err
			}
			return os.Truncate(trace.SegmentPath(a, 2), info.Size()-1)
		}, "begins otherwise|unfinished record"},
		"of another time": {func(a string) error {
			data, err := os.ReadFile(trace.SegmentPath(a, 2))
			if err != nil {
				return err
			}
			return os.WriteFile(trace.SegmentPath(a, 3), data, 0o600)
		}, "begins otherwise"},
	} {
		t.Run(name, func(t *testing.T) {
			_, archive := serve(t)
			if err := c.harm(archive); err != nil {
				t.Fatal(err)
			}
			j, err := Open(archive)
			if err == nil {
				_, err = j.Replay(false)
			}
			found := false
			for _, want := range strings.Split(c.want, "|") {
				found = found || err != nil && strings.Contains(err.Error(), want)
			}
			if !found {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}
