package live

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// loop is what a Run and an Engine are: one goroutine between a core, a journal and the executors of jobs.
type loop struct {
	header   *trace.JournalHeader
	core     *sched.Core
	journal  *trace.Journal
	pulse    pulse
	past     *history
	policies Policies
	watch    Observer

	alone *Job                               // the only job there is, with whose end the loop ends; nil in an Engine
	host  *Engine                            // nil in a Run
	fresh func(now sched.Time) []sched.Event // facts of the start about jobs

	reports func() <-chan Report // of all executors

	present []sched.MachineID // that are there
	slots   []int             // of machines, that they should have
	change  *trace.Settings   // to be taken over at the start

	asks  chan *ask     // nil in a Run
	added chan struct{} // likewise

	start   time.Time   // wall clock at sched.Time 0, with a monotonic reading
	wake    *time.Timer // of the core
	tick    *time.Timer // see beat
	ticking bool
	over    bool
	ending  <-chan struct{} // closed when the loop is to end
	shut    bool            // nothing more is started
	fetches fetches
	rooms   rooms
	gate    *gate                // nil for none
	wary    map[sched.JobID]*Job // that may halt, and have lost tasks
	warned  bool                 // of a shortage
	touched []*Job               // of which the watcher is to hear
	batch   trace.Batch          // what has come since the last call of the core
	ends    []ended              // by a batch that is not in the journal yet
}

func newLoop(h *trace.JournalHeader, core *sched.Core, past *history, p pulse) *loop {
	l := &loop{
		header: h, core: core, past: past, pulse: p, fetches: newFetches(), rooms: newRooms(), wake: time.NewTimer(time.Hour), tick: time.NewTimer(time.Hour),
	}
	l.wake.Stop()
	l.tick.Stop()
	for m := range h.Machines {
		l.present = append(l.present, sched.MachineID(m))
		l.slots = append(l.slots, h.Machines[m].Slots)
	}
	past.loop = l
	for _, j := range past.jobs {
		j.loop = l
	}
	return l
}

// tickEvery is how often a loop looks around that has something to look at.
const tickEvery = 100 * time.Millisecond

// run loops until the loop is over, or ctx is done; then it gives the machines up.
func (l *loop) run(ctx context.Context) error {
	l.ending = ctx.Done()
	defer l.wake.Stop()
	defer l.tick.Stop()
	if err := l.begins(); err != nil {
		return err
	}
	for !l.over {
		l.beat()
		select {
		case <-ctx.Done():
			return l.leave()
		case a := <-l.asks:
			l.host.take(a)
		case <-l.added:
			l.host.note()
		case <-l.tick.C:
			l.ticking = false
			l.catchUp(time.Now().Round(0), false)
			l.pulse.beat(l.now())
			l.look()
			if l.gate == nil || !l.gate.moves() {
				continue
			}
			l.watchGate(l.now())
		case rep := <-l.reports():
			l.collect(rep)
		case <-l.wake.C:
		case <-l.fetches.timer.C:
		case <-l.rooms.timer.C:
		}
		if err := l.step(); err != nil {
			return err
		}
		if l.host != nil {
			if err := l.host.stepped(); err != nil {
				return err
			}
		}
	}
	l.look()
	return nil
}

// beat has the tick come in a tenth of a second if somebody watches, or something runs or may soon. An idle engine does
// nothing.
func (l *loop) beat() {
	if l.ticking || l.watch.Tick == nil && len(l.past.running) == 0 && (l.gate == nil || !l.gate.moves()) {
		return
	}
	l.ticking = true
	l.tick.Reset(tickEvery)
}

func (l *loop) look() {
	if l.watch.Tick != nil {
		l.watch.Tick(l.core.View())
	}
}

// begins gives the core its first facts. If the journal was taken up, the machines stopped at the last instant at which
// the engine is known to have been alive, with all that ran there; in a new one, that says nothing new.
func (l *loop) begins() error {
	last := max(l.core.View().Now(), l.pulse.last())
	l.start = time.Now()
	if since := sched.Time(l.start.Sub(l.header.Started.Local())); since > last {
		l.start = l.start.Add(-time.Duration(since))
	} else { // the wall clock was set back: go on just after the last that is known
		l.start = l.start.Add(-time.Duration(last + 1))
	}
	l.rearm() // the core asked for it before the engine died
	now := max(l.now(), last)
	gone := sched.MachineStopped
	if l.change != nil && l.change.Work != nil { // what was saved is of other work
		gone = sched.MachineLost
	}
	for m := range l.header.Machines {
		l.fact(sched.Event{At: last, Kind: gone, Machine: sched.MachineID(m)})
	}
	if l.change != nil { // while nothing runs
		if err := l.advance(last); err != nil || l.over {
			return err
		}
		l.batch.Settings, l.present = l.change, nil
		for m := range l.change.Machines {
			l.present = append(l.present, sched.MachineID(m))
			l.slots = append(l.slots[:m], l.change.Machines[m].Slots)
		}
	}
	for _, m := range l.present {
		l.fact(sched.Event{At: now, Kind: sched.MachineJoined, Machine: m})
	}
	l.batch.Facts = append(l.batch.Facts, l.fresh(now)...)
	if l.gate == nil {
		if l.change == nil {
			l.resize(now, math.MaxInt) // other slots than they had
		}
		return l.advance(now)
	}
	for _, m := range l.present { // until it is known what runs, which is nothing
		l.tellRoom(m, now, 0)
	}
	if err := l.advance(now); err != nil || l.over {
		return err
	}
	l.watchGate(l.now())
	return l.step()
}

// leave gives the machines up, so that the journal knows until when attempts ran.
func (l *loop) leave() error {
	now := l.now()
	for m := range l.header.Machines {
		l.fact(sched.Event{At: now, Kind: sched.MachineStopped, Machine: sched.MachineID(m)})
	}
	return l.advance(now)
}

// fact adds to what the core is told next.
func (l *loop) fact(f sched.Event) { l.batch.Facts = append(l.batch.Facts, f) }

// wakeAt returns when the core wants to be called at the latest, if it does.
func (l *loop) wakeAt() (at sched.Time, asked bool) {
	return l.past.wake, l.past.wake > l.core.View().Now()
}

func (l *loop) rearm() {
	if at, asked := l.wakeAt(); asked {
		l.wake.Reset(time.Duration(at) - time.Since(l.start))
	}
}

// asleep is how far the wall clock must be ahead of the loop's time for the system to have been suspended.
const asleep = 5 * time.Second

// catchUp moves the loop's time on to that of the wall clock, whose reading is given without a monotonic one: while the
// system is suspended the loop's time stands still, and a deadline does not. A job without deadline loses nothing by
// that, and its policy would take attempts that were suspended for stragglers. Time never goes back.
// Before a job with a deadline is taken in, it must.
func (l *loop) catchUp(wall time.Time, must bool) {
	ahead := wall.Sub(l.header.Started.Round(0)) - time.Duration(l.now())
	if ahead < asleep || !must && !l.hurries() {
		return
	}
	l.start = l.start.Add(-ahead)
	l.rearm()
	l.startReady() // sets the timer of what is fetched
}

// hurries tells whether a job that is not over has a deadline.
func (l *loop) hurries() bool {
	v := l.core.View()
	for id := range l.past.jobs {
		if j := v.Job(id); j.State <= sched.JobActive && j.Deadline != sched.Never {
			return true
		}
	}
	return false
}

func (l *loop) now() sched.Time { return max(l.core.View().Now(), sched.Time(time.Since(l.start))) }

// collect makes a report a fact.
func (l *loop) collect(rep Report) {
	v := l.core.View()
	if !v.Rows().Alive(rep.Attempt) {
		return
	}
	at, m := sched.Time(rep.At.Sub(l.start)), v.Attempt(rep.Attempt).Machine
	if rep.Kind == sched.MachineLost {
		l.fact(sched.Event{At: at, Kind: sched.MachineLost, Machine: m})
		return
	}
	l.excuse(&rep, m)
	if rep.Kind == sched.AttemptRefused {
		l.refused(m, rep.Note)
	}
	if rep.Kind == sched.AttemptFailed || rep.Kind == sched.AttemptDoomed {
		put(&l.past.running[rep.Attempt].notes, v.Attempt(rep.Attempt).Task, rep)
	}
	if rep.Kind == sched.AttemptDone && rep.Output != nil {
		l.batch.Outputs = append(l.batch.Outputs, trace.Output{Attempt: rep.Attempt, Data: rep.Output})
	}
	l.fact(sched.Event{At: at, Kind: rep.Kind, Attempt: rep.Attempt, Progress: rep.Progress, Bytes: rep.Bytes, Span: l.starting(&rep)})
}

// starting returns how long an attempt that is done took to get to work; 0 if that is not known.
func (l *loop) starting(rep *Report) sched.Time {
	if rep.Kind != sched.AttemptDone || rep.Began.IsZero() {
		return 0
	}
	launched := l.core.View().Rows().Started(rep.Attempt)
	return max(0, min(sched.Time(rep.Began.Sub(l.start)), sched.Time(rep.At.Sub(l.start)))-launched)
}

// step takes in whatever else has been reported by now, so that a busy engine works in batches, and advances the core.
func (l *loop) step() error {
	for more := true; more; {
		select {
		case rep := <-l.reports():
			l.collect(rep)
		default:
			more = false
		}
	}
	now, last := l.now(), l.core.View().Now()
	l.deliver(now)
	l.foresee(now)
	at, asked := l.wakeAt()
	asked = asked && at <= now
	if l.ration(now, asked); l.batch.Empty() && !asked {
		l.startReady() // the report was about an attempt that is gone, or the timer fired too soon
		return l.admit()
	}
	for i := range l.batch.Facts {
		l.batch.Facts[i].At = min(max(l.batch.Facts[i].At, last), now)
	}
	if err := l.advance(l.rejoin(now)); err != nil {
		return err
	}
	for !l.batch.Empty() { // attempts of jobs whose executors could not be opened
		if err := l.advance(l.now()); err != nil {
			return err
		}
	}
	if err := l.heed(); err != nil {
		return err
	}
	return l.admit()
}

// rejoin lets machines that were lost be used again, an instant later, and returns that instant.
func (l *loop) rejoin(now sched.Time) sched.Time {
	lost := l.batch.Facts
	for i := range lost {
		if lost[i].Kind == sched.MachineLost {
			l.fact(sched.Event{At: now + 1, Kind: sched.MachineJoined, Machine: lost[i].Machine})
			delete(l.rooms.told, lost[i].Machine) // it has all its slots again
			if l.shut {
				l.tellRoom(lost[i].Machine, now+1, 0)
			} else if l.gate == nil {
				l.tellRoom(lost[i].Machine, now+1, l.rooms.most(lost[i].Machine, l.full(lost[i].Machine)))
			}
		}
	}
	if len(l.batch.Facts) > len(lost) {
		now++
	}
	return now
}

// advance is the heart: facts, decisions, journal, deeds, in this order. A call of the core that changes nothing is in
// the journal, too: the policy was asked, and may decide otherwise later because of it.
func (l *loop) advance(now sched.Time) error {
	b := &l.batch
	if b.Settings != nil {
		if err := give(l.core, l.header, b.Settings, l.policies); err != nil {
			return err
		}
	}
	decisions, err := l.core.Advance(now, b.Facts)
	if err != nil {
		return err
	}
	b.Now, b.Decisions = now, decisions
	b.Outputs = slices.DeleteFunc(b.Outputs, func(o trace.Output) bool { return !commits(decisions, o.Attempt) })
	l.past.add(l.core.View(), b, func(j *Job, rec *Record) { l.ends = append(l.ends, ended{j, rec}) })
	if err := l.record(b); err != nil {
		return err
	}
	l.tellEnds()
	if b.Settings != nil && l.alone != nil {
		l.alone.Spec = l.header.Job
	}
	if l.watch.Changed != nil {
		l.changed(b)
	}
	clear(b.Outputs)
	b.Facts, b.Outputs, b.Settings, b.Jobs, b.Told = b.Facts[:0], b.Outputs[:0], nil, nil, nil
	return l.carryOut(decisions)
}

// changed tells the watcher of the jobs that a batch has changed.
func (l *loop) changed(b *trace.Batch) {
	for _, j := range b.Jobs {
		l.touch(l.past.jobs[j.ID])
	}
	for i := range b.Facts {
		switch f := &b.Facts[i]; f.Kind {
		case sched.JobArrived, sched.JobCancelled, sched.JobRetried, sched.JobPaused, sched.JobContinued, sched.JobChanged:
			l.touch(l.past.jobs[f.Job])
		}
	}
	for i := range b.Decisions {
		switch d := &b.Decisions[i]; d.Kind {
		case sched.Launch, sched.Commit, sched.Close:
			l.touch(l.past.jobs[d.Job])
		}
	}
	for _, id := range b.Told {
		l.touch(l.past.jobs[id])
	}
	for _, j := range l.touched {
		j.touched = false
		l.watch.Changed(j)
	}
	clear(l.touched)
	l.touched = l.touched[:0]
}

// touch has the watcher hear of a job after the next batch.
func (l *loop) touch(j *Job) {
	if j != nil && !j.touched {
		j.touched = true
		l.touched = append(l.touched, j)
	}
}

// commits tells whether an attempt has won. The output of one that ended just after another of its task is of no use.
func commits(decisions []sched.Decision, id sched.AttemptID) bool {
	return slices.ContainsFunc(decisions, func(d sched.Decision) bool { return d.Kind == sched.Commit && d.Attempt == id })
}

// mustSync tells whether a batch changes anything outside the core. Reports of progress, of beginnings, of what was
// fetched and of room alone do not.
func mustSync(b *trace.Batch) bool {
	for i := range b.Facts {
		if k := b.Facts[i].Kind; k != sched.AttemptProgress && k != sched.AttemptBegan && k != sched.DataFetched && k != sched.MachineResized {
			return true
		}
	}
	for i := range b.Decisions {
		if b.Decisions[i].Kind != sched.Wake {
			return true
		}
	}
	return len(b.Jobs) > 0
}

// ended is an attempt that has ended.
type ended struct {
	*Job
	record *Record
}

// tellEnds tells the watcher which attempts a batch has ended that is in the journal.
func (l *loop) tellEnds() {
	for _, x := range l.ends {
		if l.watch.Ended != nil {
			l.watch.Ended(x.Job, x.record, x.notes[x.record.Task])
		}
	}
	clear(l.ends)
	l.ends = l.ends[:0]
}

func (l *loop) carryOut(decisions []sched.Decision) error {
	for i := range decisions {
		switch d := &decisions[i]; d.Kind {
		case sched.Launch:
			if x, ok := l.past.running[d.Attempt]; ok { // not if it was ended at once
				if l.watch.Launched != nil {
					l.watch.Launched(x.Job, &x.records[x.at])
				}
				l.launch(x.Job, x.records[x.at].Attempt, d.Task, d.At)
				l.started(d.At)
			}
		case sched.Kill:
			l.kill(l.past.jobs[d.Job], d.Attempt)
		case sched.Commit:
			if err := l.commit(l.past.jobs[d.Job], d.Task); err != nil {
				return err
			}
		case sched.Close:
			if l.alone != nil {
				l.over = true
			} else {
				l.host.settle(l.past.jobs[d.Job])
			}
		case sched.Wake:
			l.wake.Reset(time.Duration(d.At) - time.Since(l.start))
		case sched.Pace:
			return ErrPaces // no such policy is let in
		}
	}
	l.startReady()
	return nil
}

// commit keeps the result of a task that is done: in a Run at once, in an Engine soon.
func (l *loop) commit(j *Job, t sched.TaskID) error {
	at, _ := j.winnerOf(t)
	x := deed{attempt: j.records[at].Attempt, commit: true, output: j.outputAt(at), journal: l.journal, size: l.journal.Size()}
	if j.exec == nil {
		l.host.deedsOf(j).put(x)
		return nil
	}
	return x.keep(j.exec)
}
