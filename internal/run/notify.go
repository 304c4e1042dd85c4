package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/notify"
	"github.com/tailcut/tailcut/internal/show"
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

// news goes to those who want to know of a job. Nil stands for nobody.
type news struct {
	*notify.Notifier
	p      *Prepared
	gaveUp bool // it has been told

	mu          sync.Mutex
	undelivered []func() // told in the end: until then the screen may be at work
}

// newNews returns who is told how the job ends, and on the way that its deadline is at risk, or that tasks are given
// up. Nobody is told of a run that had finished before, nor of one that is interrupted: who interrupts it knows.
func (p *Prepared) newNews() (*news, error) {
	if len(p.o.Notify) == 0 {
		return nil, nil
	}
	n := &news{p: p}
	var err error
	n.Notifier, err = notify.New(p.o.Notify, p.o.Dir, func(what string, err error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.undelivered = append(n.undelivered, func() { p.warn(what, err) })
	})
	return n, err
}

// atRisk tells that the deadline is.
func (n *news) atRisk(s *Standing) {
	if n == nil {
		return
	}
	event := n.p.event(notify.AtRisk, s)
	event.Chance = s.Chance
	event.Text = fmt.Sprintf("%s: %s probability of meeting the deadline, in %v", n.p.Job.Name, show.Chance(*s.Chance),
		time.Duration(*s.Left*float64(time.Second)).Round(time.Second))
	n.Send(event)
}

// tick tells, once, that tasks are given up while others go on.
func (n *news) tick(s *Standing) {
	if n == nil || n.gaveUp || s.over() {
		return
	}
	event := n.p.event(notify.GaveUp, s)
	if n.gaveUp = event.GivenUp > 0; n.gaveUp {
		event.Text = fmt.Sprintf("%s: %s failed for good, the others go on; %d of %d done", n.p.Job.Name,
			show.Count(event.GivenUp, "task"), event.Done, event.Tasks)
		n.Send(event)
	}
}

// ended tells how the job has ended, if it has, and waits until all is delivered.
func (n *news) ended(ctx context.Context, s *Standing, res *Result, err error) {
	if n == nil {
		return
	}
	n.end(s, res, err)
	n.Close(ctx)
	for _, tell := range n.undelivered {
		tell()
	}
}

func (n *news) end(s *Standing, res *Result, err error) {
	event := n.p.event(notify.Done, s)
	if res != nil && res.Deadline != nil {
		event.Met, event.Chance = &res.Deadline.Met, res.Deadline.PoCD
	}
	switch {
	case err == nil:
		event.Text = fmt.Sprintf("%s: succeeded in %s, %d of %s done, results in %s", n.p.Job.Name,
			show.Seconds(event.Seconds), event.Done, show.Count(event.Tasks, "task"), event.Output)
	case errors.As(err, new(Failure)):
		event.Event, event.Text = notify.Failed, fmt.Sprintf("%s: %s", n.p.Job.Name, show.OneLine(err.Error()))
	default:
		return
	}
	n.Send(event)
}

// event is what there is to say of the job as it stands.
func (p *Prepared) event(kind string, s *Standing) notify.Event {
	event := notify.Event{
		Event: kind, Job: p.Job.Name, Run: p.folders.Run, Output: cmp.Or(p.Output, p.out), Seconds: s.Seconds,
		Tasks: s.Tasks(), Done: s.Done(), GivenUp: s.GivenUp(),
	}
	if p.scratch {
		event.Output = Scratch
	}
	if p.left > 0 {
		left := p.left.Seconds()
		event.Deadline = &left
	}
	return event
}
