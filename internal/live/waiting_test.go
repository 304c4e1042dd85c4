package live

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// What an attempt waits for before it begins is no part of how long it took, and no reason to clone it; one that runs as long is cloned. The journal
// knows it all.
func TestRunWaits(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		const patience = 300 * time.Millisecond
		h := header(3, 0, 3)
		h.Waits = true
		r := create(t, path, h, patience)
		exec := newFake(t, newDisk(), func(a Attempt) fate {
			switch {
			case a.Index == 0: // waits longer than the policy is patient with an attempt that runs
				return fate{waits: time.Second, takes: 100 * time.Millisecond}
			case a.Index == 1 && a.Number == 0:
				return fate{waits: 10 * time.Millisecond, takes: 2 * time.Second}
			default:
				return fate{waits: 10 * time.Millisecond, takes: 100 * time.Millisecond}
			}
		})
		if err := errors.Join(r.Loop(t.Context(), exec, Watcher{}), exec.Close()); err != nil {
			t.Fatal(err)
		}
		job := r.View().Job(job)
		if clones := job.Clones; clones != 1 || r.View().Task(1).Launched != 2 {
			t.Errorf("%d clones, %d of the task that straggles", clones, r.View().Task(1).Launched-1)
		}
		if fruitful := job.Fruitful; fruitful != 300*sched.Millisecond {
			t.Errorf("the winners took %v", fruitful)
		}
		won, _ := r.Durations()
		for _, d := range won[0] {
			if d != 100*sched.Millisecond {
				t.Errorf("a winner took %v", d)
			}
		}
	})
	mustReplay(t, path, 300*time.Millisecond)
	reader, err := trace.OpenJournalReader(path)
	if err != nil {
		t.Fatal(err)
	}
	reader.Header.Waits = false
	if _, err := Replay(reader, always(&nervous{patience: 300 * sched.Millisecond}), nil); err == nil {
		t.Error("it replays as if nobody waited, too")
	}
}
