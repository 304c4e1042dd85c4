package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/sched"
)

// submit takes in a job.
func (s *Server) submit(ctx context.Context, c *call) (any, error) {
	id, known := s.jobs.begin(c.key)
	if known {
		return s.look(ctx, strconv.FormatInt(id, 10))
	}
	defer s.jobs.done(c.key)
	if s.isDraining() {
		return nil, problem(http.StatusServiceUnavailable, "%s", drains)
	}
	ready, err := s.shop.Prepare(ctx, c.body.(*run.Submission))
	if err != nil {
		return nil, err
	}
	// From here on a client that goes away changes nothing: the job is taken in, or it is not.
	id, err = s.take(context.WithoutCancel(ctx), ready, c.key)
	if err != nil {
		ready.Drop()
		return nil, err
	}
	return s.look(ctx, strconv.FormatInt(id, 10))
}

const drains = "the server drains: it takes no more jobs, and ends when nothing runs any more"

// take hands a job that is ready to the engine.
func (s *Server) take(ctx context.Context, ready *Ready, key string) (int64, error) {
	job := ready.Job
	job.Key, job.Submitted = key, time.Now()
	var mistakes []Mistake
	for i, ref := range ready.After {
		e, over, err := s.jobs.find(ref)
		at := fmt.Sprintf("after[%d]", i)
		switch {
		case err != nil:
			mistakes = append(mistakes, Mistake{at, err.Error()})
		case over != nil && over.State != Succeeded:
			mistakes = append(mistakes, Mistake{at, fmt.Sprintf("job %d (%s) has %s", over.ID, over.Name, inWords(over.State))})
		case over != nil:
			job.After = append(job.After, sched.JobID(over.ID))
		default:
			job.After = append(job.After, sched.JobID(e.id))
		}
	}
	if len(mistakes) > 0 {
		return 0, wrong(mistakes...)
	}
	job.Held = len(job.After) > 0
	id, err := s.engine.Submit(ctx, job)
	if err != nil {
		return 0, err
	}
	s.admit(ctx, s.jobs.add(int64(id), job))
	return int64(id), nil
}

// admit lets a job start whose others have all succeeded, and cancels it once one of them has not.
func (s *Server) admit(ctx context.Context, e *entry) {
	if e == nil || len(e.job.After) == 0 {
		return
	}
	ready, never := s.jobs.standing(e)
	var err error
	switch {
	case ready:
		err = s.engine.Release(ctx, sched.JobID(e.id))
	case never != "":
		err = s.engine.Cancel(ctx, sched.JobID(e.id))
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, live.ErrOver) && !errors.Is(err, live.ErrStopped) {
		s.say("warning: job %d waits although it need not: %v", e.id, err)
	}
}

// finishAgain is how long after an error what remains of a job is tried again.
const finishAgain = 10 * time.Second

// finish does what remains when a job is over. It returns when the job is in the archive; an error leaves it to the
// next server.
func (s *Server) finish(o *live.Over) error {
	e := s.jobs.add(int64(o.Job.ID), o.Job.JournalJob) // it may be over before its submission is answered
	if e == nil {                                      // the last server had no time to tell the engine
		s.retire.add(o.Job.ID)
		return nil
	}
	for {
		err := s.bringIn(e, o)
		if err == nil {
			return nil
		}
		s.jobs.blame(e, fmt.Sprintf("%v; tried again every %v", err, finishAgain))
		if unpublished(o) { // the engine has to publish it
			go func() {
				if s.rest(e) {
					_ = s.engine.Retry(s.stopped, o.Job.ID)
				}
			}()
			return err
		}
		if !s.rest(e) || s.isDraining() {
			return err
		}
	}
}

// rest waits until what remains of a job is tried again, which is at once when somebody cancels it. It returns false
// when the server ends: the next one does it.
func (s *Server) rest(e *entry) bool {
	cancel := e.unwanted
	if e.cancelled() { // and it did not help
		cancel = nil
	}
	select {
	case <-s.stopped.Done():
		return false
	case <-cancel:
	case <-time.After(finishAgain):
	}
	return true
}

// unpublished tells whether a job has all its results, and they could not be published.
func unpublished(o *live.Over) bool { return o.Failure != nil && o.State == sched.JobSucceeded }

// bringIn has the results of a job brought in, enters it among those that are over, and lets go on what waits for it.
func (s *Server) bringIn(e *entry, o *live.Over) error {
	if unpublished(o) && !run.Lasting(o.Failure) && !e.cancelled() {
		return fmt.Errorf("its results are not published: %w", o.Failure)
	}
	outcome, err := s.outcomeOf(e, o)
	if err != nil {
		return err
	}
	job, err := s.lookAt(s.stopped, e)
	if err != nil {
		return err
	}
	job.State, job.Ended, job.Why = overState(o, outcome), job.closed, outcome.Why
	job.Flow = job.Ended.Sub(job.Submitted).Seconds()
	if _, never := s.jobs.standing(e); never != "" && job.Why == "" {
		job.Why = never
	}
	job.Busy, job.Promised, job.Between = 0, nil, nil
	if kept := s.forecast.kept(o.Job.ID); len(kept) > 0 { // what it was promised at first, beside what became of it
		s.forecast.promise(job, &kept[0])
	}
	readers, err := s.jobs.end(job, outcome.Result)
	if err != nil {
		return err
	}
	s.news.tell(Event{Kind: "job", Job: e.id, State: job.State, At: job.Ended.Sub(s.engine.Started()).Seconds()})
	for _, id := range readers {
		if other, _ := s.jobs.get(id); other != nil {
			s.admit(s.stopped, other)
		}
	}
	s.retire.add(o.Job.ID)
	s.times.over(o.Job.ID)
	s.forecast.over(o.Job.ID, o.Job.Name)
	return nil
}

// outcomeOf has the workshop finish a job, once. What it cannot do for a job that somebody cancels, it need not.
func (s *Server) outcomeOf(e *entry, o *live.Over) (*Outcome, error) {
	if e.outcome != nil {
		return e.outcome, nil
	}
	outcome, err := s.shop.Finish(s.stopped, o)
	if err != nil {
		if !e.cancelled() {
			return nil, err
		}
		outcome = &Outcome{State: Cancelled, Why: err.Error()}
	}
	if unpublished(o) && !run.Lasting(o.Failure) { // else nobody has cancelled it in time
		outcome.State = Cancelled
	}
	e.outcome = outcome
	return outcome, nil
}

// overState is how a job has ended. The workshop knows whether results could not be kept, which is a failure; the
// engine may only have found that the folder was given back already, by a server that was killed before it could say
// so.
func overState(o *live.Over, what *Outcome) State {
	switch {
	case unpublished(o):
		return cmp.Or(what.State, Failed)
	case o.State == sched.JobSucceeded:
		return Succeeded
	case o.State == sched.JobBroken:
		return Failed
	}
	return cmp.Or(what.State, State(o.Summary.State))
}

// order is what can be done to a job that is not over.
func (s *Server) order(ctx context.Context, c *call, do func(context.Context, sched.JobID) error) (any, error) {
	e, over, err := s.jobs.find(c.ref)
	if err != nil {
		return nil, err
	}
	if over != nil {
		return nil, problem(http.StatusConflict, "job %d (%s) has %s", over.ID, over.Name, inWords(over.State))
	}
	if err := do(ctx, sched.JobID(e.id)); err != nil && !errors.Is(err, live.ErrOver) {
		return nil, err
	}
	return s.look(ctx, strconv.FormatInt(e.id, 10))
}

// cancel ends a job. One that is over for the engine and whose results cannot be brought in is given up.
func (s *Server) cancel(ctx context.Context, c *call) (any, error) {
	return s.order(ctx, c, func(ctx context.Context, id sched.JobID) error {
		err := s.engine.Cancel(ctx, id)
		if e, _ := s.jobs.get(int64(id)); e != nil && errors.Is(err, live.ErrOver) {
			s.jobs.giveUp(e)
		}
		return err
	})
}

func (s *Server) pause(ctx context.Context, c *call) (any, error) {
	return s.order(ctx, c, s.engine.Pause)
}

func (s *Server) resume(ctx context.Context, c *call) (any, error) {
	return s.order(ctx, c, s.engine.Continue)
}

// change changes a job's place among the others.
func (s *Server) change(ctx context.Context, c *call) (any, error) {
	change, mistakes := s.settle(c.body.(*Change), time.Now())
	if len(mistakes) > 0 {
		return nil, wrong(mistakes...)
	}
	return s.order(ctx, c, func(ctx context.Context, id sched.JobID) error { return s.engine.Change(ctx, id, *change) })
}

// settle turns a change as a client words it into one of the engine.
func (s *Server) settle(asked *Change, now time.Time) (change *live.Change, mistakes []Mistake) {
	change = &live.Change{Weight: asked.Weight}
	if p := asked.Priority; p != nil {
		if *p < math.MinInt32 || *p > math.MaxInt32 {
			mistakes = append(mistakes, Mistake{"priority", fmt.Sprintf("expected a number of 32 bits, not %d", *p)})
		}
		small := int32(*p)
		change.Priority = &small
	}
	if w := asked.Weight; w != nil && !(*w > 0 && *w < 1e9) {
		mistakes = append(mistakes, Mistake{"weight", fmt.Sprintf("expected a number above 0, not %v", *w)})
	}
	if asked.Deadline != nil {
		at, err := instant(*asked.Deadline, now)
		if err != nil {
			mistakes = append(mistakes, Mistake{"deadline", err.Error()})
		}
		then := sched.Never
		if !at.IsZero() {
			then = sched.Time(at.Sub(s.engine.Started()))
		}
		change.Deadline = &then
	}
	if *asked == (Change{}) {
		mistakes = append(mistakes, Mistake{"", "expected a priority, a weight or a deadline"})
	}
	return change, mistakes
}

// instant reads a deadline; the zero instant is none.
func instant(text string, now time.Time) (time.Time, error) {
	if text == "none" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Before(now) {
		return at, fmt.Errorf("expected a duration from now such as 10m, an instant to come such as %s, or none, not %q",
			now.Add(time.Hour).Format(time.RFC3339), text)
	}
	return at, nil
}

// setPolicy has another policy decide from now on.
func (s *Server) setPolicy(ctx context.Context, c *call) (any, error) {
	specs, _, err := FitPortfolio(c.body.(*PolicyChange).Policy, len(s.cfg.Classes))
	if err != nil {
		return nil, wrong(Mistake{"policy", err.Error()})
	}
	s.handing.Lock()
	defer s.handing.Unlock()
	if err := s.engine.SetPolicy(ctx, specs[0], s.cfg.Seed, s.cfg.Limits); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.rivals = newRivals(specs, len(s.cfg.Classes))
	s.mu.Unlock()
	s.decides(specs[0])
	return PolicyNow{PolicySchema, specs[0]}, nil
}

func (s *Server) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// drain starts nothing more. Run returns when nothing runs any more.
func (s *Server) drain(ctx context.Context, _ *call) (any, error) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	about, err := s.about(ctx, nil) // the engine may end at once
	if err != nil {
		return nil, err
	}
	if err := s.engine.Drain(ctx); err != nil {
		return nil, err
	}
	s.news.tell(Event{Kind: "server", Job: -1})
	return about, nil
}
