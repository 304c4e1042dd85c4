package replay

import (
	"container/heap"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/sched"
)

// Arrange gives the attempts of a log that does not say when they started the starts that they have on so many slots,
// one after the other in the order of the log, and one stage after the other. It does nothing, and returns false, if
// the log says when some started, or if none succeeded.
func Arrange(stages []*history.StageRecord, slots int) bool {
	some := false
	for _, st := range stages {
		if len(st.Attempts) > 0 {
			return false
		}
		some = some || len(st.Succeeded) > 0
	}
	at := sched.Second
	for _, st := range stages {
		free := make(instants, min(slots, len(st.Succeeded)+len(st.Censored)))
		for i := range free {
			free[i] = at
		}
		for i, o := range st.Succeeded {
			a := history.TaskAttempt{Task: int32(i), Duration: sched.FromSeconds(o.Seconds), Host: o.Host, Bytes: o.Bytes}
			at = max(at, free.run(st, a))
		}
		for i, s := range st.Censored {
			a := history.TaskAttempt{Task: int32(len(st.Succeeded) + i), Duration: sched.FromSeconds(s), Outcome: history.Running}
			at = max(at, free.run(st, a))
		}
	}
	return some
}

// instants are when each slot gets free, as a heap.
type instants []sched.Time

// run adds an attempt to the stage, on the slot that gets free first, and returns when it ends.
func (f instants) run(st *history.StageRecord, a history.TaskAttempt) sched.Time {
	a.Start = f[0]
	f[0] += a.Duration
	end := f[0]
	heap.Fix(&f, 0)
	st.Attempts = append(st.Attempts, a)
	return end
}

func (f instants) Len() int           { return len(f) }
func (f instants) Less(i, j int) bool { return f[i] < f[j] }
func (f instants) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }

// Push and Pop are for [heap.Interface]; the number of slots does not change.
func (f *instants) Push(any) { panic("replay: no slot is added") }
func (f *instants) Pop() any { panic("replay: no slot is removed") }
