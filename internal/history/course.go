package history

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Course is what a log tells beside its attempts: the slots that there were, and what its stages waited for. What the
// log does not say is empty. docs/decisions/0041-a-log-is-replayed-on-its-slots.md says what it is for.
type Course struct {
	Application  string
	Began, Ended sched.Time        // of the application
	Slots        []SlotsFrom       // in order of time
	Jobs         []JobCourse       // in the order in which they were submitted
	Stages       []StageCourse     // likewise
	System       string            // whose rules attempts followed: spark, hadoop, tailcut; "" for others
	Version      string            // of the system
	Settings     map[string]string // of the system, as far as they are about clones
}

// SlotsFrom is how many slots there are from an instant on, until the next.
type SlotsFrom struct {
	At    sched.Time
	Slots int
}

// JobCourse is when a job was submitted and had ended; 0 if that is not known.
type JobCourse struct {
	Job              string
	Submitted, Ended sched.Time
}

// StageCourse is when a stage was submitted and had ended, and the stages of its job that it waited for.
type StageCourse struct {
	Job, Stage       string
	Submitted, Ended sched.Time
	Parents          []string
	Silent           bool // its attempts have reported no progress
}

// slotCount counts slots as machines come and go.
type slotCount struct {
	now   int
	steps []SlotsFrom
}

func (c *slotCount) add(at sched.Time, slots int) {
	c.now += slots
	c.steps = append(c.steps, SlotsFrom{at, slots})
}

// course returns the slots over time. Machines may have been told of in another order than that of their instants.
func (c *slotCount) course() (all []SlotsFrom) {
	slices.SortStableFunc(c.steps, func(a, b SlotsFrom) int { return cmp.Compare(a.At, b.At) })
	slots := 0
	for _, s := range c.steps {
		slots += s.Slots
		if n := len(all); n > 0 && all[n-1].At == s.At {
			all[n-1].Slots = slots
		} else {
			all = append(all, SlotsFrom{s.At, slots})
		}
	}
	return all
}

// MostSlots returns the most slots that there were at once in a span, 0 if the log does not say.
func (c *Course) MostSlots(from, to sched.Time) (most int) {
	for i, s := range c.Slots {
		if s.At < to && (i+1 == len(c.Slots) || c.Slots[i+1].At > from) {
			most = max(most, s.Slots)
		}
	}
	return most
}

// Course returns what the log tells beside its attempts. It is complete after [Log.Attempts].
func (l *Log) Course() *Course {
	if r, ok := l.reader.(interface{ course() *Course }); ok {
		return r.course()
	}
	return &Course{}
}
