// Package study compares policies for overlapping map and shuffle phases over one stream of jobs, with each other and
// with the lower bound of any policy. The simulation is package overlap's; here are the files of jobs, the figures and
// their reports.
package study

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/cputime"
	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/overlap"
)

// LowerBound stands for the lower bound among policies.
const LowerBound = "lower-bound"

// Bounds are the lower bounds: the paper's, with which its figures divide; a tighter one, at several times the cost; or
// none.
var Bounds = []string{"paper", "tight", "none"}

// bound is overlap.Bound or overlap.Tight.
type bound interface {
	Arrive(j overlap.Demand)
	Drain()
	Mean() float64
}

// newBound is nil for none.
func (r *Request) newBound(skip int64) bound {
	switch r.Bound {
	case "none":
		return nil
	case "tight":
		return overlap.NewTight(skip)
	}
	return overlap.NewBound(skip)
}

// Request is a question.
type Request struct {
	Policies []string // see overlap.Parse, and LowerBound
	Jobs     Jobs     // unless they are drawn
	Drawn    int      // jobs to draw with log-normal sizes; 0 takes Jobs
	Load     float64  // of drawn jobs, above 0
	Seed     uint64   // of the draws
	Warmup   float64  // fraction of the jobs, the first to arrive, that does not count
	Speed    float64  // of both stations
	Batch    bool     // all jobs arrive at 0
	Bound    string   // one of Bounds; empty is the first

	Completions io.Writer // gets a CSV line for each job and policy, in order of completion; nil for none
	Fair        bool      // measures the mean slowdown by size, for WriteFairness and Page
}

// Check finds what is wrong with a request, but for its jobs. An error about one part is a [grammar.FieldError].
func (r *Request) Check() error {
	_, err := r.lines()
	switch {
	case r.Drawn < 0 || r.Drawn > 1e12:
		return grammar.Wrong("jobs", fmt.Errorf("expected a whole number from 1 to 1e12, not %d", r.Drawn))
	case !(r.Load > 0 && r.Load <= 1e6):
		return grammar.Wrong("load", fmt.Errorf("expected a number above 0, up to 1e6, not %v", r.Load))
	case !(r.Warmup >= 0 && r.Warmup < 1):
		return grammar.Wrong("warmup", fmt.Errorf("expected a fraction from 0 to below 1, not %v", r.Warmup))
	case !(r.Speed >= 1e-6 && r.Speed <= 1e6):
		return grammar.Wrong("speed", fmt.Errorf("expected a number from 1e-6 to 1e6, not %v", r.Speed))
	case len(r.Policies) == 0:
		err = errors.New("expected a policy")
	case r.Bound != "" && !slices.Contains(Bounds, r.Bound):
		return grammar.Wrong("bound", fmt.Errorf("expected one of %s, not %q", strings.Join(Bounds, ", "), r.Bound))
	case r.Bound == "none" && slices.ContainsFunc(r.Policies, func(p string) bool { return strings.TrimSpace(p) == LowerBound }):
		err = errors.New(LowerBound + ": the bound is switched off; remove one of the two")
	}
	if err != nil {
		return grammar.Wrong("policy", err)
	}
	return nil
}

// line is a policy in the study; sim is nil for the lower bound.
type line struct {
	name    string
	sim     *overlap.Sim
	summary overlap.Summary
	fair    overlap.Fairness
	spent   time.Duration // of a processor, without what is made of completions
}

func (r *Request) lines() (all []*line, err error) {
	for _, spec := range r.Policies {
		l := &line{name: strings.TrimSpace(spec)}
		all = append(all, l)
		if l.name == LowerBound {
			continue
		}
		p, err := overlap.Parse(l.name)
		if err != nil {
			return nil, err
		}
		l.sim = overlap.New(p, nil)
	}
	return all, nil
}

// study is a request that is being answered.
type study struct {
	*Request
	lines []*line
	bound bound         // nil for none
	log   *bufio.Writer // of completions; nil for none
	row   []byte
}

// Run feeds the jobs in blocks, so that all policies see one stream, which is never held whole if it is drawn, and the
// time of each can be told.
func (r *Request) Run(ctx context.Context) (*Result, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	s := &study{Request: r}
	s.lines, _ = r.lines()
	n, jobs := int64(len(r.Jobs.All)), slices.Values(r.Jobs.All)
	if r.Drawn > 0 {
		n = int64(r.Drawn)
		jobs = overlap.Synthetic(n, r.Load, r.Seed)
	}
	skip := int64(r.Warmup * float64(n))
	for _, l := range s.lines {
		l.summary.Skip, l.fair.Skip = skip, skip
	}
	s.bound = r.newBound(skip)
	if r.Completions != nil {
		s.log = bufio.NewWriterSize(r.Completions, 1<<16)
		_, _ = s.log.WriteString("policy,job,arrival,completion\n")
	}
	if err := s.run(ctx, jobs); err != nil {
		return nil, err
	}
	if s.log != nil {
		if err := s.log.Flush(); err != nil {
			return nil, err
		}
	}
	return s.result(n), nil
}

func (s *study) run(ctx context.Context, jobs iter.Seq[overlap.Demand]) error {
	block := make([]overlap.Demand, 0, 1<<10) // stays in the processor's cache, with what it completes
	for j := range jobs {
		if s.Speed != 1 {
			j.Map /= s.Speed
			j.Shuffle /= s.Speed
		}
		if s.Batch {
			j.Arrival = 0
		}
		if block = append(block, j); len(block) == cap(block) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.feed(block)
			block = block[:0]
		}
	}
	s.feed(block)
	for _, l := range s.lines {
		s.timed(l, func() { l.sim.Drain() })
	}
	if s.bound != nil {
		s.bound.Drain()
	}
	return nil
}

func (s *study) feed(block []overlap.Demand) {
	for _, l := range s.lines {
		s.timed(l, func() {
			for _, j := range block {
				l.sim.Arrive(j)
			}
		})
	}
	if s.bound == nil {
		return
	}
	for _, j := range block {
		s.bound.Arrive(j)
	}
}

// timed lets a policy work, then counts and forgets what it completed.
func (s *study) timed(l *line, work func()) {
	if l.sim == nil {
		return
	}
	start := cputime.Used()
	work()
	l.spent += cputime.Used() - start
	done := l.sim.Take()
	l.summary.AddAll(done)
	if !s.Fair && s.log == nil {
		return
	}
	for _, c := range done {
		if s.Fair {
			l.fair.Add(c, c.Job.Alone()*s.Speed)
		}
		if s.log != nil {
			s.write(l.name, c)
		}
	}
}

// write writes a completion. The first error is kept until the end.
func (s *study) write(policy string, c overlap.Completion) {
	job := c.Index
	if s.Jobs.Rows != nil {
		job = s.Jobs.Rows[job]
	}
	b := append(append(s.row[:0], policy...), ',')
	b = append(strconv.AppendInt(b, job, 10), ',')
	b = append(strconv.AppendFloat(b, c.Job.Arrival, 'g', 15, 64), ',')
	s.row = append(strconv.AppendFloat(b, c.Time, 'g', 15, 64), '\n')
	_, _ = s.log.Write(s.row)
}
