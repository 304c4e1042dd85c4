package sched

import "math"

// View is what the core knows, for policies and drivers to read. This file has the questions that most policies ask:
//
//   - the instant: Now;
//   - rows, by value: Job, Stage, Task, Machine, Attempt;
//   - what there is, one after the other: ActiveJob, WaitingStage, PendingTask, RunningTask, FirstAttempt and
//     NextAttempt, FreeMachine;
//   - how much may be launched: Slots, FreeSlots, Pending, AttemptRoom, CloneRoom.
//
// The others are grouped: [View.Rows] about single rows, [View.Cluster] about the cluster as a whole, [View.Sites]
// about where machines and data are. Every question is answered in a time that does not depend on the size of the
// cluster.
//
// A policy under [PerClass] sees the slots of its class and the tasks that need them; otherwise the view is of all
// classes.
type View struct {
	now    Time
	pace   float64 // see Pace
	limits Limits
	tables
	network *Network

	unfinished   int          // tasks of active jobs that are neither done nor skipped
	slots, used  [Classes]int // of machines that are up
	pendingTasks [Classes]int
	runningTasks [Classes]int

	class Class // whose slots and tasks the reader sees,
	whole bool  // or he sees those of all classes
	part  bool  // or he sees less than there is
	mixed bool  // there is more than class 0

	cloneFailures bool // count, see Core.CountClones
	killsAtOnce   bool // see Core.KillAtOnce
	waits         bool // see Core.WaitToBegin
}

// tables are the rows and indexes of a view, whose memory Core.Reset keeps.
type tables struct {
	jobs   Table[JobID, Job]
	stages Table[StageID, Stage]
	tasks  Table[TaskID, Task]
	links  Table[JobID, *links]   // of jobs whose stages or tasks wait for others, or read
	sample Table[StageID, []Time] // of stages of which it is known
	beside Table[JobID, beside]   // of jobs with stages of a class above 0

	confined Table[JobID, *confined] // of jobs with datasets

	spareLinks []*links

	issuedJobs, issuedStages, issuedTasks uint32 // ids below these were given out

	attempts []attempt
	progress []headway    // by row of attempts
	here     []neighbours // likewise
	machines []Machine
	sites    []site
	runs     []run
	stirred  []JobID // see share.go

	active  idSet          // jobs that have arrived and are not over
	pending idSet          // tasks that wait for an attempt
	running idSet          // tasks with an attempt running
	held    idSet          // tasks that could wait for an attempt if their job had room for it, see share.go
	waiting [Classes]idSet // stages with pending tasks
	free    [Classes]idSet // machines with a free slot
	owed    idSet          // rows of attempts that policies cannot kill, see maxwait.go
}

// job, stage and task return the rows of ids that were given out.
func (t *tables) job(j JobID) *Job       { return t.jobs.Of(j) }
func (t *tables) stage(s StageID) *Stage { return t.stages.Of(s) }
func (t *tables) task(id TaskID) *Task   { return t.tasks.Of(id) }

func (t *tables) empty() {
	for _, l := range t.links.All() {
		t.spareLinks = append(t.spareLinks, (*l).empty())
	}
	t.jobs.Clear()
	t.stages.Clear()
	t.tasks.Clear()
	t.links.Clear()
	t.sample.Clear()
	t.beside.Clear()
	t.confined.Clear()
	t.jobs.blank, t.stages.blank, t.tasks.blank = Job{State: JobGone}, Stage{State: StageGone}, Task{State: TaskGone, first: -1}
	t.issuedJobs, t.issuedStages, t.issuedTasks = 0, 0, 0
	t.attempts, t.progress, t.here, t.machines = t.attempts[:0], t.progress[:0], t.here[:0], t.machines[:0]
	t.sites, t.runs, t.stirred = t.sites[:0], t.runs[:0], t.stirred[:0]
	t.active.empty()
	t.pending.empty()
	t.running.empty()
	t.held.empty()
	t.owed.empty()
	for k := range Classes {
		t.waiting[k].empty()
		t.free[k].empty()
		t.free[k].stays = true
	}
}

// Sample returns durations that stand for the law of an attempt of the stage, in any order; nil if it is not known
// beforehand. It is not the caller's to change.
func (v *View) Sample(s StageID) []Time { return v.sample.Get(s) }

// Now returns the instant of the fact being observed, or of the call of Advance.
func (v *View) Now() Time { return v.now }

// Job returns the row of a job. Once the job is retired it is empty and its state JobGone, and so it is with the rows
// of its stages and tasks.
func (v *View) Job(j JobID) Job {
	if v.part {
		return v.narrowJob(j)
	}
	return v.jobs.Get(j)
}

// Stage returns the row of a stage.
func (v *View) Stage(s StageID) Stage {
	st := v.stages.look(s)
	if !v.sees(st.Class) {
		return narrowStage(st)
	}
	return *st
}

// Task returns the row of a task.
func (v *View) Task(t TaskID) Task { return v.tasks.Get(t) }

// Machine returns the row of a machine.
func (v *View) Machine(m MachineID) Machine { return v.machines[m] }

// Attempt returns what is known of an attempt that runs, or that ended in this call of Advance.
func (v *View) Attempt(id AttemptID) Attempt {
	row := id.row()
	a := &v.attempts[row]
	x := Attempt{Task: a.task, Machine: a.machine, Number: a.number, Clone: a.clone, Started: a.started, ProgressAt: a.started}
	if a.advanced {
		p := &v.progress[row]
		x.From, x.Progress, x.ProgressAt, x.Rate = p.from, p.done, p.at, p.rate
	}
	if a.waiting {
		x.Started, x.ProgressAt, x.Waiting = v.now, v.now, true
	}
	return x
}

// issued tells whether the attempt can have been launched: its row exists and its generation is not one of the future.
func (v *View) issued(a AttemptID) bool {
	row := a.Row()
	return row < len(v.attempts) && a.gen() > 0 && a.gen() <= v.attempts[row].gen
}

// FirstAttempt returns the running attempt of the task that was launched last; 0, false if none runs.
func (v *View) FirstAttempt(t TaskID) (AttemptID, bool) { return v.idOf(v.tasks.look(t).first) }

// NextAttempt returns the running attempt of the same task that was launched before a.
func (v *View) NextAttempt(a AttemptID) (AttemptID, bool) {
	return v.idOf(v.older(a.row()))
}

func (v *View) idOf(row int32) (AttemptID, bool) {
	if row < 0 {
		return 0, false
	}
	return attemptID(row, v.attempts[row].gen), true
}

// ActiveJob returns the first active job with an id of at least from.
func (v *View) ActiveJob(from JobID) (JobID, bool) {
	n := v.active.next(int(from))
	return JobID(n), n >= 0
}

// WaitingStage returns the first stage with an id of at least from that has pending tasks. Ids ascend with the jobs'
// order of submission.
func (v *View) WaitingStage(from StageID) (StageID, bool) {
	n := v.next(&v.waiting, int(from))
	return StageID(n), n >= 0
}

// PendingTask returns the first task of the stage with an id of at least from that waits for an attempt.
func (v *View) PendingTask(s StageID, from TaskID) (TaskID, bool) {
	return v.taskIn(&v.pending, s, from)
}

// RunningTask returns the first task of the stage with an id of at least from that has an attempt running.
func (v *View) RunningTask(s StageID, from TaskID) (TaskID, bool) {
	return v.taskIn(&v.running, s, from)
}

func (v *View) taskIn(set *idSet, s StageID, from TaskID) (TaskID, bool) {
	st := v.stages.look(s)
	if !v.sees(st.Class) {
		return 0, false
	}
	n := set.next(int(max(from, st.First)))
	return TaskID(n), n >= 0 && n < int(st.First)+int(st.Tasks)
}

// FreeMachine returns the first machine with an id of at least from that has a free slot.
func (v *View) FreeMachine(from MachineID) (MachineID, bool) {
	n := v.next(&v.free, int(from))
	return MachineID(n), n >= 0
}

// Slots returns the slots of all machines that are up, FreeSlots those that nothing runs in.
func (v *View) Slots() int     { return v.sum(&v.slots) }
func (v *View) FreeSlots() int { return v.Slots() - v.Cluster().Live() }

// Pending returns the number of tasks that wait for an attempt.
func (v *View) Pending() int { return v.sum(&v.pendingTasks) }

// CloneRoom returns how many more clones the clone budget allows now, bounded by the free slots.
func (v *View) CloneRoom() int {
	return max(0, min(v.FreeSlots(), v.budgetRoom()))
}

// budgetRoom returns how many more clones the budget, which is that of all classes together, allows now.
func (v *View) budgetRoom() int {
	running := total(&v.runningTasks)
	most, ok := v.limits.Clones.allowed(v.unfinished, running, total(&v.slots))
	if !ok {
		return math.MaxInt
	}
	return most - (total(&v.used) - running)
}

// AttemptRoom returns how many more attempts of the task may run at once, slots and clone budget aside.
func (v *View) AttemptRoom(t TaskID) int {
	task := v.tasks.look(t)
	if task.State != TaskPending && task.State != TaskRunning {
		return 0
	}
	if st := v.stage(task.Stage); exhausted(task, st) || task.State == TaskRunning && v.job(st.Job).Paused {
		return 0
	}
	return v.attemptRoom(task, v.job(v.stage(task.Stage).Job))
}

// attemptRoom is AttemptRoom for a task that may run.
func (v *View) attemptRoom(task *Task, job *Job) int {
	most := maxLive
	if v.limits.Attempts >= 0 {
		most = min(most, v.limits.Attempts)
	}
	if job.MaxAttempts > 0 {
		most = min(most, int(job.MaxAttempts))
	}
	if task.NoClones {
		most = min(most, 1)
	}
	most -= int(task.Live)
	if job.MaxLive > 0 {
		spare := job.room()
		if task.State == TaskPending { // it has a place
			spare++
		}
		most = min(most, spare)
	}
	return max(0, most)
}
