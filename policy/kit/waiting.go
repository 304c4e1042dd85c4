package kit

import "github.com/tailcut/tailcut/sched"

// An attempt that waits to begin, for a node or an image, is no straggler, however long ago it was launched; see
// sched.Core.WaitToBegin. Policies that judge attempts by their age follow one rule. An attempt that waits is not
// watched: no list, order or timer has it. When it begins (AttemptBegan) its task is looked at as after the loss of
// another attempt, and the attempt is watched from then on. What Survivor and Silence return follows the rule.
// Where no attempt waits, AttemptBegan does not come.

// Survivor returns the only attempt of a running task if it has begun: that of a task that has lost another one and
// goes on, or has just begun.
func Survivor(v *sched.View, t sched.TaskID) (sched.AttemptID, bool) {
	if task := v.Task(t); task.State != sched.TaskRunning || task.Live != 1 {
		return 0, false
	}
	a, ok := v.FirstAttempt(t)
	return a, ok && !v.Rows().Waiting(a)
}
