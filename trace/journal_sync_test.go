package trace

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// recordOf returns a batch whose record is longer than its output by some dozen bytes.
func recordOf(output int) *Batch {
	return &Batch{Now: 7, Facts: []sched.Event{{At: 7, Kind: sched.AttemptDone, Attempt: 1}}, Outputs: []Output{{Attempt: 1, Data: make([]byte, output)}}}
}

// What the disk may lack is bounded, whatever is not wanted there, and no record waits below that.
func TestUnsyncedIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "journal")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		j, err := CreateJournal(filepath.Join(dir, "journal"), header())
		if err != nil {
			t.Fatal(err)
		}
		if j.Synced() != j.Size() {
			t.Errorf("%d of %d bytes of a new journal are on the disk", j.Synced(), j.Size())
		}
		for _, output := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 10, 4000, mostUnsynced / 3, mostUnsynced + 1}), 1, 40).Draw(t, "outputs") {
			before, synced := j.Size(), j.Synced()
			if err := j.Append(recordOf(output), false); err != nil {
				t.Fatal(err)
			}
			if lacks := j.Size() - j.Synced(); lacks > mostUnsynced && j.Synced() < before {
				t.Fatalf("the disk may lack %d bytes", lacks)
			}
			if j.Size()-synced <= mostUnsynced && j.Synced() != synced {
				t.Fatalf("a record waited for the disk behind %d bytes", before-synced)
			}
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What is wanted on the disk gets there without being asked for again, and what is not wanted stays behind.
func TestSyncSoon(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, err := CreateJournal(filepath.Join(dir, "journal"), header())
		if err != nil {
			t.Fatal(err)
		}
		for _, wanted := range []bool{true, false, true} {
			if err := j.Append(recordOf(0), wanted); err != nil {
				t.Fatal(err)
			}
			if j.Synced() == j.Size() {
				t.Error("a record waited for the disk")
			}
			time.Sleep(2 * syncEvery)
			synctest.Wait()
			if got := j.Synced() == j.Size(); got != wanted {
				t.Errorf("on the disk: %v, wanted: %v", got, wanted)
			}
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A sync that has failed is told to whoever writes next, again and again: the system tells it only once.
func TestSyncFails(t *testing.T) {
	j, err := CreateJournal(filepath.Join(t.TempDir(), "journal"), header())
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe() // which cannot be synced
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	j.file.Close()
	j.file = w
	if err := j.Append(recordOf(0), true); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); j.disk.failed() == nil && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if j.Append(recordOf(0), true) == nil || j.Sync() == nil || j.Close() == nil {
		t.Error("nobody is told that the disk lacks a record")
	}
}
