package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// What is asked of an engine reaches its loop through a channel. The loop takes in all that has been asked by now, has
// one record of the journal for it, and answers when that is on the disk: however many ask at once, they wait for one
// sync, or two.

// ask is something asked of an engine. Its functions are called on the loop's goroutine.
type ask struct {
	do    func() error // looks whether it can be done, and adds to the batch
	after func()       // called when the batch is in the journal; may be nil
	reads bool         // changes nothing
	done  chan error   // answered once
}

// ask has something done. Once the loop has taken it, the answer is waited for even if ctx is done, for then it is
// sure to come, and to be true.
func (e *Engine) ask(ctx context.Context, do func() error, after func()) error {
	return e.send(ctx, &ask{do: do, after: after})
}

// send has a question or an order taken by the loop, and returns the answer.
func (e *Engine) send(ctx context.Context, a *ask) error {
	a.done = make(chan error, 1)
	select {
	case e.asks <- a:
	case <-ctx.Done():
		return ctx.Err()
	case <-e.stopped:
		return ErrStopped
	}
	select {
	case err := <-a.done:
		return err
	case <-e.stopped:
	}
	select {
	case err := <-a.done:
		return err
	default:
		return ErrStopped
	}
}

// take begins what is asked, and whatever else has been asked by now.
func (e *Engine) take(a *ask) {
	for more := true; more; {
		if err := a.do(); err != nil {
			a.done <- err
		} else {
			e.taken = append(e.taken, a)
		}
		select {
		case a = <-e.asks:
		default:
			more = false
		}
	}
}

func (a *ask) answer(err error) {
	if err == nil && a.after != nil {
		a.after()
	}
	a.done <- err
}

// answer answers what was taken. What changes anything is on the disk then.
func (e *Engine) answer(err error) error {
	if err == nil && slices.ContainsFunc(e.taken, func(a *ask) bool { return !a.reads }) {
		err = e.journal.Sync()
	}
	for _, a := range e.taken {
		a.answer(err)
	}
	clear(e.taken)
	e.taken = e.taken[:0]
	return err
}

// tell adds a fact about a job that is not over. What is so already is no error: asking twice is asking once.
func (e *Engine) tell(ctx context.Context, id sched.JobID, kind sched.EventKind) error {
	return e.ask(ctx, func() error {
		if err := e.unfinished(id); err != nil {
			return err
		}
		e.fact(sched.Event{At: e.now(), Kind: kind, Job: id})
		return nil
	}, nil)
}

func (e *Engine) unfinished(id sched.JobID) error {
	j := e.past.jobs[id]
	switch {
	case j == nil:
		return ErrNoJob
	case e.core.View().Job(id).State > sched.JobActive:
		return ErrOver
	}
	return nil
}

// Submit takes in a job, which may start at once unless it is Held. Its Spec.Deadline counts from now.
func (e *Engine) Submit(ctx context.Context, given *trace.JournalJob) (sched.JobID, error) {
	j := *given
	err := e.ask(ctx, func() (err error) {
		if e.shut {
			return ErrDraining
		}
		if err := e.roomFor(&j); err != nil {
			return err
		}
		if j.Spec.Deadline > 0 {
			e.catchUp(time.Now().Round(0), true) // or a later look would take from it what the machine has slept
			j.Spec.Deadline += min(e.now(), sched.Never-1-j.Spec.Deadline)
		}
		if len(j.Stages) != len(j.Spec.Stages) {
			return fmt.Errorf("%d names for %d stages", len(j.Stages), len(j.Spec.Stages))
		}
		if j.ID, err = e.core.Submit(&j.Spec); err != nil {
			return err
		}
		e.batch.Jobs = append(e.batch.Jobs, &j)
		if !j.Held {
			e.fact(sched.Event{At: e.now(), Kind: sched.JobArrived, Job: j.ID})
		}
		return nil
	}, nil)
	return j.ID, err
}

// Release lets a job start that was submitted Held.
func (e *Engine) Release(ctx context.Context, id sched.JobID) error {
	return e.tell(ctx, id, sched.JobArrived)
}

// Cancel ends a job and what runs of it. One that is over stays as it is.
func (e *Engine) Cancel(ctx context.Context, id sched.JobID) error {
	return e.tell(ctx, id, sched.JobCancelled)
}

// Pause lets nothing more of a job start. What runs of it goes on to its end.
func (e *Engine) Pause(ctx context.Context, id sched.JobID) error {
	return e.tell(ctx, id, sched.JobPaused)
}

// Continue takes a Pause back.
func (e *Engine) Continue(ctx context.Context, id sched.JobID) error {
	return e.tell(ctx, id, sched.JobContinued)
}

// Change changes a job's rank among others.
func (e *Engine) Change(ctx context.Context, id sched.JobID, c Change) error {
	return e.ask(ctx, func() error {
		if err := e.unfinished(id); err != nil {
			return err
		}
		row := e.core.View().Job(id)
		f := sched.Event{At: e.now(), Kind: sched.JobChanged, Job: id, Priority: row.Priority, Weight: row.Weight, Deadline: row.Deadline}
		if c.Priority != nil {
			f.Priority = *c.Priority
		}
		if c.Weight != nil {
			if f.Weight = *c.Weight; !(f.Weight >= 0 && f.Weight <= math.MaxFloat64) {
				return fmt.Errorf("weight: expected a finite number of at least 0, not %v", f.Weight)
			}
		}
		if c.Deadline != nil {
			if f.Deadline = *c.Deadline; f.Deadline < 0 {
				return fmt.Errorf("deadline: %v is before the engine began", f.Deadline)
			}
		}
		if f.Deadline == sched.Never {
			f.Deadline = 0
		}
		e.fact(f)
		return nil
	}, nil)
}

// Retry has a job that failed or was cancelled go on: what is done stays done. Of one that has succeeded and could not
// be published it publishes the results again.
func (e *Engine) Retry(ctx context.Context, id sched.JobID) error {
	if err := e.settled(ctx, id); err != nil {
		return err
	}
	return e.ask(ctx, func() error {
		j := e.past.jobs[id]
		switch {
		case j == nil || j.retired:
			return ErrNoJob
		case e.shut:
			return ErrDraining
		case j.row().State <= sched.JobActive || j.settling != nil:
			return ErrNotOver
		case j.row().State == sched.JobStopped && e.core.View().Stage(j.row().FirstStage).State != sched.StageClosed:
			return errors.New("the job was cancelled before it began; submit it again")
		case j.row().State == sched.JobSucceeded:
			if j.failure == nil {
				return ErrOver
			}
			j.failure = nil
			e.settle(j)
			return nil
		}
		j.failure, j.told = nil, false
		e.fact(sched.Event{At: e.now(), Kind: sched.JobRetried, Job: id})
		return nil
	}, nil)
}

// Retire forgets jobs that are over and whose Finish has returned nil; those that are forgotten already are no error.
func (e *Engine) Retire(ctx context.Context, ids ...sched.JobID) error {
	for _, id := range ids {
		if err := e.settled(ctx, id); err != nil && err != ErrNoJob {
			return err
		}
	}
	return e.ask(ctx, func() error {
		for _, id := range ids {
			if j := e.past.jobs[id]; j != nil && !j.told {
				return ErrNotOver
			}
		}
		for _, id := range ids {
			if j := e.past.jobs[id]; j != nil && !j.retired {
				j.retired = true
				e.fact(sched.Event{At: e.now(), Kind: sched.JobRetired, Job: id})
			}
		}
		return nil
	}, nil)
}

// settled waits until what is done beside the loop for a job that is over is done.
func (e *Engine) settled(ctx context.Context, id sched.JobID) error {
	var wait <-chan struct{}
	err := e.send(ctx, &ask{reads: true, do: func() error {
		j := e.past.jobs[id]
		if j == nil {
			return ErrNoJob
		}
		wait = j.settling
		return nil
	}})
	if err != nil || wait == nil {
		return err
	}
	select {
	case <-wait:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-e.stopped:
		return ErrStopped
	}
}

// SetPolicy has another policy go on, or the same with other limits. It is told of what is there, and that runs on.
func (e *Engine) SetPolicy(ctx context.Context, policy string, seed uint64, l sched.Limits) error {
	return e.setPolicy(ctx, policy, seed, l, false)
}

// HandTo is SetPolicy, but no attempt that runs will end by a decision of the policy: see [sched.Snapshot.Keep].
func (e *Engine) HandTo(ctx context.Context, policy string, seed uint64, l sched.Limits) error {
	return e.setPolicy(ctx, policy, seed, l, true)
}

func (e *Engine) setPolicy(ctx context.Context, policy string, seed uint64, l sched.Limits, keep bool) error {
	var refused error
	err := e.ask(ctx, func() error {
		set := func(h *trace.JournalHeader) { h.Policy, h.Seed, h.Limits = policy, seed, l }
		h := *e.header
		set(&h)
		p, err := e.policies(&h)
		if err != nil {
			return err
		}
		if sched.Paces(p) {
			return ErrPaces
		}
		e.next, e.keep, e.crowded.refused = set, keep, &refused
		return nil
	}, nil)
	return cmp.Or(err, refused)
}

// maxSlots bounds the slots of a machine, as the core does.
const maxSlots = 1 << 20

// Resize changes how many slots a machine has, by its place in Config.Machines.
func (e *Engine) Resize(ctx context.Context, machine, slots int) error {
	return e.ask(ctx, func() error {
		switch {
		case machine < 0 || machine >= len(e.present):
			return fmt.Errorf("there is no machine %d", machine)
		case slots < 1 || slots > maxSlots:
			return fmt.Errorf("expected a number of slots between 1 and %d, not %d", maxSlots, slots)
		}
		e.slots[e.present[machine]] = slots
		if !e.shut {
			e.resize(e.now(), math.MaxInt)
		}
		return nil
	}, nil)
}

// Drain starts nothing more. When all that runs has ended, Loop returns; jobs that are not done wait for the next
// engine.
func (e *Engine) Drain(ctx context.Context) error {
	return e.ask(ctx, func() error {
		e.shut = true
		for _, m := range e.present {
			e.tellRoom(m, e.now(), 0)
		}
		return nil
	}, nil)
}

// Look calls f on the loop's goroutine, which waits for it. Nothing that f is given may be kept.
func (e *Engine) Look(ctx context.Context, f func(Sight)) error {
	return e.send(ctx, &ask{reads: true, do: func() error { return nil }, after: func() { f(Sight{e}) }})
}

// Sight is what an engine lets see of itself.
type Sight struct{ e *Engine }

// View returns what the core knows.
func (s Sight) View() *sched.View { return s.e.core.View() }

// Snapshot returns all that the core knows, for who goes on with it elsewhere.
func (s Sight) Snapshot() *sched.Snapshot { return s.e.core.Snapshot() }

// Job returns a job by its id; nil if it is retired or never was.
func (s Sight) Job(id sched.JobID) *Job { return s.e.past.jobs[id] }

// Jobs yields all jobs that are not retired, by id.
func (s Sight) Jobs() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for _, j := range s.e.Jobs() {
			if !yield(j) {
				return
			}
		}
	}
}

// Running yields the attempts that run.
func (s Sight) Running() iter.Seq2[*Job, *Record] {
	return func(yield func(*Job, *Record) bool) {
		for _, x := range s.e.past.running {
			if !yield(x.Job, &x.records[x.at]) {
				return
			}
		}
	}
}

// Policy returns the policy that decides, and how its limits are.
func (s Sight) Policy() (spec string, seed uint64, l sched.Limits) {
	h := s.e.header
	return h.Policy, h.Seed, h.Limits
}

// Slots returns how many slots a machine should have, by its place in Config.Machines.
func (s Sight) Slots(machine int) int { return s.e.slots[s.e.present[machine]] }

// Jobs returns all jobs that are not retired, by id. It is for the time before the loop; see also [Engine.Look].
func (e *Engine) Jobs() []*Job {
	all := make([]*Job, 0, len(e.past.jobs))
	for _, id := range slices.Sorted(maps.Keys(e.past.jobs)) {
		all = append(all, e.past.jobs[id])
	}
	return all
}
