package policy

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// srewWorld drives a core in virtual time: an attempt of a task lasts lasts(task, number), less what it did not have to do.
type srewWorld struct {
	tb     testing.TB
	core   *sched.Core
	policy sched.Policy
	lasts  func(t sched.TaskID, number uint32) sched.Time
	wake   sched.Time
	ends   srewHeap
	facts  []sched.Event
	out    []sched.Decision // of the last step; the core's

	events, launches, kills int // so far
}

func newSrewWorld(tb testing.TB, p sched.Policy, l sched.Limits) *srewWorld {
	return &srewWorld{
		tb: tb, core: sched.New(p, l), policy: p, wake: sched.Never,
		lasts: func(sched.TaskID, uint32) sched.Time { return sched.Never },
	}
}

// srewOn makes a world with one policy and machines that have joined, of one slot each.
func srewOn(tb testing.TB, spec string, l sched.Limits, machines int) *srewWorld {
	tb.Helper()
	p, err := New(spec, 1)
	if err != nil {
		tb.Fatal(err)
	}
	w := newSrewWorld(tb, p, l)
	w.join(machines, 1)
	return w
}

func (w *srewWorld) join(machines, slots int) {
	for range machines {
		m, err := w.core.AddMachine(0, slots)
		if err != nil {
			w.tb.Fatal(err)
		}
		w.facts = append(w.facts, sched.Event{At: w.core.View().Now(), Kind: sched.MachineJoined, Machine: m})
	}
}

// submit lets a job arrive with the next call of advance.
func (w *srewWorld) submit(at sched.Time, spec *sched.JobSpec) sched.JobID {
	w.tb.Helper()
	j, err := w.core.Submit(spec)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.facts = append(w.facts, sched.Event{At: at, Kind: sched.JobArrived, Job: j})
	return j
}

// advance tells the facts gathered since the last call and carries out what the policy decides.
func (w *srewWorld) advance(now sched.Time) []sched.Decision {
	if w.wake <= now {
		w.wake = sched.Never
	}
	w.events += len(w.facts)
	out, err := w.core.Advance(now, w.facts)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.facts = w.facts[:0]
	for i := range out {
		switch d := &out[i]; d.Kind {
		case sched.Launch:
			w.launches++
			if last := w.lasts(d.Task, d.Number); last < sched.Never {
				last = sched.Time(float64(last) * (1 - d.From))
				w.ends.push(srewEnd{now + max(last, 1), d.Attempt})
			}
		case sched.Kill:
			w.kills++
		case sched.Wake:
			w.wake = d.At
		}
	}
	w.out = out
	return out
}

// step goes to the next instant at which something ends or the policy wakes, but not beyond until. ok is false if there is none.
func (w *srewWorld) step(until sched.Time) bool {
	v := w.core.View()
	for len(w.ends) > 0 && !v.Rows().Alive(w.ends[0].attempt) {
		w.ends.pop()
	}
	at := w.wake
	if len(w.ends) > 0 {
		at = min(at, w.ends[0].at)
	}
	if at == sched.Never || at > until {
		return false
	}
	for len(w.ends) > 0 && w.ends[0].at == at {
		if x := w.ends.pop().attempt; v.Rows().Alive(x) {
			w.facts = append(w.facts, sched.Event{At: at, Kind: sched.AttemptDone, Attempt: x})
		}
	}
	w.advance(at)
	return true
}

// end lets an attempt of the task end with the next call of advance: the one launched last.
func (w *srewWorld) end(at sched.Time, kind sched.EventKind, t sched.TaskID) {
	w.tb.Helper()
	x, ok := w.core.View().FirstAttempt(t)
	if !ok {
		w.tb.Fatalf("task %d does not run", t)
	}
	w.facts = append(w.facts, sched.Event{At: at, Kind: kind, Attempt: x})
}

// livePerJob returns how many attempts of each task of the job run.
func (w *srewWorld) live(j sched.JobID) []int {
	v := w.core.View()
	job := v.Job(j)
	first := v.Stage(job.FirstStage).First
	n := make([]int, job.Tasks)
	for i := range n {
		n[i] = int(v.Task(first + sched.TaskID(i)).Live)
	}
	return n
}

// held returns how many slots each job holds.
func (w *srewWorld) held() []int {
	v := w.core.View()
	n := make([]int, v.Rows().Jobs())
	for j := range n {
		n[j] = int(v.Job(sched.JobID(j)).Live)
	}
	return n
}

// srewEnd is the instant at which an attempt finishes if it is let.
type srewEnd struct {
	at      sched.Time
	attempt sched.AttemptID
}

func (a srewEnd) before(b srewEnd) bool {
	return a.at < b.at || a.at == b.at && a.attempt < b.attempt
}

// srewHeap is a heap of four children per node, the first to end on top.
type srewHeap []srewEnd

func (h *srewHeap) push(x srewEnd) {
	q := append(*h, x)
	i := len(q) - 1
	for i > 0 && x.before(q[(i-1)/4]) {
		q[i] = q[(i-1)/4]
		i = (i - 1) / 4
	}
	q[i] = x
	*h = q
}

func (h *srewHeap) pop() srewEnd {
	q := *h
	top, x := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	for i := 0; len(q) > 0; {
		least := 4*i + 1
		for c := least + 1; c < min(4*i+5, len(q)); c++ {
			if q[c].before(q[least]) {
				least = c
			}
		}
		if least >= len(q) || !q[least].before(x) {
			q[i] = x
			break
		}
		q[i] = q[least]
		i = least
	}
	return top
}
