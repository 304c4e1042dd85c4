package timeline

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// sleeper is an executor whose attempts take some time and do nothing. The second attempt of each third task is needed.
type sleeper struct{ reports chan live.Report }

func (s sleeper) Start(a live.Attempt) {
	go func() {
		time.Sleep(time.Duration(50+7*a.Index) * time.Millisecond)
		kind := sched.AttemptDone
		if a.Index%3 == 2 && a.Number == 0 {
			kind = sched.AttemptFailed
		}
		s.reports <- live.Report{At: time.Now(), Attempt: a.ID, Kind: kind}
	}()
}
func (s sleeper) Kill(sched.AttemptID)              {}
func (s sleeper) Commit(live.Attempt, []byte) error { return nil }
func (s sleeper) Clean() error                      { return nil }
func (s sleeper) Reports() <-chan live.Report       { return s.reports }
func (s sleeper) Publish() error                    { return nil }
func (s sleeper) Close() error                      { return nil }

// What a Book has heard of an engine of several jobs is what the segments of its journal say, of a job that was retired
// too; no two attempts have a slot at once in either.
func TestEngineBookAndJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder, archive := filepath.Join(t.TempDir(), "journal"), filepath.Join(t.TempDir(), "archive")
		machines := []trace.JournalMachine{{Name: "a", Slots: 3}, {Name: "b", Slots: 2}}
		reports := make(chan live.Report, 1000)
		over := make(chan *live.Over, 10)
		var book *Book
		engine, err := live.OpenEngine(live.Config{
			Folder: folder, Policy: "fair", Limits: sched.DefaultLimits(), Policies: policies, Machines: machines, Segment: 4000, Archive: archive,
			Open:    func(*live.Job) (live.Executor, error) { return sleeper{reports}, nil },
			Reports: func() <-chan live.Report { return reports },
			Finish:  func(o *live.Over) error { over <- o; return nil },
			Watch: live.Observer{
				Changed: func(j *live.Job) {
					var stages []StageRow
					for i, name := range j.Stages {
						stages = append(stages, StageRow{Name: name, Tasks: j.Spec.Stages[i].Tasks})
					}
					book.Job(JobRow{ID: j.ID, Name: j.Name, State: j.State()}, stages)
				},
				Launched: func(j *live.Job, r *live.Record) { book.Launched(j.ID, r) },
				Ended:    func(j *live.Job, r *live.Record, _ live.Report) { book.Ended(j.ID, r) },
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		book = NewBook("server", "fair", engine.Started(), []SlotRow{{Machine: "a"}, {Machine: "b"}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- engine.Loop(ctx) }()
		for i := range 4 {
			spec := sched.JobSpec{Retries: 3, Stages: []sched.StageSpec{{Tasks: 6 + i}, {Tasks: 3}}, Edges: []sched.Edge{{From: 0, To: 1}}}
			j := &trace.JournalJob{Name: fmt.Sprint("job", i), Run: fmt.Sprint(i), Submitted: time.Now(), Spec: spec, Stages: []string{"map", "reduce"}}
			if _, err := engine.Submit(ctx, j); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			o := <-over
			if !o.Succeeded() {
				t.Fatalf("%+v", o)
			}
			synctest.Wait()
			if o.Job.ID == 1 { // the engine forgets it, the journal does not
				if err := engine.Retire(ctx, 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		numbers, err := trace.Segments(folder)
		if err != nil || slices.Max(numbers) < 2 {
			t.Fatalf("segments %v, %v", numbers, err)
		}
		var paths []string
		for _, n := range numbers {
			paths = append(paths, trace.SegmentPath(folder, n))
		}
		if archived, err := trace.Segments(archive); err == nil {
			for i, n := range archived {
				paths = slices.Insert(paths, i, trace.SegmentPath(archive, n))
			}
		}
		told, err := FromSegments(paths, policies, "server")
		if err != nil {
			t.Fatal(err)
		}
		heard := book.Since(0, sched.Time(told.Until))
		if diff := gocmp.Diff(lived(t, told), lived(t, heard)); diff != "" {
			t.Errorf("the journal, and - what the book heard:\n%s", diff)
		}
		if told.Attempts.Len() < 4*10 || len(told.Jobs) != 4 || told.Jobs[3].Tasks != 12 || told.Jobs[3].Done != 12 || told.Jobs[3].State != "succeeded" {
			t.Errorf("%d attempts, %+v", told.Attempts.Len(), told.Jobs)
		}
		if len(told.Slots) != 5 || len(heard.Slots) != 5 {
			t.Errorf("%d and %d slots", len(told.Slots), len(heard.Slots))
		}
	})
}

// lived lists the attempts of a timeline by the names of their jobs, without their slots, which it checks.
func lived(t *testing.T, tl *Timeline) (all []string) {
	t.Helper()
	rows := tl.Attempts.all()
	for _, r := range rows {
		all = append(all, fmt.Sprintf("%s %s %d.%d %v-%v-%v %s %v %v %s", tl.Jobs[r.Job].Name, tl.Stages[r.Stage].Name, r.Task, r.Number,
			r.Launched, r.Start, r.Stop, r.End, r.Clone, r.Reason, tl.Slots[r.Slot].Machine))
	}
	slices.Sort(all)
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Launched, b.Launched), cmp.Compare(a.Stop, b.Stop))
	})
	for i := 1; i < len(rows); i++ {
		if rows[i].Slot == rows[i-1].Slot && rows[i].Launched < rows[i-1].Stop {
			t.Errorf("two attempts at once in slot %d: %+v, %+v", rows[i].Slot, rows[i-1], rows[i])
		}
	}
	return all
}
