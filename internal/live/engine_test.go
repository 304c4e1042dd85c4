package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// farm is a world in which engines live and die: the disks of jobs by the names of their runs, and what their owner has
// heard of.
type farm struct {
	t        *testing.T
	folder   string
	fate     func(*Job, Attempt) fate
	hook     func(deed string, p place) // before each deed of an executor
	gone     func() error               // see fake
	limits   sched.Limits
	perClass bool
	harm     func(run, deed string) error
	closing  func(reports chan<- Report) // by Close
	polled   func()                      // before each look for reports
	broken   func(*Job) error            // of Open
	deaf     func(*Over) error           // of Finish
	patience time.Duration
	machines []trace.JournalMachine
	segment  int64
	archive  string
	watch    Observer

	mu    sync.Mutex
	disks map[string]*remains
	over  map[string]*Over
	opens map[string]int
}

func newFarm(t *testing.T, slots ...int) *farm {
	f := &farm{
		t: t, folder: filepath.Join(memory(t), "journal"), patience: never, limits: sched.DefaultLimits(), fate: func(*Job, Attempt) fate { return fate{takes: 10 * ms} },
		disks: map[string]*remains{}, over: map[string]*Over{}, opens: map[string]int{},
	}
	for i, n := range slots {
		f.machines = append(f.machines, trace.JournalMachine{Name: fmt.Sprint("m", i), Slots: n})
	}
	return f
}

func (f *farm) disk(run string) *remains {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.disks[run] == nil {
		f.disks[run] = newDisk()
	}
	return f.disks[run]
}

// policies returns the nervous policy, or another by its name.
func (f *farm) policies(h *trace.JournalHeader) (sched.Policy, error) {
	if h.Policy == "patient" {
		return &nervous{patience: sched.Time(never)}, nil
	}
	if f.perClass {
		return sched.PerClass(&nervous{patience: sched.Time(f.patience)}, &nervous{patience: sched.Time(f.patience)}), nil
	}
	return &nervous{patience: sched.Time(f.patience)}, nil
}

// shell is one engine of a farm, with the executors that it has opened.
type shell struct {
	*Engine
	reports chan Report
	mu      sync.Mutex
	fakes   []*fake
	ended   chan error
}

// executors returns those that the engine has opened.
func (s *shell) executors() []*fake {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.fakes)
}

// end returns what the owner has heard of a job's end, and how often its executor was opened.
func (f *farm) end(run string) (o *Over, opens int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over[run], f.opens[run]
}

// open opens an engine, which is not looped yet.
func (f *farm) open() *shell {
	f.t.Helper()
	s := &shell{reports: make(chan Report, 10000), ended: make(chan error, 1)}
	var err error
	s.Engine, err = OpenEngine(Config{
		Folder: f.folder, Version: "test", Policy: "nervous", Limits: f.limits, Policies: f.policies, Machines: f.machines, Segment: f.segment, Archive: f.archive, Watch: f.watch,
		Reports: func() <-chan Report {
			if f.polled != nil {
				f.polled()
			}
			return s.reports
		},
		Open: func(j *Job) (Executor, error) {
			if f.broken != nil {
				if err := f.broken(j); err != nil {
					return nil, err
				}
			}
			x := newFake(f.t, f.disk(j.Run), func(a Attempt) fate { return f.fate(j, a) })
			x.reports = s.reports
			if f.harm != nil {
				x.harm = func(deed string) error { return f.harm(j.Run, deed) }
			}
			if f.closing != nil {
				x.closing = func() { f.closing(s.reports) }
			}
			x.hook, x.gone = f.hook, f.gone
			s.mu.Lock()
			defer s.mu.Unlock()
			s.fakes = append(s.fakes, x)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.opens[j.Run]++
			return x, nil
		},
		Finish: func(o *Over) error {
			if f.deaf != nil {
				if err := f.deaf(o); err != nil {
					return err
				}
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			f.over[o.Job.Run] = o
			return nil
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// start opens an engine and loops it until ctx is done.
func (f *farm) start(ctx context.Context) *shell {
	f.t.Helper()
	s := f.open()
	go func() { s.ended <- s.Loop(ctx) }()
	return s
}

// stop waits for the end of the loop.
func (s *shell) stop(t *testing.T) {
	t.Helper()
	if err := <-s.ended; err != nil {
		t.Fatal(err)
	}
}

// jobOf describes a job of stages with so many tasks, a barrier between each two.
func jobOf(run string, stages ...int) *trace.JournalJob {
	h := header(0, 0, stages...)
	return &trace.JournalJob{Name: run, Run: run, Submitted: time.Now(), Spec: h.Job, Stages: h.Stages}
}

func (s *shell) submit(t *testing.T, j *trace.JournalJob) sched.JobID {
	t.Helper()
	id, err := s.Submit(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// states returns how the jobs stand, by their runs.
func (s *shell) states(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := s.Look(t.Context(), func(x Sight) {
		for j := range x.Jobs() {
			all[j.Run] = j.State()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tale runs a test in virtual time with a farm.
func tale(t *testing.T, f *farm, tell func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f.t = t
		tell(t)
	})
}

// Jobs share the slots, each has an executor of its own while it runs, and ends by itself.
func TestEngineRunsJobs(t *testing.T) {
	f := newFarm(t, 2)
	tale(t, f, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := f.start(ctx)
		for i := range 5 {
			s.submit(t, jobOf(fmt.Sprint("job", i), 2, 1))
		}
		time.Sleep(25 * ms)
		if got := s.states(t); got["job0"] != "succeeded" || got["job1"] != "running" || got["job4"] != "queued" {
			t.Errorf("after 25 ms: %v", got)
		}
		if _, opens := f.end("job4"); opens > 0 {
			t.Error("a queued job has an executor")
		}
		time.Sleep(time.Second)
		for run, state := range s.states(t) {
			o, opens := f.end(run)
			if n := len(f.disk(run).result); state != "succeeded" || n != 3 || o == nil || !o.Succeeded() || len(o.Records) != 3 || opens != 1 {
				t.Errorf("%s: %s, %d results, %+v, %d opened", run, state, n, o, opens)
			}
		}
		cancel()
		s.stop(t)
		for i, x := range s.executors() {
			select {
			case <-x.ended:
			default:
				t.Errorf("executor %d is open", i)
			}
		}
	})
}

// What is asked of jobs holds: held, released, paused, continued, cancelled, tried again, retired.
func TestEngineAsked(t *testing.T) {
	f := newFarm(t, 2)
	fails := true
	f.fate = func(_ *Job, a Attempt) fate { return fate{takes: 10 * ms, fails: fails && a.Index == 1} }
	tale(t, f, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := f.start(ctx)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		wants := func(run, want string) {
			t.Helper()
			time.Sleep(ms)
			if got := s.states(t)[run]; got != want {
				t.Errorf("%s is %q, want %q", run, got, want)
			}
		}
		held := jobOf("held", 1)
		held.Held = true
		id := s.submit(t, held)
		time.Sleep(100 * ms)
		wants("held", "queued")
		must(s.Release(ctx, id))
		must(s.Release(ctx, id))
		time.Sleep(20 * ms)
		wants("held", "succeeded")
		if err := s.Cancel(ctx, id); !errors.Is(err, ErrOver) {
			t.Errorf("cancelling a job that is over: %v", err)
		}
		must(s.Retire(ctx, id))
		wants("held", "")
		if err := s.Cancel(ctx, id); !errors.Is(err, ErrNoJob) {
			t.Errorf("cancelling a job that is retired: %v", err)
		}

		long := s.submit(t, jobOf("long", 1, 1, 1, 1))
		must(s.Pause(ctx, long))
		wants("long", "paused")
		time.Sleep(time.Second)
		wants("long", "paused")
		must(s.Continue(ctx, long))
		wants("long", "running")
		must(s.Cancel(ctx, long))
		wants("long", "cancelled")
		must(s.Retry(ctx, long))
		time.Sleep(time.Second)
		wants("long", "succeeded")

		bad := s.submit(t, jobOf("bad", 3))
		if err := s.Retire(ctx, bad); !errors.Is(err, ErrNotOver) {
			t.Errorf("retiring a job that runs: %v", err)
		}
		time.Sleep(50 * ms)
		wants("bad", "failed")
		fails = false
		must(s.Retry(ctx, bad))
		time.Sleep(50 * ms)
		wants("bad", "succeeded")
		if _, opens := f.end("bad"); len(f.disk("bad").result) != 3 || opens != 2 {
			t.Errorf("%d results, opened %d times", len(f.disk("bad").result), opens)
		}
		cancel()
		s.stop(t)
		if err := s.Cancel(t.Context(), bad); !errors.Is(err, ErrStopped) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// An engine takes up what another left: jobs that ran, that waited, and that were over and not told.
func TestEngineTakesUp(t *testing.T) {
	f := newFarm(t, 2)
	f.deaf = func(*Over) error { return errors.New("not now") }
	tale(t, f, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := f.start(ctx)
		first := s.submit(t, jobOf("first", 1))
		s.submit(t, jobOf("second", 8))
		third := s.submit(t, jobOf("third", 1))
		time.Sleep(35 * ms)
		cancel()
		s.stop(t)
		if n := len(f.disk("second").done); n < 4 || n > 6 {
			t.Errorf("%d tasks of the second job are done", n)
		}
		f.deaf = nil
		ctx, cancel = context.WithCancel(t.Context())
		s = f.start(ctx)
		time.Sleep(time.Second)
		for run, state := range s.states(t) {
			if o, _ := f.end(run); state != "succeeded" || o == nil {
				t.Errorf("%s: %s, told %v", run, state, o)
			}
		}
		if o, _ := f.end("second"); o.Summary.Attempts != 10 || o.Summary.Crashed != 2 || len(o.Records) != 10 {
			t.Errorf("second: %+v, %d records", o.Summary, len(o.Records))
		}
		if err := s.Retire(ctx, first, third); err != nil {
			t.Error(err)
		}
		if id := s.submit(t, jobOf("fourth", 1)); id != 3 {
			t.Errorf("the fourth job is %d", id)
		}
		cancel()
		s.stop(t)
	})
}

// Slots have classes, and stages ask for one. They are known again after a restart, where one may be gone and another
// new, and they may become more or fewer meanwhile.
func TestEngineClasses(t *testing.T) {
	f := newFarm(t)
	f.machines = []trace.JournalMachine{{Name: "map", Slots: 2}, {Name: "shuffle", Class: 1, Slots: 1}}
	f.perClass = true
	f.fate = func(*Job, Attempt) fate { return fate{takes: 100 * ms} }
	tale(t, f, func(t *testing.T) {
		running := func(s *shell) (n [2]int) {
			t.Helper()
			if err := s.Look(t.Context(), func(x Sight) {
				for j, r := range x.Running() {
					n[j.Spec.Stages[r.Stage].Class]++
				}
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		wants := func(s *shell, want [2]int) {
			t.Helper()
			time.Sleep(ms)
			if got := running(s); got != want {
				t.Errorf("%v run of each class, want %v", got, want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		s := f.start(ctx)
		for i := range 20 {
			j := jobOf(fmt.Sprint("job", i), 2, 2)
			j.Spec.Edges, j.Spec.Stages[1].Class = nil, 1
			s.submit(t, j)
		}
		wants(s, [2]int{2, 1})
		for _, slots := range []int{3, 1, 2} {
			if err := s.Resize(ctx, 1, slots); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * ms)
			wants(s, [2]int{2, slots})
		}
		cancel()
		s.stop(t)
		f.machines = []trace.JournalMachine{{Name: "shuffle", Class: 1, Slots: 4}, {Name: "other", Slots: 1}}
		ctx, cancel = context.WithCancel(t.Context())
		s = f.start(ctx)
		wants(s, [2]int{1, 4})
		if err := s.Resize(ctx, 2, 1); err == nil {
			t.Error("a machine that is not there has other slots")
		}
		time.Sleep(10 * time.Second)
		for run, state := range s.states(t) {
			if state != "succeeded" {
				t.Errorf("%s: %s", run, state)
			}
		}
		cancel()
		s.stop(t)
	})
}

// Drained, an engine starts nothing more, takes no more, and its loop ends when what runs has.
func TestEngineDrains(t *testing.T) {
	f := newFarm(t, 2)
	tale(t, f, func(t *testing.T) {
		s := f.start(t.Context())
		s.submit(t, jobOf("half", 5))
		time.Sleep(15 * ms)
		if err := s.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Submit(t.Context(), jobOf("late", 1)); !errors.Is(err, ErrDraining) {
			t.Errorf("a job that comes too late: %v", err)
		}
		s.stop(t)
		if d := f.disk("half"); len(d.done) != 4 || len(d.started) != 4 {
			t.Errorf("%d tasks are done, %d attempts were started", len(d.done), len(d.started))
		}
		ctx, cancel := context.WithCancel(t.Context())
		s = f.start(ctx)
		time.Sleep(50 * ms)
		if got := s.states(t); got["half"] != "succeeded" {
			t.Errorf("%v", got)
		}
		cancel()
		s.stop(t)
	})
}

// What goes wrong with one job's disk ends that job, and no other. Tried again, it goes on.
func TestEngineBrokenDisk(t *testing.T) {
	f := newFarm(t, 2)
	full := errors.New("the disk is full")
	for _, at := range []string{"open", "commit", "publish"} {
		t.Run(at, func(t *testing.T) {
			f = newFarm(t, 2)
			broken := true
			f.broken = func(j *Job) error {
				if at == "open" && broken && j.Run == "bad" {
					return full
				}
				return nil
			}
			f.harm = func(run, deed string) error {
				if deed == at && broken && run == "bad" {
					return full
				}
				return nil
			}
			tale(t, f, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s := f.start(ctx)
				bad := s.submit(t, jobOf("bad", 3))
				s.submit(t, jobOf("good", 3))
				time.Sleep(100 * ms)
				if got := s.states(t); got["bad"] != "failed" || got["good"] != "succeeded" {
					t.Errorf("%v", got)
				}
				if o, _ := f.end("bad"); o == nil || o.Succeeded() || !errors.Is(o.Failure, full) || f.disk("bad").result != nil {
					t.Errorf("%+v", o)
				}
				broken = false
				if err := s.Retry(ctx, bad); err != nil {
					t.Fatal(err)
				}
				time.Sleep(100 * ms)
				got := s.states(t)
				if o, _ := f.end("bad"); got["bad"] != "succeeded" || !o.Succeeded() || len(f.disk("bad").result) != 3 {
					t.Errorf("tried again: %v, %+v", got, o)
				}
				cancel()
				s.stop(t)
			})
		})
	}
}

// Executors that have much to tell when they are closed do not wait for ever for somebody who listens.
func TestEngineEndsAmongReports(t *testing.T) {
	f := newFarm(t, 1)
	f.fate = func(*Job, Attempt) fate { return fate{takes: time.Hour} }
	f.closing = func(reports chan<- Report) {
		for range cap(reports) + 1 {
			reports <- Report{}
		}
	}
	tale(t, f, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		s := f.start(ctx)
		s.submit(t, jobOf("a", 1))
		time.Sleep(time.Second)
		stop()
		s.stop(t)
	})
}
