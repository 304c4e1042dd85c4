package sched

import (
	"cmp"
	"math"
	"slices"
)

// twin is the core once more, as its rules read and with nothing that makes the core fast. It keeps the specs, the history of
// all attempts, and which jobs, stages and tasks are over; whatever else anybody asks it counts anew from these. It has no
// sets, no lists through rows, no counters and recycles nothing. The core names the attempts; to the twin a name is just a name.
type twin struct {
	limits   Limits
	now      Time
	wake     Time // Never if none
	told     Time // the wake that was ordered last
	paces    bool // the policy says that it sets the speed
	waits    bool // attempts wait until they begin
	jobs     []*twinJob
	stages   []*twinStage
	tasks    []*twinTask
	machines []*twinMachine
	sites    int            // of the network, 0 if there is none
	attempts []*twinAttempt // all that ever were, in order of launch
	given    []JobID        // cancelled by the policy
	paced    []float64      // speeds that it ordered
	out      []Decision
	seen     []Event // in no particular order within one fact
}

type twinJob struct {
	spec            *JobSpec
	first           StageID
	state           JobState
	paused          bool
	arrived, closed Time

	priority int32 // as it is now, and so are weight and deadline
	weight   float64
	deadline Time
}

type twinStage struct {
	job    JobID
	index  int
	first  TaskID
	spec   StageSpec
	opened bool // StageReady was told
	closed bool
	gaveUp bool // it was closed only because the job failed or was cancelled
}

type twinTask struct {
	stage StageID
	index int
	over  TaskState // TaskDone or later, else 0
	ready bool      // was told to be ready, alone or with its stage
	shown bool      // its job, which is bounded, has room for it
	saved float64

	result int64 // bytes of it that each reader reads
}

type twinMachine struct {
	site  SiteID
	class Class
	slots int // as it was added
	room  int // as it was resized
	up    bool
}

type twinAttempt struct {
	Attempt
	id      AttemptID
	launch  Time
	began   Time   // Never while it waits
	why     Reason // it ended; 0 while it runs, or if it won or failed
	ended   Time   // Never while it runs
	failed  bool
	doomed  bool // it failed, and so would every other
	refused bool // it has not begun
	useful  bool // it won, or saved more than was saved before and than it began with

	forgiven bool // it failed before the job was retried
}

func (w *twin) submit(spec *JobSpec) {
	j := &twinJob{spec: spec, first: StageID(len(w.stages)), priority: spec.Priority, weight: spec.Weight, deadline: spec.Deadline}
	for i, s := range spec.Stages {
		if s.Need == 0 {
			s.Need = s.Tasks
		}
		w.stages = append(w.stages, &twinStage{job: JobID(len(w.jobs)), index: i, first: TaskID(len(w.tasks)), spec: s})
		for k := range s.Tasks {
			w.tasks = append(w.tasks, &twinTask{stage: j.first + StageID(i), index: k})
		}
	}
	w.jobs = append(w.jobs, j)
}

// Questions.

// live returns the running attempts that are asked for, the latest first.
func (w *twin) live(which func(*twinAttempt) bool) (all []*twinAttempt) {
	for _, a := range w.attempts {
		if a.ended == Never && which(a) {
			all = append(all, a)
		}
	}
	slices.Reverse(all)
	return all
}

func (w *twin) of(t TaskID) func(*twinAttempt) bool {
	return func(a *twinAttempt) bool { return a.Task == t }
}

func (w *twin) on(m MachineID) func(*twinAttempt) bool {
	return func(a *twinAttempt) bool { return a.Machine == m }
}

func (w *twin) find(id AttemptID) *twinAttempt {
	for _, a := range w.attempts {
		if a.id == id {
			return a
		}
	}
	return nil
}

func (w *twin) failures(t TaskID) (n int) {
	doomed := false
	for _, a := range w.attempts {
		if a.Task == t && a.failed && !a.forgiven && !a.Clone {
			n++
			doomed = doomed || a.doomed
		}
	}
	if doomed {
		n = max(n, w.retries(t)+1)
	}
	return n
}

// soured tells whether a clone of the task has failed.
func (w *twin) soured(t TaskID) bool {
	return slices.ContainsFunc(w.attempts, func(a *twinAttempt) bool { return a.Task == t && a.failed && !a.forgiven && a.Clone })
}

// slots counts what a machine has room for, and what runs beyond.
func (w *twin) slots(i int) int {
	if m := w.machines[i]; m.up {
		return max(m.room, len(w.live(w.on(MachineID(i)))))
	}
	return w.machines[i].slots
}

func (w *twin) jobOf(t TaskID) JobID { return w.stages[w.tasks[t].stage].job }

func (w *twin) exhausted(t TaskID) bool { return w.failures(t) > w.retries(t) }

func (w *twin) retries(t TaskID) int {
	if own := w.stages[w.tasks[t].stage].spec.Retries; own != nil {
		return *own
	}
	return w.jobs[w.jobOf(t)].spec.Retries
}

// inputs calls yield for each edge into a stage with the stage that it comes from.
func (w *twin) inputs(s StageID, yield func(e Edge, from *twinStage)) {
	j := w.jobs[w.stages[s].job]
	for _, e := range j.spec.Edges {
		if e.To == w.stages[s].index {
			yield(e, w.stages[j.first+StageID(e.From)])
		}
	}
}

func (w *twin) open(s StageID) bool {
	open := !w.stages[s].closed && w.jobs[w.stages[s].job].state == JobActive
	w.inputs(s, func(e Edge, from *twinStage) { open = open && (e.Kind != Barrier || from.closed) })
	return open
}

func (w *twin) runnable(t TaskID) bool {
	task := w.tasks[t]
	ok := task.over == 0 && w.open(task.stage) && !w.jobs[w.jobOf(t)].paused
	w.inputs(task.stage, func(e Edge, from *twinStage) {
		over := func(i int) bool {
			over := w.tasks[int(from.first)+i].over
			return over == TaskDone || over == TaskSkipped || over > TaskSkipped && w.enough(from)
		}
		switch e.Kind {
		case Pointwise:
			ok = ok && over(task.index)
		case PerTask:
			for _, p := range e.Pairs {
				ok = ok && (int(p[1]) != task.index || over(int(p[0])))
			}
		}
	})
	return ok
}

func (w *twin) state(t TaskID) TaskState {
	switch {
	case w.tasks[t].over != 0:
		return w.tasks[t].over
	case len(w.live(w.of(t))) > 0:
		return TaskRunning
	case w.runnable(t) && (w.tasks[t].shown || w.jobs[w.jobOf(t)].spec.MaxLive == 0):
		return TaskPending
	}
	return TaskBlocked
}

// room is how many more attempts a bounded job may have beyond those that run and those of the tasks that wait.
func (w *twin) room(j JobID) int {
	n := w.jobs[j].spec.MaxLive
	if n == 0 {
		return math.MaxInt
	}
	for t := range w.tasks {
		if w.jobOf(TaskID(t)) == j {
			if n -= len(w.live(w.of(TaskID(t)))); w.state(TaskID(t)) == TaskPending {
				n--
			}
		}
	}
	return n
}

// admit shows tasks of bounded jobs as far as there is room. A task that has run, or whose job was paused, is not shown
// any more.
func (w *twin) admit() {
	for t, task := range w.tasks {
		if len(w.live(w.of(TaskID(t)))) > 0 || !w.runnable(TaskID(t)) {
			task.shown = false
		}
	}
	for t, task := range w.tasks {
		j := w.jobOf(TaskID(t))
		if w.jobs[j].spec.MaxLive > 0 && w.state(TaskID(t)) == TaskBlocked && w.runnable(TaskID(t)) && w.room(j) > 0 {
			task.shown = true
			w.tell(Event{Kind: TaskReady, Job: j, Stage: task.stage, Task: TaskID(t)})
		}
	}
}

// count counts the tasks of active jobs in a state that are asked for.
func (w *twin) count(state TaskState, sees sight) (n int) {
	for t, task := range w.tasks {
		if !sees(w.stages[task.stage].spec.Class) {
			continue
		}
		if w.jobs[w.jobOf(TaskID(t))].state == JobActive && w.state(TaskID(t)) == state {
			n++
		}
	}
	return n
}

// sight tells whose slots and tasks one sees.
type sight func(Class) bool

func everything(Class) bool { return true }

func only(class Class) sight { return func(c Class) bool { return c == class } }

// cloneRoom knows the free slots that one sees, and one budget for all.
func (w *twin) cloneRoom(sees sight) int {
	free := 0
	for i, m := range w.machines {
		if m.up && sees(m.class) {
			free += w.slots(i) - len(w.live(w.on(MachineID(i))))
		}
	}
	b := w.limits.Clones
	if b.Floor == Unlimited {
		return free
	}
	all, running := len(w.live(func(*twinAttempt) bool { return true })), w.count(TaskRunning, everything)
	unfinished := float64(w.count(TaskBlocked, everything) + w.count(TaskPending, everything) + running)
	most := max(float64(b.Floor), math.Floor(b.TaskShare*unfinished), math.Floor(b.RunningShare*float64(running)))
	return max(0, min(free, int(most)-(all-running)))
}

// Facts.

func (w *twin) advance(facts []Event) {
	w.out, w.seen = nil, nil
	slices.SortStableFunc(facts, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Attempt.Row(), b.Attempt.Row()),
			cmp.Compare(a.Job, b.Job), cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Progress, b.Progress), cmp.Compare(a.Rate, b.Rate),
			cmp.Compare(a.Site, b.Site), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Span, b.Span), cmp.Compare(a.Slots, b.Slots),
			cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Deadline, b.Deadline))
	})
	for _, f := range facts {
		w.now = f.At
		w.apply(f)
	}
}

func (w *twin) apply(f Event) {
	a := w.find(f.Attempt)
	alive := a != nil && a.ended == Never
	switch {
	case f.Kind == MachineJoined && !w.machines[f.Machine].up:
		w.machines[f.Machine].up = true
		w.tell(Event{Kind: MachineJoined, Machine: f.Machine})
	case (f.Kind == MachineLost || f.Kind == MachineStopped) && w.machines[f.Machine].up:
		w.machines[f.Machine].up = false
		for here := w.live(w.on(f.Machine)); len(here) > 0; here = w.live(w.on(f.Machine)) {
			w.end(here[0], MachineGone)
			if f.Kind == MachineStopped {
				w.keep(here[0])
			}
			w.orphan(here[0].Task)
		}
		w.machines[f.Machine].room = w.machines[f.Machine].slots
		w.tell(Event{Kind: MachineLost, Machine: f.Machine})
	case f.Kind == MachineResized && w.machines[f.Machine].up:
		w.machines[f.Machine].room = int(f.Slots)
		w.tell(f)
	case f.Kind == AttemptRefused && alive:
		a.ended, a.refused = w.now, true
		w.tellOf(a, AttemptLost)
		w.orphan(a.Task)
	case f.Kind == AttemptDone && alive:
		w.tasks[a.Task].result = f.Bytes
		w.win(a)
	case (f.Kind == AttemptFailed || f.Kind == AttemptDoomed) && alive:
		a.ended, a.failed, a.doomed = w.now, true, f.Kind == AttemptDoomed
		w.keep(a)
		w.tellOf(a, AttemptFailed)
		w.orphan(a.Task)
	case f.Kind == AttemptBegan && alive:
		w.begin(a)
	case f.Kind == AttemptProgress && alive:
		w.begin(a)
		a.From, a.Progress, a.Rate, a.ProgressAt = min(a.From, f.Progress), f.Progress, f.Rate, w.now
		w.tellOf(a, AttemptProgress)
		w.seen[len(w.seen)-1].Progress, w.seen[len(w.seen)-1].Rate = f.Progress, f.Rate
	case f.Kind == DataFetched:
		if alive {
			f.Task, f.Stage, f.Job = a.Task, w.tasks[a.Task].stage, w.jobOf(a.Task)
		}
		w.tell(f)
	case f.Kind == JobArrived && w.jobs[f.Job].state == JobSubmitted:
		w.jobs[f.Job].state, w.jobs[f.Job].arrived = JobActive, w.now
		w.arrive(f.Job)
	case f.Kind == JobPaused && w.jobs[f.Job].state <= JobActive && !w.jobs[f.Job].paused:
		if w.jobs[f.Job].paused = true; w.jobs[f.Job].state == JobActive {
			w.tell(f)
		}
		for t, task := range w.tasks {
			task.shown = task.shown && w.jobOf(TaskID(t)) != f.Job
		}
	case f.Kind == JobContinued && w.jobs[f.Job].paused:
		if w.jobs[f.Job].paused = false; w.jobs[f.Job].state == JobActive {
			w.tell(f)
			for t, task := range w.tasks {
				if w.jobOf(TaskID(t)) == f.Job && w.stages[task.stage].opened {
					task.ready = w.runnable(TaskID(t))
				}
			}
		}
	case f.Kind == JobChanged && w.jobs[f.Job].state <= JobActive:
		j := w.jobs[f.Job]
		if j.priority, j.weight, j.deadline = f.Priority, f.Weight, f.Deadline; j.state == JobActive {
			w.tell(f)
		}
	case f.Kind == JobRetired && w.jobs[f.Job].state > JobActive && w.jobs[f.Job].state < JobGone:
		w.tell(f)
		w.jobs[f.Job].state = JobGone
	case f.Kind == JobCancelled && w.jobs[f.Job].state == JobActive:
		w.abandon(f.Job, JobStopped, JobCancelled)
	case f.Kind == JobCancelled && w.jobs[f.Job].state == JobSubmitted:
		w.jobs[f.Job].arrived = w.now
		w.close(f.Job, JobStopped, JobCancelled)
	case f.Kind == JobRetried && w.lossy(f.Job):
		w.abandonQuietly(f.Job)
		w.tell(Event{Kind: JobFailed, Job: f.Job})
		w.retry(f.Job)
	case f.Kind == JobRetried && (w.jobs[f.Job].state == JobBroken || w.jobs[f.Job].state == JobStopped) && w.hasGivenUp(f.Job):
		w.retry(f.Job)
	}
}

// begin lets an attempt begin if it waits.
func (w *twin) begin(a *twinAttempt) {
	if a.began == Never {
		a.began = w.now
		w.tellOf(a, AttemptBegan)
	}
}

// row returns what a view shows of an attempt: one that waits is as if it was launched just now.
func (w *twin) row(a *twinAttempt) Attempt {
	row := a.Attempt
	row.Waiting, row.Started = a.began == Never, min(a.began, w.now)
	row.ProgressAt = max(row.ProgressAt, row.Started)
	return row
}

// ran returns how long an attempt that has ended has run.
func (a *twinAttempt) ran() Time { return a.ended - min(a.began, a.ended) }

// hasGivenUp tells whether a job ended after it had begun.
func (w *twin) hasGivenUp(j JobID) bool {
	return slices.ContainsFunc(w.stages, func(s *twinStage) bool { return s.job == j && s.gaveUp })
}

// retry opens anew what was given up of a job that has failed.
func (w *twin) retry(j JobID) {
	for _, s := range w.stages {
		if s.job == j && s.gaveUp {
			s.opened, s.closed, s.gaveUp = false, false, false
		}
	}
	for t, task := range w.tasks {
		if s := w.stages[task.stage]; s.job == j && !s.closed && task.over > TaskDone {
			task.over, task.ready, task.shown = 0, false, false
			for _, a := range w.attempts {
				a.forgiven = a.forgiven || a.Task == TaskID(t)
			}
		}
	}
	w.jobs[j].state = JobActive
	w.arrive(j)
}

// arrive tells of a job that has become active.
func (w *twin) arrive(j JobID) {
	w.tell(Event{Kind: JobArrived, Job: j})
	w.follow(j)
	if w.jobs[j].paused {
		w.tell(Event{Kind: JobPaused, Job: j})
	}
}

func (w *twin) win(a *twinAttempt) {
	s := w.stages[w.tasks[a.Task].stage]
	a.ended, a.useful = w.now, true
	w.tasks[a.Task].over = TaskDone
	w.out = append(w.out, w.decision(a, Commit, 0))
	w.tellOf(a, AttemptDone)
	w.seen[len(w.seen)-1].Bytes = w.tasks[a.Task].result
	w.endAll(a.Task, SiblingWon)
	if w.enough(s) {
		w.skip(s, StageOver)
		w.tell(Event{Kind: StageDone, Job: s.job, Stage: w.tasks[a.Task].stage})
	}
	w.strand(s.job)
	w.follow(s.job)
}

// over counts the tasks of a stage that are in a state or a later one.
func (w *twin) over(s *twinStage, from, to TaskState) (n int) {
	for _, t := range w.tasks[s.first:][:s.spec.Tasks] {
		if t.over >= from && t.over <= to {
			n++
		}
	}
	return n
}

// enough tells whether a stage that can have begun has what it needs.
func (w *twin) enough(s *twinStage) bool {
	return w.over(s, TaskDone, TaskDone) == s.spec.Need && (s.spec.Tasks > 0 || !s.gaveUp)
}

// short tells whether a stage is over without what it needs.
func (w *twin) short(s *twinStage) bool { return s.closed && !w.enough(s) }

// strand closes the stages of which nothing is left to run, gives up what waits for what they lack, and so on.
func (w *twin) strand(j JobID) {
	for again := true; again; {
		again = false
		for i := range w.jobs[j].spec.Stages {
			id := w.jobs[j].first + StageID(i)
			s := w.stages[id]
			hopeless := false
			w.inputs(id, func(e Edge, from *twinStage) {
				if !w.short(from) || s.closed {
					return
				}
				lost := func(i int) bool { return w.tasks[int(from.first)+i].over > TaskSkipped }
				for k, t := range w.tasks[s.first:][:s.spec.Tasks] {
					waits := e.Kind == Barrier || e.Kind == Pointwise && lost(k)
					for _, p := range e.Pairs {
						waits = waits || e.Kind == PerTask && int(p[1]) == k && lost(int(p[0]))
					}
					if waits && t.over == 0 {
						t.over = TaskStranded
						if s.opened {
							w.tell(Event{Kind: TaskGivenUp, Job: j, Stage: id, Task: s.first + TaskID(k)})
						}
					}
				}
				hopeless = hopeless || e.Kind == Barrier
			})
			over := w.over(s, TaskDone, TaskStranded) == s.spec.Tasks
			if !s.closed && over && (s.spec.Tasks > 0 || hopeless) {
				if !s.opened {
					w.tell(Event{Kind: StageReady, Job: j, Stage: id})
				}
				s.opened, s.closed, s.gaveUp, again = true, true, true, true
				w.tell(Event{Kind: StageDone, Job: j, Stage: id})
			}
		}
	}
}

// lossy tells whether an active job has given up tasks that it needs, and runs nothing.
func (w *twin) lossy(j JobID) bool {
	lossy := false
	for _, s := range w.stages {
		lossy = lossy || s.job == j && !w.enough(s) && w.over(s, TaskBroken, TaskStranded) > 0
	}
	return lossy && w.jobs[j].state == JobActive && len(w.live(func(a *twinAttempt) bool { return w.jobOf(a.Task) == j })) == 0
}

// failed counts the tasks of a job that have failed for good.
func (w *twin) failed(j JobID) (n int) {
	for _, s := range w.stages {
		if s.job == j {
			n += w.over(s, TaskBroken, TaskBroken)
		}
	}
	return n
}

// follow tells what has become ready in a job, closes stages without tasks, and closes the job when nothing is left.
func (w *twin) follow(j JobID) {
	job := w.jobs[j]
	for t, task := range w.tasks {
		if w.jobOf(TaskID(t)) == j && w.stages[task.stage].opened && !task.ready && w.runnable(TaskID(t)) {
			if task.ready = true; job.spec.MaxLive == 0 {
				w.tell(Event{Kind: TaskReady, Job: j, Stage: task.stage, Task: TaskID(t)})
			}
		}
	}
	closed := 0
	for i := 0; i < len(job.spec.Stages); i++ {
		id := job.first + StageID(i)
		s := w.stages[id]
		if s.closed {
			closed++
		}
		if s.opened || !w.open(id) {
			continue
		}
		s.opened = true
		for k := range s.spec.Tasks {
			t := s.first + TaskID(k)
			w.tasks[t].ready = w.runnable(t)
		}
		w.tell(Event{Kind: StageReady, Job: j, Stage: id})
		if s.spec.Tasks == 0 {
			s.closed = true
			w.tell(Event{Kind: StageDone, Job: j, Stage: id})
			i, closed = -1, 0 // from the beginning: it may have held up any other
		}
	}
	switch {
	case closed < len(job.spec.Stages):
	case slices.ContainsFunc(w.stages, func(s *twinStage) bool { return s.job == j && w.short(s) }):
		w.close(j, JobBroken, JobFailed)
	default:
		w.close(j, JobSucceeded, JobDone)
	}
}

// drop ends the jobs that are to be dropped at their deadlines, the earliest first.
func (w *twin) drop() {
	for at := Time(0); at <= w.now; at++ {
		for j := range w.jobs {
			if w.dropsAt(JobID(j)) == at {
				w.abandon(JobID(j), JobStopped, JobCancelled)
			}
		}
	}
}

// dropsAt returns when a job is dropped, Never if it is not.
func (w *twin) dropsAt(j JobID) Time {
	if job := w.jobs[j]; job.state == JobActive && job.spec.Late.Kind == LateDrop && job.deadline > 0 {
		return job.deadline
	}
	return Never
}

// orphan deals with a task of which an attempt has failed or was lost.
func (w *twin) orphan(t TaskID) {
	switch j := w.jobOf(t); {
	case w.tasks[t].over != 0 || len(w.live(w.of(t))) > 0:
	case w.exhausted(t):
		w.tasks[t].over = TaskBroken
		w.tell(Event{Kind: TaskGivenUp, Job: j, Stage: w.tasks[t].stage, Task: t})
		if most := w.jobs[j].spec.MaxFailed; most != Unlimited && w.failed(j) > most {
			w.abandon(j, JobBroken, JobFailed)
			return
		}
		w.strand(j)
		w.follow(j)
	case !w.jobs[j].paused && w.jobs[j].spec.MaxLive == 0:
		w.tell(Event{Kind: TaskReady, Job: j, Stage: w.tasks[t].stage, Task: t})
	}
}

func (w *twin) abandon(j JobID, state JobState, kind EventKind) {
	w.abandonQuietly(j)
	w.close(j, state, kind)
}

func (w *twin) abandonQuietly(j JobID) {
	for _, s := range w.stages {
		if s.job == j {
			s.gaveUp = s.gaveUp || !s.closed
			w.skip(s, JobOver)
		}
	}
}

// skip closes a stage and gives up what it has not done.
func (w *twin) skip(s *twinStage, why Reason) {
	s.closed = true
	for k := range s.spec.Tasks {
		if t := s.first + TaskID(k); w.tasks[t].over == 0 {
			w.endAll(t, why)
			w.tasks[t].over = TaskSkipped
		}
	}
}

func (w *twin) close(j JobID, state JobState, kind EventKind) {
	w.jobs[j].state, w.jobs[j].closed, w.jobs[j].paused = state, w.now, false
	w.out = append(w.out, Decision{At: w.now, Kind: Close, Job: j, Reason: JobOver})
	w.tell(Event{Kind: kind, Job: j})
}

func (w *twin) endAll(t TaskID, why Reason) {
	for _, a := range w.live(w.of(t)) {
		w.end(a, why)
	}
}

// end is the core's doing, of which the policy is told.
func (w *twin) end(a *twinAttempt, why Reason) {
	a.ended, a.why = w.now, why
	w.out = append(w.out, w.decision(a, Kill, why))
	w.tellOf(a, AttemptLost)
}

func (w *twin) decision(a *twinAttempt, kind DecisionKind, why Reason) Decision {
	return Decision{At: w.now, Kind: kind, Reason: why, Job: w.jobOf(a.Task), Stage: w.tasks[a.Task].stage,
		Task: a.Task, Machine: a.Machine, Number: a.Number, Attempt: a.id}
}

func (w *twin) tell(ev Event) {
	ev.At = w.now
	w.seen = append(w.seen, ev)
}

func (w *twin) tellOf(a *twinAttempt, kind EventKind) {
	s := w.tasks[a.Task].stage
	w.tell(Event{Kind: kind, Job: w.stages[s].job, Stage: s, Task: a.Task, Machine: a.Machine, Attempt: a.id})
}

// Orders.

func (w *twin) launch(t TaskID, m MachineID, from float64, why Reason, id AttemptID) error {
	if int(t) >= len(w.tasks) || w.state(t) != TaskPending && w.state(t) != TaskRunning {
		return ErrNotRunnable
	}
	if int(m) >= len(w.machines) || !w.machines[m].up || len(w.live(w.on(m))) == w.slots(int(m)) {
		return ErrNoSlot
	}
	if w.machines[m].class != w.stages[w.tasks[t].stage].spec.Class {
		return ErrClass
	}
	if math.IsNaN(from) || from < 0 || from >= 1 || from != 0 && !w.stages[w.tasks[t].stage].spec.Resumable {
		return ErrFrom
	}
	siblings := len(w.live(w.of(t)))
	switch {
	case w.exhausted(t):
		return ErrRetries
	case siblings > 0 && w.jobs[w.jobOf(t)].paused:
		return ErrPaused
	case w.limits.Attempts != Unlimited && siblings >= w.limits.Attempts || siblings > 0 && w.soured(t):
		return ErrAttempts
	case w.jobs[w.jobOf(t)].spec.MaxAttempts > 0 && siblings >= w.jobs[w.jobOf(t)].spec.MaxAttempts:
		return ErrAttempts
	case siblings > 0 && w.room(w.jobOf(t)) <= 0:
		return ErrAttempts
	case siblings > 0 && w.cloneRoom(everything) == 0:
		return ErrCloneBudget
	}
	before := uint32(0)
	for _, a := range w.attempts {
		if a.Task == t {
			before++
		}
	}
	a := &twinAttempt{id: id, launch: w.now, began: w.now, ended: Never, Attempt: Attempt{
		Task: t, Machine: m, Number: before, Clone: siblings > 0, From: from, Progress: from,
	}}
	if w.waits || w.stages[w.tasks[t].stage].spec.Waits {
		a.began = Never
	}
	w.attempts, w.tasks[t].shown = append(w.attempts, a), false
	d := w.decision(a, Launch, why)
	d.From = from
	w.out = append(w.out, d)
	return nil
}

func (w *twin) kill(id AttemptID, why Reason) error {
	a := w.find(id)
	if a == nil || a.ended != Never {
		return ErrNotAlive
	}
	if w.exhausted(a.Task) && len(w.live(w.of(a.Task))) == 1 {
		return ErrRetries
	}
	if a.launch == w.now || a.began == w.now {
		return ErrTooSoon
	}
	if w.jobs[w.jobOf(a.Task)].paused {
		return ErrPaused
	}
	if s := w.stages[w.tasks[a.Task].stage]; w.limits.Gentle && !s.spec.Resumable && (!a.Clone || len(w.live(w.of(a.Task))) == 1) {
		return ErrLoses
	}
	a.ended, a.why = w.now, why
	w.out = append(w.out, w.decision(a, Kill, why))
	w.keep(a)
	w.tasks[a.Task].shown = len(w.live(w.of(a.Task))) == 0 // it has the place of the attempt
	return nil
}

func (w *twin) keep(a *twinAttempt) {
	task := w.tasks[a.Task]
	reached := min(a.Progress+a.Rate*(w.now-a.ProgressAt).Seconds(), math.Nextafter(1, 0))
	if w.stages[task.stage].spec.Resumable && reached > task.saved && reached > a.From {
		task.saved, a.useful = reached, true
	}
}

func (w *twin) pace(speed float64) error {
	if !w.paces || math.IsNaN(speed) || math.IsInf(speed, 0) || speed <= 0 {
		return ErrPace
	}
	if speed != w.speed() {
		w.paced = append(w.paced, speed)
		w.out = append(w.out, Decision{At: w.now, Kind: Pace, Speed: speed})
	}
	return nil
}

// speed is what was ordered last.
func (w *twin) speed() float64 {
	if len(w.paced) == 0 {
		return 1
	}
	return w.paced[len(w.paced)-1]
}

func (w *twin) cancel(j JobID) error {
	if int(j) >= len(w.jobs) || w.jobs[j].state != JobActive {
		return ErrNotActive
	}
	w.given = append(w.given, j)
	return nil
}

// giveUp does between two calls of Decide what the first has asked for.
func (w *twin) giveUp() {
	for _, j := range w.given {
		if w.jobs[j].state == JobActive {
			w.abandon(j, JobStopped, JobCancelled)
		}
	}
	w.given = nil
}

func (w *twin) wakeAt(t Time) {
	if t > w.now {
		w.wake = min(w.wake, t)
	}
}

// timer fires before the policy decides; decided orders the next one after.
func (w *twin) timer(now Time) {
	w.now = now
	if w.wake <= now {
		w.wake = Never
		w.tell(Event{Kind: TimerFired})
	}
	w.drop()
}

func (w *twin) decided() {
	next := w.wake
	for j := range w.jobs {
		next = min(next, w.dropsAt(JobID(j)))
	}
	if w.told <= w.now {
		w.told = Never
	}
	if next < w.told {
		w.told = next
		w.out = append(w.out, Decision{At: next, Kind: Wake})
	}
}
