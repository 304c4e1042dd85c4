package serve

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/internal/whatif"
)

// PastNames answers what is kept of jobs that are over, by name.
type PastNames struct {
	Schema string            `json:"schema"`
	Names  []past.NameRecord `json:"names"`
}

// PastJobs answers jobs that are over, the latest first.
type PastJobs struct {
	Schema string            `json:"schema"`
	Jobs   []*past.JobRecord `json:"jobs"`
}

// Schemas of what is told of the past.
const (
	PastNamesSchema = "tailcut.past-names/v1"
	PastJobsSchema  = "tailcut.past-jobs/v1"
)

// ofHistory words what the history complains of.
func ofHistory(err error) error {
	var field *grammar.FieldError
	switch {
	case errors.As(err, &field):
		return wrong(Mistake{field.Field, field.Problem.Error()})
	case errors.Is(err, past.ErrNoProgram), errors.As(err, new(past.Useless)):
		return problem(http.StatusServiceUnavailable, "there is no history: %v", err)
	case errors.Is(err, whatif.ErrNothing):
		return problem(http.StatusNotFound, "%v", err)
	case errors.Is(err, context.DeadlineExceeded):
		return problem(http.StatusServiceUnavailable, "the simulation takes too long; ask for fewer policies or a shorter time")
	}
	return err
}

// pastNames tells what is kept by name.
func (s *Server) pastNames(ctx context.Context, _ *call) (any, error) {
	names, err := s.past.Names(ctx)
	return PastNames{PastNamesSchema, names}, ofHistory(err)
}

// pastJobs tells of jobs that are over.
func (s *Server) pastJobs(ctx context.Context, c *call) (any, error) {
	limit := c.number("limit", 100)
	if limit < 1 || limit > mostListed {
		return nil, wrong(Mistake{"limit", "expected a number from 1 to 1000"})
	}
	q := &past.Query{Name: c.query.Get("name"), Run: c.query.Get("run"), Most: limit, Attempts: c.query.Get("attempts") == "true"}
	if q.Attempts && q.Run == "" {
		return nil, wrong(Mistake{"attempts", "works with run"})
	}
	if last := c.query.Get("last"); last != "" {
		span, err := whatif.ParseSpan(last)
		if err != nil {
			return nil, wrong(Mistake{"last", err.Error()})
		}
		q.Since = time.Now().Add(-span)
	}
	jobs, err := s.past.Jobs(ctx, q)
	return PastJobs{PastJobsSchema, jobs}, ofHistory(err)
}

// mostKept is how many promises are judged, the latest.
const mostKept = 100_000

// calibration tells how many promises were kept.
func (s *Server) calibration(ctx context.Context, _ *call) (any, error) {
	all, err := s.past.Kept(ctx, &past.Query{Most: mostKept})
	if err != nil {
		return nil, ofHistory(err)
	}
	return promise.Calibrate(all), nil
}

// whatIfTime is how long a simulation of the past may take.
const whatIfTime = 30 * time.Second

// whatIf simulates past jobs under other policies, one question at a time.
func (s *Server) whatIf(ctx context.Context, c *call) (any, error) {
	if !s.wonders.TryLock() {
		return nil, problem(http.StatusServiceUnavailable, "another simulation is under way; ask again when it is done")
	}
	defer s.wonders.Unlock()
	ctx, cancel := context.WithTimeout(ctx, whatIfTime)
	defer cancel()
	q := c.body.(*whatif.Question)
	query, err := q.Query(time.Now())
	if err != nil {
		return nil, ofHistory(err)
	}
	jobs, err := s.past.Jobs(ctx, query)
	if err != nil {
		return nil, ofHistory(err)
	}
	answer, err := q.Ask(ctx, jobs)
	if err != nil {
		return nil, ofHistory(err)
	}
	return answer, nil
}
