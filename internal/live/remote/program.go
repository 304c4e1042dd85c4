package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
)

// Program is what a program offers to an engine. Errors are the user's unless they are a Failure.
type Program interface {
	// Plan cuts the job of a request into tasks.
	Plan(context.Context, *Request) (*jobfile.Plan, error)
	// Check finds out whether a run may have the output of a request, and how far it is if it has it already. With
	// force it makes room.
	Check(context.Context, *Request, *Check) (Standing, error)
	// Verify compares the result in the output of a request with its manifest. It may tell how many bytes it has read
	// and of how many, from any goroutine, as often as it likes.
	Verify(ctx context.Context, r *Request, seen func(done, total int64)) (*Verified, error)
	// Open takes up a run, whose attempts the executor starts and ends.
	Open(context.Context, *Request, *Open) (live.Executor, error)
	// Tidy removes what a run that has succeeded needs no more.
	Tidy(ctx context.Context, r *Request, run string) error
}

// Serve answers an engine until it says no more. Whatever is being done for it is cut short then, and the executor is
// closed, if the engine has not.
func Serve(ctx context.Context, p Program, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	calls := make(chan heard)
	over := make(chan struct{})
	defer close(over)
	go listen(json.NewDecoder(in), calls, over, cancel)
	s := &server{ctx: ctx, program: p, out: out}
	for h := range calls {
		if h.err == io.EOF {
			break
		}
		if h.err != nil {
			return errors.Join(fmt.Errorf("remote: a call: %w", h.err), s.close())
		}
		if err := s.say(s.answer(&h.call)); err != nil { // the engine is gone
			break
		}
	}
	return s.close()
}

// heard is a call, or why there are no more.
type heard struct {
	call
	err error
}

// listen hears an engine, and ends what is being done for it when it is gone.
func listen(from *json.Decoder, calls chan<- heard, over <-chan struct{}, gone func()) {
	defer close(calls)
	for {
		var h heard
		if h.err = from.Decode(&h.call); h.err != nil {
			gone()
		}
		select {
		case calls <- h:
		case <-over:
			return
		}
		if h.err != nil {
			return
		}
	}
}

type server struct {
	ctx     context.Context
	program Program
	request *Request
	exec    live.Executor
	over    chan struct{} // closed when reports are not wanted any more

	mu  sync.Mutex // of out
	out io.Writer
}

func (s *server) say(a *answer) error {
	line, err := encode(a)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.out.Write(line)
	return err
}

func (s *server) answer(c *call) *answer {
	a := &answer{}
	if err := s.do(c, a); err != nil {
		var failed Failure
		a.Error, a.Failed = err.Error(), errors.As(err, &failed)
	}
	return a
}

func (s *server) do(c *call, a *answer) (err error) {
	switch {
	case c.Do == "request" && c.Request != nil:
		s.request = c.Request
		return nil
	case s.request == nil:
		return fmt.Errorf("remote: call %q before any request", c.Do)
	case c.Do == "plan":
		a.Plan, err = s.program.Plan(s.ctx, s.request)
		return err
	case c.Do == "check" && c.Check != nil:
		standing, err := s.program.Check(s.ctx, s.request, c.Check)
		a.Standing = &standing
		return err
	case c.Do == "verify":
		a.Verified, err = s.program.Verify(s.ctx, s.request, s.seen())
		return err
	case c.Do == "open" && c.Open != nil && c.Open.Work != nil && s.exec == nil:
		if s.exec, err = s.program.Open(s.ctx, s.request, c.Open); err != nil {
			return err
		}
		s.over = make(chan struct{})
		go s.report(s.exec.Reports(), s.over)
		return nil
	case c.Do == "tidy" && c.Open != nil && c.Open.Run != "":
		return s.program.Tidy(s.ctx, s.request, c.Open.Run)
	case s.exec == nil:
		return fmt.Errorf("remote: call %q before a run is open", c.Do)
	}
	return Fail(s.execute(c))
}

// seen returns what to call for an engine to know how far a call is. It is told five times a second.
func (s *server) seen() func(done, total int64) {
	var mu sync.Mutex
	var last time.Time
	return func(done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(last) >= time.Second/5 {
			last = now
			_ = s.say(&answer{Seen: &seen{done, total}}) // of an engine that is gone the next answer tells
		}
	}
}

// execute carries out a call of the executor.
func (s *server) execute(c *call) error {
	switch {
	case c.Do == "start" && c.Attempt != nil:
		s.exec.Start(*c.Attempt)
		return nil
	case c.Do == "kill" && c.Kill != nil:
		s.exec.Kill(*c.Kill)
		return nil
	case c.Do == "commit" && c.Attempt != nil:
		return s.exec.Commit(*c.Attempt, nil)
	case c.Do == "clean":
		return s.exec.Clean()
	case c.Do == "publish":
		return s.exec.Publish()
	case c.Do == "close":
		return s.close()
	}
	return fmt.Errorf("remote: there is no call %q of this form", c.Do)
}

// report passes on what the executor reports.
func (s *server) report(from <-chan live.Report, over <-chan struct{}) {
	for {
		select {
		case r := <-from:
			if s.say(&answer{Report: &r}) != nil {
				return
			}
		case <-over:
			return
		}
	}
}

func (s *server) close() error {
	if s.exec == nil {
		return nil
	}
	close(s.over)
	exec := s.exec
	s.exec = nil
	return exec.Close()
}
