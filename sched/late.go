package sched

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// What a job is worth after its deadline is its owner's to say. By the deadline it is worth its value. Later it is
// worth nothing, and policies serve it behind all others or give it up, as their parameters say; or it is
//
//	hard   worth nothing, and run to its end nevertheless
//	drop   worth nothing, and given up: by the core at its deadline, by policies as soon as it cannot be met
//	soft   worth less with each minute, down to nothing, and run to its end
//
// A job that is dropped is stopped like one that its owner cancels: its slots are free, what it has done stays as it
// is, and other jobs do not notice.
//
// See docs/decisions/0056-late-jobs-have-a-worth.md.

// Late says what becomes of a job that misses its deadline.
type Late struct {
	Kind LateKind
	Cost float64 // LateSoft: value lost per minute, above 0
}

// LateKind is one of those below.
type LateKind uint8

// Kinds of being late.
const (
	LateAsPolicy LateKind = iota // not said: LateHard, except that a policy with late=kill gives the job up
	LateHard
	LateDrop
	LateSoft
)

var lateKinds = [...]string{"", "hard", "drop", "soft"}

// String writes it as ParseLate reads it; "" is LateAsPolicy.
func (l Late) String() string {
	if l.Kind == LateSoft {
		return "soft:" + strconv.FormatFloat(l.Cost, 'g', -1, 64)
	}
	return lateKinds[l.Kind]
}

// ParseLate reads hard, drop or soft:COST, a value per minute; "" is LateAsPolicy.
func ParseLate(text string) (Late, error) {
	for kind, name := range lateKinds[:LateSoft] {
		if text == name {
			return Late{Kind: LateKind(kind)}, nil
		}
	}
	if cost, ok := strings.CutPrefix(text, "soft:"); ok {
		if x, err := strconv.ParseFloat(cost, 64); err == nil && validCost(x) {
			return Late{Kind: LateSoft, Cost: x}, nil
		}
	}
	return Late{}, fmt.Errorf("expected hard, drop or soft:COST, the value lost per minute such as soft:0.5, not %q", text)
}

// MarshalText is String.
func (l Late) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is ParseLate.
func (l *Late) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLate(string(text))
	return err
}

func validCost(x float64) bool { return x > 0 && x <= math.MaxFloat64 }

func (l Late) validate() error {
	switch {
	case l.Kind > LateSoft:
		return fmt.Errorf("late: there is no kind %d", l.Kind)
	case l.Kind == LateSoft && !validCost(l.Cost):
		return fmt.Errorf("late: a cost of %v per minute is not finite and above 0", l.Cost)
	case l.Kind != LateSoft && l.Cost != 0:
		return errors.New("late: only soft has a cost")
	}
	return nil
}

// Worth returns what the job is worth if it is done at an instant.
func (j *Job) Worth(at Time) float64 {
	switch {
	case at <= j.Deadline:
		return j.Value
	case j.Late.Kind == LateSoft:
		return max(0, j.Value-j.Late.Cost*(at-j.Deadline).Seconds()/60)
	}
	return 0
}

// Until returns the instant from which on the job is worth nothing: its deadline, unless late is soft.
func (j *Job) Until() Time {
	if j.Late.Kind != LateSoft || j.Deadline == Never {
		return j.Deadline
	}
	grace := 60 * j.Value / j.Late.Cost
	if most := (Never - 1 - j.Deadline).Seconds(); !(grace < most) {
		return Never - 1
	}
	return j.Deadline + FromSeconds(grace)
}

// MayGiveUp tells whether a policy that gives up jobs that miss their deadlines may do so with this one.
func (j *Job) MayGiveUp() bool { return j.Late.Kind == LateAsPolicy || j.Late.Kind == LateDrop }

// Dropped tells whether the core has ended the job at its deadline.
func (j *Job) Dropped() bool {
	return j.State == JobStopped && j.Late.Kind == LateDrop && j.Closed >= j.Deadline
}

// drops tells whether the core ends the job at its deadline.
func (j *Job) drops() bool {
	return j.Late.Kind == LateDrop && j.State == JobActive && j.Deadline < Never
}

// remindDrop notes when a job is to be dropped, if ever.
func (c *Core) remindDrop(j JobID, job *Job) {
	if job.drops() {
		c.dropLine.push(waiter{job.Deadline, j})
	}
}

// nextDrop returns the instant at which the core drops a job next; Never if it has none to drop.
func (c *Core) nextDrop() Time {
	for l := &c.dropLine; len(*l) > 0; l.pop() {
		if job := c.view.jobs.look((*l)[0].job); job.drops() && job.Deadline == (*l)[0].since {
			return (*l)[0].since
		}
	}
	return Never
}

// drop ends the jobs whose deadlines have passed.
func (c *Core) drop() {
	for c.nextDrop() <= c.view.now {
		c.closeJob(c.dropLine[0].job, JobStopped, JobCancelled)
	}
}
