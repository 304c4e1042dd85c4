package kube

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// settings are what a run is made from. A run whose Job's settings have changed is made anew.
type settings struct {
	policy      string
	completions int
	law         string     // of durations; "" for what is known
	mean, sd    sched.Time // of durations in earlier runs; 0 if there are none
	attempts    int        // of a task at once; 0 for the default
	clones      int        // of the Job at once; 0 for the default, sched.Unlimited for no bound
	resumable   bool
	deadline    time.Time
	start       time.Time // of the Job: the instant 0 of the core
}

// run is a Job's core and the attempts that it decides about. What has been seen of pods goes in by step, which leaves
// behind which attempts there should be.
//
// The core's machines are seats of one slot. A seat is lost and joins again when its attempt ends and nobody is to
// blame, which is how the core hears of an attempt that was no failure.
//
// Attempts of the core and pods are tied loosely. When the policy launches a task that has a pod which no attempt
// stands for, the pod becomes the attempt's. That makes a restart of the controller no special case: a new run lives
// through the past of the pods that it finds, and each launch takes up the pod that an earlier controller made of it.
type run struct {
	settings
	core    *sched.Core
	open    bool           // the core has had its first facts, and the past is over
	tasks   []int          // index of each task of the core
	task    []sched.TaskID // by index
	indexes []history      // by index
	byID    map[sched.AttemptID]*attempt
	up      []bool         // by machine: the seat may be used
	wake    sched.Time     // as the core asked last
	sights  map[ref]*sight // of this step
	over    indexSet       // of this step
	facts   []sched.Event
}

// history is what happened to an index.
type history struct {
	attempts []*attempt // in order of number
	failures int        // told to the core
}

// fate is what became of an attempt. Only one whose fate is open can stand for an attempt of the core.
type fate uint8

const (
	open    fate = iota
	spent        // its end was told to the core
	dropped      // the core or the policy has ended it
	won          // its result is the task's
)

// attempt is a pod that there is, was or should be.
type attempt struct {
	ref
	id      sched.AttemptID // what stands for it in the core, 0 if nothing does
	machine sched.MachineID
	clone   bool
	seen    bool // there was a pod
	begun   bool // the core knows that its containers have started, of what stands for it now
	fate    fate
	node    string    // "" before it has one
	told    float64   // progress
	wanted  bool      // an event said that it would be made if this was no dry run
	held    bool      // an event said that there is no room for it
	offset  int64     // that it goes on from
	refused time.Time // when the API server did not let a clone be made; zero for never
}

func (a *attempt) compare(b ref) int {
	return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.number, b.number))
}

// maxForgiven keeps the core from ending the job for failures: the Job's own limits do that.
const maxForgiven = math.MaxUint16 - 1

// newRun makes a run of what is left to do. Indexes that are over and have no pod to tell how long it took are not the
// core's any more.
func newRun(s settings, p sched.Policy, over indexSet, sights []sight) (*run, error) {
	limits := sched.DefaultLimits()
	if s.attempts > 0 {
		limits.Attempts, limits.OwnAttempts = s.attempts, false
	}
	if s.clones != 0 {
		limits.Clones = sched.CloneBudget{Floor: s.clones}
	}
	r := &run{
		settings: s, core: sched.New(p, limits), task: make([]sched.TaskID, s.completions), indexes: make([]history, s.completions),
		byID: map[sched.AttemptID]*attempt{}, wake: sched.Never,
	}
	shown := make(indexSet, s.completions)
	for i := range sights {
		if sights[i].phase == succeeded {
			shown[sights[i].index] = true
		}
	}
	for i := range s.completions {
		if !over.has(i) || shown[i] {
			r.task[i] = sched.TaskID(len(r.tasks))
			r.tasks = append(r.tasks, i)
		}
	}
	r.core.WaitToBegin() // for nodes, images, and the ends of pauses
	spec := sched.JobSpec{Retries: maxForgiven, Stages: []sched.StageSpec{{Tasks: len(r.tasks), Mean: s.mean, SD: s.sd, Resumable: s.resumable}}}
	if !s.deadline.IsZero() {
		spec.Deadline = max(1, r.instant(s.deadline))
	}
	_, err := r.core.Submit(&spec)
	return r, err
}

func (r *run) instant(t time.Time) sched.Time { return sched.Time(t.Sub(r.start)) }
func (r *run) now() sched.Time                { return r.core.View().Now() }

// step takes in what the pods show, the indexes that are over, and how many pods there may be at once, and asks the
// policy.
func (r *run) step(now time.Time, sights []sight, over indexSet, seats int) error {
	r.over = over
	r.look(sights)
	at := sched.Time(0)
	if !r.open {
		r.facts = append(r.facts, sched.Event{Kind: sched.JobArrived})
	} else {
		at = max(r.now(), r.instant(now))
	}
	if err := r.seat(seats, at); err != nil {
		return err
	}
	if len(r.facts) > 0 {
		if err := r.advance(at); err != nil {
			return err
		}
	}
	for {
		until := max(r.now(), r.instant(now))
		at, due := r.due(until)
		switch {
		case r.wake <= at && r.wake <= until:
			at = max(r.wake, r.now())
		case len(due) == 0:
			r.open = true
			return nil
		default:
			for _, a := range due {
				r.tell(a, at)
			}
		}
		if err := r.advance(at); err != nil {
			return err
		}
	}
}

// look notes the sights, and pods that it meets for the first time.
func (r *run) look(sights []sight) {
	r.sights = make(map[ref]*sight, len(sights))
	for i := range sights {
		s := &sights[i]
		r.sights[s.ref] = s
		h := &r.indexes[s.index]
		at, known := slices.BinarySearchFunc(h.attempts, s.ref, (*attempt).compare)
		if !known {
			h.attempts = slices.Insert(h.attempts, at, &attempt{ref: s.ref, clone: s.clone})
		}
		h.attempts[at].seen, h.attempts[at].node = true, s.node
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

// due returns the attempts about which there is something to tell, and when it was: the first such instant, in order of
// index and number. Pods tell their times to the second, and late; for the core nothing happens before what it knows
// already, nor after until.
func (r *run) due(until sched.Time) (at sched.Time, due []*attempt) {
	at = sched.Never
	for _, a := range r.byID {
		t, news := r.news(a)
		if !news {
			continue
		}
		if t = max(r.now(), min(t, until)); t < at {
			at, due = t, due[:0]
		}
		if t == at {
			due = append(due, a)
		}
	}
	slices.SortFunc(due, func(a, b *attempt) int { return a.compare(b.ref) })
	return at, due
}

// news tells whether there is something about an attempt that the core does not know, and when it was; sched.Never if
// only now is known.
func (r *run) news(a *attempt) (at sched.Time, any bool) {
	s := r.sights[a.ref]
	switch {
	case s == nil:
		return sched.Never, a.seen || r.over.has(a.index)
	case !a.begun && !s.begun.IsZero():
		return r.instant(s.begun), true
	case s.phase == succeeded || s.phase == failed || s.phase == gone:
		if s.ended.IsZero() {
			return sched.Never, true
		}
		return r.instant(s.ended), true
	}
	return sched.Never, r.over.has(a.index) || s.progress > a.told && (!r.resumable || s.offset > 0)
}

// tell makes the news about an attempt facts.
func (r *run) tell(a *attempt, at sched.Time) {
	s := r.sights[a.ref]
	switch {
	case s != nil && !a.begun && !s.begun.IsZero():
		a.begun = true
		r.facts = append(r.facts, sched.Event{At: at, Kind: sched.AttemptBegan, Attempt: a.id})
	case s != nil && s.phase == succeeded:
		a.fate = spent
		r.facts = append(r.facts, sched.Event{At: at, Kind: sched.AttemptDone, Attempt: a.id})
	case r.over.has(a.index): // by another attempt, or for good: the core has nothing left to do either
		r.facts = append(r.facts, sched.Event{At: at, Kind: sched.AttemptDone, Attempt: a.id})
	case s != nil && s.phase == failed && r.indexes[a.index].failures < maxForgiven:
		a.fate = spent
		r.indexes[a.index].failures++
		r.facts = append(r.facts, sched.Event{At: at, Kind: sched.AttemptFailed, Attempt: a.id})
		r.untie(a)
	case s == nil || s.phase == failed || s.phase == gone:
		a.fate = spent
		r.leaveSeat(a, at)
	default:
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

// untie leaves a pod without an attempt of the core that it is.
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
				if d.Reason != sched.MachineGone {
					a.fate = dropped
				}
			}
		case sched.Commit:
			if a := r.byID[d.Attempt]; a != nil {
				r.untie(a)
				if a.fate == spent {
					a.fate = won
				}
			}
		case sched.Wake:
			r.wake = d.At
		case sched.Close:
			r.wake = sched.Never
		case sched.Pace:
			// Options.NewPolicy should not have made it
			return errors.New("kube: the policy sets the speed of the machines")
		}
	}
	return nil
}

// launch ties an attempt of the core to a pod of its task that nothing stands for, or else to one that is to be made.
func (r *run) launch(d *sched.Decision) {
	index := r.tasks[d.Task]
	h := &r.indexes[index]
	at := slices.IndexFunc(h.attempts, func(a *attempt) bool {
		return a.id == 0 && a.fate == open && (r.sights[a.ref] != nil || !a.seen)
	})
	if at < 0 {
		at = len(h.attempts)
		number := 0
		if at > 0 {
			number = h.attempts[at-1].number + 1
		}
		h.attempts = append(h.attempts, &attempt{ref: ref{index, number}})
	}
	a := h.attempts[at]
	a.id, a.machine, a.begun = d.Attempt, d.Machine, false
	r.byID[a.id] = a
	if !a.seen {
		a.clone, a.offset = r.core.View().Attempt(d.Attempt).Clone, r.saved(index, d.From)
	}
}

// saved returns the furthest offset that attempts of a task have reported at or before a fraction of its work, 0 if
// there is none. An attempt that went on from an offset and failed casts doubt on what there was before it.
func (r *run) saved(task int, from float64) int64 {
	doubt := -1
	for key, s := range r.sights {
		if key.index == task && s.resumed && s.phase == failed {
			doubt = max(doubt, key.number)
		}
	}
	best, offset := 0.0, int64(0)
	for key, s := range r.sights {
		if key.index == task && key.number > doubt && s.offset > 0 && s.progress <= from && s.progress > best {
			best, offset = s.progress, s.offset
		}
	}
	return offset
}

// gaveUp tells whether the policy has given up the Job.
func (r *run) gaveUp() bool { return r.core.View().Job(0).State == sched.JobStopped }

// missing returns the attempts that should have a pod and never had one: originals first, by index.
func (r *run) missing() []*attempt {
	var all []*attempt
	for _, a := range r.byID {
		if !a.seen && !r.over.has(a.index) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *attempt) int {
		if a.clone != b.clone {
			return map[bool]int{true: 1, false: -1}[a.clone]
		}
		return a.compare(b.ref)
	})
	return all
}

// promote makes originals of clones that have no pod and nobody to be a clone of: their originals have ended without
// result. Else a task would wait for a clone that may not be made, because of a quota or a gate, or since it is a dry
// run.
func (r *run) promote(made func(*attempt) bool) {
	for _, a := range r.missing() {
		if !a.clone || made(a) {
			continue
		}
		alone := !slices.ContainsFunc(r.indexes[a.index].attempts, func(b *attempt) bool { return b != a && b.id != 0 && (made(b) || !b.clone) })
		if alone {
			a.clone, a.refused = false, time.Time{}
		}
	}
}

// surplus returns the attempts whose pods should end: losers, and those that have no seat. A pod that nothing stands
// for, of an index that is not over, may go on while there is a seat for it: the policy is likely to take it up.
func (r *run) surplus(seats int) (losers, others []*attempt) {
	var idle []*attempt
	for key, s := range r.sights {
		h := &r.indexes[key.index]
		at, _ := slices.BinarySearchFunc(h.attempts, key, (*attempt).compare)
		a := h.attempts[at]
		switch {
		case !s.live || s.leaving:
		case r.over.has(a.index), a.fate != open:
			losers = append(losers, a)
		case a.id == 0:
			idle = append(idle, a)
		}
	}
	slices.SortFunc(idle, func(a, b *attempt) int { return a.compare(b.ref) })
	room := max(0, seats-r.core.View().Cluster().Live())
	return losers, idle[min(room, len(idle)):]
}
