package sched

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// restored returns the core that comes back from the snapshot of another as JSON. The second snapshot must be as the first.
func restored(c *Core, p Policy) (*Core, error) {
	text, err := json.Marshal(c.Snapshot())
	if err != nil {
		return nil, err
	}
	var s Snapshot
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	other, err := Restore(&s, p, c.view.limits)
	if err != nil {
		return nil, err
	}
	if d := cmp.Diff(&s, other.Snapshot(), cmpopts.EquateEmpty()); d != "" {
		return nil, fmt.Errorf("the snapshot of what was restored (-first +second):\n%s\n%s", d, text)
	}
	return other, nil
}

// takeUp lets another core go on from a snapshot, under the same policy or, in the eyes of the core, a fresh one.
func (w *chaos) takeUp() {
	w.seen = nil
	core, err := restored(w.core, w)
	if err != nil {
		w.Fatal(err)
	}
	w.core, w.twin.wake, w.twin.told = core, Never, Never
	told := w.twin.retold()
	byText := func(a, b Event) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	slices.SortFunc(told, byText)
	slices.SortFunc(w.seen, byText)
	if d := diff(told, w.seen); d != "" {
		w.Fatalf("events after a restore (-twin +core):\n%s", d)
	}
	w.compare()
}

// retold returns what a fresh policy is told.
func (w *twin) retold() []Event {
	w.seen = nil
	for _, task := range w.tasks {
		task.shown = false
	}
	for i, m := range w.machines {
		if m.up {
			w.tell(Event{Kind: MachineJoined, Machine: MachineID(i)})
		}
	}
	for j, job := range w.jobs {
		if job.state != JobActive {
			continue
		}
		w.tell(Event{Kind: JobArrived, Job: JobID(j)})
		if job.paused {
			w.tell(Event{Kind: JobPaused, Job: JobID(j)})
		}
	}
	for s := range w.stages {
		if w.open(StageID(s)) {
			w.tell(Event{Kind: StageReady, Job: w.stages[s].job, Stage: StageID(s)})
		}
	}
	for _, a := range w.live(func(*twinAttempt) bool { return true }) {
		w.tellOf(a, AttemptTaken)
	}
	return w.seen
}

// Ten thousand jobs in a queue are a snapshot of a few megabytes.
func TestSnapshotOfAQueueIsSmall(t *testing.T) {
	c := New(&script{}, NoLimits())
	var arrived []Event
	for range 10_000 {
		j, err := c.Submit(&JobSpec{Stages: []StageSpec{{Tasks: 20}}})
		if err != nil {
			t.Fatal(err)
		}
		arrived = append(arrived, Event{Kind: JobArrived, Job: j})
	}
	if _, err := c.Advance(0, arrived); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c.Snapshot())
	if err != nil || len(text) > 4<<20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// Tasks of which the same is to be said take no room: those of a large job that is over, most of it done at the first
// attempt or cancelled.
func TestSnapshotOfALargeJobIsSmall(t *testing.T) {
	w := newWorld(t, NoLimits(), 2)
	j := w.arrive(tasks(100_000))
	for i := range TaskID(1000) {
		w.at(w.View().Now()+1, done(w.launch(i, 0)))
	}
	w.at(w.View().Now()+1, Event{Kind: JobCancelled, Job: j})
	text, err := json.Marshal(w.Snapshot())
	if err != nil || len(text) > 2<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if saved := w.View().SaveJob(j); len(slices.Collect(saved.Singly())) != 100_000 || len(saved.Tasks) != 2 {
		t.Errorf("%+v", saved.Tasks)
	}
	if _, err := restored(w.Core, w); err != nil {
		t.Error(err)
	}
}

// Whatever tasks are added, one by one or several that are alike, they come back one by one.
func TestSavedTasksInARow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []SavedTask
		var one, many SavedJob
		index := uint32(0)
		for range rapid.IntRange(0, 20).Draw(t, "lists") {
			index += rapid.Uint32Range(0, 2).Draw(t, "gap")
			x := SavedTask{Index: index, More: rapid.Uint32Range(0, 3).Draw(t, "more"), Launched: rapid.Uint32Range(0, 1).Draw(t, "launched")}
			many.Add(x)
			for y := x; index <= x.Index+x.More; index++ {
				y.Index, y.More = index, 0
				all = append(all, y)
				one.Add(y)
			}
		}
		if d := cmp.Diff(all, slices.Collect(many.Singly())); d != "" {
			t.Errorf("(-added +yielded)\n%s", d)
		}
		if d := cmp.Diff(one.Tasks, many.Tasks); d != "" {
			t.Errorf("(-one by one +together)\n%s", d)
		}
	})
}

// A snapshot of one job of many is a core with that job, as it was there, and all machines.
func TestSnapshotOfOnlyOneJob(t *testing.T) {
	w := newWorld(t, NoLimits(), 2, 2)
	w.arrive(tasks(2))
	j := w.arrive(tasks(3))
	w.launch(0, 0)
	a := w.launch(2, 0)
	w.launch(3, 1)
	w.at(5, done(a))
	one := w.Snapshot().Only(j)
	var err error
	w.seen = nil
	if w.Core, err = Restore(one, w, NoLimits()); err != nil {
		t.Fatal(err)
	}
	w.told("machine-joined 0, machine-joined 1, job-arrived 1, stage-ready 1, attempt-taken 3#0")
	if job := w.View().Job(j); job.Unfinished != 2 || job.Fruitful != 5 || job.Live != 1 || w.View().FreeSlots() != 3 {
		t.Errorf("%+v, %d free slots", job, w.View().FreeSlots())
	}
	if nobody := w.Snapshot().Only(99); len(nobody.Jobs) > 0 || len(nobody.Attempts) > 0 {
		t.Errorf("%+v", nobody)
	}
}

// A row whose generations are used up gets no more attempts, in this core and in one that goes on: an id that was given
// out means the same attempt for ever.
func TestGenerationsDoNotComeBack(t *testing.T) {
	w := newWorld(t, NoLimits(), 1)
	w.arrive(tasks(20))
	w.launch(0, 0)
	s := w.Snapshot()
	s.Rows[0] = math.MaxUint32 - 3
	s.Attempts[0].ID = attemptID(0, s.Rows[0])
	var err error
	if w.Core, err = Restore(s, w, NoLimits()); err != nil {
		t.Fatal(err)
	}
	seen := map[AttemptID]bool{}
	runs := s.Attempts[0].ID
	for i := range TaskID(10) {
		if seen[runs] || runs.Generation() == 0 {
			t.Fatalf("attempt %x is there a second time", runs)
		}
		seen[runs] = true
		w.at(w.View().Now()+1, done(runs))
		for old := range seen {
			if w.View().Rows().Alive(old) {
				t.Errorf("attempt %x has ended and lives", old)
			}
		}
		if w.Core, err = restored(w.Core, w); err != nil {
			t.Fatal(err)
		}
		runs = w.launch(i+1, 0)
		w.at(w.View().Now(), done(s.Attempts[0].ID)) // late, and of nobody
		if !w.View().Rows().Alive(runs) || w.View().Job(0).Live != 1 {
			t.Fatalf("attempt %x was ended by a fact about another", runs)
		}
	}
	if one := w.Snapshot(); len(one.Rows) != 2 || one.Rows[0] != math.MaxUint32 || one.Attempts[0].ID.Row() != 1 {
		t.Errorf("%+v", one)
	}
	if none := w.Snapshot().Only(99); len(none.Spare) != 1 || none.Spare[0] != 1 || none.Rows[1] != runs.Generation()+1 {
		t.Errorf("%+v", none)
	}
}

// What is not in order is refused, and no input makes the core panic.
func TestRestoreRefusesWhatContradictsItself(t *testing.T) {
	for _, c := range []struct {
		name  string
		wreck func(*Snapshot)
		want  string // "" for nothing wrong
	}{
		{"nothing", func(*Snapshot) {}, ""},
		{"no speed", func(s *Snapshot) { s.Pace = 0 }, "pace 0"},
		{"a job twice", func(s *Snapshot) { s.Jobs = append(s.Jobs, s.Jobs[0]) }, "ids of the one before it"},
		{"a job from the future", func(s *Snapshot) { s.NextTask = 1 }, "ids beyond"},
		{"a job of no stages", func(s *Snapshot) { s.Jobs[0].Spec.Stages = nil }, "at least one"},
		{"a stage too many", func(s *Snapshot) { s.Jobs[0].Stages = append(s.Jobs[0].Stages, SavedStage{}) }, "3 stages of 2"},
		{"a task too many", func(s *Snapshot) { s.Jobs[0].Tasks = []SavedTask{{Index: 99}} }, "task 99"},
		{"tasks too many", func(s *Snapshot) { s.Jobs[0].Tasks = []SavedTask{{More: math.MaxUint32}} }, "task 0"},
		{"a task twice", func(s *Snapshot) { s.Jobs[0].Tasks = []SavedTask{{Index: 0, More: 1}, {Index: 1}} }, "task 1"},
		{"a task in two states", func(s *Snapshot) { s.Jobs[0].Tasks[0].State = TaskRunning }, "state 2"},
		{"a row twice", func(s *Snapshot) { s.Rows, s.Spare = append(s.Rows, 1), append(s.Spare, 0) }, "there twice"},
		{"a row too many", func(s *Snapshot) { s.Rows = append(s.Rows, 1) }, "rows of attempts"},
		{"an attempt of nothing", func(s *Snapshot) { s.Attempts[0].Task = 50 }, "of no active job"},
		{"an attempt nowhere", func(s *Snapshot) { s.Attempts[0].Machine = 9 }, "machine 9"},
		{"an attempt of tomorrow", func(s *Snapshot) { s.Attempts[0].Started = 99 }, "started at"},
		{"an attempt of a task that is done", func(s *Snapshot) { s.Attempts[0].Task = 0 }, "task 0"},
		{"a machine without slots", func(s *Snapshot) { s.Machines[0].Slots = 0 }, "slots"},
		{"a stage that opened early", func(s *Snapshot) { s.Jobs[0].Stages[0].State = StageClosed }, "task 1 is in state 0"},
		{"a stage that closed early", func(s *Snapshot) {
			s.Attempts, s.Rows, s.Spare = nil, nil, nil
			s.Jobs[0].Stages[0].State = StageClosed
		}, "nothing that runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, NoLimits(), 2)
			w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 3}, {Tasks: 1}}, Edges: []Edge{{From: 0, To: 1}}})
			a := w.launch(0, 0)
			w.launch(1, 0)
			w.at(5, done(a))
			s := w.Snapshot()
			c.wreck(s)
			_, err := Restore(s, w, NoLimits())
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
