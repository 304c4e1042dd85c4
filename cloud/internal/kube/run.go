package kube

import (
	"cmp"
	"container/heap"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// settings are what the core knows of a Job. A core one of whose Jobs has other settings now is made anew.
type settings struct {
	policy      string
	completions int
	law         string     // of durations; "" for what is known
	mean, sd    sched.Time // of durations in earlier runs; 0 if there are none
	attempts    int        // of a task at once; 0 for the default
	clones      int        // of the Job at once; 0 for the default, sched.Unlimited for no bound
	most        int        // pods at once, where the Job shares the seats; 0 for all of them
	size        int64      // of a pod, as the pool counts; 0 is 1
	class       sched.Class
	data        string // DataAnnotation, in a pool of zones
	within      string // zones that its pods may be in, joined by commas; "" for all
	resumable   bool
	deadline    time.Time
	start       time.Time // of the Job
}

// rules are what a core is made from. A core whose rules have changed is made anew.
type rules struct {
	policy, law string
	resumable   bool
	limits      sched.Limits
	shared      bool // by Jobs each of which has a bound of its own
	poolKind
	bandwidth int64 // bytes per second between two zones; 0 for no bound
	confines  bool  // the policy chooses the zone of each pod
}

// alone returns the rules of the core that a Job has for itself.
func (s *settings) alone() rules {
	limits := sched.DefaultLimits()
	if s.attempts > 0 {
		limits.Attempts, limits.OwnAttempts = s.attempts, false
	}
	if s.clones != 0 {
		limits.Clones = sched.CloneBudget{Floor: s.clones}
	}
	return rules{policy: s.policy, law: s.law, resumable: s.resumable, limits: limits}
}

// run is a core, the Jobs that it decides about, and their attempts. What has been seen of pods goes in by step, which
// leaves behind which attempts there should be.
//
// The core's machines are seats of one slot, at the site of their zone or of their class. A seat is lost and joins
// again when its attempt ends and nobody is to blame, which is how the core hears of an attempt that was no failure.
//
// Attempts of the core and pods are tied loosely. When the policy launches a task that has a pod which no attempt
// stands for, the pod becomes the attempt's. That makes a restart of the controller no special case: a new run lives
// through the past of the pods that it finds, and each launch takes up the pod that an earlier controller made of it.
type run struct {
	rules
	start   time.Time // the instant 0 of the core
	core    *sched.Core
	open    bool // the core has had its first facts, and the past is over
	members map[sched.JobID]*member
	byID    map[sched.AttemptID]*attempt
	names   []string   // of the parts; one without a name if there are none
	seats   []seating  // by part
	up      []bool     // by machine: the seat may be used
	wake    sched.Time // as the core asked last
	due     news       // that the core does not know yet
	coming  []*member  // whose arrival is among it, in order
	gone    []*member  // that the core has to forget
	touched []*member  // of which there should be other attempts since they were asked for
	again   []*attempt // that something was told of, and of which there may be more to tell
	facts   []sched.Event
	fits    int64     // size of the pods that free seats are for
	bySize  []*member // the largest pods first

	newPolicy func(spec string) (sched.Policy, error) // for plays and turns; nil if nothing is played
	decides   string                                  // the policy, of several
	turns     []PoolTurn                              // that are to come
	forecast  forecast
	came      []arrived // as the pool knows them
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
	of      *member
	id      sched.AttemptID // what stands for it in the core, 0 if nothing does
	machine sched.MachineID
	part    int  // of the pod, while something stands for it
	there   bool // and the pod is there
	clone   bool
	seen    bool // there was a pod
	begun   bool // the core knows that its containers have started, of what stands for it now
	fate    fate
	node    string    // "" before it has one
	told    float64   // progress
	wanted  bool      // an event said that it would be made if this was no dry run
	held    bool      // an event said that there is no room for it
	offset  int64     // that it goes on from
	asked   time.Time // when a clone's pod could first have been made; zero for never
	refused time.Time // when the API server did not let a clone be made; zero for never
}

func (a *attempt) compare(b ref) int {
	return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.number, b.number))
}

// maxForgiven keeps the core from ending the job for failures: the Job's own limits do that.
const maxForgiven = math.MaxUint16 - 1

// newRun makes a run without Jobs.
func newRun(how rules, p sched.Policy, start time.Time) (*run, error) {
	r := &run{
		rules: how, start: start, core: sched.New(p, how.limits), members: map[sched.JobID]*member{},
		byID: map[sched.AttemptID]*attempt{}, wake: sched.Never, names: how.names(),
	}
	r.seats = make([]seating, len(r.names))
	r.core.WaitToBegin() // for nodes, images, and the ends of pauses
	if n := how.network(); n != nil {
		return r, r.core.Connect(n)
	}
	return r, nil
}

// join takes in a Job, which has been looked at. To a run that has lived through its past it comes now; to another it
// came when it was started. Jobs join that in order of their starts.
func (r *run) join(m *member) error {
	spec := m.spec(r)
	job, err := r.core.Submit(spec)
	if err != nil {
		return err
	}
	m.run, m.job, m.first = r, job, r.core.View().Stage(r.core.View().Job(job).FirstStage).First
	r.members[job] = m
	r.enlist(m)
	r.coming = append(r.coming, m)
	return nil
}

// leave lets a Job go. The core hears of it in the next step.
func (r *run) leave(m *member) {
	r.gone = append(r.gone, m)
	for z := range m.idle {
		r.seats[z].idle -= m.idle[z]
	}
	m.idle = nil
}

// dismiss tells the core of the Jobs that have left.
func (r *run) dismiss(at sched.Time) error {
	for _, m := range r.gone {
		if r.core.View().Job(m.job).State <= sched.JobActive {
			for _, a := range m.tied {
				r.withdraw(a.machine, at+1)
			}
			r.facts = append(r.facts, sched.Event{At: at, Kind: sched.JobCancelled, Job: m.job})
		}
	}
	if err := r.advance(at); err != nil {
		return err
	}
	at = max(at, r.now())
	for _, m := range r.gone {
		r.facts = append(r.facts, sched.Event{At: at, Kind: sched.JobRetired, Job: m.job})
		delete(r.members, m.job)
		r.strike(m)
	}
	r.coming = slices.DeleteFunc(r.coming, func(m *member) bool { return slices.Contains(r.gone, m) })
	r.gone = nil
	return nil
}

func (r *run) instant(t time.Time) sched.Time { return sched.Time(t.Sub(r.start)) }
func (r *run) now() sched.Time                { return r.core.View().Now() }

// step takes in what the Jobs' pods show since the last one, and how much each zone has for pods at once, and asks the
// policy.
func (r *run) step(now time.Time, capacity taken) error {
	at := sched.Time(0)
	if r.open {
		at = max(r.now(), r.instant(now))
	}
	if len(r.gone) > 0 {
		if err := r.dismiss(at); err != nil {
			return err
		}
		at = max(at, r.now())
	}
	for z, n := range capacity {
		k := &r.seats[z]
		k.shrunk, k.capacity = k.shrunk || n < k.capacity, n
	}
	if err := r.seat(at); err != nil {
		return err
	}
	for len(r.coming) > 0 && (r.open || r.instant(r.coming[0].start) <= at) {
		r.arrive(at)
	}
	if len(r.facts) > 0 {
		if err := r.advance(at); err != nil {
			return err
		}
	}
	for {
		if err := r.seat(r.now()); err != nil {
			return err
		}
		until := max(r.now(), r.instant(now))
		at := r.next(until)
		switch {
		case len(r.facts) > 0:
			at = r.now()
		case r.turnsBefore(min(at, r.wake, until+1)):
			if err := r.turn(); err != nil {
				return err
			}
			continue
		case r.wake <= at && r.wake <= until:
			at = max(r.wake, r.now())
		case at == sched.Never:
			r.open = true
			return nil
		default:
			r.tellAll(at, until)
		}
		if err := r.advance(at); err != nil {
			return err
		}
	}
}

// arrive tells the core of the first Job to come.
func (r *run) arrive(at sched.Time) {
	r.press(r.coming[0], at)
	r.facts = append(r.facts, sched.Event{At: at, Kind: sched.JobArrived, Job: r.coming[0].job})
	r.coming = r.coming[1:]
}

// item is something that the core does not know of an attempt, and when it was.
type item struct {
	at sched.Time // sched.Never if only now is known
	a  *attempt
	id sched.AttemptID // that it was about
}

// news is a heap of items, the earliest first.
type news []item

func (n news) Len() int           { return len(n) }
func (n news) Less(i, j int) bool { return n[i].at < n[j].at }
func (n news) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }
func (n *news) Push(x any)        { *n = append(*n, x.(item)) }
func (n *news) Pop() any {
	last := (*n)[len(*n)-1]
	*n = (*n)[:len(*n)-1]
	return last
}

// ask notes what there is to tell about an attempt.
func (r *run) ask(a *attempt) {
	if at, any := r.news(a); any {
		heap.Push(&r.due, item{at, a, a.id})
	}
}

// holds tells whether an item is still news.
func (r *run) holds(x *item) bool {
	if x.id == 0 || x.a.id != x.id {
		return false
	}
	at, any := r.news(x.a)
	return any && at == x.at
}

// next returns the first instant at which there is something to tell; sched.Never if there is nothing. Pods tell their
// times to the second, and late; for the core nothing happens before what it knows already, nor after until.
func (r *run) next(until sched.Time) sched.Time {
	for len(r.due) > 0 && !r.holds(&r.due[0]) {
		heap.Pop(&r.due)
	}
	at := sched.Never
	if len(r.due) > 0 {
		at = max(r.now(), min(r.due[0].at, until))
	}
	if len(r.coming) > 0 {
		at = min(at, max(r.now(), min(r.instant(r.coming[0].start), until)))
	}
	return at
}

// tellAll makes facts of all that there is to tell of an instant, in order of Job, index and number.
func (r *run) tellAll(at, until sched.Time) {
	for len(r.coming) > 0 && min(r.instant(r.coming[0].start), until) <= at {
		r.arrive(at)
	}
	var told []*attempt
	for len(r.due) > 0 && min(r.due[0].at, until) <= at {
		if x := heap.Pop(&r.due).(item); r.holds(&x) {
			told = append(told, x.a)
		}
	}
	slices.SortFunc(told, func(a, b *attempt) int { return cmp.Or(cmp.Compare(a.of.job, b.of.job), a.compare(b.ref)) })
	r.again = slices.Compact(told)
	for _, a := range r.again {
		r.tell(a, at, until)
	}
}

// news tells whether there is something about an attempt that the core does not know, and when it was; sched.Never if
// only now is known.
func (r *run) news(a *attempt) (at sched.Time, any bool) {
	s := a.of.sights[a.ref]
	switch {
	case s == nil:
		return sched.Never, a.seen || a.of.over.has(a.index)
	case !a.begun && !s.begun.IsZero():
		return r.instant(s.begun), true
	case s.phase == succeeded || s.phase == failed || s.phase == gone:
		if s.ended.IsZero() {
			return sched.Never, true
		}
		return r.instant(s.ended), true
	}
	return sched.Never, a.of.over.has(a.index) || s.progress > a.told && (!a.of.resumable || s.offset > 0)
}

// tell makes the news about an attempt facts.
func (r *run) tell(a *attempt, at, until sched.Time) {
	s := a.of.sights[a.ref]
	switch {
	case s != nil && !a.begun && !s.begun.IsZero():
		a.begun = true
		r.facts = append(r.facts, sched.Event{At: at, Kind: sched.AttemptBegan, Attempt: a.id})
	case s != nil && s.phase == succeeded:
		a.fate = spent
		if r.open && !s.ended.IsZero() {
			a.of.late.add(time.Duration(until-r.instant(s.ended)), took(s))
		}
		r.vacate(a, at)
		r.facts = append(r.facts, sched.Event{At: at, Kind: sched.AttemptDone, Attempt: a.id, Span: s.span()})
	case a.of.over.has(a.index): // by another attempt, or for good: the core has nothing left to do either
		r.vacate(a, at)
		r.facts = append(r.facts, sched.Event{At: at, Kind: sched.AttemptDone, Attempt: a.id})
	case s != nil && s.phase == failed && a.of.indexes[a.index].failures < maxForgiven:
		a.fate = spent
		a.of.indexes[a.index].failures++
		r.press(a.of, at)
		r.withdraw(a.machine, at+1)
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
	if r.press(a.of, at); r.floating() {
		r.takeBack(a.machine, at)
	} else {
		r.facts = append(r.facts,
			sched.Event{At: at, Kind: sched.MachineLost, Machine: a.machine},
			sched.Event{At: at + 1, Kind: sched.MachineJoined, Machine: a.machine})
	}
	r.untie(a)
}

// vacate is for an attempt that ends its task, which ends all attempts of that, and may let others of the Job wait.
func (r *run) vacate(a *attempt, at sched.Time) {
	r.press(a.of, at)
	for _, b := range a.of.indexes[a.index].attempts {
		if b.id != 0 {
			r.withdraw(b.machine, at+1)
		}
	}
}

// untie leaves a pod without an attempt of the core that it is.
func (r *run) untie(a *attempt) {
	delete(r.byID, a.id)
	delete(a.of.tied, a.id)
	r.occupy(a, -1)
	r.seats[r.partWith(a.machine)].taken--
	a.id = 0
	r.touch(a.of)
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
	defer r.askAgain()
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
			r.close(d.Job)
		case sched.Pace:
			// Options.NewPolicy should not have made it
			return errors.New("kube: the policy sets the speed of the machines")
		}
	}
	return nil
}

// askAgain looks for more to tell of the attempts of which something was told.
func (r *run) askAgain() {
	for _, a := range r.again {
		if a.id != 0 {
			r.ask(a)
		}
	}
	r.again = r.again[:0]
}

// touch notes that what there should be of a Job has changed.
func (r *run) touch(m *member) {
	if !m.touched {
		m.touched = true
		r.touched = append(r.touched, m)
	}
}

// close notes that a Job is over to the core.
func (r *run) close(job sched.JobID) {
	v := r.core.View()
	if m := r.members[job]; m != nil && v.Job(job).State == sched.JobStopped {
		r.touch(m)
		m.gaveUp.Store(!slices.Contains(r.gone, m))
	}
	if _, any := v.ActiveJob(0); !any {
		r.wake = sched.Never
	}
}

// launch ties an attempt of the core to a pod of its task that nothing stands for, or else to one that is to be made.
func (r *run) launch(d *sched.Decision) {
	m := r.members[d.Job]
	index := m.tasks[d.Task-m.first]
	h := &m.indexes[index]
	at := slices.IndexFunc(h.attempts, func(a *attempt) bool {
		return a.id == 0 && a.fate == open && (m.sights[a.ref] != nil || !a.seen) && r.welcome(a)
	})
	if at < 0 {
		at = len(h.attempts)
		number := 0
		if at > 0 {
			number = h.attempts[at-1].number + 1
		}
		h.attempts = append(h.attempts, &attempt{ref: ref{index, number}, of: m})
	}
	a := h.attempts[at]
	a.id, a.machine, a.begun = d.Attempt, d.Machine, false
	r.byID[a.id], m.tied[a.id] = a, a
	r.settle(a)
	r.occupy(a, 1)
	r.seats[r.partWith(a.machine)].taken++
	r.touch(m)
	if !a.seen {
		a.clone, a.offset = r.core.View().Attempt(d.Attempt).Clone, m.saved(index, d.From)
	}
	r.ask(a)
}
