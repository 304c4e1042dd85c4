package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/notify"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
)

// settleNotify checks who is to be notified.
func (e *Engine) settleNotify() error {
	for _, target := range e.o.Notify {
		if err := notify.Check(target); err != nil {
			return grammar.Wrong("notify", err)
		}
	}
	return nil
}

// news goes to those who want to know of a run. Nil stands for nobody.
type news struct {
	*notify.Notifier
	e      *Engine
	run    *live.Run
	gaveUp bool // it has been told

	mu          sync.Mutex
	undelivered []func() // told in the end: until then the screen may be at work
}

// driveAndNotify drives the run and tells those who want to know how it ends, and on the way that its deadline is at
// risk, or that tasks are given up. Nobody is told of a run that had finished before, nor of one that is interrupted:
// who interrupts it knows.
func (e *Engine) driveAndNotify(ctx context.Context, run *live.Run) (*Result, error) {
	if len(e.o.Notify) == 0 || e.complete() {
		return e.drive(ctx, run)
	}
	n := &news{e: e, run: run}
	var err error
	n.Notifier, err = notify.New(e.o.Notify, e.o.Dir, func(what string, err error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.undelivered = append(n.undelivered, func() { e.warn(what, err) })
	})
	if err != nil {
		return nil, err
	}
	e.news = n
	res, err := e.drive(ctx, run)
	n.ended(res, err)
	n.Close(ctx)
	for _, tell := range n.undelivered {
		tell()
	}
	return res, err
}

// atRisk tells that the deadline is.
func (n *news) atRisk(chance float64) {
	if n == nil {
		return
	}
	v := n.run.View()
	event := n.e.event(notify.AtRisk, v)
	event.Chance = &chance
	event.Text = fmt.Sprintf("%s: %s probability of meeting the deadline, in %v", n.e.Job.Name, show.Chance(chance),
		time.Duration(v.Job(0).Deadline-v.Now()).Round(time.Second))
	n.Send(event)
}

// tick tells, once, that tasks are given up while others go on.
func (n *news) tick(v *sched.View) {
	if n == nil || n.gaveUp || v.Job(0).State != sched.JobActive {
		return
	}
	event := n.e.event(notify.GaveUp, v)
	if n.gaveUp = event.GivenUp > 0; n.gaveUp {
		event.Text = fmt.Sprintf("%s: %s failed for good, the others go on; %d of %d done", n.e.Job.Name,
			show.Count(event.GivenUp, "task"), event.Done, event.Tasks)
		n.Send(event)
	}
}

// ended tells how the run has ended, if it has.
func (n *news) ended(res *Result, err error) {
	event := n.e.event(notify.Done, n.run.View())
	if res != nil && res.Deadline != nil {
		event.Met, event.Chance = &res.Deadline.Met, res.Deadline.PoCD
	}
	switch {
	case err == nil:
		event.Text = fmt.Sprintf("%s: succeeded in %s, %d of %s done, results in %s", n.e.Job.Name,
			show.Seconds(event.Seconds), event.Done, show.Count(event.Tasks, "task"), event.Output)
	case errors.As(err, new(Failure)):
		event.Event, event.Text = notify.Failed, fmt.Sprintf("%s: %s", n.e.Job.Name, show.OneLine(err.Error()))
	default:
		return
	}
	n.Send(event)
}

// event is what there is to say of the run as it stands.
func (e *Engine) event(kind string, v *sched.View) notify.Event {
	job := v.Job(0)
	end := job.Closed
	if job.State == sched.JobActive {
		end = v.Now()
	}
	event := notify.Event{
		Event: kind, Job: e.Job.Name, Run: e.folders.Run, Output: cmp.Or(e.Output, e.out), Seconds: (end - job.Arrived).Seconds(), Tasks: int(job.Tasks),
	}
	if e.scratch {
		event.Output = Scratch
	}
	for i := range job.Stages {
		st := v.Stage(job.FirstStage + sched.StageID(i))
		event.Done += int(st.Done)
		event.GivenUp += int(st.GivenUp)
	}
	if job.Deadline != sched.Never {
		left := job.Deadline.Seconds()
		event.Deadline = &left
	}
	return event
}
