package sched

// A clone must do its task no harm. So the failure of a clone counts for nothing: not towards the retries that the job
// forgives, and not in what a driver reports as failures of the task. Only the failures count that there would have
// been without clones, those of originals. A clone that is left alone, because the original has failed or its machine
// is lost, is still a clone: if it fails too, the next original decides. What killed a clone is likely to kill the next
// one, so a task whose clone has failed gets no more of them.
//
// See docs/decisions/0015-a-clone-does-no-harm.md.

// FailureCounts tells whether the failure of an attempt counts: that of a clone does not.
func FailureCounts(clone bool) bool { return !clone }

// CountClones makes the failures of clones count as all others do, and lets a task whose clone has failed have more of
// them. It is for journals that were written when that was the rule, before the first fact.
func (c *Core) CountClones() { c.view.cloneFailures = true }

// Exhausted tells whether a task has failed more often than its stage forgives: it gets no more attempts, and when the
// last that runs has ended without result, its job fails.
func (v *View) Exhausted(t TaskID) bool {
	task := v.tasks.look(t)
	return exhausted(task, v.stages.look(task.Stage))
}

func exhausted(task *Task, st *Stage) bool { return uint32(task.Failures) > st.Retries }

// charge notes on the account of its task that an attempt has failed. A doomed task has then used up its retries.
func (v *View) charge(row int32, k kin, doomed bool) {
	a := &v.attempts[row]
	task := k.task
	if FailureCounts(a.clone) || v.cloneFailures {
		task.Failures++
		if doomed {
			task.Failures = max(task.Failures, uint16(k.stage.Retries)+1)
		}
	} else {
		task.NoClones = true
	}
	k.job.Failures++
}
