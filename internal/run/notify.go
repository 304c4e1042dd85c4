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

// driveAndNotify drives the run and tells those who want to know how it ends, and on the way that its deadline is at
// risk. Nobody is told of a run that had finished before, nor of one that is interrupted: who interrupts it knows.
func (e *Engine) driveAndNotify(ctx context.Context, run *live.Run) (*Result, error) {
	if len(e.o.Notify) == 0 || e.complete() {
		return e.drive(ctx, run)
	}
	var undelivered []func() // told in the end: until then the screen may be at work
	var mu sync.Mutex
	n, err := notify.New(e.o.Notify, e.o.Dir, func(what string, err error) {
		mu.Lock()
		defer mu.Unlock()
		undelivered = append(undelivered, func() { e.warn(what, err) })
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		n.Close(ctx)
		for _, tell := range undelivered {
			tell()
		}
	}()
	e.atRisk = func(chance float64) {
		event := e.event(notify.AtRisk, run.View())
		event.Chance = &chance
		event.Text = fmt.Sprintf("%s: %s in time, deadline in %v", e.Job.Name, show.Chance(chance),
			time.Duration(run.View().Job(0).Deadline-run.View().Now()).Round(time.Second))
		n.Send(event)
	}
	res, err := e.drive(ctx, run)
	event := e.event(notify.Done, run.View())
	if res != nil && res.Deadline != nil {
		event.Met, event.Chance = &res.Deadline.Met, res.Deadline.PoCD
	}
	switch {
	case err == nil:
		event.Text = fmt.Sprintf("%s: succeeded in %s, %d of %s done, results in %s", e.Job.Name,
			show.Seconds(event.Seconds), event.Done, show.Count(event.Tasks, "task"), event.Output)
	case errors.As(err, new(Failure)):
		event.Event, event.Text = notify.Failed, fmt.Sprintf("%s: %s", e.Job.Name, show.OneLine(err.Error()))
	default:
		return res, err
	}
	n.Send(event)
	return res, err
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
