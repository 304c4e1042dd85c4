package sched

// Rows is a View for questions about single rows: their number, what stands in other rows, and single fields of
// attempts, which are cheaper than View.Attempt.
type Rows View

// Rows groups the view's questions about single rows.
func (v *View) Rows() *Rows { return (*Rows)(v) }

// Jobs, Stages, Tasks and Machines return how many were made known; ids run from 0. Attempts bounds AttemptID.Row.
func (r *Rows) Jobs() int     { return int(r.issuedJobs) }
func (r *Rows) Stages() int   { return int(r.issuedStages) }
func (r *Rows) Tasks() int    { return int(r.issuedTasks) }
func (r *Rows) Machines() int { return len(r.machines) }
func (r *Rows) Attempts() int { return len(r.attempts) }

// Visible tells whether the tasks of a stage are the reader's to serve: all are, except under PerClass those of other
// classes.
func (r *Rows) Visible(s StageID) bool { return (*View)(r).sees(r.stages.look(s).Class) }

// JobOf returns the job of a task.
func (r *Rows) JobOf(t TaskID) JobID { return r.stages.look(r.tasks.look(t).Stage).Job }

// TaskOf returns the task of an attempt that Attempt knows, Waiting whether it was launched and has not begun.
func (r *Rows) TaskOf(a AttemptID) TaskID { return r.attempts[a.row()].task }
func (r *Rows) Waiting(a AttemptID) bool  { return r.attempts[a.row()].waiting }

// Started returns when an attempt began that Attempt knows: now while it is waiting.
func (r *Rows) Started(a AttemptID) Time { return (*View)(r).since(&r.attempts[a.row()]) }

// Alive tells whether the attempt is running.
func (r *Rows) Alive(a AttemptID) bool {
	row := a.Row()
	return row < len(r.attempts) && r.attempts[row].gen == a.gen() && r.attempts[row].running
}

// MayKill tells whether a policy may kill an attempt: not the last one of a task that has used up its retries, because
// it decides over the job, none of a paused job, because nothing could take its place, none that the core has launched
// because its job had waited too long, and not at the instant at which
// it was launched or began. So whoever looks for a better attempt lets time pass between two tries, and no policy can
// launch and kill for ever at one instant.
func (r *Rows) MayKill(a AttemptID) bool { return r.Alive(a) && (*View)(r).spare(a.row()) == nil }

// AttemptIn returns the attempt in a row: the one that runs there, or that ended in this call of Advance.
func (r *Rows) AttemptIn(row int) AttemptID { return attemptID(int32(row), r.attempts[row].gen) }
