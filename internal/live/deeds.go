package live

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// What is done to the folder of a job may wait for its disk, for long, or for ever. Nothing of it is done on the loop
// of an engine: each job has a queue of its own, and a goroutine that works it off as long as something is in it. So
// a disk that hangs holds up the jobs that use it, and no other. What came of it the loop hears as an event. See
// docs/decisions/0039-no-disk-holds-the-loop.md.

// deed is an attempt to be started, or a result to be kept.
type deed struct {
	attempt Attempt
	commit  bool
	output  []byte // of a commit, that the journal has; nil if the executor has it
	// Of a commit without output: what is done to folders may outlive the system, and so must the claim, which is in
	// the first so many bytes of the journal.
	journal *trace.Journal
	size    int64
}

// deeds are what is to be done with the executor of a job, in order.
type deeds struct {
	open func() (Executor, error) // called before the first deed
	tell func(deed, error)        // of a result that could not be kept, or an attempt that has no executor

	mu     sync.Mutex
	quiet  sync.Cond // nobody is at work
	queue  []deed
	busy   bool     // somebody is
	now    deed     // that is being done
	killed bool     // so was the attempt that is being started
	exec   Executor // once it is open
	err    error    // the first that the loop was told of
}

// put adds a deed to the queue.
func (d *deeds) put(x deed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, x)
	if !d.busy {
		d.busy = true
		go d.work()
	}
}

// work does what is in the queue until nothing is.
func (d *deeds) work() {
	for {
		x, ok := d.next()
		if !ok {
			return
		}
		if d.exec == nil && d.err == nil {
			exec, err := d.open()
			d.mu.Lock()
			d.exec, d.err = exec, err
			d.mu.Unlock()
		}
		if err := d.do(&x); err != nil {
			d.mu.Lock()
			d.err = cmp.Or(d.err, err)
			d.mu.Unlock()
			d.tell(x, err)
		}
	}
}

// next takes a deed off the queue. An attempt that was killed while it was started is ended first.
func (d *deeds) next() (x deed, ok bool) {
	if d.spared() && d.exec != nil {
		d.exec.Kill(d.now.attempt.ID)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = deed{}
	if len(d.queue) == 0 {
		d.queue, d.busy = nil, false
		d.quiet.Broadcast()
		return x, false
	}
	d.now, d.queue = d.queue[0], d.queue[1:]
	return d.now, true
}

// do does a deed. A result that could not be kept ends the job: nothing more of it is started, and the other results
// are kept as far as that goes.
func (d *deeds) do(x *deed) error {
	switch {
	case d.exec == nil:
		return d.err
	case !x.commit:
		if d.err == nil && !d.spared() {
			d.exec.Start(x.attempt)
		}
		return nil
	}
	return x.keep(d.exec)
}

// spared tells whether the attempt that is started now was killed since it was last asked.
func (d *deeds) spared() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	killed := d.killed
	d.killed = false
	return killed
}

// keep makes the output of an attempt the result of its task.
func (x *deed) keep(exec Executor) error {
	if x.output == nil {
		if err := x.journal.SyncTo(x.size); err != nil {
			return err
		}
	}
	return exec.Commit(x.attempt, x.output)
}

// kill ends an attempt, or lets it never begin.
func (d *deeds) kill(id sched.AttemptID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	starts := func(x deed) bool { return !x.commit && x.attempt.ID == id }
	switch i := slices.IndexFunc(d.queue, starts); {
	case i >= 0:
		d.queue = slices.Delete(d.queue, i, i+1)
	case d.busy && starts(d.now):
		d.killed = true
	case d.exec != nil:
		d.exec.Kill(id)
	}
}

// stop lets nothing more be started. What is to be kept is.
func (d *deeds) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = slices.DeleteFunc(d.queue, func(x deed) bool { return !x.commit })
}

// end waits until all is done. It returns the executor, nil if none is open, and what went wrong.
func (d *deeds) end() (Executor, error) {
	if d == nil {
		return nil, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.busy {
		d.quiet.Wait()
	}
	return d.exec, d.err
}

// deedsOf returns the queue of a job.
func (e *Engine) deedsOf(j *Job) *deeds {
	if j.deeds != nil {
		return j.deeds
	}
	before := j.claims() // of earlier engines
	d := &deeds{open: func() (Executor, error) { return e.openExecutor(j, before) }}
	d.quiet.L = &d.mu
	d.tell = func(x deed, err error) {
		e.aside.add(func() {
			if x.commit {
				e.fail(j, err)
			} else {
				j.failure = cmp.Or(j.failure, err)
				e.doom(j, x.attempt.ID)
			}
		})
	}
	j.deeds = d
	return d
}

// openExecutor opens the executor of a job and repeats the commit of each task that was done before, for an engine may
// have died between a journal record and what it says. It drops what other attempts have left.
func (e *Engine) openExecutor(j *Job, before claims) (Executor, error) {
	exec, err := e.cfg.Open(j)
	if err != nil {
		return nil, err
	}
	if err := before.repeat(exec); err != nil {
		return nil, errors.Join(err, exec.Close())
	}
	return exec, nil
}

// claims are the attempts that have won, as the loop knows them at one moment, to be read elsewhere.
type claims struct {
	records []Record
	at      []int    // places of those that have won
	outputs [][]byte // of these, where the journal has them
}

func (j *Job) claims() (c claims) {
	c.records = j.records
	for _, place := range j.winners {
		if at := int(place) - 1; at >= 0 {
			c.at, c.outputs = append(c.at, at), append(c.outputs, j.outputAt(at))
		}
	}
	return c
}

// repeat commits all again.
func (c claims) repeat(exec Executor) error {
	for i, at := range c.at {
		if err := exec.Commit(c.records[at].Attempt, c.outputs[i]); err != nil {
			return err
		}
	}
	return exec.Clean()
}

// aside is what the loop is to be told by those who work beside it. Who tells it does not wait.
type aside struct {
	mu    sync.Mutex
	all   []func() // called by the loop
	added chan struct{}
}

func (x *aside) add(do func()) {
	x.mu.Lock()
	x.all = append(x.all, do)
	x.mu.Unlock()
	select {
	case x.added <- struct{}{}:
	default:
	}
}

func (x *aside) take() []func() {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := x.all
	x.all = nil
	return all
}
