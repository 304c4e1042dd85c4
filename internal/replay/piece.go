package replay

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// piece is a stage as it is played: its tasks in the order in which they were launched.
type piece struct {
	record    *history.StageRecord
	submitted sched.Time
	ended     sched.Time
	told      bool // by the log itself, and not only to be seen from the attempts
	tasks     []Hold
	parents   []int // indexes of pieces that it waited for
	gap       sched.Time
	cloned    bool // there were clones
	silent    bool // attempts reported no progress
}

// Hold is how a task of a stage holds its slot as it is played.
type Hold struct {
	Held   sched.Time          // for all attempts that are no clones, and Beyond
	Last   history.TaskAttempt // of these
	Beyond sched.Time          // for how much longer the last would have run that a clone beat, by estimate; else 0
	Clone  sched.Time          // of the log's first clone, by estimate if it was beaten; 0 if there was none
}

// pieceOf returns nil for a stage of which the log does not tell when its attempts started.
func pieceOf(st *history.StageRecord, course *history.StageCourse) *piece {
	attempts := slices.Clone(st.Attempts)
	if len(attempts) == 0 || len(st.Succeeded) == 0 {
		return nil
	}
	slices.SortStableFunc(attempts, func(a, b history.TaskAttempt) int { return cmp.Compare(a.Start, b.Start) })
	p := &piece{record: st, submitted: attempts[0].Start}
	type turn struct {
		held  sched.Time // by attempts that are no clones, one after the other
		last  history.TaskAttempt
		clone history.TaskAttempt // that won
		first history.TaskAttempt // clone that won or was beaten
	}
	var tasks []*turn
	byNumber := map[int32]*turn{}
	for i, a := range attempts {
		p.ended = max(p.ended, a.Start+a.Duration)
		p.cloned = p.cloned || a.Speculative
		t := byNumber[a.Task]
		if t == nil {
			t = &turn{}
			byNumber[a.Task] = t
			tasks = append(tasks, t)
		}
		if a.Speculative && t.first.Duration == 0 && a.Outcome != history.Failed {
			t.first = a
		}
		switch {
		case a.Speculative && a.Outcome == history.Succeeded:
			t.clone = a
		case a.Speculative:
		case i > 0 && t.held > 0 && t.last.Start == a.Start: // told twice: its result was lost later
		default:
			t.held += a.Duration
			t.last = a
		}
	}
	rest := beyond(st)
	for _, t := range tasks {
		held, beyond := t.held, sched.Time(0)
		switch {
		case held == 0:
			held = t.clone.Duration
			t.last = t.clone
		case t.clone.Duration > 0 && t.last.Outcome == history.Killed:
			beyond = rest(t.last.Duration)
		}
		clone := t.first.Duration
		if clone > 0 && t.first.Outcome != history.Succeeded { // killed, or the log ended with the last task
			clone += rest(clone)
		}
		p.tasks = append(p.tasks, Hold{held + beyond, t.last, beyond, clone})
	}
	p.silent = course != nil && course.Silent
	if course != nil && course.Ended > course.Submitted && course.Submitted > 0 {
		p.submitted, p.ended, p.told = course.Submitted, course.Ended, true
	}
	return p
}

// durations are how long the tasks hold their slots.
func (p *piece) durations() []sched.Time {
	all := make([]sched.Time, len(p.tasks))
	for i := range p.tasks {
		all[i] = p.tasks[i].Held
	}
	return all
}

// beyond returns by how much an attempt that was killed would have taken longer: up to the middle of what is longer by
// the estimate of Kaplan and Meier.
func beyond(st *history.StageRecord) func(sched.Time) sched.Time {
	var law laws.Law
	return func(ran sched.Time) sched.Time {
		if law == nil {
			learned, err := laws.Learn(laws.Observe(st.Seconds(), st.Censored))
			if err != nil {
				return 0
			}
			law = learned
		}
		left := law.Survival(ran.Seconds())
		if !(left > 0) {
			return 0
		}
		return max(0, sched.FromSeconds(math.Max(0, law.InvSurvival(left/2)))-ran)
	}
}

// wall is what the log says that the stage took.
func (p *piece) wall() sched.Time { return p.ended - p.submitted }
