package live

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tailcut/tailcut/trace"
)

// frames returns where the records of a journal begin, and where the last one ends that is whole: the file may have been
// read while another one was written.
func frames(data []byte) (at []int, end int) {
	const header = 12
	for end = len("tailcut\n"); end+header <= len(data); {
		next := end + header + int(binary.LittleEndian.Uint32(data[end:]))
		if next > len(data) {
			break
		}
		at = append(at, end)
		end = next
	}
	return at, end
}

// A journal in which bytes have changed is refused, wherever they are. Only of the last record nobody can tell whether
// it was ever whole.
func TestDamagedSegment(t *testing.T) {
	f := newFarm(t, 2)
	var data []byte
	tale(t, f, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := f.start(ctx)
		s.submit(t, jobOf("a", 3))
		s.submit(t, jobOf("b", 40))
		time.Sleep(50 * ms)
		cancel()
		s.stop(t)
		ctx, cancel = context.WithCancel(t.Context())
		s = f.start(ctx) // its segment begins with a snapshot and two jobs
		path := trace.SegmentPath(f.folder, 3)
		for range 20 {
			time.Sleep(10 * ms)
			var err error
			if data, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
			if at, _ := frames(data); len(at) >= 12 {
				break
			}
		}
		cancel()
		s.stop(t)
	})
	at, end := frames(data)
	if len(at) < 10 {
		t.Fatalf("%d records", len(at))
	}
	data = data[:end]
	last := len(at) - 1
	for _, c := range []struct {
		name  string
		at    int
		whole bool
	}{
		{"magic", 3, false}, {"header", at[0] + 40, false}, {"length of the header", at[0], false}, {"snapshot", at[1] + 30, false}, {"job", at[2] + 30, false},
		{"first batch", at[4] + 13, false}, {"batch in the middle", at[last/2] + 13, false}, {"checksum", at[last/2] + 9, false},
		{"last batch", at[last] + 13, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := append([]byte(nil), data...)
			bad[c.at] ^= 4
			cfg := Config{Folder: filepath.Join(t.TempDir(), "journal"), Policy: "nervous", Limits: f.limits, Policies: f.policies, Machines: f.machines}
			if err := errors.Join(os.Mkdir(cfg.Folder, 0o700), os.WriteFile(trace.SegmentPath(cfg.Folder, 3), bad, 0o600)); err != nil {
				t.Fatal(err)
			}
			e, err := OpenEngine(cfg)
			if err == nil {
				err = e.journal.Close()
			}
			if c.whole != (err == nil) || !c.whole && !errors.Is(err, trace.ErrCorrupt) {
				t.Errorf("%v", err)
			}
			if now, _ := os.ReadFile(trace.SegmentPath(cfg.Folder, 3)); !c.whole && string(now) != string(bad) {
				t.Error("the damaged journal was changed")
			}
		})
	}
}

// A journal that is gone although an engine was killed there is no new one.
func TestJournalGone(t *testing.T) {
	f := newFarm(t, 1)
	cfg := Config{Folder: f.folder, Policy: "nervous", Limits: f.limits, Policies: f.policies, Machines: f.machines}
	if err := errors.Join(os.MkdirAll(f.folder, 0o700), os.WriteFile(filepath.Join(f.folder, pulseName), []byte("x 1\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenEngine(cfg); !errors.Is(err, trace.ErrCorrupt) {
		t.Error(err)
	}
}
