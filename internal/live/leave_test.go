package live

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// A job of an engine leaves a journal that a run takes up: what is done stays done, by the attempts that won, what failed
// or was cancelled is tried again, and a replay finds the same. Neither the other jobs nor the engine's age matter.
func TestLeave(t *testing.T) {
	for _, end := range []string{"failed", "cancelled", "succeeded"} {
		t.Run(end, func(t *testing.T) {
			f := newFarm(t, 2)
			fails := end == "failed"
			f.fate = func(_ *Job, a Attempt) fate {
				if a.Index == 1 && end == "cancelled" {
					return fate{takes: never}
				}
				return fate{takes: 10 * ms, fails: fails && a.Index == 1}
			}
			path := journalPath(t)
			tale(t, f, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := f.start(ctx)
				time.Sleep(5 * time.Hour)
				s.submit(t, jobOf("other", 3))
				j := jobOf("mine", 3, 1)
				j.Spec.MaxFailed = sched.Unlimited
				j.Spec.Deadline = sched.Time(time.Hour)
				id := s.submit(t, j)
				time.Sleep(100 * ms)
				if end == "cancelled" {
					if err := s.Cancel(ctx, id); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(100 * ms)
				over, _ := f.end("mine")
				if over == nil || over.Summary.State != end {
					t.Fatalf("%+v", over)
				}
				earlier := &Lived{Records: []Record{{Attempt: Attempt{Index: 2, Number: 9}, Task: 2, Launched: 5, Start: 6, Stop: 7, End: Lost}}}
				h := header(1, 3, 3, 1)
				h.Started = j.Submitted
				if err := over.Leave(path, h, earlier); err != nil {
					t.Fatal(err)
				}
				check(t, path, 1+len(over.Records))

				r := open(t, path)
				done := map[string]int{"failed": 2, "cancelled": 2, "succeeded": 4}[end]
				if r.Recovered != done || r.Retried != (end != "succeeded") || r.Header.Job.Deadline < sched.Time(59*time.Minute) || r.Header.Job.Deadline > sched.Time(61*time.Minute) {
					t.Errorf("%d tasks are done, retried %v, deadline %v", r.Recovered, r.Retried, r.Header.Job.Deadline)
				}
				fails, end = false, ""
				x := newFake(t, f.disk("mine"), func(a Attempt) fate { return f.fate(nil, a) })
				if err := r.Loop(t.Context(), x, Watcher{}); err != nil {
					t.Fatal(err)
				}
				if r.State() != sched.JobSucceeded || len(f.disk("mine").result) != 4 {
					t.Errorf("%v with %d results", r.State(), len(f.disk("mine").result))
				}
				check(t, path, 1+len(over.Records)+4-done)
				cancel()
				s.stop(t)
			})
		})
	}
}

// check replays a journal, in which so many attempts are.
func check(t *testing.T, path string, attempts int) {
	t.Helper()
	reader, err := trace.OpenJournalReader(path)
	if err != nil {
		t.Fatal(err)
	}
	records, err := Lives(reader, func(*trace.JournalHeader) (sched.Policy, error) { return &nervous{patience: sched.Time(never)}, nil }, nil)
	if err != nil || len(records) != attempts {
		t.Errorf("%d attempts, want %d: %v", len(records), attempts, err)
	}
	seen := map[string]bool{}
	for _, r := range records {
		name := fmt.Sprint(r.Stage, r.Index, r.End)
		if r.End == Won && seen[name] {
			t.Errorf("%s twice", name)
		}
		seen[name] = true
	}
}

func open(t *testing.T, path string) *Run {
	t.Helper()
	r, err := Open(path, func(*trace.JournalHeader) (sched.Policy, error) { return &nervous{patience: sched.Time(never)}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Attempts before the submission are added to what is saved of each task, whether there was anything to say of it or not.
func TestTasksThatWereTriedBefore(t *testing.T) {
	j := sched.SavedJob{Tasks: []sched.SavedTask{
		{Index: 2, More: 3, State: sched.TaskDone, Launched: 1},
		{Index: 7, More: 1, State: sched.TaskSkipped},
	}}
	tryToo(&j, map[int]int{0: 1, 3: 2, 6: 1, 7: 1, 9: 4})
	want := []sched.SavedTask{
		{Index: 0, Launched: 1},
		{Index: 2, State: sched.TaskDone, Launched: 1},
		{Index: 3, State: sched.TaskDone, Launched: 3},
		{Index: 4, More: 1, State: sched.TaskDone, Launched: 1},
		{Index: 6, Launched: 1},
		{Index: 7, State: sched.TaskSkipped, Launched: 1},
		{Index: 8, State: sched.TaskSkipped},
		{Index: 9, Launched: 4},
	}
	if d := cmp.Diff(want, j.Tasks); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
