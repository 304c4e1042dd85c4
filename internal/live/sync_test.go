package live

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// What the engine starts does not wait for the disk. What outlives the system does: a result in a folder, the answer to
// whoever submits, and the end of a job.
func TestWhatWaitsForTheDisk(t *testing.T) {
	for name, inline := range map[string]bool{"results in the journal": true, "results in folders": false} {
		t.Run(name, func(t *testing.T) {
			f := newFarm(t, 2)
			tale(t, f, func(t *testing.T) {
				f.fate = func(*Job, Attempt) fate { return fate{takes: ms, inline: inline} }
				var s *shell
				synced := func() bool { return s.journal.Synced() == s.journal.Size() }
				deeds, early := map[string]int{}, map[string]int{}
				f.hook = func(deed string, p place) {
					on := synced()
					if deed == "commit" { // the loop may have written more since
						on = claimed(t, trace.SegmentPath(f.folder, 1), s.journal.Synced(), p.Index)
					}
					if deeds[deed]++; !on {
						early[deed]++
					}
				}
				f.deaf = func(*Over) error {
					if !synced() {
						t.Error("a job's end is told before the disk has it")
					}
					return nil
				}
				ctx, cancel := context.WithCancel(t.Context())
				s = f.start(ctx)
				s.submit(t, jobOf("a", 20))
				if !synced() {
					t.Error("a job is accepted before the disk has it")
				}
				time.Sleep(time.Second)
				if got := s.states(t)["a"]; got != "succeeded" {
					t.Errorf("the job is %s", got)
				}
				cancel()
				s.stop(t)
				if deeds["start"] < 20 || deeds["commit"] != 20 {
					t.Errorf("deeds: %v", deeds)
				}
				if inline && early["start"] == 0 {
					t.Error("every start waited for the disk")
				}
				if (early["commit"] > 0) != inline {
					t.Errorf("%d of %d commits did not wait for the disk", early["commit"], deeds["commit"])
				}
			})
		})
	}
}

// claimed tells whether the first bytes of a journal say that a task of the only job is done.
func claimed(t *testing.T, path string, size int64, task int) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return false
	}
	r, err := trace.NewJournalReader(path, data[:size])
	for err == nil {
		var b *trace.Batch
		if b, err = r.Next(); err == nil && slices.ContainsFunc(b.Decisions, func(d sched.Decision) bool { return d.Kind == sched.Commit && int(d.Task) == task }) {
			return true
		}
	}
	return false
}
