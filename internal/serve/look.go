package serve

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/user"
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// about says what the server is and how busy it is.
func (s *Server) about(ctx context.Context, _ *call) (any, error) {
	a := About{
		Schema: ServerSchema, Version: s.cfg.Version, Started: s.began, Dir: s.cfg.Dir, Process: os.Getpid(), Memory: s.cfg.Memory,
		MaxWait: s.cfg.Limits.MaxWait.Seconds(), Slots: map[string]int{}, Jobs: map[State]int{},
	}
	if u, err := user.Current(); err == nil {
		a.User = u.Username
	}
	for _, m := range s.cfg.Machines {
		a.Slots[s.className(m.Class)] += m.Slots
	}
	s.mu.Lock()
	a.Policy, a.Draining, a.Busy = s.policy, s.draining, len(s.busy)
	s.mu.Unlock()
	err := s.engine.Look(ctx, func(v live.Sight) {
		for j := range v.Jobs() {
			if _, over := s.jobs.get(int64(j.ID)); over == nil {
				a.Jobs[stateOf(j)]++
			}
		}
	})
	for state, n := range s.jobs.counts() {
		a.Jobs[state] += n
	}
	if errors.Is(err, live.ErrStopped) { // it has just drained
		err = nil
	}
	return a, err
}

func (s *Server) className(c sched.Class) string {
	if int(c) < len(s.cfg.Classes) {
		return s.cfg.Classes[c]
	}
	return ""
}

// show tells of a job, or of its end if that comes in time.
func (s *Server) show(ctx context.Context, c *call) (any, error) {
	e, over, err := s.jobs.find(c.ref)
	if err != nil || over != nil {
		return answerOver(over), err
	}
	if wait := min(c.seconds("wait"), mostWait); wait > 0 {
		select {
		case <-e.ended:
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.lookAgain(ctx, e)
}

// answerOver is the answer about a job that is over; nil for nil.
func answerOver(r *record) *Job {
	if r == nil {
		return nil
	}
	job := r.Job
	job.Schema = JobSchema
	return &job
}

// look tells of a job as it stands.
func (s *Server) look(ctx context.Context, ref string) (any, error) {
	e, over, err := s.jobs.find(ref)
	if err != nil || over != nil {
		return answerOver(over), err
	}
	return s.lookAgain(ctx, e)
}

// lookAgain tells of a job that was not over a moment ago.
func (s *Server) lookAgain(ctx context.Context, e *entry) (any, error) {
	if _, over := s.jobs.get(e.id); over != nil {
		return answerOver(over), nil
	}
	job, err := s.lookAt(ctx, e)
	if job != nil {
		job.Schema = JobSchema
		return job, err
	}
	if _, over := s.jobs.get(e.id); over != nil { // by now
		return answerOver(over), nil
	}
	return nil, err
}

// lookAt tells of a job that the engine has.
func (s *Server) lookAt(ctx context.Context, e *entry) (job *Job, err error) {
	why := s.jobs.whyOf(e)
	err = s.engine.Look(ctx, func(v live.Sight) {
		if j := v.Job(sched.JobID(e.id)); j != nil {
			job = s.row(v.View(), j)
		}
	})
	if err == nil && job == nil {
		return nil, problem(http.StatusNotFound, "job %d is not known any more", e.id)
	}
	if err == nil && why != "" {
		job.Why = why
	}
	return job, err
}

// list lists jobs, the latest first.
func (s *Server) list(ctx context.Context, c *call) (any, error) {
	limit := c.number("limit", mostListed)
	if limit < 1 || limit > mostListed {
		return nil, wrong(Mistake{"limit", "expected a number from 1 to 1000"})
	}
	before := int64(c.number("before", math32))
	ids := s.jobs.ids()
	answer := Jobs{Schema: JobsSchema, Jobs: []Job{}}
	wanted := func(j *Job) bool {
		states, name := c.query["state"], c.query.Get("name")
		return (len(states) == 0 || slices.Contains(states, string(j.State))) && (name == "" || j.Name == name)
	}
	err := s.engine.Look(ctx, func(v live.Sight) {
		for _, id := range ids {
			if id >= before {
				continue
			}
			job := s.of(v, id)
			if job == nil || !wanted(job) {
				continue
			}
			if len(answer.Jobs) == limit {
				next := answer.Jobs[limit-1].ID
				answer.Next = &next
				return
			}
			answer.Jobs = append(answer.Jobs, *job)
		}
	})
	return answer, err
}

// math32 is above every id.
const math32 = 1 << 40

// of returns the row of a job wherever it stands; nil if it is gone.
func (s *Server) of(v live.Sight, id int64) *Job {
	e, over := s.jobs.get(id)
	switch {
	case over != nil:
		return &over.Job
	case e == nil:
		return nil
	}
	j := v.Job(sched.JobID(id))
	if j == nil {
		return nil
	}
	job := s.row(v.View(), j)
	if why := s.jobs.whyOf(e); why != "" {
		job.Why = why
	}
	return job
}

// stateOf is the state of a job of the engine. One that is over there is over for everybody when its results are in
// their place.
func stateOf(j *live.Job) State {
	if state := State(j.State()); !state.Over() {
		return state
	}
	return Running
}

// row tells of a job of the engine. It is called on the loop's goroutine.
func (s *Server) row(v *sched.View, j *live.Job) *Job {
	row := v.Job(j.ID)
	job := &Job{
		ID: int64(j.ID), Name: j.Name, State: stateOf(j), Submitted: j.Submitted,
		Tasks: int(row.Tasks), Done: done(v, &row), Broken: int(row.Broken), Busy: int(row.Live), Attempts: int(row.Attempts), Clones: int(row.Clones),
		Fruitful: row.Fruitful.Seconds(), Fruitless: row.Fruitless.Seconds(),
		Output: j.Output, Priority: int(row.Priority), Weight: row.Weight, After: []int64{},
	}
	for _, id := range j.After {
		job.After = append(job.After, int64(id))
	}
	if row.Deadline != sched.Never {
		job.Deadline, job.Value, job.Late = s.wall(row.Deadline), row.Value, row.Late.String()
	}
	latest, _ := s.forecast.of(j.ID)
	s.forecast.promise(job, &latest)
	if row.State <= sched.JobActive {
		job.Chance = latest.ChanceAt(time.Now())
	}
	if all := j.Records(); len(all) > 0 {
		job.Started = s.wall(all[0].Launched)
	}
	job.Flow = time.Since(j.Submitted).Seconds() // the core's clock stands still while nothing happens
	if row.State > sched.JobActive {
		job.closed = s.wall(row.Closed)
		if job.Why = "its results are being brought in"; row.Dropped() {
			job.Why = "is being dropped: its deadline has passed"
		} else if row.State == sched.JobStopped {
			job.Why = "is being cancelled"
		}
	} else if row.State == sched.JobSubmitted && len(j.After) > 0 {
		job.Why = "waits for other jobs"
	}
	return job
}

// done counts the tasks of a job that have a result.
func done(v *sched.View, row *sched.Job) (n int) {
	for st := row.FirstStage; st < row.FirstStage+sched.StageID(row.Stages); st++ {
		n += int(v.Stage(st).Done)
	}
	return n
}

// wall is the wall clock at an instant of the engine.
func (s *Server) wall(t sched.Time) *time.Time {
	at := s.engine.Started().Add(time.Duration(t)).Round(time.Microsecond)
	return &at
}
