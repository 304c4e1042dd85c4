package sched

import (
	"cmp"
	"fmt"
	"slices"
)

// Restore returns a core that knows what a snapshot holds, with a fresh policy, which is told of it: of the machines
// that are up, of the active jobs as if they had just arrived, but that some of their tasks are done, and with
// AttemptTaken of the attempts that run. The jobs' own limits are those of the snapshot.
//
// The next call of Advance asks the policy what to do. It should come at once, for the Wake that an earlier policy
// asked for is forgotten. It is an error if the snapshot contradicts itself.
func Restore(s *Snapshot, p Policy, l Limits) (*Core, error) {
	c := &Core{}
	if err := c.restore(s, p, l); err != nil {
		return nil, err
	}
	return c, nil
}

// restore is Restore in the memory of the core.
func (c *Core) restore(s *Snapshot, p Policy, l Limits) error {
	if err := s.validate(); err != nil {
		return fmt.Errorf("sched: snapshot: %w", err)
	}
	c.Reset(p, l)
	v := &c.view
	v.now, v.pace = s.At, s.Pace
	v.waits, v.cloneFailures, v.killsAtOnce = s.Waits, s.CountClones, s.KillAtOnce
	if s.Network != nil {
		if err := c.Connect(s.Network); err != nil {
			return err
		}
	}
	if err := c.restoreMachines(s); err != nil {
		return err
	}
	for i := range s.Jobs {
		if err := c.restoreJob(&s.Jobs[i]); err != nil {
			return err
		}
	}
	v.issuedJobs, v.issuedStages, v.issuedTasks = uint32(s.NextJob), uint32(s.NextStage), uint32(s.NextTask)
	c.restoreAttempts(s)
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		job := v.job(j)
		for i := job.FirstStage; i < job.FirstStage+StageID(job.Stages); i++ {
			if v.stage(i).State == StageOpen {
				v.enqueueAll(i)
			}
		}
	}
	if err := c.Check(); err != nil {
		return err
	}
	c.retellAll(s)
	return nil
}

// restoreMachines makes the machines known. Those that are up have as many slots as they should have, and those that
// are in use beyond.
func (c *Core) restoreMachines(s *Snapshot) error {
	v := &c.view
	for i := range s.Machines {
		x := &s.Machines[i]
		if _, err := c.AddMachineOf(x.Class, x.Site, int(x.Slots)); err != nil {
			return err
		}
		if m := &v.machines[i]; x.Up {
			m.Slots, m.room = 0, x.Room
			m.Up = true
		}
	}
	for i := range s.Attempts {
		v.machines[s.Attempts[i].Machine].Used++
	}
	for i := range v.machines {
		if m := &v.machines[i]; m.Up {
			v.fit(MachineID(i))
			m.Used = 0
		}
	}
	return nil
}

// restoreJob makes a job known as it was.
func (c *Core) restoreJob(x *SavedJob) error {
	v := &c.view
	v.issuedJobs, v.issuedStages, v.issuedTasks = uint32(x.ID), uint32(x.Stage), uint32(x.Task)
	id, err := c.Submit(&x.Spec)
	if err != nil {
		return err
	}
	job := v.job(id)
	job.State, job.Paused, job.short, job.Arrived, job.Closed = x.State, x.Paused, x.Short, x.Arrived, x.Closed
	job.Fruitful, job.Fruitless = x.Fruitful, x.Fruitless
	job.Attempts, job.Clones, job.Failures = x.Attempts, x.Clones, x.Failures
	for i := range x.Stages {
		v.restoreStage(job.FirstStage+StageID(i), &x.Stages[i])
		if x.Stages[i].State == StageClosed {
			job.StagesLeft--
		}
	}
	for i := range x.Tasks {
		v.restoreTask(job, x.Task, &x.Tasks[i])
	}
	if job.State == JobActive {
		v.active.add(int(id))
		v.unfinished += int(job.Unfinished)
	}
	return nil
}

func (v *View) restoreStage(s StageID, x *SavedStage) {
	st := v.stage(s)
	st.State, st.blocked, st.count, st.mean, st.m2 = x.State, x.Blocked, x.Count, x.Mean, x.M2
	for _, e := range v.edgesOf(st) {
		st.feeds = st.feeds || e.bytes >= 0 || e.measured
	}
	if st.Reads = len(x.Reads) > 0; !st.Reads {
		return
	}
	l := v.linksOf(st.Job)
	in := l.readsOf(int(st.Index))
	in.shared = v.fill(l, &x.Reads[0])
	if in.own = -1; len(x.Reads) > 1 {
		in.own = int32(len(l.lists))
		for i := range x.Reads[1:] {
			l.lists = append(l.lists, v.fill(l, &x.Reads[1+i]))
		}
	}
}

// fill makes a list of sources.
func (v *View) fill(l *links, x *SavedSources) sources {
	list := v.room(l, int(x.Most))
	for _, y := range x.Sources {
		l.put(&list, y.Site, y.Bytes)
	}
	return list
}

func (v *View) restoreTask(job *Job, first TaskID, x *SavedTask) {
	task := v.task(first + TaskID(x.Index))
	st := v.stage(task.Stage)
	task.State, task.NoClones, task.Failures, task.site = x.State, x.NoClones, x.Failures, x.Site
	task.Launched, task.Saved, task.blocked = x.Launched, x.Saved, x.Blocked
	if x.State < TaskDone {
		return
	}
	job.Unfinished--
	switch x.State {
	case TaskDone:
		st.Done++
	case TaskBroken:
		job.Broken++
		st.GivenUp++
	case TaskStranded:
		st.GivenUp++
	}
}

// restoreAttempts lets the attempts run, and their tasks.
func (c *Core) restoreAttempts(s *Snapshot) {
	v := &c.view
	for _, gen := range s.Rows {
		v.attempts = append(v.attempts, attempt{gen: gen})
	}
	v.progress, v.here = make([]headway, len(s.Rows)), make([]neighbours, len(s.Rows))
	c.spare = append(c.spare, s.Spare...)
	for i := range s.Attempts {
		x := &s.Attempts[i]
		row, k := x.ID.row(), v.kin(x.Task)
		task := k.task
		v.attempts[row] = attempt{
			task: x.Task, stage: task.Stage, machine: x.Machine, number: x.Number, started: x.Started, gen: x.ID.gen(),
			clone: x.Clone, running: true, waiting: x.Waits, advanced: x.Reported != nil,
		}
		if r := x.Reported; r != nil {
			v.progress[row] = headway{from: r.From, done: r.Done, at: r.At, rate: r.Rate}
		}
		if task.State == TaskBlocked {
			task.State = TaskRunning
			v.running.add(int(x.Task))
			k.stage.Running++
			v.runningTasks[k.stage.Class]++
		}
		v.link(row, k)
		task.Launched-- // it was counted when it was launched
	}
	v.chain(s)
}

// chain puts the attempts of each task into the order of their launches, in which link has not met them.
func (v *View) chain(s *Snapshot) {
	before := int32(-1)
	for _, i := range s.sorted(func(a, b *SavedAttempt) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Number, b.Number))
	}) {
		x := &s.Attempts[i]
		row := x.ID.row()
		if before >= 0 && v.attempts[before].task != x.Task {
			before = -1
		}
		v.here[row].older, v.task(x.Task).first = before, row
		before = row
	}
}

// sorted returns the indexes of the attempts in an order.
func (s *Snapshot) sorted(compare func(a, b *SavedAttempt) int) []int {
	order := make([]int, len(s.Attempts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int { return compare(&s.Attempts[i], &s.Attempts[k]) })
	return order
}

// retellAll tells the policy of everything there is.
func (c *Core) retellAll(s *Snapshot) {
	v := &c.view
	for i := range v.machines {
		if v.machines[i].Up {
			c.observe(Event{Kind: MachineJoined, Machine: MachineID(i)})
		}
	}
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		c.retell(j)
	}
	for _, i := range s.sorted(func(a, b *SavedAttempt) int {
		return cmp.Or(cmp.Compare(a.Started, b.Started), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Number, b.Number))
	}) {
		c.observe(c.about(s.Attempts[i].ID.row(), AttemptTaken))
	}
}

// retell tells the policy of a job that is active as when it arrived, but that some of it is done.
func (c *Core) retell(j JobID) {
	v := &c.view
	job := v.job(j)
	c.observe(Event{Kind: JobArrived, Job: j})
	for s := job.FirstStage; s < job.FirstStage+StageID(job.Stages); s++ {
		if v.stage(s).State == StageOpen {
			c.observe(Event{Kind: StageReady, Job: j, Stage: s})
		}
	}
	if job.Paused {
		c.observe(Event{Kind: JobPaused, Job: j})
	}
}

// validate reports the first thing that would leave the tables of a core. What else contradicts itself Check finds.
func (s *Snapshot) validate() error {
	if s.At < 0 || !(s.Pace > 0) {
		return fmt.Errorf("at %d, pace %v", s.At, s.Pace)
	}
	if err := s.validateRows(); err != nil {
		return err
	}
	job, stage, task := JobID(0), StageID(0), TaskID(0)
	for i := range s.Jobs {
		x := &s.Jobs[i]
		if x.ID < job || x.Stage < stage || x.Task < task {
			return fmt.Errorf("job %d has ids of the one before it", x.ID)
		}
		if err := x.validate(); err != nil {
			return fmt.Errorf("job %d: %w", x.ID, err)
		}
		job, stage, task = x.ID+1, x.Stage+StageID(len(x.Spec.Stages)), x.Task+TaskID(x.tasks())
	}
	if job > s.NextJob || stage > s.NextStage || task > s.NextTask {
		return fmt.Errorf("ids beyond %d jobs, %d stages and %d tasks", s.NextJob, s.NextStage, s.NextTask)
	}
	for i := range s.Attempts {
		if err := s.validateAttempt(&s.Attempts[i]); err != nil {
			return fmt.Errorf("attempt %x: %w", s.Attempts[i].ID, err)
		}
	}
	return nil
}

// validateRows checks that each row of attempts is used once.
func (s *Snapshot) validateRows() error {
	if len(s.Spare)+len(s.Attempts) != len(s.Rows) {
		return fmt.Errorf("%d rows of attempts, %d of them used and %d not", len(s.Rows), len(s.Attempts), len(s.Spare))
	}
	seen := make([]bool, len(s.Rows))
	use := func(row int) error {
		if row < 0 || row >= len(seen) || seen[row] || s.Rows[row] == 0 {
			return fmt.Errorf("row %d of %d is not there, or is there twice", row, len(seen))
		}
		seen[row] = true
		return nil
	}
	for _, row := range s.Spare {
		if err := use(int(row)); err != nil {
			return err
		}
	}
	for i := range s.Attempts {
		if err := use(s.Attempts[i].ID.Row()); err != nil {
			return err
		}
	}
	return nil
}

func (s *Snapshot) validateAttempt(a *SavedAttempt) error {
	i, found := slices.BinarySearchFunc(s.Jobs, a.Task, func(j SavedJob, t TaskID) int {
		switch {
		case j.has(t):
			return 0
		case j.Task > t:
			return 1
		}
		return -1
	})
	if !found || s.Jobs[i].State != JobActive {
		return fmt.Errorf("its task %d is of no active job", a.Task)
	}
	if int(a.Machine) >= len(s.Machines) || !s.Machines[a.Machine].Up || a.ID.gen() != s.Rows[a.ID.Row()] || a.Started > s.At {
		return fmt.Errorf("machine %d, started at %v", a.Machine, a.Started)
	}
	return nil
}

func (j *SavedJob) validate() error {
	if err := j.Spec.Validate(); err != nil {
		return err
	}
	if len(j.Stages) > 0 && len(j.Stages) != len(j.Spec.Stages) || j.State > JobStopped {
		return fmt.Errorf("%d stages of %d, state %d", len(j.Stages), len(j.Spec.Stages), j.State)
	}
	for i := range j.Stages {
		st := &j.Stages[i]
		if n := len(st.Reads); st.State > StageClosed || n > 1 && n != 1+j.Spec.Stages[i].Tasks {
			return fmt.Errorf("stage %d: state %d, %d lists of sources", i, st.State, n)
		}
		for _, r := range st.Reads {
			if len(r.Sources) > int(r.Most) || r.Most > maxSites {
				return fmt.Errorf("stage %d: %d sources in room for %d", i, len(r.Sources), r.Most)
			}
		}
	}
	next := uint32(0)
	for i := range j.Tasks {
		x := &j.Tasks[i]
		if x.Index < next || int(x.Index) >= j.tasks() || x.State > TaskStranded || x.State > TaskBlocked && x.State < TaskDone {
			return fmt.Errorf("task %d: state %d", x.Index, x.State)
		}
		next = x.Index + 1
	}
	return nil
}
