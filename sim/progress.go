package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// Progress says what a policy is told of the progress of attempts. Progress is measured in time: an attempt that has
// run for a third of its duration has done a third of what it was launched for. While it is being launched
// (Options.LaunchDelay) it does and tells nothing. The zero value tells nothing.
type Progress struct {
	Exact bool       // when the attempt begins, together with the rate: a policy knows when it will end
	Every sched.Time // without a rate, each time this span has passed since the beginning; 0 for never
	Noise float64    // standard deviation of the relative error of the remaining time that follows from a report
}

// ParseProgress reads none, exact, or the span between reports.
func ParseProgress(spec string) (Progress, error) {
	switch spec {
	case "none":
		return Progress{}, nil
	case "exact":
		return Progress{Exact: true}, nil
	}
	d, err := time.ParseDuration(strings.TrimSpace(spec))
	if err != nil || d < time.Microsecond {
		return Progress{}, fmt.Errorf("expected none, exact or the span between reports such as 10s, got %q", spec)
	}
	return Progress{Every: sched.Time(d)}, nil
}

// leastError bounds 1+e from below: an estimate of the remaining time is never less than a hundredth of it, so that
// it stays positive.
const leastError = 0.01

// misjudged returns a factor on the remaining time, or work, of an attempt as a report has it: 1+e with e ~ N(0,
// Noise²).
func (s *Simulator) misjudged(r *running) float64 {
	if s.o.Progress.Noise == 0 {
		return 1
	}
	e := s.o.Progress.Noise * normal(draw(s.o.Seed, forNoise, r.job, r.task, r.number<<16+r.reports))
	return max(leastError, 1+e)
}

// word returns what an attempt has to say now.
func (s *Simulator) word(r *running) sched.Event {
	if s.o.Progress.Exact && s.now == r.start+s.o.LaunchDelay {
		return s.forecast(r, r.from)
	}
	return s.report(r)
}

// report returns the fact that says how far an attempt has come. It reports a fraction p of the whole task such that
// who extrapolates linearly, p-From having taken the attempt's age, gets the remaining time that is meant. Under
// checkpointing nobody can know that time, and p is what is done. Where the policy sets the speed, age and remaining
// time are those at ordinary speed.
func (s *Simulator) report(r *running) sched.Event {
	wrong := s.misjudged(r)
	r.reports++
	age, left := (s.now - r.start - s.o.LaunchDelay).Seconds(), (r.end - s.now).Seconds()
	if s.paced {
		age, left = s.worked(r)
	}
	left *= wrong
	ev := sched.Event{At: s.now, Kind: sched.AttemptProgress, Attempt: r.id, Progress: (age + left*r.from) / (age + left)}
	if s.shared != nil {
		ev.Progress = max(0, 1-(1-s.progressOf(r))*wrong)
	}
	return ev
}

// forecast returns the fact that tells a policy when an attempt that has come so far will end.
func (s *Simulator) forecast(r *running, sofar float64) sched.Event {
	left := (r.end - s.now).Seconds() * s.misjudged(r)
	return sched.Event{At: s.now, Kind: sched.AttemptProgress, Attempt: r.id, Progress: sofar, Rate: (1 - sofar) / left}
}
