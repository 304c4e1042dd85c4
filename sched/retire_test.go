package sched

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What a view answers about a job that is retired, and what facts about it do.
func TestRetired(t *testing.T) {
	w := newWorld(t, NoLimits(), 2)
	one := w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 2}, {Tasks: 2}}, Edges: []Edge{{From: 0, To: 1, Kind: Pointwise, Bytes: []int64{7}}}})
	two := w.arrive(tasks(1))
	if _, err := w.Advance(0, []Event{{Kind: JobRetired, Job: one}}); err == nil || !strings.Contains(err.Error(), "job 0 is not over") {
		t.Errorf("an active job was retired: %v", err)
	}
	if _, err := w.Advance(0, []Event{{Kind: JobRetired, Job: 2}}); err == nil {
		t.Error("a job that never was is retired")
	}
	a := w.launch(0, 0)
	w.at(1, cancelled(one))
	w.seen = nil
	w.at(2, Event{Kind: JobRetired, Job: one}, Event{Kind: JobRetired, Job: one})
	if got := strings.Join(w.seen, ", "); got != "job-retired 0" {
		t.Errorf("the policy saw %s", got)
	}
	w.seen = nil
	for _, k := range []EventKind{JobArrived, JobCancelled, JobRetried, JobRetired} {
		if ds := w.at(3, Event{Kind: k, Job: one}); len(ds)+len(w.seen) > 0 {
			t.Errorf("%v of a retired job: %v, %v", k, ds, w.seen)
		}
	}
	w.at(3, done(a), failed(a))

	v := w.View()
	if job := v.Job(one); job != (Job{State: JobGone}) {
		t.Errorf("the job is %+v", job)
	}
	if st := v.Stage(1); st != (Stage{State: StageGone}) {
		t.Errorf("its stage is %+v", st)
	}
	if task := v.Task(3); task.State != TaskGone || v.AttemptRoom(3) != 0 || v.Exhausted(3) {
		t.Errorf("its task is %+v", task)
	}
	if a, ok := v.FirstAttempt(0); ok {
		t.Errorf("attempt %d of its task runs", a)
	}
	if _, ok := v.PendingTask(0, 0); ok {
		t.Error("a task of it waits")
	}
	if s := v.Sites().AppendSources(nil, 2); len(s) > 0 {
		t.Errorf("its task reads %v", s)
	}
	if _, ok := v.Sites().Result(0); ok {
		t.Error("its task has a result")
	}
	w.next = func(act *Actions) {
		if _, err := act.Launch(0, 0, 0, Original); err != ErrNotRunnable {
			t.Errorf("launched: %v", err)
		}
		if err := act.Cancel(one); err != ErrNotActive {
			t.Errorf("cancelled: %v", err)
		}
	}
	w.at(4)
	w.next = nil
	if j, ok := v.ActiveJob(0); !ok || j != two {
		t.Errorf("job %d is active", j)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// Ids end one day, and then a job is refused whole.
func TestIdsEnd(t *testing.T) {
	c := New(greedy{}, NoLimits())
	c.view.issuedTasks = math.MaxUint32 - 2
	spec := tasks(3)
	if _, err := c.Submit(&spec); err == nil || !strings.Contains(err.Error(), "none are left for 3 more") {
		t.Errorf("got %v", err)
	}
	if c.view.issuedJobs != 0 || c.view.jobs.Len() != 0 {
		t.Error("half a job is known")
	}
}

// river is a core through which jobs run without end, so many alive at a time.
type river struct {
	*Core
	now     Time
	facts   []Event
	running []AttemptID
	retires bool
	spec    JobSpec
	events  int
}

func newRiver(tb testing.TB, alive int, retires bool) *river {
	r := &river{Core: New(greedy{}, NoLimits()), retires: retires}
	r.spec = JobSpec{Stages: []StageSpec{{Tasks: 10}, {Tasks: 10}}, Edges: []Edge{{From: 0, To: 1, Kind: Pointwise}}}
	if _, err := r.AddMachine(0, alive); err != nil {
		tb.Fatal(err)
	}
	r.facts = append(r.facts, Event{Kind: MachineJoined})
	for range alive {
		r.submit(tb)
	}
	return r
}

func (r *river) submit(tb testing.TB) {
	j, err := r.Submit(&r.spec)
	if err != nil {
		tb.Fatal(err)
	}
	r.facts = append(r.facts, Event{At: r.now, Kind: JobArrived, Job: j})
}

// run lets so many more jobs end, each of which lets the next one begin.
func (r *river) run(tb testing.TB, jobs int) {
	for ended := 0; ended < jobs; r.now++ {
		r.events += len(r.facts)
		ds, err := r.Advance(r.now, r.facts)
		if err != nil {
			tb.Fatal(err)
		}
		r.facts = r.facts[:0]
		for i := range ds {
			switch ds[i].Kind {
			case Launch:
				r.running = append(r.running, ds[i].Attempt)
			case Close:
				if ended++; r.retires {
					r.facts = append(r.facts, Event{At: r.now + 1, Kind: JobRetired, Job: ds[i].Job})
				}
				r.submit(tb)
			}
		}
		for i := range r.facts {
			r.facts[i].At = r.now + 1
		}
		n := min(len(r.running), 8)
		for _, a := range r.running[:n] {
			r.facts = append(r.facts, Event{At: r.now + 1, Kind: AttemptDone, Attempt: a})
		}
		r.running = r.running[:copy(r.running, r.running[n:])]
	}
}

// Jobs without end go through a core, a hundred alive at a time. Its memory is that of the first ten thousand, and a
// fact costs what it cost a fresh core.
func TestCoreForgets(t *testing.T) {
	if checking || testing.Short() {
		t.Skip("an audit is most of the cost")
	}
	const first, step = 10_000, 5_000
	r := newRiver(t, 100, true)
	r.run(t, first)
	heap := heapInUse()
	rows := r.view.jobs.Pages() + r.view.stages.Pages() + r.view.tasks.Pages()
	for n := first; n < riverJobs; n += step {
		r.run(t, step)
	}
	more := int64(heapInUse()) - int64(heap)
	t.Logf("%d jobs: the heap has %d bytes more than after %d", riverJobs, more, first)
	if more > 64<<10+2*riverJobs/10 { // some bytes for a thousand ids are kept, see idSet
		t.Errorf("the heap has grown by %d bytes from %d jobs to %d", more, first, riverJobs)
	}
	if now := r.view.jobs.Pages() + r.view.stages.Pages() + r.view.tasks.Pages(); now > rows+3 {
		t.Errorf("%d pages are in use, %d were after %d jobs", now, rows, first)
	}
	if n := r.view.jobs.Len(); n > 110 {
		t.Errorf("%d jobs are known, 100 are alive", n)
	}

	// Both take turns, and the best turn of each counts: others use the machine as well.
	fresh, old := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 12 {
		f := newRiver(t, 100, false)
		f.run(t, 200)
		fresh, old = min(fresh, perFact(t, f)), min(old, perFact(t, r))
	}
	t.Logf("a fact costs %v after %d jobs, %v in a fresh core", old, riverJobs, fresh)
	if ratio := float64(old) / float64(fresh); ratio > mostSlower {
		t.Errorf("a fact costs %v after %d jobs, %v in a fresh core: %.2f times as much, expected at most %v", old, riverJobs, fresh, ratio, mostSlower)
	}
}

func perFact(t *testing.T, r *river) time.Duration {
	const jobs = 2000
	start, events := time.Now(), r.events
	r.run(t, jobs)
	return time.Since(start) / time.Duration(r.events-events)
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
