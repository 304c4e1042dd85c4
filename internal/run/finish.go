package run

import (
	"context"
	"errors"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/sched"
)

// course is what is known of a job that has come to an end, or was stopped.
type course struct {
	*live.Summary
	end      sched.Time     // when the job was closed; when it was stopped, if it is not
	deadline sched.Time     // 0 without one
	won, cut [][]sched.Time // see live.Run.Durations
	slowest  func(most func(tasks int) int) [][]int
	records  []live.Record
}

// courseOf is that of a run.
func courseOf(run *live.Run) *course {
	c := &course{Summary: run.Summary(), end: run.View().Now(), deadline: run.Header.Job.Deadline, slowest: run.Slowest, records: run.Records()}
	if run.State() > sched.JobActive {
		c.end = run.View().Job(0).Closed
	}
	c.won, c.cut = run.Durations()
	return c
}

// courseOver is that of a job of a server.
func (p *Prepared) courseOver(over *live.Over) *course {
	j, sum := over.Job, *over.Summary
	s := &sum // who finishes again counts again
	for i := range j.Spec.Stages {
		s.Recovered += len(j.Spec.Stages[i].Done)
	}
	c := &course{Summary: s, end: sched.Time(j.Submitted.Sub(p.server.Started)) + s.Flow, deadline: j.Spec.Deadline, records: over.Records}
	c.won, c.cut = live.Durations(over.Records, len(j.Stages))
	c.slowest = func(most func(int) int) [][]int { return live.Slowest(over.Records, &j.Spec, most) }
	return c
}

// standingAtEnd is how a job stands that has come to its end.
func standingAtEnd(c *live.Summary) *Standing {
	s := &Standing{State: c.State, Seconds: c.Flow.Seconds()}
	for _, st := range c.Stages {
		s.Stages = append(s.Stages, StageStanding{Name: st.Name, Tasks: st.Tasks, Need: st.Tasks, Done: st.Done, GivenUp: st.GivenUp, Closed: true})
	}
	return s
}

// finish tidies up after a job that has ended or was stopped, and reports. What goes wrong beside its results is a
// warning.
func (p *Prepared) finish(ctx context.Context, c *course) (*Result, error) {
	if c.State == "succeeded" && !p.tidied() { // and, without an error, published
		p.warn("the durations are not kept for later runs", p.remember(ctx, c))
		if p.server == nil {
			p.warn("the run is not in the history", p.keepAlone(ctx, c))
		}
		p.warn("the result is whole, but what only the run needed is still there", p.tidy())
	}
	res, err := p.resultOf(c), p.ending(ctx, c.Summary)
	if c.State == "failed" {
		res.Error = err.Error()
	}
	return res, err
}

// resultOf is what came of a job, as far as its folder can tell.
func (p *Prepared) resultOf(c *course) *Result {
	m, err := mappedBy(p.work(), p.folders)
	p.warn("how much was mapped is not known", err)
	return &Result{
		Summary: c.Summary, Header: p.Header, Deadline: p.deadlineOf(c), Failed: p.failed(c.Summary), mapped: m,
		again: p.o.Again, kept: p.o.Output != Scratch,
	}
}

// remember adds the run to what is kept of its name, even if its user does not want to wait any more, unless that takes
// long.
func (p *Prepared) remember(ctx context.Context, c *course) error {
	if p.history == "" {
		return nil
	}
	ctx, cancel := p.patient(ctx, past.Late)
	defer cancel()
	kept, err := past.ReadFile(ctx, p.history)
	if err != nil {
		return unlessInterrupted(err)
	}
	kept.Add(p.Job.Name, p.Header.Run, p.Header.Stages, c.won, c.cut)
	p.describe(kept, c)
	return unlessInterrupted(past.WriteFile(ctx, p.history, kept))
}

// tidied tells whether tidy has come to its end.
func (e *Engine) tidied() bool {
	if e.cloud != nil {
		return e.cloud.standing.Tidied
	}
	return e.folders.Tidied()
}

// tidy removes what a run that has succeeded needs no more. It comes last: until it has come to its end, a repetition
// of the command does again what may not have been done.
func (e *Engine) tidy() error {
	if e.cloud != nil {
		return e.cloud.Tidy(e.folders.Run)
	}
	return e.folders.Tidy()
}

// ending returns the error of a run that has come to an end, nil if it has succeeded.
func (e *Engine) ending(ctx context.Context, s *live.Summary) error {
	switch {
	case s.State == "succeeded":
		return nil
	case s.Dropped:
		return Failure{errors.New("the job was dropped at its deadline (--late drop); what is done is kept: run it again with a later --deadline")}
	case s.State == "failed":
		return Failure{errors.New(e.blame(s))}
	case endedFor(ctx) != nil:
		return endedFor(ctx)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return Failure{errors.New("the job was cancelled")}
}
