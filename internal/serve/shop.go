package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// New takes up the server of a folder, or begins one. What it has of an earlier one goes on when it runs.
func New(cfg Config) (*Server, error) {
	return newServer(cfg, func(s *Server) (Workshop, error) {
		host, err := proc.NewHost(proc.HostConfig{Name: hostName(cfg.Dir), Memory: cfg.Memory})
		return &Shop{Common: s.common, Host: host, chance: s.forecast.chanceOf}, err
	})
}

// hostName is the same for every server of a folder.
func hostName(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "serve-" + hex.EncodeToString(sum[:8])
}

// common is what the jobs of the server have in common, as it is now.
func (s *Server) common() *run.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &run.Server{
		Dir: s.cfg.Dir, Place: s.cfg.Socket, Version: s.cfg.Version, Memory: s.cfg.Memory, Started: s.engine.Started(), Host: s.shop.(*Shop).Host, Log: s.cfg.Log,
		Policy: s.policy, Seed: s.cfg.Seed, Limits: s.cfg.Limits, Machines: s.cfg.Machines, Classes: s.cfg.Classes, Alive: s.jobs.alive, Coming: s.jobs.expect, Claims: s.claim,
		History: s.cfg.History, Promises: s.forecast.kept,
	}
}

// claim writes down that a folder will be claimed.
func (s *Server) claim(run, output string) error { return s.claims.note(run, output, s.jobs.alive) }

// Shop is the workshop of a real server: jobs are those of 'tailcut run', and their attempts are processes.
type Shop struct {
	Common func() *run.Server // what the jobs have in common, as it is now
	Host   *proc.Host

	chance func(sched.JobID) *float64 // to meet its deadline, as it was played; nil if nobody plays

	mu   sync.Mutex
	open map[string]*run.Prepared // by the names of runs: those that are ready or under way
}

// mostReady bounds the jobs that are kept ready although nothing of them runs. Others are made ready again.
const mostReady = 64

// Prepare makes a submission ready.
func (s *Shop) Prepare(ctx context.Context, sub *run.Submission) (*Ready, error) {
	p, err := s.Common().Prepare(ctx, sub)
	if err != nil {
		return nil, mistakesOf(err)
	}
	job, err := p.JournalJob()
	if err != nil {
		p.Withdraw()
		return nil, err
	}
	s.keep(job.Run, p, false)
	return &Ready{Job: job, After: sub.After, Drop: func() {
		s.forget(job.Run)
		p.Withdraw()
	}}, nil
}

// mistakesOf words what is wrong with a submission. Whatever is no failure is the user's mistake.
func mistakesOf(err error) error {
	var fields run.Mistakes
	var field *grammar.FieldError
	var file *jobfile.Mistakes
	var failed run.Failure
	switch {
	case errors.As(err, &fields):
		var all []Mistake
		for _, m := range fields {
			all = append(all, Mistake{m.Field, m.Problem.Error()})
		}
		return wrong(all...)
	case errors.As(err, &field):
		return wrong(Mistake{field.Field, field.Problem.Error()})
	case errors.As(err, &file):
		var all []Mistake
		for _, line := range file.Lines() {
			all = append(all, Mistake{"job", line})
		}
		return wrong(all...)
	case errors.As(err, &failed), errors.Is(err, context.Canceled), run.Full(err):
		return err
	}
	return problem(http.StatusUnprocessableEntity, "%v", err)
}

// keep keeps a job that is ready; one that is not needed yet only while there are few.
func (s *Shop) keep(name string, p *run.Prepared, needed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*run.Prepared{}
	}
	if needed || len(s.open) < mostReady {
		s.open[name] = p
	}
}

func (s *Shop) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, name)
}

// ready returns a job that is ready; nil if it is not.
func (s *Shop) ready(name string) *run.Prepared {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[name]
}

// again returns a job ready, which is made so again if need be.
func (s *Shop) again(j *trace.JournalJob) (*run.Prepared, error) {
	if p := s.ready(j.Run); p != nil {
		return p, nil
	}
	return s.Common().Reopen(j)
}

// Open returns what starts the attempts of a job.
func (s *Shop) Open(j *live.Job) (live.Executor, error) {
	p, err := s.again(j.JournalJob)
	if err != nil {
		return nil, err
	}
	s.keep(j.Run, p, true)
	return p.Open()
}

// Ended takes notice of the end of an attempt, and returns what is said of it; "" for nothing.
func (s *Shop) Ended(j *live.Job, r *live.Record, last live.Report) string {
	p := s.ready(j.Run)
	if p == nil {
		return ""
	}
	p.Ended(r, last)
	return p.FailedLine(r, last)
}

// Standing tells how a job stands. What has to be noticed of it in time is.
func (s *Shop) Standing(v *sched.View, j *live.Job) *run.Standing {
	p := s.ready(j.Run)
	if p == nil {
		var err error
		if p, err = s.Common().Reopen(j.JournalJob); err != nil {
			return &run.Standing{State: j.State()}
		}
		s.keep(j.Run, p, false)
	}
	if s.chance != nil {
		p.Played(s.chance(j.ID))
	}
	return p.Tick(v, j.ID)
}

// Finish does what remains when a job is over.
func (s *Shop) Finish(ctx context.Context, o *live.Over) (*Outcome, error) {
	p, err := s.again(o.Job.JournalJob)
	if err != nil {
		return nil, err
	}
	res, err := p.Finish(ctx, o)
	if err != nil {
		return nil, err
	}
	s.forget(o.Job.Run)
	var text bytes.Buffer
	if err := res.WriteJSON(&text); err != nil {
		return nil, err
	}
	return &Outcome{State: State(res.Summary.State), Why: res.Error, Result: json.RawMessage(bytes.TrimSpace(text.Bytes()))}, nil
}

// Reports returns the channel on which all executors report.
func (s *Shop) Reports() <-chan live.Report { return s.Host.Reports() }

// Close ends whatever still runs.
func (s *Shop) Close() error {
	s.Host.Close()
	return nil
}
