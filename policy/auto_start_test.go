package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestStarts: a constant time costs nothing, one that differs few times its deviation.
func TestStarts(t *testing.T) {
	var s starts
	v := on(t, "auto", sched.NoLimits()).Core.View()
	if got := s.cost(1); got != 0 {
		t.Errorf("before any start: %v", got)
	}
	s.observe(v, &sched.Event{Kind: sched.AttemptDone, Span: sched.Second / 1000})
	if got := s.cost(1); got < 0.03 || got > 0.04 {
		t.Errorf("after one start: %v s, want what a busy machine does to a process", got)
	}
	s = starts{}
	r := rand.New(rand.NewPCG(1, 46))
	for range 2000 {
		s.observe(v, &sched.Event{Kind: sched.AttemptDone, Span: 5 * sched.Second})
	}
	if got := s.cost(1); got > 5e-3 {
		t.Errorf("starts of 5 s each cost %v s", got)
	}
	s = starts{}
	for range 20_000 {
		s.observe(v, &sched.Event{Kind: sched.AttemptDone, Span: sched.FromSeconds(r.ExpFloat64())})
	}
	if got := s.cost(1); math.Abs(got/few-1) > 0.2 {
		t.Errorf("starts of 1 s on average, exponential, cost %v s, want about %d", got, few)
	}
}

// TestStartsTogether: clones that start together wait for the last of their starts, not for all of them.
func TestStartsTogether(t *testing.T) {
	const of = 2000
	r := rand.New(rand.NewPCG(7, 18))
	s := starts{}
	s.n, s.sum, s.sqrs = 1e6, 5e6, 26e6 // 5 s on average, deviation 1 s
	for _, clones := range []int{2, 10, 100, 1000} {
		last := 0.0
		for range of {
			x := 0.0
			for range clones {
				x = max(x, r.NormFloat64())
			}
			last += x / of
		}
		if more := s.cost(clones) - s.cost(1); more < last || more > last+1 {
			t.Errorf("%d clones cost %v s more than one, the last of them starts %v s later", clones, more, last)
		}
		if each := s.each(clones) * float64(clones); math.Abs(each-s.cost(clones)) > 1e-9 {
			t.Errorf("%d clones cost %v s, their parts are %v s", clones, s.cost(clones), each)
		}
	}
}

// TestStartsApart: where durations are without the starts, a clone costs their mean, too.
func TestStartsApart(t *testing.T) {
	s := starts{apart: true}
	s.n, s.sum, s.sqrs = 1, 2, 4
	if got := s.cost(1); got < 2+few*0.8 || got > 2+few {
		t.Errorf("after one start: %v s, want 2 s and what whole seconds and late ends do", got)
	}
	s.n, s.sum, s.sqrs = 1e6, 2e6, 4e6
	if got := s.cost(1); math.Abs(got-2) > 0.01 {
		t.Errorf("starts of 2 s each cost %v s", got)
	}
	soon, late := timeLeft{x: []float64{1, 60}, w: []float64{0.6, 0.4}}, timeLeft{x: []float64{1, 60}, w: []float64{0.4, 0.6}}
	if !s.tooLate(&soon, s.cost(1)) || s.tooLate(&late, s.cost(1)) {
		t.Error("a task that is likely to be done before its clone begins gets none, any other may have one")
	}
	if s.apart = false; s.cost(1) > 0.01 || s.tooLate(&soon, 60) {
		t.Error("durations that have their starts in them cost the more")
	}
}

// oneSlow has the first attempt of task 7 last so many times as long as all others.
func oneSlow(f policytest.Fate, times sched.Time) func(*sched.Decision) policytest.Fate {
	return func(d *sched.Decision) policytest.Fate {
		f := f
		if d.Task == 7 && d.Number == 0 {
			f.Lasts *= times
		}
		return f
	}
}

// TestAutoCloneThatWaits: while a clone waits to begin, its task gets no other one, and its original goes on.
func TestAutoCloneThatWaits(t *testing.T) {
	w := on(t, "auto", sched.NoLimits())
	w.Core.WaitToBegin()
	w.Machines(30)
	w.Submit(0, policytest.Tasks(20))
	w.Waits = func(d *sched.Decision) sched.Time {
		if d.Number > 0 {
			return 60 * sched.Second
		}
		return sched.Second
	}
	w.Fate = oneSlow(policytest.Fate{Lasts: 10 * sched.Second, Starts: sched.Second}, 100)
	w.Run()
	if clones := w.Clones(); len(clones) != 1 {
		t.Errorf("%d clones, want one, which waits", len(clones))
	}
	for _, d := range w.Orders {
		if d.Kind == sched.Kill && d.At < 70*sched.Second {
			t.Errorf("an attempt is ended at %v, when the clone has not begun", d.At)
		}
	}
}

// TestAutoShortTasks: tasks of which hardly anything differs but their starts get few clones, while tasks that
// differ as much by their work do. A task that hangs gets one all the same.
func TestAutoShortTasks(t *testing.T) {
	const tasks = 1000
	ms := sched.Second / 1000
	for _, c := range []struct {
		name        string
		work, hangs bool
		least, most int
	}{
		{"starts differ", false, false, 0, tasks / 50},
		{"work differs", true, false, tasks / 40, tasks},
		{"one hangs", false, true, 1, tasks / 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, "auto", sched.NoLimits())
			w.Machines(4)
			for j := range 100 {
				w.Submit(sched.Time(j)*100*ms, policytest.Tasks(tasks/100))
			}
			hung := false
			w.Fate = func(d *sched.Decision) policytest.Fate {
				x := sched.FromSeconds(0.002 * rand.New(rand.NewPCG(uint64(d.Task), uint64(d.Number))).ExpFloat64())
				f := policytest.Fate{Lasts: x + ms, Starts: x}
				if c.work {
					f.Starts = ms
				}
				if c.hangs && d.Task == tasks-3 && d.Number == 0 {
					f.Lasts, hung = 3600*sched.Second, true
				}
				return f
			}
			w.Run()
			if got := len(w.Clones()); got < c.least || got > c.most {
				t.Errorf("%d clones of %d tasks, want %d to %d", got, tasks, c.least, c.most)
			}
			if now := w.Core.View().Now(); hung != c.hangs || hung && now > 60*sched.Second {
				t.Errorf("the task that hangs was done at %v", now)
			}
		})
	}
}

// TestAutoClonesGoOn: where tasks save their work a clone begins where the original is, and elsewhere at the beginning.
func TestAutoClonesGoOn(t *testing.T) {
	for _, resumable := range []bool{false, true} {
		w := on(t, "auto", sched.NoLimits())
		w.Machines(30)
		job := policytest.Tasks(20)
		job.Stages[0].Resumable = resumable
		w.Submit(0, job)
		w.Fate = oneSlow(policytest.Fate{Lasts: 10 * sched.Second, Reports: sched.Second}, 10)
		w.Run()
		if len(w.Clones()) == 0 {
			t.Fatal("the slow task is not cloned")
		}
		for _, d := range w.Orders {
			if d.Kind == sched.Launch && d.Number > 0 && (d.From > 0) != resumable {
				t.Errorf("resumable %v: task %d has an attempt from %g at %v", resumable, d.Task, d.From, d.At)
			}
		}
	}
}

// TestStartsOfManyClones: tasks wait up to four seconds until they are at work, as processes do that start at once. Of
// 2,000 tasks, 100 take ten times as long. Their clones start at once, too, so the stage waits for one start and not for
// a hundred.
func TestStartsOfManyClones(t *testing.T) {
	const s, tasks = sched.Second, 2000
	w := on(t, "auto", sched.DefaultLimits())
	w.Machine(0, tasks)
	w.Submit(0, policytest.Tasks(tasks))
	r := rand.New(rand.NewPCG(5, 18))
	w.Fate = func(d *sched.Decision) policytest.Fate {
		starts := sched.FromSeconds(4 * r.Float64())
		f := policytest.Fate{Lasts: 20*s + starts, Starts: starts}
		if d.Number == 0 && d.Task%20 == 0 {
			f.Lasts *= 10
		}
		return f
	}
	w.Run()
	if end := w.Core.View().Job(0).Closed; end > 60*s {
		t.Errorf("the job ends at %v", end)
	}
}
