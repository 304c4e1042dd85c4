package sched

import (
	"iter"
	"slices"
)

// A Snapshot is all that a core knows between two calls of Advance: what is there, and what was done by it. It is plain
// data that can be kept as JSON. [Restore] makes a core of it that goes on in the same way and with the same ids, and
// with another policy if need be.
//
// What follows from the rest is left out: counters, sets, which tasks wait. A task of which there is nothing to say but
// that it waits or is blocked has no entry, so that ten thousand jobs in a queue take a few megabytes. What policies
// keep is not in it, nor is the Wake that they have asked for.
//
// See docs/decisions/0030-a-core-can-be-taken-up.md.
type Snapshot struct {
	At      Time     `json:"at"`
	Pace    float64  `json:"pace"`
	Network *Network `json:"network,omitempty"` // shared with the core
	Waits   bool     `json:"waits,omitempty"`   // see Core.WaitToBegin
	// rules of old journals, see Core.CountClones and Core.KillAtOnce
	CountClones bool `json:"count_clones,omitempty"`
	KillAtOnce  bool `json:"kill_at_once,omitempty"`

	// ids below these were given out
	NextJob   JobID   `json:"next_job"`
	NextStage StageID `json:"next_stage"`
	NextTask  TaskID  `json:"next_task"`

	Machines []SavedMachine `json:"machines"` // by id
	Jobs     []SavedJob     `json:"jobs"`     // by ascending id: all that are not retired

	// of each row of attempts the generation that runs there, or else the next one; the greatest number if it had all
	Rows     []uint32       `json:"rows"`
	Spare    []int32        `json:"spare"`    // rows in which nothing runs, and can; the next attempt gets the last
	Attempts []SavedAttempt `json:"attempts"` // that run, machine by machine, in the order of their launches
}

// SavedMachine is a machine of a snapshot.
type SavedMachine struct {
	Class Class  `json:"class,omitempty"`
	Site  SiteID `json:"site,omitempty"`
	Slots uint32 `json:"slots"` // when it joins
	Room  uint32 `json:"room"`  // as it was resized since
	Up    bool   `json:"up,omitempty"`
}

// SavedJob is a job of a snapshot, with its stages and tasks.
type SavedJob struct {
	ID    JobID   `json:"id"`
	Stage StageID `json:"stage"` // its first
	Task  TaskID  `json:"task"`  // likewise
	Spec  JobSpec `json:"spec"`  // as it is now, without Inputs: see SavedStage.Reads

	State     JobState `json:"state,omitempty"`
	Paused    bool     `json:"paused,omitempty"`
	Short     bool     `json:"short,omitempty"` // a stage was closed without what it needs
	Arrived   Time     `json:"arrived,omitempty"`
	Closed    Time     `json:"closed,omitempty"`
	Fruitful  Time     `json:"fruitful,omitempty"`
	Fruitless Time     `json:"fruitless,omitempty"`
	Attempts  uint32   `json:"attempts,omitempty"`
	Clones    uint32   `json:"clones,omitempty"`
	Failures  uint32   `json:"failures,omitempty"`
	Served    Time     `json:"served,omitempty"` // its last turn, from which on Limits.MaxWait counts
	Robbed    bool     `json:"robbed,omitempty"` // a policy has killed an attempt of it since it is due

	Stages []SavedStage `json:"stages,omitempty"` // all or, as long as they are as they were submitted, none
	Tasks  []SavedTask  `json:"tasks,omitempty"`  // of which there is something to say, by ascending index; see Add
}

// SavedStage is a stage of a snapshot.
type SavedStage struct {
	State   StageState `json:"state,omitempty"`
	Blocked uint32     `json:"blocked,omitempty"` // barriers in front of it
	// of finished attempts' durations, see Stage.Measured
	Count float64 `json:"count,omitempty"`
	Mean  float64 `json:"mean,omitempty"`
	M2    float64 `json:"m2,omitempty"`
	// bytes of its results that AttemptDone said, and of how many results; see Sites.Carries and Sites.Foretold
	Told    int64  `json:"told,omitempty"`
	Tellers uint32 `json:"tellers,omitempty"`
	// what its tasks read as far as it is there: what all of them do, and then what each does alone, or nothing
	Reads []SavedSources `json:"reads,omitempty"`
}

// SavedSources is where data is, with room for that of so many sites.
type SavedSources struct {
	Most    uint32   `json:"most"`
	Sources []Source `json:"sources,omitempty"`
}

// SavedTask is a task of a snapshot, or several in a row of which the same is to be said: most tasks of a large job are
// done at the first attempt, or were cancelled. State is TaskBlocked unless the task is over: whether it waits or runs
// follows.
type SavedTask struct {
	Index    uint32    `json:"index"`          // in its job
	More     uint32    `json:"more,omitempty"` // how many follow that are alike
	State    TaskState `json:"state,omitempty"`
	NoClones bool      `json:"no_clones,omitempty"`
	Failures uint16    `json:"failures,omitempty"`
	Site     uint16    `json:"site,omitempty"`
	Launched uint32    `json:"launched,omitempty"`
	Saved    float64   `json:"saved,omitempty"`
	Blocked  uint32    `json:"blocked,omitempty"` // single tasks that it still waits for
}

// SavedAttempt is a running attempt of a snapshot.
type SavedAttempt struct {
	ID       AttemptID `json:"id"`
	Task     TaskID    `json:"task"`
	Machine  MachineID `json:"machine"`
	Number   uint32    `json:"number,omitempty"`
	Clone    bool      `json:"clone,omitempty"`
	Waits    bool      `json:"waits,omitempty"`
	Owed     bool      `json:"owed,omitempty"` // policies cannot kill it, see Limits.MaxWait
	Started  Time      `json:"started"`        // while it waits, when it was launched
	Reported *Reported `json:"reported,omitempty"`
}

// Reported is how far an attempt has come that began with some of the work done, or has reported.
type Reported struct {
	From float64 `json:"from,omitempty"`
	Done float64 `json:"done,omitempty"`
	At   Time    `json:"at"`
	Rate float64 `json:"rate,omitempty"`
}

// Keep has what runs in the snapshot run on: no policy can kill it. So that another policy goes on ends no attempt.
func (s *Snapshot) Keep() {
	for i := range s.Attempts {
		s.Attempts[i].Owed = true
	}
}

// Snapshot returns what the core knows. It shares nothing with the core but the network, and takes time and memory in
// proportion to all tables.
func (c *Core) Snapshot() *Snapshot {
	v := &c.view
	s := &Snapshot{
		At: v.now, Pace: v.pace, Network: v.network, Waits: v.waits, CountClones: v.cloneFailures, KillAtOnce: v.killsAtOnce,
		NextJob: JobID(v.issuedJobs), NextStage: StageID(v.issuedStages), NextTask: TaskID(v.issuedTasks),
	}
	for i := range v.machines {
		m := &v.machines[i]
		s.Machines = append(s.Machines, SavedMachine{Class: m.Class, Site: m.Site, Slots: m.full, Room: m.room, Up: m.Up})
		v.saveAttempts(s, m)
	}
	for j := range v.jobs.All() {
		s.Jobs = append(s.Jobs, v.saveJob(j))
	}
	for row := range v.attempts {
		s.Rows = append(s.Rows, v.attempts[row].gen)
	}
	s.Spare = append(s.Spare, c.spare...)
	for _, row := range c.ended { // as the next call of Advance would do
		if s.Rows[row]++; s.Rows[row] < spent {
			s.Spare = append(s.Spare, row)
		}
	}
	return s
}

// Only returns a snapshot with one job of this one, and without the others.
func (s *Snapshot) Only(j JobID) *Snapshot {
	one := *s
	one.Jobs, one.Attempts, one.Spare = nil, nil, nil
	for i := range s.Jobs {
		if s.Jobs[i].ID == j {
			one.Jobs = s.Jobs[i : i+1 : i+1]
		}
	}
	used := make([]bool, len(s.Rows))
	for i := range s.Attempts {
		if a := &s.Attempts[i]; len(one.Jobs) > 0 && one.Jobs[0].has(a.Task) {
			one.Attempts = append(one.Attempts, *a)
			used[a.ID.Row()] = true
		}
	}
	one.Rows = append([]uint32(nil), s.Rows...)
	for i := range s.Attempts {
		if row := s.Attempts[i].ID.Row(); !used[row] {
			one.Rows[row]++
		}
	}
	for row, gen := range one.Rows {
		if !used[row] && gen < spent {
			one.Spare = append(one.Spare, int32(row))
		}
	}
	return &one
}

// has tells whether a task is one of the job's.
func (j *SavedJob) has(t TaskID) bool { return t >= j.Task && t < j.Task+TaskID(j.tasks()) }

func (j *SavedJob) tasks() (n int) {
	for i := range j.Spec.Stages {
		n += j.Spec.Stages[i].Tasks
	}
	return n
}

// saveAttempts appends the attempts that run on a machine.
func (v *View) saveAttempts(s *Snapshot, m *Machine) {
	first := len(s.Attempts)
	for row, left := m.first, m.Used; left > 0; left-- {
		a := &v.attempts[row]
		x := SavedAttempt{
			ID: attemptID(row, a.gen), Task: a.task, Machine: a.machine, Number: a.number, Clone: a.clone, Waits: a.waiting, Owed: v.owes(row), Started: a.started,
		}
		if p := &v.progress[row]; a.advanced {
			x.Reported = &Reported{From: p.from, Done: p.done, At: p.at, Rate: p.rate}
		}
		s.Attempts = append(s.Attempts, x)
		if left > 1 {
			row = v.here[row].next
		}
	}
	slices.Reverse(s.Attempts[first:])
}

// SaveJob returns one job as a snapshot has it, without the attempts that run.
func (v *View) SaveJob(j JobID) SavedJob { return v.saveJob(j) }

func (v *View) saveJob(j JobID) SavedJob {
	job := v.job(j)
	x := SavedJob{
		ID: j, Stage: job.FirstStage, Task: v.stage(job.FirstStage).First, Spec: v.spec(job),
		State: job.State, Paused: job.Paused, Short: job.short, Arrived: job.Arrived, Closed: job.Closed,
		Fruitful: job.Fruitful, Fruitless: job.Fruitless, Attempts: job.Attempts, Clones: job.Clones, Failures: job.Failures, Served: job.served, Robbed: job.robbed,
	}
	fresh := true
	for s := job.FirstStage; s < job.FirstStage+StageID(job.Stages); s++ {
		st := v.stage(s)
		x.Stages = append(x.Stages, SavedStage{State: st.State, Blocked: st.blocked, Count: st.count, Mean: st.mean, M2: st.m2, Told: st.told, Tellers: st.tellers, Reads: v.saveReads(s)})
		fresh = fresh && st.State == StageBlocked && !st.Reads
	}
	if fresh && job.State != JobActive { // active, it may have been retried
		x.Stages = nil
	}
	waits := v.waitsFor(job, x.Task)
	for i := range job.Tasks {
		task := v.task(x.Task + TaskID(i))
		y := SavedTask{
			Index: i, NoClones: task.NoClones, Failures: task.Failures, Site: task.site, Launched: task.Launched, Saved: task.Saved, Blocked: task.blocked,
		}
		if task.State >= TaskDone {
			y.State = task.State
		}
		fresh := SavedTask{Index: i}
		if waits != nil {
			fresh.Blocked = waits[i]
		}
		if y != fresh {
			x.Add(y)
		}
	}
	return x
}

// Add appends a task, or tasks that are alike, behind those that there are.
func (j *SavedJob) Add(t SavedTask) {
	if n := len(j.Tasks); n > 0 {
		last := j.Tasks[n-1]
		next, more := last.Index+last.More+1, last.More+1+t.More
		if last.Index, last.More = next, t.More; last == t {
			j.Tasks[n-1].More = more
			return
		}
	}
	j.Tasks = append(j.Tasks, t)
}

// Singly yields the tasks one by one.
func (j *SavedJob) Singly() iter.Seq[SavedTask] {
	return func(yield func(SavedTask) bool) {
		for _, t := range j.Tasks {
			end := t.Index + t.More + 1
			for t.More = 0; t.Index < end; t.Index++ {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// spec returns the spec of a job as it would be submitted now, without its inputs.
func (v *View) spec(job *Job) JobSpec {
	x := JobSpec{
		Priority: job.Priority, Weight: job.Weight, MinShare: int(job.MinShare), Retries: int(job.Retries), MaxFailed: int(int32(job.MaxFailed)),
		MaxLive: int(job.MaxLive), MaxAttempts: int(job.MaxAttempts), Late: job.Late,
	}
	if job.Deadline < Never {
		x.Deadline = job.Deadline
	}
	if job.valued {
		x.Value = job.Value
	}
	c := v.confined.Get(v.stage(job.FirstStage).Job)
	if c != nil {
		x.Datasets = slices.Clone(c.datasets)
	}
	for i := range int(job.Stages) {
		st := v.stage(job.FirstStage + StageID(i))
		y := StageSpec{Tasks: int(st.Tasks), Need: int(st.Need), Class: st.Class, Mean: st.Mean, SD: st.SD, Resumable: st.Resumable, Waits: st.Waits}
		y.Sample = v.Sample(job.FirstStage + StageID(i))
		if st.Retries != job.Retries {
			y.Retries = new(int(st.Retries))
		}
		if c != nil {
			y.Datasets, y.Releases = slices.Clone(c.stages[i].reads), slices.Clone(c.stages[i].releases)
		}
		x.Stages = append(x.Stages, y)
		for _, e := range v.edgesOf(st) {
			x.Edges = append(x.Edges, v.edgeSpec(job, i, st, &e))
		}
	}
	return x
}

// edgeSpec returns the spec of an edge that leaves a stage.
func (v *View) edgeSpec(job *Job, from int, st *Stage, e *edge) Edge {
	x := Edge{From: from, To: int(e.to - job.FirstStage), Kind: e.kind, Measured: e.measured}
	n, l := st.Tasks, *v.links.Of(st.Job)
	if e.kind == PerTask {
		n = 0
		to := v.stage(e.to).First
		for i := range st.Tasks {
			for _, t := range l.tails[l.heads[e.base+i]:l.heads[e.base+i+1]] {
				x.Pairs = append(x.Pairs, [2]uint32{i, uint32(t - to)})
				n++
			}
		}
	}
	if e.bytes >= 0 {
		x.Bytes = slices.Clone(l.bytes[e.bytes : uint32(e.bytes)+n])
	}
	if len(x.Bytes) > 0 && !slices.ContainsFunc(x.Bytes, func(b int64) bool { return b != x.Bytes[0] }) {
		x.Bytes = x.Bytes[:1]
	}
	return x
}

// waitsFor returns how many single tasks each task of a job waits for at first; nil if none waits for any.
func (v *View) waitsFor(job *Job, first TaskID) (n []uint32) {
	count := func(t TaskID) {
		if n == nil {
			n = make([]uint32, job.Tasks)
		}
		n[t-first]++
	}
	for s := job.FirstStage; s < job.FirstStage+StageID(job.Stages); s++ {
		st := v.stage(s)
		for _, e := range v.edgesOf(st) {
			switch e.kind {
			case Pointwise:
				for i := range TaskID(st.Tasks) {
					count(v.stage(e.to).First + i)
				}
			case PerTask:
				l := *v.links.Of(st.Job)
				for _, t := range l.tails[l.heads[e.base]:l.heads[e.base+st.Tasks]] {
					count(t)
				}
			}
		}
	}
	return n
}

// saveReads returns what the tasks of a stage read.
func (v *View) saveReads(s StageID) (all []SavedSources) {
	st := v.stage(s)
	if !st.Reads {
		return nil
	}
	l := *v.links.Of(st.Job)
	in := &l.reads[st.Index]
	save := func(x *sources) {
		all = append(all, SavedSources{Most: x.most, Sources: slices.Clone(l.sources[x.base : x.base+x.n])})
	}
	save(&in.shared)
	if in.own >= 0 {
		for i := range l.lists[in.own : in.own+int32(st.Tasks)] {
			save(&l.lists[in.own+int32(i)])
		}
	}
	return all
}
