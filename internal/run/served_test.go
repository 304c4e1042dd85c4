package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/results"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// served is a server with a loop, and real processes: what a real one does, without its socket.
type served struct {
	*Server
	engine *live.Engine
	stop   context.CancelFunc
	ended  chan error

	deaf  chan struct{} // closed by the first Finish, which fails; nil: it does not
	wreck error         // of Open

	mu   sync.Mutex
	open map[sched.JobID]*Prepared
	over map[sched.JobID]*Result
}

// startServed starts one in a folder.
func startServed(t *testing.T, dir string, changes ...func(*served)) *served {
	t.Helper()
	s := &served{
		Server: aServer(t), ended: make(chan error, 1), open: map[sched.JobID]*Prepared{}, over: map[sched.JobID]*Result{},
	}
	for _, change := range changes {
		change(s)
	}
	var err error
	if s.Host, err = proc.NewHost(proc.HostConfig{Name: filepath.Base(dir)}); err != nil {
		t.Fatal(err)
	}
	s.Dir = dir
	s.engine, err = live.OpenEngine(live.Config{
		Folder: filepath.Join(dir, "journal"), Policy: s.Policy, Limits: s.Limits, Policies: policyOf, Machines: s.Machines, Reports: s.Host.Reports,
		Open: func(j *live.Job) (live.Executor, error) {
			if s.wreck != nil {
				return nil, s.wreck
			}
			p, err := s.Reopen(j.JournalJob)
			if err != nil {
				return nil, err
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.open[j.ID] = p
			return p.Open()
		},
		Finish: func(o *live.Over) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			p := s.open[o.Job.ID]
			if s.deaf != nil {
				p.letGo() // as the death of a process does
				close(s.deaf)
				return errors.New("not now")
			}
			if p == nil {
				var err error
				if p, err = s.Reopen(o.Job.JournalJob); err != nil {
					return err
				}
			}
			res, err := p.Finish(context.Background(), o)
			s.over[o.Job.ID] = res
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Started = s.engine.Started()
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() { s.ended <- s.engine.Loop(ctx) }()
	return s
}

// end stops the server.
func (s *served) end(t *testing.T) {
	t.Helper()
	s.stop()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	s.Host.Close()
}

// give submits a job.
func (s *served) give(t *testing.T, sub Submission) sched.JobID {
	t.Helper()
	id, err := s.engine.Submit(t.Context(), submit(t, s.Server, sub))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// wait returns what came of a job.
func (s *served) wait(t *testing.T, id sched.JobID) *Result {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		res := s.over[id]
		s.mu.Unlock()
		if res != nil {
			return res
		}
	}
	t.Fatalf("job %d does not end", id)
	return nil
}

// What a job of a server leaves in its folder is what a run leaves there: its results, and a journal with which a run goes
// on, with what is done, and from which its attempts are told.
func TestServedJobLeaves(t *testing.T) {
	dir := t.TempDir()
	s := startServed(t, filepath.Join(dir, "server"))
	defer s.end(t)
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	job := commands("echo {} $TAILCUT_SECRET")
	ok := s.give(t, Submission{Job: job, Output: good, Dir: dir, Env: []string{"TAILCUT_SECRET=of the client", "PATH=" + os.Getenv("PATH")}})
	broken := commands("test {} != 1 -o -e ready && echo {}")
	broken.Loss = nil
	failed := s.give(t, Submission{Job: broken, Output: bad, Dir: dir})

	if res := s.wait(t, ok); res.Summary.State != "succeeded" || res.Error != "" || res.Summary.Tasks != 3 {
		t.Errorf("%+v", res)
	}
	if got := slurp(t, filepath.Join(good, "part-00002")); got != "2 of the client\n" {
		t.Errorf("the third part is %q", got)
	}
	res := s.wait(t, failed)
	if res.Summary.State != "failed" || !strings.Contains(res.Error, "task 1 failed") || len(res.Failed) != 1 {
		t.Errorf("%+v", res)
	}
	r, err := results.Open(bad)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Tasks); n != 3 || r.Tasks[1].State != results.Failed {
		t.Errorf("%+v", r.Tasks)
	}
	reader, err := trace.OpenJournalReader(filepath.Join(bad, "_tailcut", "journal"))
	if err != nil {
		t.Fatal(err)
	}
	lives, err := live.Lives(reader, policyOf, nil)
	if err != nil || len(lives) != res.Summary.Attempts || len(lives) == 0 {
		t.Errorf("%d attempts, %v; the summary counts %d", len(lives), err, res.Summary.Attempts)
	}
	for _, out := range []string{good, bad} {
		if _, err := os.Lstat(filepath.Join(out, "_tailcut", "server")); err == nil {
			t.Errorf("%s still belongs to the server", out)
		}
	}

	if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	again, err := do(t, t.Context(), Options{Job: broken, Output: bad, Dir: dir, History: NoHistory, Slots: 2, Log: &log})
	if err != nil || again.Summary.State != "succeeded" {
		t.Errorf("%+v, %v", again, err)
	}
	if !strings.Contains(log.String(), "retrying a failed run: ") {
		t.Errorf("the log says %q", log.String())
	}
	if got := slurp(t, filepath.Join(bad, "part-00001")); got != "1\n" {
		t.Errorf("the second part is %q", got)
	}
	finished, err := do(t, t.Context(), Options{Job: job, Output: good, Dir: dir, History: NoHistory, Log: &log})
	if err != nil || finished.Summary.Attempts != 3 || !strings.Contains(log.String(), "holds the finished result of this command") {
		t.Errorf("%+v, %v, %q", finished, err, log.String())
	}
}

// A server goes on with what a folder holds, of its own jobs and of runs: what is done is not run again, and in the end
// the journal has the attempts of all.
func TestServerGoesOn(t *testing.T) {
	dir := t.TempDir()
	s := startServed(t, filepath.Join(dir, "server"))
	defer s.end(t)
	out := filepath.Join(dir, "out")
	job := commands("echo ran {} >> log; test {} != 1 -o -e ready && echo {}")
	job.Loss = &jobfile.Loss{All: true}
	sub := Submission{Job: job, Output: out, Dir: dir}
	first := s.wait(t, s.give(t, sub))
	second := s.wait(t, s.give(t, sub))
	if first.Summary.State != "failed" || second.Summary.State != "failed" || second.Summary.Recovered == 0 {
		t.Errorf("%+v, %+v", first.Summary, second.Summary)
	}
	if _, err := do(t, t.Context(), Options{Job: job, Output: out, Dir: dir, History: NoHistory, Slots: 2}); err == nil {
		t.Error("the run succeeds")
	}
	if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	last := s.wait(t, s.give(t, sub))
	if last.Summary.State != "succeeded" || last.Summary.Recovered != 2 || last.Summary.Attempts != 1 {
		t.Errorf("%+v", last.Summary)
	}
	for i, want := range []string{"0\n", "1\n", "2\n"} {
		if got := slurp(t, filepath.Join(out, fmt.Sprintf("part-%05d", i))); got != want {
			t.Errorf("part %d is %q", i, got)
		}
	}
	if log := slurp(t, filepath.Join(dir, "log")); strings.Count(log, "ran 0") != 1 || strings.Count(log, "ran 2") != 1 || strings.Count(log, "ran 1") != 4 {
		t.Errorf("what ran: %q", log)
	}
	reader, err := trace.OpenJournalReader(filepath.Join(out, "_tailcut", "journal"))
	if err != nil {
		t.Fatal(err)
	}
	lives, err := live.Lives(reader, policyOf, nil)
	if err != nil || len(lives) != 6 {
		t.Errorf("%d attempts, %v", len(lives), err)
	}
	next := map[int]int{}
	for _, a := range lives {
		if a.Number != next[a.Index] {
			t.Errorf("task %d has an attempt %d behind %d others", a.Index, a.Number, next[a.Index])
		}
		next[a.Index]++
	}
	if _, err := s.Prepare(t.Context(), &sub); err == nil || !strings.Contains(err.Error(), "holds a finished result") {
		t.Error(err)
	}
	other := sub
	other.Job = commands("true")
	if _, err := s.Prepare(t.Context(), &other); err == nil {
		t.Error("another job takes the folder")
	}
}

// A job fails, its server dies before that is told, and the next one cannot open the folder: what only the journal of
// the server had is not lost.
func TestLeftByTheNext(t *testing.T) {
	dir := t.TempDir()
	deaf := make(chan struct{})
	s := startServed(t, filepath.Join(dir, "server"), func(s *served) { s.deaf = deaf })
	out := filepath.Join(dir, "out")
	job := commands("echo {} $$; test {} != 1 -o -e ready")
	job.Loss = &jobfile.Loss{All: true}
	id := s.give(t, Submission{Job: job, Output: out, Dir: dir})
	<-deaf
	s.end(t)
	s = startServed(t, filepath.Join(dir, "server"), func(s *served) { s.wreck = errors.New("no descriptors are left") })
	if res := s.wait(t, id); res.Summary.State != "failed" {
		t.Errorf("%+v", res.Summary)
	}
	s.end(t)
	r, err := results.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	var before strings.Builder
	if err := r.Print(&before, []*results.Result{&r.Tasks[0]}, nil); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	again, err := do(t, t.Context(), Options{Job: job, Output: out, Dir: dir, History: NoHistory, Slots: 2})
	if err != nil || again.Summary.Recovered != 2 {
		t.Fatalf("%+v, %v", again, err)
	}
	if got := slurp(t, filepath.Join(out, "part-00000")); got != before.String() || !strings.HasPrefix(got, "0 ") {
		t.Errorf("the first part is %q, and was %q", got, before.String())
	}
}
