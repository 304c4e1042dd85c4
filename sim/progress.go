package sim

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// Progress says what a policy is told of the progress of attempts: the share of the work that is done (headway.go).
// While an attempt is being launched (Options.LaunchDelay) or fetches what it reads it does and tells nothing. The zero
// value tells nothing.
type Progress struct {
	// when the attempt begins, and whenever its pace changes, together with the rate: a policy knows when the attempt
	// will end if the pace stays
	Exact bool
	Every sched.Time // without a rate, each time this span has passed since the beginning; 0 for never
	Noise float64    // standard deviation of the relative error of the remaining time that follows from a report
	// the error is drawn once for each attempt and is in all of its reports; else each report has one of its own
	Persists bool
	Odd      Oddity // what is wrong with reports beside
	Loud     bool   // attempts of silent stages (trace.StageRow) report as well
}

// ParseProgress reads none, exact, the span between reports, or what is odd about them, see [ProgressUsage].
func ParseProgress(spec string) (Progress, error) {
	switch spec {
	case "none":
		return Progress{}, nil
	case "exact":
		return Progress{Exact: true}, nil
	}
	if name, rest, _ := strings.Cut(spec, ":"); oddKinds[name].Kind != honest {
		return parseOddity(name, rest)
	}
	d, err := time.ParseDuration(strings.TrimSpace(spec))
	if err != nil || d < time.Microsecond {
		return Progress{}, fmt.Errorf("expected %s; got %q", ProgressUsage, spec)
	}
	return Progress{Every: sched.Time(d)}, nil
}

// leastError bounds 1+e from below: an estimate of the remaining time is never less than a hundredth of it, so that
// it stays positive.
const leastError = 0.01

// silent tells whether an attempt never reports.
func (s *Simulator) silent(r *running) bool {
	return s.stages.Of(r.stage).silent && !s.o.Progress.Exact && !s.o.Progress.Loud
}

// misjudged returns a factor on the remaining time, or work, of an attempt as a report has it: 1+e with e ~ N(0,
// Noise²).
func (s *Simulator) misjudged(r *running) float64 {
	if s.o.Progress.Noise == 0 {
		return 1
	}
	report := r.reports
	if s.o.Progress.Persists {
		report = 0
	}
	e := s.o.Progress.Noise * normal(draw(s.o.Seed, forNoise, r.job, r.task, r.number<<16+report))
	return max(leastError, 1+e)
}

// word returns what an attempt has to say now.
func (s *Simulator) word(r *running) sched.Event {
	if s.o.Progress.Exact && (s.now == r.begun || s.varying != nil) {
		return s.forecast(r, s.share(r))
	}
	return s.report(r)
}

// report returns the fact that says how far an attempt has come. If reports are noisy it reports a fraction p of the
// whole task such that who extrapolates linearly, p-From having taken as long as the attempt worked, errs on the
// remaining time as is meant. Under checkpointing, where attempts go on from each other's work, the noise is on what is
// left.
func (s *Simulator) report(r *running) sched.Event {
	wrong := s.misjudged(r)
	r.reports++
	ev := sched.Event{At: s.now, Kind: sched.AttemptProgress, Attempt: r.id}
	if s.shared != nil {
		ev.Progress = max(0, 1-(1-s.progressOf(r))*wrong)
		return ev
	}
	did, left := s.worked(r)
	if left *= wrong; did+left > 0 {
		ev.Progress = (did + left*r.from) / (did + left)
	} else {
		ev.Progress = 1
	}
	if s.o.Progress.Odd.Kind > hang && s.odd(r) {
		ev.Progress = r.from + (1-r.from)*s.says((ev.Progress-r.from)/(1-r.from), did)
	}
	return ev
}

// forecast returns the fact that tells a policy how far an attempt has come and at which rate it goes on: it will end
// then if its pace does not change.
func (s *Simulator) forecast(r *running, sofar float64) sched.Event {
	ev := sched.Event{At: s.now, Kind: sched.AttemptProgress, Attempt: r.id, Progress: sofar}
	if s.varying != nil {
		h := s.settleHeadway(r)
		pace, _ := s.varying.pace(s.machine(r.machine), &h.at, h.since)
		ev.Rate = min(math.MaxFloat64, (1-r.from)*pace*1e9/h.work/s.misjudged(r))
		return ev
	}
	ev.Rate = (1 - sofar) / ((r.end - s.now).Seconds() * s.misjudged(r))
	return ev
}

// paceChanges returns when the pace of an attempt that works changes next.
func (s *Simulator) paceChanges(r *running) sched.Time {
	h := s.settleHeadway(r)
	if _, until := s.varying.pace(s.machine(r.machine), &h.at, h.since); until < sched.Never-s.start {
		return until + s.start
	}
	return sched.Never
}
