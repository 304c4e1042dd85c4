package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// fakeShop runs no processes. A submission's Nice is the number of its tasks, its Dir what they do: "" ends well at
// once, "wait" when the test says go, "fail" never well. Its Joblog makes Prepare fail.
type fakeShop struct {
	reports chan live.Report
	looks   atomic.Int32 // calls of Standing

	mu       sync.Mutex
	gone     map[sched.AttemptID]bool // were killed
	results  map[string]int           // commits by job and task
	finished map[string]int
	gates    map[string]chan struct{} // by job
	trouble  error                    // of Finish
	full     error                    // of Publish
}

func newFakeShop() *fakeShop {
	return &fakeShop{
		reports: make(chan live.Report, 1000), gone: map[sched.AttemptID]bool{}, results: map[string]int{}, finished: map[string]int{}, gates: map[string]chan struct{}{},
	}
}

func (f *fakeShop) Prepare(_ context.Context, sub *run.Submission) (*Ready, error) {
	if sub.Joblog != "" {
		return nil, wrong(Mistake{"joblog", "expected nothing"}, Mistake{"nice", "just so"})
	}
	return &Ready{
		Job: &trace.JournalJob{
			Name: sub.Name, Run: NewKey(), Spec: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: max(1, sub.Nice)}}, Priority: sub.Priority},
			Stages: []string{"tasks"}, Command: []byte(`"` + sub.Dir + `"`), Work: []byte(`{}`), Output: sub.Output,
		},
		After: sub.After, Drop: func() {},
	}, nil
}

// committed returns how often each task was committed.
func (f *fakeShop) committed() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.results)
}

// fails sets what goes wrong from now on.
func (f *fakeShop) fails(full, trouble error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full, f.trouble = full, trouble
}

func (f *fakeShop) gate(name string) chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gates[name] == nil {
		f.gates[name] = make(chan struct{})
	}
	return f.gates[name]
}

func (f *fakeShop) Open(j *live.Job) (live.Executor, error) {
	return &fakeExecutor{f, j.JournalJob}, nil
}
func (f *fakeShop) Ended(*live.Job, *live.Record, live.Report) string {
	return ""
}
func (f *fakeShop) Standing(_ *sched.View, j *live.Job) *run.Standing {
	f.looks.Add(1)
	return &run.Standing{State: j.State()}
}
func (f *fakeShop) Finish(_ context.Context, o *live.Over) (*Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.trouble != nil {
		return nil, f.trouble
	}
	f.finished[o.Job.Run]++
	state, why := o.Summary.State, ""
	switch {
	case o.Failure != nil:
		state, why = "failed", o.Failure.Error()
	case state == "failed":
		why = "task 0 failed"
	}
	return &Outcome{State: State(state), Why: why, Result: []byte(`{"state":"` + state + `"}`)}, nil
}
func (f *fakeShop) Reports() <-chan live.Report { return f.reports }
func (f *fakeShop) Close() error                { return nil }

type fakeExecutor struct {
	f *fakeShop
	j *trace.JournalJob
}

func (x *fakeExecutor) Start(a live.Attempt) {
	go func() {
		rep := live.Report{Attempt: a.ID, Kind: sched.AttemptDone, Output: []byte("x")}
		switch string(x.j.Command) {
		case `"wait"`:
			<-x.f.gate(x.j.Name)
		case `"fail"`:
			rep = live.Report{Attempt: a.ID, Kind: sched.AttemptFailed, Note: "as told", Exit: 3}
		}
		x.f.mu.Lock()
		gone := x.f.gone[a.ID]
		x.f.mu.Unlock()
		if !gone {
			rep.At = time.Now()
			x.f.reports <- rep
		}
	}()
}

func (x *fakeExecutor) Kill(id sched.AttemptID) {
	x.f.mu.Lock()
	defer x.f.mu.Unlock()
	x.f.gone[id] = true
}

func (x *fakeExecutor) Commit(a live.Attempt, _ []byte) error {
	x.f.mu.Lock()
	defer x.f.mu.Unlock()
	x.f.results[fmt.Sprintf("%s/%d", x.j.Run, a.Index)]++
	return nil
}
func (x *fakeExecutor) Clean() error                { return nil }
func (x *fakeExecutor) Reports() <-chan live.Report { return x.f.reports }
func (x *fakeExecutor) Publish() error {
	x.f.mu.Lock()
	defer x.f.mu.Unlock()
	return x.f.full
}
func (x *fakeExecutor) Close() error { return nil }

// rig is a server at work, and a client of it.
type rig struct {
	*Client
	t    testing.TB
	cfg  Config
	shop *fakeShop
	s    *Server
	stop func() error // idempotent
	end  func() error // waits for the server to end by itself
}

func newRig(t testing.TB, change ...func(*Config)) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, shop: newFakeShop(), cfg: Config{
		Dir: filepath.Join(dir, "d"), Socket: filepath.Join(dir, "s"), Policy: "fifo", Limits: sched.DefaultLimits(),
		Classes: []string{""}, Machines: []trace.JournalMachine{{Name: "local", Slots: 2}}, Keep: 1000, KeepFor: time.Hour, Version: "test", Log: io.Discard,
	}}
	for _, f := range change {
		f(&r.cfg)
	}
	r.start()
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) start() {
	r.t.Helper()
	var err error
	if r.s, err = newServer(r.cfg, func(*Server) (Workshop, error) { return r.shop, nil }); err != nil {
		r.t.Fatal(err)
	}
	if r.Client, err = NewClient(r.cfg.Socket); err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func(s *Server) { done <- s.Run(ctx) }(r.s)
	r.end = sync.OnceValue(func() error { return <-done })
	r.stop = func() error {
		cancel()
		return r.end()
	}
}

func (r *rig) submit(sub *run.Submission) *Job {
	r.t.Helper()
	j, err := r.Submit(r.t.Context(), NewKey(), sub)
	if err != nil {
		r.t.Fatal(err)
	}
	return j
}

func (r *rig) wait(ref string) *Job {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	j, err := r.Wait(ctx, ref)
	if err != nil {
		r.t.Fatalf("waiting for %s: %v", ref, err)
	}
	return j
}

// until waits for a job to be in a state.
func (r *rig) until(ref string, want State) *Job {
	r.t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		j, err := r.Job(r.t.Context(), ref, 0)
		if err != nil {
			r.t.Fatal(err)
		}
		if j.State == want {
			return j
		}
		if time.Since(began) > 20*time.Second {
			r.t.Fatalf("job %s is %s, not %s: %+v", ref, j.State, want, j)
		}
	}
}

// TestTheEndIsToldLast listens to what is told of jobs: nothing comes after the end of one.
func TestTheEndIsToldLast(t *testing.T) {
	r := newRig(t)
	l, _ := r.s.news.listen()
	defer r.s.news.leave(l)
	const jobs = 50
	for range jobs {
		r.submit(&run.Submission{Name: "a", Nice: 2})
	}
	r.wait(strconv.Itoa(jobs - 1))
	last := map[int64]State{}
	for over := 0; over < jobs; {
		e := <-l.events
		if e.Kind != "job" {
			continue
		}
		if last[e.Job].Over() {
			t.Fatalf("job %d is %s after it was %s", e.Job, e.State, last[e.Job])
		}
		if last[e.Job] = e.State; e.State.Over() {
			over++
		}
	}
	for len(l.events) > 0 {
		if e := <-l.events; e.Kind == "job" {
			t.Errorf("job %d is %s after all were over", e.Job, e.State)
		}
	}
}

func TestJobsFromSubmissionToEnd(t *testing.T) {
	r := newRig(t)
	j := r.submit(&run.Submission{Name: "a", Nice: 5, Output: "/out/a", Priority: 3})
	if j.Schema != JobSchema || j.ID != 0 || j.Name != "a" || j.Tasks != 5 || j.Output != "/out/a" || j.Priority != 3 || j.Submitted.IsZero() {
		t.Errorf("submitted: %+v", j)
	}
	j = r.wait("a")
	if j.State != Succeeded || j.Done != 5 || j.Attempts != 5 || j.Started == nil || j.Ended == nil || j.Ended.Before(*j.Started) || j.Busy != 0 {
		t.Errorf("over: %+v", j)
	}
	r.submit(&run.Submission{Name: "b", Dir: "fail"})
	if j = r.wait("b"); j.State != Failed || j.Broken != 1 || j.Why != "task 0 failed" {
		t.Errorf("a job that fails: %+v", j)
	}
	r.submit(&run.Submission{Name: "a", Dir: "wait", Nice: 3})
	r.until("a", Running)
	if j, err := r.Job(t.Context(), "0", 0); err != nil || j.State != Succeeded {
		t.Errorf("an id is exact: %+v %v", j, err)
	}
	all, err := r.Jobs(t.Context(), Filter{})
	if err != nil || len(all.Jobs) != 3 || all.Jobs[0].ID != 2 || all.Jobs[2].ID != 0 {
		t.Fatalf("all jobs: %+v %v", all, err)
	}
	for _, c := range []struct {
		Filter
		want []int64
	}{
		{Filter{States: []State{Succeeded, Failed}}, []int64{1, 0}}, {Filter{Name: "a"}, []int64{2, 0}},
		{Filter{Limit: 1}, []int64{2}}, {Filter{Before: 1}, []int64{0}}, {Filter{Name: "none"}, nil},
	} {
		all, err := r.Jobs(t.Context(), c.Filter)
		var ids []int64
		for _, j := range all.Jobs {
			ids = append(ids, j.ID)
		}
		if err != nil || !slices.Equal(ids, c.want) {
			t.Errorf("%+v: %v, not %v (%v)", c.Filter, ids, c.want, err)
		}
	}
	tasks, err := r.Tasks(t.Context(), "2")
	if err != nil || len(tasks.Tasks) != 3 || tasks.Tasks[0].State != "running" || tasks.Tasks[2].State != "waiting" || tasks.Tasks[2].Task != 2 {
		t.Errorf("tasks: %+v %v", tasks, err)
	}
	a, err := r.About(t.Context())
	if err != nil || a.Busy != 2 || a.Slots[""] != 2 || a.Policy != "fifo" || a.Jobs[Succeeded] != 1 || a.Jobs[Running] != 1 {
		t.Errorf("the server: %+v %v", a, err)
	}
	close(r.shop.gate("a"))
	if j := r.wait("2"); j.State != Succeeded {
		t.Errorf("%+v", j)
	}
}

// A job of many tasks is listed in pages.
func TestTasksInPages(t *testing.T) {
	r := newRig(t)
	r.submit(&run.Submission{Name: "a", Dir: "wait", Nice: 2*mostListed + 7})
	tasks, err := r.Tasks(t.Context(), "a")
	if err != nil || len(tasks.Tasks) != 2*mostListed+7 {
		t.Fatalf("%d tasks, %v", len(tasks.Tasks), err)
	}
	for i, task := range tasks.Tasks {
		if task.Task != i {
			t.Fatalf("task %d is listed as number %d", task.Task, i)
		}
	}
	close(r.shop.gate("a"))
}

func TestOrders(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	r.submit(&run.Submission{Name: "a", Dir: "wait", Nice: 4})
	r.submit(&run.Submission{Name: "b", Dir: "wait"})
	r.until("a", Running)
	if j, err := r.Pause(ctx, "b"); err != nil || j.State != Paused {
		t.Errorf("paused: %+v %v", j, err)
	}
	ten, weight, soon := 10, 2.5, "1h"
	j, err := r.Change(ctx, "b", &Change{Priority: &ten, Weight: &weight, Deadline: &soon})
	if err != nil || j.Priority != 10 || j.Weight != 2.5 || j.Deadline == nil || time.Until(*j.Deadline) > time.Hour || time.Until(*j.Deadline) < 59*time.Minute {
		t.Errorf("changed: %+v %v", j, err)
	}
	none := "none"
	if j, err := r.Change(ctx, "b", &Change{Deadline: &none}); err != nil || j.Deadline != nil || j.Priority != 10 {
		t.Errorf("without deadline: %+v %v", j, err)
	}
	close(r.shop.gate("b"))
	close(r.shop.gate("a"))
	r.wait("a")
	if j, _ := r.Job(ctx, "b", 0); j.State != Paused {
		t.Errorf("a paused job has become %+v", j)
	}
	if _, err := r.Resume(ctx, "b"); err != nil {
		t.Error(err)
	}
	if j := r.wait("b"); j.State != Succeeded {
		t.Errorf("resumed: %+v", j)
	}
	r.submit(&run.Submission{Name: "c", Dir: "wait"})
	if _, err := r.Cancel(ctx, "c"); err != nil {
		t.Error(err)
	}
	if j := r.wait("c"); j.State != Cancelled {
		t.Errorf("cancelled: %+v", j)
	}
	close(r.shop.gate("c"))
	var p *Problem
	if _, err := r.Cancel(ctx, "c"); !errors.As(err, &p) || p.Status != http.StatusConflict {
		t.Errorf("cancelled once more: %v", err)
	}
	if _, err := r.Pause(ctx, "nobody"); !errors.As(err, &p) || p.Status != http.StatusNotFound {
		t.Errorf("a job that there is not: %v", err)
	}
	huge, bad := 1<<40, -1.0
	wrongly := "yesterday"
	if _, err := r.Change(ctx, "c", &Change{Priority: &huge, Weight: &bad, Deadline: &wrongly}); !errors.As(err, &p) || len(p.Mistakes) != 3 {
		t.Errorf("three mistakes: %v", err)
	}
	if spec, err := r.SetPolicy(ctx, "srpt"); err != nil || spec != "srpt" {
		t.Errorf("another policy: %s %v", spec, err)
	}
	if spec, err := r.SetPolicy(ctx, "fair+srpt"); err != nil || spec != "fair" || len(r.s.contest().Members) != 2 {
		t.Errorf("a portfolio: %s %v", spec, err)
	}
	if _, err := r.SetPolicy(ctx, "fair+maxsrpt"); !errors.As(err, &p) || len(p.Mistakes) != 1 {
		t.Errorf("a portfolio with a policy that needs classes: %v", err)
	}
	if _, err := r.SetPolicy(ctx, "maxsrpt"); !errors.As(err, &p) || len(p.Mistakes) != 1 {
		t.Errorf("a policy that needs classes: %v", err)
	}
}

// A job starts when all that it waits for have succeeded. If one does not, it is cancelled, and so on.
func TestAfter(t *testing.T) {
	r := newRig(t)
	r.submit(&run.Submission{Name: "a", Dir: "wait"})
	r.submit(&run.Submission{Name: "b", Dir: "wait"})
	c := r.submit(&run.Submission{Name: "c", After: []string{"a", "1"}})
	if c.State != Queued || !slices.Equal(c.After, []int64{0, 1}) || c.Why != "waits for other jobs" {
		t.Errorf("before: %+v", c)
	}
	close(r.shop.gate("a"))
	r.wait("a")
	time.Sleep(20 * time.Millisecond)
	if j, _ := r.Job(t.Context(), "c", 0); j.State != Queued {
		t.Errorf("after one of two: %+v", j)
	}
	close(r.shop.gate("b"))
	if j := r.wait("c"); j.State != Succeeded {
		t.Errorf("after both: %+v", j)
	}
	r.submit(&run.Submission{Name: "d", Dir: "wait"})
	r.submit(&run.Submission{Name: "e", After: []string{"d"}})
	r.submit(&run.Submission{Name: "f", After: []string{"e", "a"}})
	if _, err := r.Cancel(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if j := r.wait("f"); j.State != Cancelled || j.Why != "job 4 (e), which it waits for, has been cancelled" {
		t.Errorf("behind a job that was cancelled: %+v", j)
	}
	var p *Problem
	_, err := r.Submit(t.Context(), NewKey(), &run.Submission{Name: "g", After: []string{"d", "nobody", "a"}})
	if !errors.As(err, &p) || len(p.Mistakes) != 2 || p.Mistakes[0].Field != "after[0]" || p.Mistakes[1].Field != "after[1]" {
		t.Errorf("after a job that was cancelled: %v", err)
	}
}

// Fifty clients at once: each submission is one job, and those with the same key are the same.
func TestManyClients(t *testing.T) {
	r := newRig(t)
	shared := NewKey()
	var mu sync.Mutex
	ids, same := map[int64]bool{}, map[int64]bool{}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			client, err := NewClient(r.cfg.Socket)
			if err != nil {
				t.Error(err)
				return
			}
			for k := range 4 {
				j, err := client.Submit(t.Context(), NewKey(), &run.Submission{Name: fmt.Sprintf("%d.%d", i, k)})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				ids[j.ID] = true
				mu.Unlock()
			}
			j, err := client.Submit(t.Context(), shared, &run.Submission{Name: "shared"})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			same[j.ID] = true
			mu.Unlock()
		})
	}
	all.Wait()
	if len(ids) != 200 || len(same) != 1 {
		t.Errorf("%d jobs of 200, and %d of one key", len(ids), len(same))
	}
	for id := range ids {
		if j := r.wait(strconv.FormatInt(id, 10)); j.State != Succeeded {
			t.Errorf("%+v", j)
		}
	}
	for key, n := range r.shop.committed() {
		if n != 1 {
			t.Errorf("%s has %d results", key, n)
		}
	}
}

// A server that is stopped in the middle goes on: what was accepted is there, what waits for others waits, keys and
// ids hold.
func TestRestart(t *testing.T) {
	r := newRig(t)
	key := NewKey()
	first, err := r.Submit(t.Context(), key, &run.Submission{Name: "a", Dir: "wait", Nice: 3})
	if err != nil {
		t.Fatal(err)
	}
	r.submit(&run.Submission{Name: "over"})
	r.submit(&run.Submission{Name: "b", After: []string{"a"}})
	r.submit(&run.Submission{Name: "c", Dir: "wait"})
	if _, err := r.Pause(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	r.until("a", Running)
	waited := make(chan *Job)
	go func(c *Client) {
		j, err := c.Wait(context.Background(), "a")
		if err != nil {
			t.Error(err)
		}
		waited <- j
	}(r.Client)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.About(t.Context()); !errors.As(err, new(*NoServer)) {
		t.Errorf("a server that has ended answers %v", err)
	}
	r.start()
	again, err := r.Submit(t.Context(), key, &run.Submission{Name: "a"})
	if err != nil || again.ID != first.ID {
		t.Errorf("the same submission is %+v, not %+v (%v)", again, first, err)
	}
	if j, err := r.Job(t.Context(), "c", 0); err != nil || j.State != Paused {
		t.Errorf("the paused job: %+v %v", j, err)
	}
	if j, err := r.Job(t.Context(), "b", 0); err != nil || j.State != Queued || j.Why == "" {
		t.Errorf("the job that waits: %+v %v", j, err)
	}
	close(r.shop.gate("a"))
	close(r.shop.gate("c"))
	if _, err := r.Resume(t.Context(), "c"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"a", "b", "c", "over"} {
		if j := r.wait(name); j.State != Succeeded {
			t.Errorf("%s: %+v", name, j)
		}
	}
	if j := <-waited; j == nil || j.State != Succeeded {
		t.Errorf("who waited heard %+v", j)
	}
	if j := r.submit(&run.Submission{Name: "new"}); j.ID != 4 {
		t.Errorf("the next id is %d, not 4", j.ID)
	}
	for name, n := range r.shop.committed() {
		if n < 1 {
			t.Errorf("%s has %d results", name, n)
		}
	}
}

// A job that is over for everybody but the engine keeps no other from being forgotten.
func TestOverBeforeTheEngineKnows(t *testing.T) {
	r := newRig(t)
	first := r.submit(&run.Submission{Name: "first", Dir: "wait"})
	r.until("first", Running)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	a, _, err := openArchive(filepath.Join(r.cfg.Dir, "ended.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	first.State, first.Ended = Cancelled, &now
	if err := errors.Join(a.add(&record{Job: *first}), a.file.Close()); err != nil {
		t.Fatal(err)
	}
	r.start()
	second := r.submit(&run.Submission{Name: "second"})
	r.wait("second")
	for began, known := time.Now(), true; known; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the engine has not forgotten a job that is over")
		}
		if err := r.s.engine.Look(t.Context(), func(v live.Sight) { known = v.Job(sched.JobID(second.ID)) != nil }); err != nil {
			t.Fatal(err)
		}
	}
	close(r.shop.gate("first"))
}

// What cannot be brought in is tried again, and says why meanwhile.
func TestTrouble(t *testing.T) {
	r := newRig(t)
	r.shop.fails(nil, errors.New("no space left on device"))
	r.submit(&run.Submission{Name: "a"})
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		j, err := r.Job(t.Context(), "a", 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(j.Why, "no space left") && j.State == Running {
			break
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("%+v", j)
		}
	}
	if err := r.stop(); err != nil {
		t.Log("stopped:", err)
	}
	r.shop.fails(nil, nil)
	r.start()
	if j := r.wait("a"); j.State != Succeeded {
		t.Errorf("when there is room: %+v", j)
	}
}

// A job whose results cannot be published waits for the disk, and can be cancelled. One whose folder is gone has failed.
func TestUnpublished(t *testing.T) {
	for _, x := range []struct {
		name          string
		full, trouble error
		cancel        bool
		state         State
		why           string
	}{
		{"gone", &proc.Gone{Why: "out: the folder was removed"}, nil, false, Failed, "the folder was removed"},
		{"lost", fmt.Errorf("result 3: %w", fs.ErrNotExist), nil, false, Failed, "file does not exist"},
		{"full", syscall.ENOSPC, nil, true, Cancelled, "no space left"},
		{"unkept", nil, errors.New("cannot write the journal"), true, Succeeded, "cannot write the journal"},
		{"both", syscall.ENOSPC, errors.New("cannot write the journal"), true, Cancelled, "cannot write the journal"},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := newRig(t)
			r.shop.fails(x.full, x.trouble)
			j := r.submit(&run.Submission{Name: x.name})
			id := strconv.FormatInt(j.ID, 10)
			if x.cancel {
				for ; !strings.Contains(j.Why, "tried again every 10s"); time.Sleep(5 * time.Millisecond) {
					if j, _ = r.Job(t.Context(), id, 0); j == nil || j.State.Over() {
						t.Fatalf("%+v", j)
					}
				}
				if _, err := r.Cancel(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
			if j = r.wait(id); j.State != x.state || !strings.Contains(j.Why, x.why) {
				t.Errorf("%s: %s, want %s: %s", j.State, j.Why, x.state, x.why)
			}
			if err := r.stop(); err != nil {
				t.Error(err)
			}
			r.start()
			if j = r.wait(id); j.State != x.state {
				t.Errorf("%s after a restart, want %s", j.State, x.state)
			}
		})
	}
}

func TestDrain(t *testing.T) {
	r := newRig(t)
	r.submit(&run.Submission{Name: "a", Dir: "wait", Nice: 3})
	r.until("a", Running)
	if a, err := r.Drain(t.Context()); err != nil || !a.Draining {
		t.Fatalf("%+v %v", a, err)
	}
	var p *Problem
	if _, err := r.Submit(t.Context(), NewKey(), &run.Submission{}); !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable {
		t.Errorf("a job for a server that drains: %v", err)
	}
	close(r.shop.gate("a"))
	if err := r.end(); err != nil {
		t.Error(err)
	}
	r.start()
	if j := r.wait("a"); j.State != Succeeded || j.Attempts != 3 || j.Fruitless != 0 {
		t.Errorf("after a drain: %+v", j)
	}
}

// Who watches a job hears how it stands, its result, and the end.
func TestWatch(t *testing.T) {
	r := newRig(t)
	r.submit(&run.Submission{Name: "a", Dir: "wait"})
	var heard []string
	note := func(w *Watched) {
		switch {
		case w.Standing != nil:
			heard = append(heard, "standing")
			select {
			case <-r.shop.gate("a"):
			default:
				close(r.shop.gate("a"))
			}
		case w.Result != nil:
			heard = append(heard, strings.TrimSpace(string(w.Result)))
		case w.Over != nil:
			heard = append(heard, string(w.Over.State))
		}
	}
	for range 2 { // before its end and after it
		heard = nil
		j, err := r.Watch(t.Context(), "0", note)
		if err != nil || j.State != Succeeded || len(heard) < 2 || !slices.Equal(heard[len(heard)-2:], []string{`{"state":"succeeded"}`, "succeeded"}) {
			t.Errorf("heard %q: %+v %v", heard, j, err)
		}
	}
}

// Who watches jobs that wait asks nothing of the engine, and hears of it when something happens.
func TestWatchersOfQueuedJobs(t *testing.T) {
	r := newRig(t)
	r.submit(&run.Submission{Name: "busy", Dir: "wait", Nice: 2})
	r.until("busy", Running)
	r.submit(&run.Submission{Name: "queued", Dir: "wait"})
	const many = 20
	var heard, over atomic.Int32
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			_, err := r.Watch(t.Context(), "queued", func(w *Watched) {
				if w.Standing != nil {
					heard.Add(1)
				}
			})
			if err != nil {
				t.Error(err)
			}
			over.Add(1)
		})
	}
	for heard.Load() < many {
		time.Sleep(5 * time.Millisecond)
	}
	for looks, tries := int32(-1), 0; r.shop.looks.Load() != looks; tries++ { // each looks twice
		if tries == 50 {
			t.Fatal("nothing happens to the job, and they look at it all the time")
		}
		looks = r.shop.looks.Load()
		time.Sleep(2 * lookEvery)
	}
	close(r.shop.gate("queued"))
	close(r.shop.gate("busy"))
	all.Wait()
	if looks := r.shop.looks.Load(); looks > many*many {
		t.Errorf("%d looks for %d watchers", looks, many)
	}
}

// A server that is killed after a cancelled job gave its folder back leaves one that cannot be opened any more. Its job
// was cancelled all the same.
func TestCancelledTwice(t *testing.T) {
	given := &live.Over{State: sched.JobStopped, Summary: &live.Summary{State: "cancelled"}, Failure: errors.New("the folder was taken away")}
	for _, c := range []struct {
		over *live.Over
		said State
		want State
	}{
		{given, Cancelled, Cancelled}, {given, "", Cancelled}, {given, Failed, Failed},
		{&live.Over{State: sched.JobBroken, Summary: &live.Summary{State: "failed"}}, "", Failed},
		{&live.Over{State: sched.JobSucceeded, Summary: &live.Summary{State: "succeeded"}}, Succeeded, Succeeded},
	} {
		if got := overState(c.over, &Outcome{State: c.said}); got != c.want {
			t.Errorf("%+v of which the workshop says %q: %s, want %s", c.over, c.said, got, c.want)
		}
	}
}
