package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

func newTestRegister(t *testing.T, path string, keep int) *register {
	t.Helper()
	a, over, err := openArchive(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.file.Close() })
	return newRegister(a, over, keep, time.Hour)
}

// endJob ends a job of the register in a state.
func endJob(t *testing.T, r *register, id int64, name string, state State) []int64 {
	t.Helper()
	now := time.Now()
	readers, err := r.end(&Job{ID: id, Name: name, State: state, Ended: &now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return readers
}

// Jobs that are over are known after a restart, by id, name and key; a line that was being written is not.
func TestArchiveIsDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ended.jsonl")
	r := newTestRegister(t, path, 100)
	for id, name := range []string{"a", "b", "a"} {
		r.add(int64(id), &trace.JournalJob{Name: name, Key: "key" + name})
		endJob(t, r, int64(id), name, Succeeded)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"id":3,"name":"torn`); err != nil {
		t.Fatal(err)
	}
	f.Close()

	r = newTestRegister(t, path, 100)
	if len(r.over) != 3 {
		t.Fatalf("%d jobs, not 3", len(r.over))
	}
	for ref, want := range map[string]int64{"a": 2, "b": 1, "0": 0} {
		if _, rec, err := r.find(ref); err != nil || rec.ID != want {
			t.Errorf("%s is %v (%v), not %d", ref, rec, err, want)
		}
	}
	if id, known := r.begin("keyb"); !known || id != 1 {
		t.Errorf("the key of b is of %d, %v", id, known)
	}
	r.add(3, &trace.JournalJob{Name: "c"})
	endJob(t, r, 3, "c", Failed)
	if r = newTestRegister(t, path, 100); len(r.over) != 4 || r.over[3].State != Failed {
		t.Errorf("behind a torn line: %+v", r.over)
	}
	if err := os.WriteFile(path, []byte("{}\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openArchive(path); err == nil || !strings.Contains(err.Error(), "ended.jsonl:2: damaged") {
		t.Errorf("a damaged file: %v", err)
	}
}

// What jobs that come are drawn from is the same after a restart: jobs that are over are in the archive, the others in the
// journal.
func TestSubmissionsOutliveServers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ended.jsonl")
	r := newTestRegister(t, path, 100)
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	job := func(id int) *trace.JournalJob {
		return &trace.JournalJob{
			ID: sched.JobID(id), Name: fmt.Sprint("j", id), Submitted: at.Add(time.Duration(id) * time.Second), Stages: []string{"map", "reduce"},
			Spec: sched.JobSpec{
				Deadline: sched.Second, Stages: []sched.StageSpec{{Tasks: 10 + id, Mean: sched.Second, Waits: true, Inputs: make([][]sched.Source, 10+id)}, {Tasks: 1}},
				Edges: []sched.Edge{{From: 0, To: 1, Bytes: []int64{7}}},
			},
		}
	}
	for id := range 6 {
		e := r.add(int64(id), job(id))
		if id%2 == 0 {
			now := time.Now()
			if _, err := r.end(&Job{ID: e.id, Name: e.job.Name, State: Succeeded, Submitted: e.job.Submitted, Ended: &now}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := r.latest(4, 6)
	r = newTestRegister(t, path, 100)
	for id := 1; id < 6; id += 2 {
		r.add(int64(id), job(id))
	}
	if d := cmp.Diff(before, r.latest(4, 6), cmp.AllowUnexported(submission{})); d != "" {
		t.Errorf("after a restart (-before +after):\n%s", d)
	}
	if x := before[0]; len(before) != 4 || x.id != 2 || x.name != "j2" || !x.at.Equal(at.Add(2*time.Second)) || x.Spec.Stages[0].Tasks != 12 || x.Spec.Stages[0].Inputs != nil || x.Spec.Edges[0].Bytes != nil {
		t.Errorf("%d submissions, the first %+v", len(before), x)
	}
}

// The list stays as short as it should, in memory and on the disk, but keeps what others wait for.
func TestRegisterForgets(t *testing.T) {
	t.Parallel() // it waits for the disk
	path := filepath.Join(t.TempDir(), "ended.jsonl")
	r := newTestRegister(t, path, 50)
	r.add(0, &trace.JournalJob{Name: "first"})
	r.add(1, &trace.JournalJob{Name: "long"})
	r.add(2, &trace.JournalJob{Name: "waits", After: []sched.JobID{0, 1}})
	if readers := endJob(t, r, 0, "first", Succeeded); len(readers) != 1 || readers[0] != 2 {
		t.Fatalf("%v wait for the first", readers)
	}
	for id := int64(3); id < 2000; id++ {
		r.add(id, &trace.JournalJob{Name: "x", Key: "k"})
		endJob(t, r, id, "x", Succeeded)
	}
	if len(r.over) > 80 || r.archive.lines > 160 || len(r.place) != len(r.over) || len(r.keys) != 1 || len(r.names) != 4 {
		t.Errorf("%d over, %d lines, %d places, %d keys, %d names", len(r.over), r.archive.lines, len(r.place), len(r.keys), len(r.names))
	}
	if ready, never := r.standing(r.live[2]); ready || never != "" {
		t.Errorf("the job that waits: %v %q", ready, never)
	}
	endJob(t, r, 1, "long", Cancelled)
	if _, never := r.standing(r.live[2]); !strings.Contains(never, "job 1 (long), which it waits for, has been cancelled") {
		t.Errorf("after a job that was cancelled: %q", never)
	}
	endJob(t, r, 2, "waits", Cancelled)
	if len(r.readers) != 0 || len(r.live) != 0 {
		t.Errorf("%v are waited for, %v are not over", r.readers, r.live)
	}
	again := newTestRegister(t, path, 50)
	if len(again.over) < 50 || len(again.over) > 80 || again.over[len(again.over)-1].Name != "waits" {
		t.Errorf("after a restart: %d jobs", len(again.over))
	}
}

// Two submissions with one key are one job.
func TestRegisterKeys(t *testing.T) {
	r := newTestRegister(t, filepath.Join(t.TempDir(), "ended.jsonl"), 50)
	if _, known := r.begin("k"); known {
		t.Fatal("the key is known from nowhere")
	}
	second := make(chan int64)
	go func() {
		id, known := r.begin("k")
		if !known {
			id = -1
		}
		second <- id
	}()
	select {
	case id := <-second:
		t.Fatalf("the second has %d before the first is done", id)
	case <-time.After(20 * time.Millisecond):
	}
	r.add(7, &trace.JournalJob{Name: "a", Key: "k"})
	r.done("k")
	if id := <-second; id != 7 {
		t.Errorf("the second has %d, not 7", id)
	}
	for range 2 { // without a key each is a job of its own
		if _, known := r.begin(""); known {
			t.Error("no key was known")
		}
		r.done("")
	}
}

// A job has its output folder from the moment when it is ready to its end, or until it is withdrawn.
func TestRegisterExpects(t *testing.T) {
	r := newTestRegister(t, filepath.Join(t.TempDir(), "ended"), 10)
	r.expect("a", true)
	r.expect("b", true)
	r.expect("b", false)
	if !r.alive("a") || r.alive("b") {
		t.Error("what is ready is not expected, or what was withdrawn is")
	}
	r.add(1, &trace.JournalJob{Name: "a", Run: "a"})
	if !r.alive("a") {
		t.Error("a job that was taken in is not alive")
	}
	if _, err := r.end(&Job{ID: 1, Name: "a"}, nil); err != nil {
		t.Fatal(err)
	}
	if r.alive("a") {
		t.Error("a job that is over is alive")
	}
}

// A server that is killed while it rewrites the file leaves a draft. The next one removes it.
func TestArchiveDraftsGo(t *testing.T) {
	dir := t.TempDir()
	draft := filepath.Join(dir, ".ended-123")
	if err := os.WriteFile(draft, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	newTestRegister(t, filepath.Join(dir, "ended.jsonl"), 10)
	if _, err := os.Stat(draft); !os.IsNotExist(err) {
		t.Errorf("the draft is still there: %v", err)
	}
}
