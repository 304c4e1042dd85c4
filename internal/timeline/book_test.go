package timeline

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// A reader who asks again and again, and merges the answers as Since says, knows in the end what Of says of each job;
// no two attempts have one slot at once.
func TestBookMerges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBook("server", "srpt", time.Unix(0, 0), []SlotRow{{Machine: "m"}})
		const jobs = 3
		for id := range sched.JobID(jobs) {
			b.Job(JobRow{ID: id + 5, Name: "j", State: "running"}, []StageRow{{Name: "map"}, {Name: "reduce"}})
		}
		type running struct {
			job sched.JobID
			live.Record
		}
		type key struct {
			job           sched.JobID
			stage         string
			task, attempt uint32
		}
		var runs []running
		known := map[key]Row{}
		now, asked, next := sched.Time(0), uint64(0), sched.AttemptID(0)
		ask := func() {
			got := b.Since(asked, now)
			for _, r := range got.Attempts.all() {
				stage := got.Stages[r.Stage]
				if stage.Job != int(r.Job) {
					t.Fatal("the stage is of another job")
				}
				r.Job, r.Stage = 0, 0
				if r.End == Running {
					r.Stop = 0 // now, whenever that is
				}
				known[key{got.Jobs[stage.Job].ID, stage.Name, r.Task, r.Number}] = r
			}
			asked = got.Next
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += sched.Time(rapid.IntRange(0, 3).Draw(t, "pause"))
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				next++
				r := running{5 + sched.JobID(rapid.IntRange(0, jobs-1).Draw(t, "job")), live.Record{Launched: now, Start: now, Stop: now}}
				r.ID, r.Index, r.Stage = next, int(next), rapid.IntRange(0, 1).Draw(t, "stage")
				b.Launched(r.job, &r.Record)
				runs = append(runs, r)
			case 2:
				if len(runs) > 0 {
					i := rapid.IntRange(0, len(runs)-1).Draw(t, "which")
					runs[i].Stop, runs[i].End = max(runs[i].Launched, now-2), live.Won // told late
					b.Ended(runs[i].job, &runs[i].Record)
					runs = slices.Delete(runs, i, i+1)
				}
			case 3:
				ask()
			}
		}
		ask()
		var all []Row
		for id := range sched.JobID(jobs) {
			one := b.Of(id+5, now)
			for _, r := range one.Attempts.all() {
				stage := one.Stages[r.Stage].Name
				all = append(all, r)
				r.Job, r.Stage = 0, 0
				if r.End == Running {
					r.Stop = 0
				}
				if diff := gocmp.Diff(r, known[key{id + 5, stage, r.Task, r.Number}]); diff != "" {
					t.Fatal(diff)
				}
			}
		}
		if len(all) != len(known) || len(all) != int(next) {
			t.Fatalf("%d attempts, %d known, %d launched", len(all), len(known), next)
		}
		slices.SortFunc(all, func(a, b Row) int {
			return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Launched, b.Launched), cmp.Compare(a.Stop, b.Stop))
		})
		for i := 1; i < len(all); i++ {
			if all[i].Slot == all[i-1].Slot && all[i].Launched < all[i-1].Stop {
				t.Fatalf("two attempts at once in slot %d: %+v, %+v", all[i].Slot, all[i-1], all[i])
			}
		}
	})
}

func TestBookForgets(t *testing.T) {
	b := NewBook("server", "srpt", time.Unix(0, 0), nil)
	b.Job(JobRow{ID: 1}, []StageRow{{Name: "map"}})
	r := live.Record{Launched: 1}
	b.Launched(1, &r)
	b.Launched(2, &r) // of a job that was dropped before
	if got := b.Since(0, 2); got.Attempts.Len() != 1 || got.Attempts.Row(0).Stop != 2 || got.Attempts.Row(0).End != Running {
		t.Errorf("%+v", got.Attempts)
	}
	b.Drop(1)
	b.Drop(1)
	b.Ended(1, &r)
	if got := b.Since(0, 2); len(got.Jobs)+got.Attempts.Len() != 0 || b.Of(1, 2) != nil {
		t.Errorf("%+v", got)
	}
	b.Job(JobRow{ID: 3}, []StageRow{{Name: "map"}})
	b.Launched(3, &live.Record{Launched: 2})
	if got := b.Of(3, 2); len(got.Slots) != 1 {
		t.Errorf("the slot of an attempt that was dropped is not free again: %+v", got.Slots)
	}
}
