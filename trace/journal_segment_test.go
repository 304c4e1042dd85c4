package trace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// segment makes a segment with a state and a batch, and returns its bytes and its length before the batch.
func segment(t *testing.T, folder string, state ...[]byte) (data []byte, begun int64) {
	t.Helper()
	h := header()
	h.Segment = &JournalSegment{Number: 2, State: len(state)}
	path := SegmentPath(folder, 2)
	j, err := CreateJournal(path, h, state...)
	if err != nil {
		t.Fatal(err)
	}
	begun = j.Size()
	b := Batch{Now: 9, Jobs: []*JournalJob{{Name: "one"}}, Told: []sched.JobID{4}}
	if err := errors.Join(j.Append(&b, true), j.Close()); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(path); err != nil || int64(len(data)) != j.Size() {
		t.Fatalf("%d bytes, the journal says %d, %v", len(data), j.Size(), err)
	}
	return data, begun
}

func TestSegment(t *testing.T) {
	state := [][]byte{[]byte("a snapshot"), {}, []byte("a job")}
	data, _ := segment(t, t.TempDir(), state...)
	r, err := NewJournalReader("segment", data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(state, r.State); d != "" || r.Header.Schema != JournalSchema || r.Header.Segment.Number != 2 {
		t.Errorf("header %+v, state (-want +got):\n%s", r.Header, d)
	}
	if b, err := r.Next(); err != nil || len(b.Jobs) != 1 || b.Jobs[0].Name != "one" || !slices.Equal(b.Told, []sched.JobID{4}) {
		t.Errorf("batch %+v, %v", b, err)
	}
}

// A segment has its name when all that it begins with is on the disk. If that ends early, it was cut off later.
func TestSegmentCutAnywhere(t *testing.T) {
	data, begun := segment(t, t.TempDir(), []byte("a snapshot"), []byte("a job"))
	for cut := range len(data) {
		r, err := NewJournalReader("segment", data[:cut])
		switch {
		case int64(cut) >= begun:
			if err != nil || r.Torn() != (int64(cut) > begun) {
				t.Fatalf("cut at %d: %v", cut, err)
			}
		case cut < len(journalMagic):
			if err == nil {
				t.Fatalf("cut at %d: no error", cut)
			}
		case !errors.Is(err, ErrCorrupt):
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
}

func TestSegments(t *testing.T) {
	folder := t.TempDir()
	if all, err := Segments(filepath.Join(folder, "nothing")); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	for _, name := range []string{"000010", "000002", "1000000", "000003.new", "00004", "pulse", "-00001", "000000", "notes.new"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "000007"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := SweepSegments(folder); err != nil {
		t.Fatal(err)
	}
	all, err := Segments(folder)
	if err != nil || !slices.Equal(all, []int{2, 10, 1000000}) {
		t.Errorf("%v, %v", all, err)
	}
	for name, want := range map[string]bool{"000003.new": false, "notes.new": true} {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
