package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// job is the only job of a run.
const job sched.JobID = 0

// Run is one job on its way, from its first start to its end, across restarts of the engine.
type Run struct {
	Header    *trace.JournalHeader
	Recovered int  // tasks that were done when the run was opened
	Retried   bool // tasks had failed for good when the run was opened, and are tried again

	core     *sched.Core
	journal  *trace.Journal
	pulse    pulse
	change   *trace.Settings // to be taken over at the start
	works    [][]byte
	present  int // machines that are there: the first ones of the header
	policies Policies
	past     *history
	exec     Executor
	watch    Watcher
	start    time.Time // wall clock at sched.Time 0, with a monotonic reading
	over     bool
	notes    map[sched.TaskID]Report // last failure of each task that failed
	fetches  fetches
	rooms    rooms
	halt     halt
	gate     *gate       // nil for none
	warned   bool        // of a shortage
	batch    trace.Batch // facts since the last call of the core, and the outputs of attempts that are done
}

// Watcher is told what happens, from the loop's goroutine. Any field may be nil.
type Watcher struct {
	Ended func(r *Record, last Report) // an attempt has ended; last is the executor's report if it failed
	Tick  func(v *sched.View)          // every tenth of a second, and after the last batch
	Short func(why string)             // a machine has refused an attempt, for the first time in the run
	Held  func(why string)             // the gate does something for the first time that a user waits for
}

// ErrPaces is the error of a policy that sets the speed of the machines: processes cannot be made faster.
var ErrPaces = errors.New("the policy sets the speed of the machines, which only works with 'tailcut simulate'")

// Create begins a run and its journal, under the rules of today. The policy must be the one that the header names. It
// is an error if it sets the speed of the machines.
func Create(path string, h *trace.JournalHeader, p sched.Policy) (*Run, error) {
	if sched.Paces(p) {
		return nil, ErrPaces
	}
	h.Rules = trace.JournalRules
	core, err := newCore(h, p)
	if err != nil {
		return nil, err
	}
	j, err := trace.CreateJournal(path, h)
	if err != nil {
		return nil, err
	}
	return newRun(path, h, core, j, newHistory(len(h.Job.Stages))), nil
}

// Open takes up a run from its journal. If its job has failed, it keeps the tasks that are done and forgives the others
// their failures. A record that was being written when the engine died is cut off; it had not been acted on.
func Open(path string, policies Policies) (*Run, error) {
	reader, err := trace.OpenJournalReader(path)
	if err != nil {
		return nil, err
	}
	h := &reader.Header
	p, err := policies(h)
	if err != nil {
		return nil, err
	}
	if sched.Paces(p) {
		return nil, ErrPaces
	}
	past := newHistory(len(h.Job.Stages))
	present := len(h.Machines)
	works := [][]byte{h.Work}
	core, err := Replay(reader, policies, func(c *sched.Core, b *trace.Batch) {
		past.add(c.View(), b, nil)
		if b.Settings != nil {
			present = len(b.Settings.Machines)
			if w := b.Settings.Work; w != nil {
				works = append(works, w)
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("%s: cannot take up the run: %w", path, err)
	}
	j, err := trace.ResumeJournal(path, reader.Size())
	if err != nil {
		return nil, err
	}
	r := newRun(path, h, core, j, past)
	r.policies, r.present, r.works = policies, present, works
	r.Recovered = len(past.winner)
	r.Retried = r.State() == sched.JobBroken || r.State() != sched.JobSucceeded && r.core.View().Job(job).Broken > 0
	r.over = r.State() > sched.JobActive && !r.Retried
	return r, nil
}

func newRun(path string, h *trace.JournalHeader, core *sched.Core, j *trace.Journal, past *history) *Run {
	return &Run{
		Header: h, core: core, journal: j, pulse: pulse{path: pulsePath(path), run: h.Run}, past: past,
		notes: map[sched.TaskID]Report{}, fetches: newFetches(), rooms: newRooms(), halt: halt{after: sched.Unlimited}, present: len(h.Machines), works: [][]byte{h.Work},
	}
}

// Close lets go of a run that is opened and not to be looped.
func (r *Run) Close() error { return r.journal.Close() }

// View returns what the core of the run knows.
func (r *Run) View() *sched.View { return r.core.View() }

// Loop runs the job to its end and publishes its results. Cancelling ctx makes it stop before that, which is no error:
// the job is still active then, and the run can be opened again as after a crash. An error means that the journal or
// the results could not be written, whatever State says; that, too, can be taken up again. What exec still runs is for
// the caller to end.
func (r *Run) Loop(ctx context.Context, exec Executor, watch Watcher) error {
	r.exec, r.watch = exec, watch
	err := errors.Join(r.loop(ctx), r.journal.Close())
	r.pulse.stop(r.over)
	if err == nil && r.State() == sched.JobSucceeded {
		err = exec.Publish()
	}
	return err
}

// Works returns what attempts do, as the header has it: at first, and after each change. The last holds now.
func (r *Run) Works() [][]byte { return r.works }

// State tells how the job stands.
func (r *Run) State() sched.JobState { return r.core.View().Job(job).State }

func (r *Run) loop(ctx context.Context) error {
	if err := r.recommit(); err != nil {
		return err
	}
	if err := r.exec.Clean(); err != nil || r.over {
		return err
	}
	wake := time.NewTimer(time.Hour)
	wake.Stop()
	defer wake.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	if err := r.open(wake); err != nil {
		return err
	}
	for !r.over {
		select {
		case <-ctx.Done():
			return r.leave(wake)
		case <-tick.C:
			r.catchUp(time.Now().Round(0), wake)
			r.pulse.beat(r.now())
			r.tick()
			if r.gate == nil || !r.gate.moves() {
				continue
			}
			r.watchGate(r.now())
		case rep := <-r.exec.Reports():
			r.collect(rep)
		case <-wake.C:
		case <-r.fetches.timer.C:
		case <-r.rooms.timer.C:
		}
		if err := r.step(wake); err != nil {
			return err
		}
	}
	r.tick()
	return nil
}

func (r *Run) tick() {
	if r.watch.Tick != nil {
		r.watch.Tick(r.core.View())
	}
}

// recommit repeats the commit of every finished task: the engine may have died between a journal record and its
// execution.
func (r *Run) recommit() error {
	for task := range r.past.winner {
		a := r.past.winnerOf(task)
		if err := r.exec.Commit(a, r.past.takeOutput(a.ID)); err != nil {
			return err
		}
	}
	return nil
}

// open gives the core its first facts. In a run that was taken up, the machines were lost at the last instant at which
// the engine is known to have been alive, with all that ran there; in a new one, that says nothing new.
func (r *Run) open(wake *time.Timer) error {
	last := max(r.core.View().Now(), r.pulse.last())
	r.start = time.Now()
	if since := sched.Time(r.start.Sub(r.Header.Started.Local())); since > last {
		r.start = r.start.Add(-time.Duration(since))
	} else { // the wall clock was set back: go on just after the last that is known
		r.start = r.start.Add(-time.Duration(last + 1))
	}
	r.rearm(wake) // the core asked for it before the engine died
	now := max(r.now(), last)
	for m := range r.Header.Machines {
		r.batch.Facts = append(r.batch.Facts, sched.Event{At: last, Kind: sched.MachineLost, Machine: sched.MachineID(m)})
	}
	if r.change != nil { // while nothing runs
		if err := r.advance(last, wake); err != nil || r.over {
			return err
		}
		r.batch.Settings, r.present = r.change, len(r.change.Machines)
	}
	for m := range r.present {
		r.batch.Facts = append(r.batch.Facts, sched.Event{At: now, Kind: sched.MachineJoined, Machine: sched.MachineID(m)})
	}
	r.batch.Facts = append(r.batch.Facts, sched.Event{At: now, Kind: sched.JobArrived, Job: job})
	if r.Retried {
		r.batch.Facts = append(r.batch.Facts, sched.Event{At: now, Kind: sched.JobRetried, Job: job})
	}
	if r.gate == nil {
		return r.advance(now, wake)
	}
	for m := range r.present { // until it is known what runs, which is nothing
		r.tellRoom(sched.MachineID(m), now, 0)
	}
	if err := r.advance(now, wake); err != nil || r.over {
		return err
	}
	r.watchGate(r.now())
	return r.step(wake)
}

// leave gives the machines up, so that the journal knows until when attempts ran.
func (r *Run) leave(wake *time.Timer) error {
	now := r.now()
	for m := range r.Header.Machines {
		r.batch.Facts = append(r.batch.Facts, sched.Event{At: now, Kind: sched.MachineLost, Machine: sched.MachineID(m)})
	}
	return r.advance(now, wake)
}

// wakeAt returns when the core wants to be called at the latest, if it does.
func (r *Run) wakeAt() (at sched.Time, asked bool) {
	return r.past.wake, r.past.wake > r.core.View().Now()
}

func (r *Run) rearm(wake *time.Timer) {
	if at, asked := r.wakeAt(); asked {
		wake.Reset(time.Duration(at) - time.Since(r.start))
	}
}

// asleep is how far the wall clock must be ahead of the run's time for the system to have been suspended.
const asleep = 5 * time.Second

// catchUp moves the run's time on to that of the wall clock, whose reading is given without a monotonic one: while the
// system is suspended the run's time stands still, and a deadline does not. A run without deadline loses nothing by
// that, and its policy would take attempts that were suspended for stragglers. Time never goes back.
func (r *Run) catchUp(wall time.Time, wake *time.Timer) {
	ahead := wall.Sub(r.Header.Started.Round(0)) - time.Duration(r.now())
	if r.Header.Job.Deadline == 0 || ahead < asleep {
		return
	}
	r.start = r.start.Add(-ahead)
	r.rearm(wake)
	r.startReady() // sets the timer of what is fetched
}

func (r *Run) now() sched.Time { return max(r.core.View().Now(), sched.Time(time.Since(r.start))) }

// collect makes a report a fact.
func (r *Run) collect(rep Report) {
	v := r.core.View()
	if !v.Rows().Alive(rep.Attempt) {
		return
	}
	at, m := sched.Time(rep.At.Sub(r.start)), v.Attempt(rep.Attempt).Machine
	if rep.Kind == sched.MachineLost {
		r.batch.Facts = append(r.batch.Facts, sched.Event{At: at, Kind: sched.MachineLost, Machine: m})
		return
	}
	r.excuse(&rep, m)
	if rep.Kind == sched.AttemptRefused {
		r.refused(m, rep.Note)
	}
	if rep.Kind == sched.AttemptFailed || rep.Kind == sched.AttemptDoomed {
		r.notes[v.Attempt(rep.Attempt).Task] = rep
	}
	if rep.Kind == sched.AttemptDone && rep.Output != nil {
		r.batch.Outputs = append(r.batch.Outputs, trace.Output{Attempt: rep.Attempt, Data: rep.Output})
	}
	r.batch.Facts = append(r.batch.Facts, sched.Event{
		At: at, Kind: rep.Kind, Attempt: rep.Attempt, Progress: rep.Progress, Bytes: rep.Bytes,
	})
}

// step takes in whatever else has been reported by now, so that a busy engine works in batches, and advances the core.
func (r *Run) step(wake *time.Timer) error {
	for more := true; more; {
		select {
		case rep := <-r.exec.Reports():
			r.collect(rep)
		default:
			more = false
		}
	}
	now, last := r.now(), r.core.View().Now()
	r.deliver(now)
	r.foresee(now)
	at, asked := r.wakeAt()
	asked = asked && at <= now
	if r.ration(now, asked); len(r.batch.Facts) == 0 && !asked {
		r.startReady() // the report was about an attempt that is gone, or the timer fired too soon
		return r.admit(wake)
	}
	for i := range r.batch.Facts {
		r.batch.Facts[i].At = min(max(r.batch.Facts[i].At, last), now)
	}
	if err := r.advance(r.rejoin(now), wake); err != nil {
		return err
	}
	if err := r.drain(wake); err != nil {
		return err
	}
	return r.admit(wake)
}

// rejoin lets machines that were lost be used again, an instant later, and returns that instant.
func (r *Run) rejoin(now sched.Time) sched.Time {
	lost := r.batch.Facts
	for i := range lost {
		if lost[i].Kind == sched.MachineLost {
			r.batch.Facts = append(r.batch.Facts, sched.Event{At: now + 1, Kind: sched.MachineJoined, Machine: lost[i].Machine})
			delete(r.rooms.told, lost[i].Machine) // it has all its slots again
			if r.halt.on {
				r.tellRoom(lost[i].Machine, now+1, 0)
			}
		}
	}
	if len(r.batch.Facts) > len(lost) {
		now++
	}
	return now
}

// advance is the heart: facts, decisions, journal, deeds, in this order. A call of the core that changes nothing is in
// the journal, too: the policy was asked, and may decide otherwise later because of it.
func (r *Run) advance(now sched.Time, wake *time.Timer) error {
	b := &r.batch
	if b.Settings != nil {
		if err := give(r.core, r.Header, b.Settings, r.policies); err != nil {
			return err
		}
	}
	decisions, err := r.core.Advance(now, b.Facts)
	if err != nil {
		return err
	}
	b.Now, b.Decisions = now, decisions
	b.Outputs = slices.DeleteFunc(b.Outputs, func(o trace.Output) bool { return !commits(decisions, o.Attempt) })
	if err := r.journal.Append(b, mustSync(b.Facts, decisions)); err != nil {
		return err
	}
	r.past.add(r.core.View(), b, r.ended)
	clear(b.Outputs)
	b.Facts, b.Outputs, b.Settings = b.Facts[:0], b.Outputs[:0], nil
	return r.carryOut(decisions, wake)
}

// commits tells whether an attempt has won. The output of one that ended just after another of its task is of no use.
func commits(decisions []sched.Decision, id sched.AttemptID) bool {
	return slices.ContainsFunc(decisions, func(d sched.Decision) bool { return d.Kind == sched.Commit && d.Attempt == id })
}

// mustSync tells whether a batch changes anything outside the core. Reports of progress, of beginnings, of what was
// fetched and of room alone do not.
func mustSync(facts []sched.Event, decisions []sched.Decision) bool {
	for i := range facts {
		if k := facts[i].Kind; k != sched.AttemptProgress && k != sched.AttemptBegan && k != sched.DataFetched && k != sched.MachineResized {
			return true
		}
	}
	for i := range decisions {
		if decisions[i].Kind != sched.Wake {
			return true
		}
	}
	return false
}

func (r *Run) ended(rec *Record) {
	if r.watch.Ended != nil {
		r.watch.Ended(rec, r.notes[rec.Task])
	}
}

func (r *Run) carryOut(decisions []sched.Decision, wake *time.Timer) error {
	for i := range decisions {
		switch d := &decisions[i]; d.Kind {
		case sched.Launch:
			if a, ok := r.past.attempt(d.Attempt); ok { // not if it was ended at once
				r.launch(a, d.Task, d.At)
				r.started(d.At)
			}
		case sched.Kill:
			r.kill(d.Attempt)
		case sched.Commit:
			a := r.past.winnerOf(d.Task)
			if err := r.exec.Commit(a, r.past.takeOutput(a.ID)); err != nil {
				return err
			}
		case sched.Close:
			r.over = true
		case sched.Wake:
			wake.Reset(time.Duration(d.At) - time.Since(r.start))
		case sched.Pace:
			return ErrPaces // no such policy is let in
		}
	}
	r.startReady()
	return nil
}
