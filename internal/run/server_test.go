package run

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/inputs"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// aServer is a server without a loop: jobs are made ready and not run.
func aServer(t *testing.T) *Server {
	t.Helper()
	dir := t.TempDir()
	return &Server{
		Dir: dir, Place: filepath.Join(dir, "socket"), Started: time.Now(), Log: &strings.Builder{},
		Policy: "srpt", Limits: sched.DefaultLimits(), Machines: []trace.JournalMachine{{Name: "local", Slots: 2}},
	}
}

func pack(t *testing.T, values ...string) *inputs.Rows {
	t.Helper()
	var rows [][]string
	for _, v := range values {
		rows = append(rows, []string{v})
	}
	packed, err := inputs.Pack(rows)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func submit(t *testing.T, s *Server, sub Submission) *trace.JournalJob {
	t.Helper()
	p, err := s.Prepare(t.Context(), &sub)
	if err != nil {
		t.Fatal(err)
	}
	j, err := p.JournalJob()
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A job that a server has taken in keeps others out of its folder: those of the server, and a run, also when the server
// is gone. What the server has forgotten does not.
func TestServersFolder(t *testing.T) {
	s := aServer(t)
	out := filepath.Join(t.TempDir(), "out")
	sub := Submission{Job: commands("true"), Output: out}
	j := submit(t, s, sub)
	s.Alive = func(run string) bool { return run == j.Run }
	if _, err := s.Prepare(t.Context(), &sub); err == nil || !strings.Contains(err.Error(), "another job of the server writes there") {
		t.Error(err)
	}
	alone := Options{Job: commands("true"), Output: out, History: NoHistory}
	run := func(o Options) error {
		e, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Run(t.Context())
		return err
	}
	if err := run(alone); err == nil || !strings.Contains(err.Error(), "does not answer; start it and the job goes on (tailcut serve --dir "+s.Dir) {
		t.Error(err)
	}
	s.Alive = func(string) bool { return false }
	if p, err := s.Prepare(t.Context(), &sub); err != nil {
		t.Error(err)
	} else {
		p.Withdraw()
	}
	if _, err := os.Lstat(out); err == nil {
		t.Error("the folder of a job that was withdrawn is still there")
	}
	submit(t, s, sub)
	alone.Force = true
	if err := run(alone); err != nil {
		t.Error(err)
	}
}

// Of submissions at once that name one folder, one gets it, before the engine has heard of any.
func TestServersFolderAtOnce(t *testing.T) {
	s := aServer(t)
	var coming sync.Map
	s.Coming = func(run string, yes bool) { coming.Store(run, yes) }
	s.Alive = func(run string) bool { yes, _ := coming.Load(run); return yes == true }
	out := filepath.Join(t.TempDir(), "out")
	var mu sync.Mutex
	var got []*Prepared
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			p, err := s.Prepare(context.Background(), &Submission{Job: commands("true"), Output: out})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				got = append(got, p)
			} else if !strings.Contains(err.Error(), "another job of the server writes there") {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(got) != 1 {
		t.Fatalf("%d jobs have the folder, want 1", len(got))
	}
	got[0].Withdraw()
	submit(t, s, Submission{Job: commands("true"), Output: out})
}

// A submission that is withdrawn takes its folder along, while others take it: each of them gets it, or hears who has it,
// and two never have it.
func TestServersFolderWithdrawn(t *testing.T) {
	s := aServer(t)
	var coming sync.Map
	s.Coming = func(run string, yes bool) { coming.Store(run, yes) }
	s.Alive = func(run string) bool { yes, _ := coming.Load(run); return yes == true }
	out := filepath.Join(t.TempDir(), "out")
	var have atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				p, err := s.Prepare(context.Background(), &Submission{Job: commands("true"), Output: out})
				if err != nil {
					if !strings.Contains(err.Error(), "another job of the server writes there") {
						t.Error(err)
					}
					continue
				}
				if n := have.Add(1); n != 1 {
					t.Errorf("%d jobs have the folder", n)
				}
				if mine, err := p.mine(); !mine || err != nil {
					t.Errorf("the folder is not the job's: %v", err)
				}
				have.Add(-1)
				p.Withdraw()
			}
		})
	}
	all.Wait()
	if log := s.Log.(*strings.Builder).String(); log != "" {
		t.Error(log)
	}
	if !isMissing(out) {
		t.Error("the folder is still there")
	}
}

// A job that comes out of a journal is what went in: its folder, its values, its limits, its environment.
func TestReopen(t *testing.T) {
	s := aServer(t)
	job := commands("echo {}")
	job.Array.Stages[0].Inputs, job.Array.Stages[0].Command = pack(t, "a", "b", "c"), []string{"echo", "{}"}
	job.Loss = &jobfile.Loss{Soon: true, Tasks: 1}
	j := submit(t, s, Submission{
		Job: job, Output: filepath.Join(t.TempDir(), "out"), Env: []string{"A=1"}, Nice: 3, Priority: 7, Weight: 2, Deadline: "10m", Stderr: "keep",
	})
	if j.Spec.Priority != 7 || j.Spec.Weight != 2 || j.Spec.Deadline != sched.Time(10*time.Minute) || j.Halt == nil || *j.Halt != 1 || j.Spec.MaxFailed != sched.Unlimited {
		t.Errorf("%+v", j)
	}
	if strings.Contains(string(j.Command), "packed") {
		t.Errorf("the values of the tasks are in the journal twice: %s", j.Command)
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var back trace.JournalJob
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	back.Spec.Deadline += sched.Time(back.Submitted.Sub(s.Started)) // the engine makes it an instant
	p, err := s.Reopen(&back)
	if err != nil {
		t.Fatal(err)
	}
	if p.folders.Run != j.Run || p.out != j.Output || p.env[0] != "A=1" || p.limits(1)[0].Nice != 3 || p.o.Stderr != "keep" || p.left != sched.Time(10*time.Minute) {
		t.Errorf("%+v", p)
	}
	if v := p.Job.Array.Stages[0].Inputs.Row(1); string(v[0]) != "b" {
		t.Errorf("the second value is %q", v)
	}
	if mine, err := p.mine(); !mine || err != nil {
		t.Errorf("%v, %v", mine, err)
	}
}

// A job whose results could not be published is opened again by the same server, which still has its folder.
func TestOpenAgain(t *testing.T) {
	s := aServer(t)
	var err error
	if s.Host, err = proc.NewHost(proc.HostConfig{}); err != nil {
		t.Fatal(err)
	}
	defer s.Host.Close()
	log := filepath.Join(t.TempDir(), "log")
	p, err := s.Reopen(submit(t, s, Submission{Job: commands("true"), Output: filepath.Join(t.TempDir(), "out"), Joblog: log}))
	if err != nil {
		t.Fatal(err)
	}
	defer p.letGo()
	for range 2 {
		x, err := p.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What remains of a job is done again after an error, and says the same.
func TestFinishAgain(t *testing.T) {
	s := aServer(t)
	j := submit(t, s, Submission{Job: commands("true"), Output: filepath.Join(t.TempDir(), "out")})
	j.Spec.Stages[0].Done = []int{0}
	p, err := s.Reopen(j)
	if err != nil {
		t.Fatal(err)
	}
	over := &live.Over{Job: &live.Job{JournalJob: j}, Summary: &live.Summary{State: "cancelled"}}
	for range 2 {
		if c := p.courseOver(over); c.Recovered != 1 {
			t.Errorf("%d tasks were done before, want 1", c.Recovered)
		}
	}
}

// Standard input is left in the output folder by the client, and the server finds it there.
func TestServerPipe(t *testing.T) {
	s := aServer(t)
	out := filepath.Join(t.TempDir(), "out")
	job := commands("cat")
	job.Array.Stages[0].Pipe = &inputs.Pipe{Size: 5, RecEnd: []byte("\n")}
	job.Array.Stages[0].Tasks = 0
	e, err := New(Options{Job: job, Output: out, Stdin: strings.NewReader("one\ntwo\nthree\n"), History: NoHistory})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Spool(t.Context()); err != nil {
		t.Fatal(err)
	}
	sub, _ := e.Submission(nil)
	j := submit(t, s, *sub)
	if j.Run != sub.Run || j.Spec.Stages[0].Tasks != 3 {
		t.Errorf("%+v", j)
	}
	p, err := s.Reopen(j)
	if err != nil || p.work().Array.Stages[0].Blocks == nil || p.Job.Array.Stages[0].Blocks != nil {
		t.Errorf("%+v, %v", p, err)
	}
	sub.Run = ""
	if _, err := s.Prepare(context.Background(), sub); !errors.As(err, new(Mistakes)) {
		t.Error(err)
	}
}
