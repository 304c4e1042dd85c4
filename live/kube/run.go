package kube

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// settings are what a run is made from. A run whose Job's settings have changed is made anew.
type settings struct {
	policy      string
	completions int
	attempts    int // of an index at once; 0 for the default
	deadline    time.Time
	start       time.Time // of the Job: the instant 0 of the core
}

// run is a Job's core and the attempts that it decides about. What has been seen of pods goes in by step, which leaves behind which
// attempts there should be.
//
// The core's machines are seats of one slot. A seat is lost and joins again when its attempt ends and nobody is to blame, which is how the core
// hears of an attempt that was no failure.
//
// Attempts of the core and pods are tied loosely. When the policy launches a task that has a pod which no attempt stands for, the pod becomes the
// attempt's. That makes a restart of the controller no special case: a new run lives through the past of the pods that it
// finds, and each launch takes up the pod that an earlier controller made of it.
type run struct {
	settings
	core     *sched.Core
	open     bool             // the core has had its first facts, and the past is over
	tasks    []int            // index of each task of the core
	task     []sched.TaskID   // by index
	indexes  []history        // by index
	byID     map[sched.AttemptID]*attempt
	up       []bool           // by machine: the seat may be used
	wake     sched.Time       // as the core asked last
	sights   map[ref]*sight   // of this step
	over     indexSet         // of this step
	facts    []sched.Event
	won      []*attempt       // since the run's user looked last
	launched []*attempt       // clones, likewise
}

// history is what happened to an index.
type history struct {
	attempts []*attempt // in order of number
	late     bool       // an attempt's wait for its node was taken off its time once
	failures int        // told to the core
}

// attempt is a pod that there is, was or should be.
type attempt struct {
	ref
	id      sched.AttemptID // what stands for it in the core, 0 if nothing does
	machine sched.MachineID
	clone   bool
	seen    bool    // there was a pod
	begun   bool    // the core knows that its containers have started
	spent   bool    // its end was told to the core
	dropped bool    // the core or the policy has ended it
	told    float64 // progress
}

// maxForgiven keeps the core from ending the job for failures: the Job's own limits do that.
const maxForgiven = math.MaxUint16 - 1

// newRun makes a run of what is left to do. Indexes that are over and have no pod to tell how long it took are not the core's any more.
func newRun(s settings, p sched.Policy, over indexSet, sights []sight) (*run, error) {
	limits := sched.DefaultLimits()
	if s.attempts > 0 {
		limits.Attempts = s.attempts
	}
	r := &run{
		settings: s, core: sched.New(p, limits), task: make([]sched.TaskID, s.completions), indexes: make([]history, s.completions),
		byID: map[sched.AttemptID]*attempt{}, wake: sched.Never,
	}
	told := make(indexSet, s.completions)
	for i := range sights {
		if sights[i].phase == succeeded {
			told[sights[i].index] = true
		}
	}
	for i := range s.completions {
		if !over.has(i) || told[i] {
			r.task[i] = sched.TaskID(len(r.tasks))
			r.tasks = append(r.tasks, i)
		}
	}
	spec := sched.JobSpec{Retries: maxForgiven, Stages: []sched.StageSpec{{Tasks: len(r.tasks)}}}
	if !s.deadline.IsZero() {
		spec.Deadline = max(1, r.instant(s.deadline))
	}
	_, err := r.core.Submit(&spec)
	return r, err
}

func (r *run) instant(t time.Time) sched.Time { return sched.Time(t.Sub(r.start)) }
func (r *run) now() sched.Time                { return r.core.View().Now() }

// step takes in what the pods show, the indexes that are over, and how many pods there may be at once, and asks the policy.
func (r *run) step(now time.Time, sights []sight, over indexSet, seats int) error {
	r.over = over
	r.look(sights)
	until := max(r.now(), r.instant(now))
	if !r.open {
		r.facts = append(r.facts, sched.Event{Kind: sched.JobArrived})
		if err := r.seat(seats, 0); err != nil {
			return err
		}
		if err := r.advance(0); err != nil {
			return err
		}
	} else {
		if err := r.seat(seats, until); err != nil {
			return err
		}
		if len(r.facts) > 0 {
			if err := r.advance(until); err != nil {
				return err
			}
		}
	}
	for {
		at := r.collect(until)
		if len(r.facts) == 0 && r.wake > until {
			break
		}
		if r.wake < at { // only in the past: wakes come in between
			r.release()
			at = max(r.wake, r.now())
		}
		if err := r.advance(at); err != nil {
			return err
		}
	}
	r.open = true
	return nil
}

// look notes the sights, and pods that it meets for the first time.
func (r *run) look(sights []sight) {
	r.sights = make(map[ref]*sight, len(sights))
	for i := range sights {
		s := &sights[i]
		r.sights[s.ref] = s
		h := &r.indexes[s.index]
		at, known := slices.BinarySearchFunc(h.attempts, s.number, func(a *attempt, n int) int { return cmp.Compare(a.number, n) })
		if !known {
			h.attempts = slices.Insert(h.attempts, at, &attempt{ref: s.ref, clone: s.clone})
		}
		h.attempts[at].seen = true
	}
}

// seat makes as many seats usable as there may be pods. Of too many those that are free go first, and then the last.
func (r *run) seat(seats int, at sched.Time) error {
	v := r.core.View()
	for len(r.up) < seats {
		if _, err := r.core.AddMachine(0, 1); err != nil {
			return err
		}
		r.up = append(r.up, false)
	}
	n := 0
	for m, up := range r.up {
		if up {
			n++
		} else if n < seats {
			n++
			r.up[m] = true
			r.facts = append(r.facts, sched.Event{At: at, Kind: sched.MachineJoined, Machine: sched.MachineID(m)})
		}
	}
	for _, free := range []bool{true, false} {
		for m := len(r.up) - 1; m >= 0 && n > seats; m-- {
			if r.up[m] && (v.Machine(sched.MachineID(m)).Used == 0) == free {
				n--
				r.up[m] = false
				r.facts = append(r.facts, sched.Event{At: at, Kind: sched.MachineLost, Machine: sched.MachineID(m)})
			}
		}
	}
	return nil
}

// collect gathers the facts of the first instant at which there are any, none after until. What is seen happens now, except
// in a run's first step, where it has happened when the pods say.
func (r *run) collect(until sched.Time) sched.Time {
	first := sched.Never
	live := slices.SortedFunc(maps.Values(r.byID), func(a, b *attempt) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.number, b.number))
	})
	var due []*attempt
	for _, a := range live {
		at, news := r.news(a, until)
		if !news || at > first {
			continue
		}
		if at < first {
			first, due = at, due[:0]
		}
		due = append(due, a)
	}
	for _, a := range due {
		r.tell(a, first)
	}
	return min(first, until)
}

// news tells whether there is something about an attempt that the core does not know, and since when.
func (r *run) news(a *attempt, until sched.Time) (at sched.Time, any bool) {
	s := r.sights[a.ref]
	switch {
	case s == nil && !a.seen && !r.over.has(a.index):
		return 0, false
	case s == nil || s.phase == succeeded || s.phase == failed || s.phase == gone:
		if s != nil && !s.ended.IsZero() && !r.open {
			return min(max(r.instant(s.ended), r.now()), until), true
		}
		return until, true
	case r.over.has(a.index), s.progress > a.told:
		return until, true
	case s.phase == running && !a.begun:
		if !s.begun.IsZero() && !r.open {
			return min(max(r.instant(s.begun), r.now()), until), true
		}
		return until, true
	}
	return 0, false
}

// tell makes the news about an attempt a fact.
func (r *run) tell(a *attempt, at sched.Time) {
	s := r.sights[a.ref]
	h := &r.indexes[a.index]
	about := func(kind sched.EventKind) {
		r.facts = append(r.facts, sched.Event{At: at, Kind: kind, Attempt: a.id})
	}
	switch {
	case s != nil && s.phase == succeeded, r.over.has(a.index) && (s == nil || s.phase != succeeded):
		a.spent = s != nil && s.phase == succeeded
		about(sched.AttemptDone) // of an index that is over without this attempt, too: there is nothing left to do
	case s != nil && s.phase == failed && h.failures < maxForgiven:
		a.spent = true
		h.failures++
		about(sched.AttemptFailed)
	case s == nil || s.phase == failed || s.phase == gone:
		a.spent = true
		r.leaveSeat(a, at)
	case s.phase == running && !a.begun:
		a.begun = true
		if task := r.core.View().Task(r.task[a.index]); task.Live == 1 && !h.late {
			h.late = true
			r.leaveSeat(a, at) // and the policy launches it again, as of now: what it waited for a node is nobody's slowness
		}
	case s.progress > a.told:
		a.told = s.progress
		r.facts = append(r.facts, sched.Event{At: at, Kind: sched.AttemptProgress, Attempt: a.id, Progress: s.progress})
	}
}

// leaveSeat ends what stands for an attempt in the core, without a failure.
func (r *run) leaveSeat(a *attempt, at sched.Time) {
	r.facts = append(r.facts,
		sched.Event{At: at, Kind: sched.MachineLost, Machine: a.machine},
		sched.Event{At: at + 1, Kind: sched.MachineJoined, Machine: a.machine})
	r.untie(a)
}

func (r *run) untie(a *attempt) {
	delete(r.byID, a.id)
	a.id = 0
}

// advance tells the core the facts, and does what it decides.
func (r *run) advance(at sched.Time) error {
	for i := range r.facts {
		at = max(at, r.facts[i].At)
	}
	decisions, err := r.core.Advance(at, r.facts)
	r.facts = r.facts[:0]
	if err != nil {
		return err
	}
	if r.wake <= at {
		r.wake = sched.Never
	}
	for i := range decisions {
		d := &decisions[i]
		switch d.Kind {
		case sched.Launch:
			r.launch(d)
		case sched.Kill:
			if a := r.byID[d.Attempt]; a != nil {
				r.untie(a)
				a.dropped = d.Reason != sched.MachineGone
			}
		case sched.Commit:
			if a := r.byID[d.Attempt]; a != nil {
				r.untie(a)
				if r.open && a.spent {
					r.won = append(r.won, a)
				}
			}
		case sched.Wake:
			r.wake = d.At
		case sched.Close:
			r.wake = sched.Never
		}
	}
	return nil
}
