package sched

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// world is a core whose policy does what the test says and remembers what it was told. Its lines read
//
//	launch 3#0 on 1        the first attempt (#0) of task 3 goes to machine 1
//	kill 3#1 sibling-won   the second attempt of task 3 has lost
//	attempt-done 3#0       what the policy observed
type world struct {
	*Core
	t    *testing.T
	next func(*Actions) // done once, by the next Decide
	seen []string
}

// newWorld returns a world with a machine for each number of slots; all have joined.
func newWorld(t *testing.T, l Limits, slots ...int) *world {
	t.Helper()
	w := &world{t: t}
	w.Core = New(w, l)
	var joined []Event
	for _, n := range slots {
		m, err := w.AddMachine(0, n)
		if err != nil {
			t.Fatal(err)
		}
		joined = append(joined, Event{Kind: MachineJoined, Machine: m})
	}
	w.at(0, joined...)
	w.seen = nil
	return w
}

func (w *world) Observe(v *View, ev *Event) {
	if free := v.FreeSlots(); free < 0 {
		w.t.Errorf("%v observed with %d free slots", ev.Kind, free)
	}
	w.seen = append(w.seen, w.line(ev))
}

func (w *world) line(ev *Event) string {
	switch ev.Kind {
	case AttemptDone:
		text := fmt.Sprintf("%v %d#%d", ev.Kind, ev.Task, w.View().Attempt(ev.Attempt).Number)
		if ev.Span > 0 {
			text += fmt.Sprintf(" at work after %d", ev.Span)
		}
		return text
	case AttemptFailed, AttemptLost, AttemptProgress, AttemptBegan, AttemptTaken:
		return fmt.Sprintf("%v %d#%d", ev.Kind, ev.Task, w.View().Attempt(ev.Attempt).Number)
	case DataFetched:
		return fmt.Sprintf("%v %d bytes in %d of %d", ev.Kind, ev.Bytes, ev.Span, ev.Task)
	case TaskReady, TaskGivenUp:
		return fmt.Sprintf("%v %d", ev.Kind, ev.Task)
	case StageReady, StageDone:
		return fmt.Sprintf("%v %d", ev.Kind, ev.Stage)
	case MachineResized:
		return fmt.Sprintf("%v %d to %d", ev.Kind, ev.Machine, ev.Slots)
	case MachineJoined, MachineLost:
		return fmt.Sprintf("%v %d", ev.Kind, ev.Machine)
	case TimerFired:
		return fmt.Sprintf("%v at %v", ev.Kind, ev.At)
	default:
		return fmt.Sprintf("%v %d", ev.Kind, ev.Job)
	}
}

func (w *world) Decide(_ *View, act *Actions) {
	if do := w.next; do != nil {
		w.next = nil
		do(act)
	}
}

// at advances to an instant at which the facts happen.
func (w *world) at(now Time, facts ...Event) []string {
	w.t.Helper()
	for i := range facts {
		facts[i].At = now
	}
	ds, err := w.Advance(now, facts)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.Check(); err != nil {
		w.t.Fatal(err)
	}
	return lines(ds)
}

func lines(ds []Decision) []string {
	var out []string
	for _, d := range ds {
		switch s := fmt.Sprintf("%v %d#%d", d.Kind, d.Task, d.Number); d.Kind {
		case Launch:
			out = append(out, fmt.Sprintf("%s on %d", s, d.Machine))
		case Kill:
			out = append(out, fmt.Sprintf("%s %v", s, d.Reason))
		case Commit:
			out = append(out, s)
		case Close:
			out = append(out, fmt.Sprintf("close %d", d.Job))
		case Wake:
			out = append(out, fmt.Sprintf("wake %v", d.At))
		}
	}
	return out
}

// order gives orders at the present instant.
func (w *world) order(do func(*Actions)) []string {
	w.t.Helper()
	w.next = do
	return w.at(w.View().Now())
}

// arrive submits a job, which arrives at the present instant.
func (w *world) arrive(spec JobSpec) JobID {
	w.t.Helper()
	j, err := w.Submit(&spec)
	if err != nil {
		w.t.Fatal(err)
	}
	w.at(w.View().Now(), Event{Kind: JobArrived, Job: j})
	return j
}

// launch starts an attempt from the beginning.
func (w *world) launch(t TaskID, m MachineID) AttemptID {
	w.t.Helper()
	return w.launchFrom(t, m, 0)
}

func (w *world) launchFrom(t TaskID, m MachineID, from float64) (id AttemptID) {
	w.t.Helper()
	w.order(func(act *Actions) {
		var err error
		if id, err = act.Launch(t, m, from, Unexplained); err != nil {
			w.t.Fatalf("launch task %d on machine %d from %v: %v", t, m, from, err)
		}
	})
	return id
}

// refuse tells which error an order meets.
func (w *world) refuse(want error, order func(*Actions) error) {
	w.t.Helper()
	w.order(func(act *Actions) {
		if err := order(act); err != want {
			w.t.Errorf("the order met %v, want %v", err, want)
		}
	})
}

func tasks(n int) JobSpec { return JobSpec{Stages: []StageSpec{{Tasks: n}}} }

func done(a AttemptID) Event        { return Event{Kind: AttemptDone, Attempt: a} }
func failed(a AttemptID) Event      { return Event{Kind: AttemptFailed, Attempt: a} }
func lostMachine(m MachineID) Event { return Event{Kind: MachineLost, Machine: m} }
func joined(m MachineID) Event      { return Event{Kind: MachineJoined, Machine: m} }
func cancelled(j JobID) Event       { return Event{Kind: JobCancelled, Job: j} }
func progress(a AttemptID, p, rate float64) Event {
	return Event{Kind: AttemptProgress, Attempt: a, Progress: p, Rate: rate}
}

// want compares lines; each is one string, separated by commas, so that a story fits a line.
func want(t *testing.T, what string, got []string, story string) {
	t.Helper()
	var lines []string
	if story != "" {
		lines = strings.Split(story, ", ")
	}
	if d := cmp.Diff(lines, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// told compares what the policy observed since the last call.
func (w *world) told(story string) {
	w.t.Helper()
	want(w.t, "observed", w.seen, story)
	w.seen = nil
}

// states returns a letter per task: Blocked, Pending, Running, Done, Skipped, Failed, sTranded.
func (w *world) states() string {
	var b strings.Builder
	for t := range w.View().Rows().Tasks() {
		b.WriteByte("BPRDSFT"[w.View().Task(TaskID(t)).State])
	}
	return b.String()
}

func (w *world) wantStates(want string) {
	w.t.Helper()
	if got := w.states(); got != want {
		w.t.Errorf("tasks are %s, want %s", got, want)
	}
}
