package run

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
)

// deadlineAt reads a deadline: a duration from the start, or an instant as RFC 3339 has it.
func deadlineAt(text string, start time.Time) (sched.Time, error) {
	left, err := time.ParseDuration(text)
	if err != nil {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return 0, fmt.Errorf("expected a duration such as 10m, or an instant such as 2026-11-30T18:00:00Z, not %q", text)
		}
		if left = at.Sub(start); left <= 0 {
			return 0, fmt.Errorf("%s is over", text)
		}
	}
	if left <= 0 {
		return 0, fmt.Errorf("expected a duration above 0, not %s", text)
	}
	return sched.Time(left), nil
}

// checkLate checks what the job is worth, and what becomes of it after its deadline.
func (o *Options) checkLate() error {
	if o.Deadline == "" && o.Late != (sched.Late{}) {
		return grammar.Wrong("late", errors.New("expected a --deadline beside it"))
	}
	if o.Deadline == "" && o.Value != 0 {
		return grammar.Wrong("value", errors.New("expected a --deadline beside it"))
	}
	if o.Value < 0 || math.IsNaN(o.Value) || math.IsInf(o.Value, 0) {
		return grammar.Wrong("value", fmt.Errorf("expected a number above 0, not %v", o.Value))
	}
	return nil
}

// laterDeadline returns the deadline of a run that had another: a duration counts from now, where the run has been
// going on for a while. 0 is none.
func (e *Engine) laterDeadline(run *live.Run) (sched.Time, error) {
	if e.Deadline == "" {
		return 0, nil
	}
	now := time.Now()
	left, err := deadlineAt(e.Deadline, now)
	if err != nil {
		return 0, fmt.Errorf("--deadline: %w", err)
	}
	since := max(sched.Time(now.Sub(run.Header.Started)), run.View().Now())
	return since + min(left, sched.Never-1-since), nil
}

// Deadline is what came of a deadline.
type Deadline struct {
	Seconds float64  `json:"deadline_seconds"` // from the run's start
	Met     bool     `json:"deadline_met"`
	Over    float64  `json:"deadline_over_seconds"`      // after which the job was closed, or is; below 0 for before
	PoCD    *float64 `json:"pocd,omitempty"`             // as it was first known
	Value   float64  `json:"value,omitempty"`            // of the job by its deadline, if it says so
	Won     *float64 `json:"value_won,omitempty"`        // of it; nil if the job says nothing of its value
	Dropped bool     `json:"deadline_dropped,omitempty"` // so it was not missed by anything
}

// deadlineOf tells how the job stands to its deadline; nil if it has none.
func (p *Prepared) deadlineOf(c *course) *Deadline {
	if c.deadline == 0 {
		return nil
	}
	over := (c.end - c.deadline).Seconds()
	d := &Deadline{Seconds: p.left.Seconds(), Met: c.State == "succeeded" && over <= 0, PoCD: p.foresight.firstKnown(), Over: over, Dropped: c.Dropped}
	if p.Value > 0 || p.Late.Kind == sched.LateSoft {
		job := sched.Job{Deadline: c.deadline, Value: cmp.Or(p.Value, p.o.Weight, 1), Late: p.Late}
		if d.Value, d.Won = job.Value, new(0.0); c.State == "succeeded" {
			*d.Won = job.Worth(c.end)
		}
	}
	return d
}

// String tells it to people.
func (d *Deadline) String() string {
	text := fmt.Sprintf("deadline: %.2f s after the start, ", d.Seconds)
	switch {
	case d.Met:
		text += fmt.Sprintf("met with %.2f s to spare", -d.Over)
	case d.Over > 0 && !d.Dropped:
		text += fmt.Sprintf("missed by %.2f s", d.Over)
	default:
		text += "not met"
	}
	if d.Won != nil {
		text += fmt.Sprintf("; value won: %s of %s", show.Number(*d.Won), show.Number(d.Value))
	}
	if d.PoCD != nil {
		text += fmt.Sprintf("; the first estimate of the probability was %s", show.Chance(*d.PoCD))
	}
	return text
}
