package sched

import (
	"cmp"
	"fmt"
	"slices"
)

// Restore returns a core that knows what a snapshot holds, with a fresh policy, which is told of it as if all had just
// come: the machines that are up, the active jobs and their open stages, of whose tasks some may be done, then with
// AttemptTaken each running attempt, and which jobs are paused. The limits are new, those of single jobs stay.
//
// The next call of Advance asks the policy what to do. It should come at once, for the Wake that an earlier policy
// asked for is forgotten. It is an error if the snapshot contradicts itself.
func Restore(s *Snapshot, p Policy, l Limits) (*Core, error) {
	c := &Core{}
	if err := c.Restore(s, p, l); err != nil {
		return nil, err
	}
	return c, nil
}

// Restore makes the core what [Restore] returns, in the memory that it has, as Reset does. After an error the core is
// of no use until the next Reset or Restore.
func (c *Core) Restore(s *Snapshot, p Policy, l Limits) error {
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
	if err := c.retell(s); err != nil {
		return err
	}
	v.chain(s)
	return c.Check()
}

// restoreMachines makes the machines known, and the rows of attempts. Machines that are up have as many slots as they
// should have, or as are in use.
func (c *Core) restoreMachines(s *Snapshot) error {
	v := &c.view
	used := make([]uint32, len(s.Machines))
	for i := range s.Attempts {
		used[s.Attempts[i].Machine]++
	}
	for i := range s.Machines {
		x := &s.Machines[i]
		if _, err := c.AddMachineOf(x.Class, x.Site, int(x.Slots)); err != nil {
			return err
		}
		if x.Up {
			v.machines[i].room, v.machines[i].Slots = x.Room, max(x.Room, used[i])
			v.join(MachineID(i))
		}
	}
	for _, gen := range s.Rows {
		v.attempts = append(v.attempts, attempt{gen: gen})
	}
	v.progress, v.here = make([]headway, len(s.Rows)), make([]neighbours, len(s.Rows))
	c.spare = append(c.spare, s.Spare...)
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
	job.State, job.short, job.Arrived, job.Closed = x.State, x.Short, x.Arrived, x.Closed
	job.Fruitful, job.Fruitless = x.Fruitful, x.Fruitless
	job.Attempts, job.Clones, job.Failures, job.served, job.robbed = x.Attempts, x.Clones, x.Failures, x.Served, x.Robbed
	for i := range x.Stages {
		v.restoreStage(job.FirstStage+StageID(i), &x.Stages[i])
		if x.Stages[i].State == StageClosed {
			job.StagesLeft--
		}
	}
	for t := range x.Singly() {
		v.restoreTask(job, x.Task, &t)
	}
	if job.State == JobActive {
		v.active.add(int(id))
		c.remindDrop(id, job)
		c.idled = append(c.idled, id)
		v.unfinished += int(job.Unfinished)
	}
	return nil
}

func (v *View) restoreStage(s StageID, x *SavedStage) {
	st := v.stage(s)
	if st.State = x.State; x.State == StageOpen {
		st.State = StageBlocked // until the policy is told
	}
	st.blocked, st.count, st.mean, st.m2, st.told, st.tellers = x.Blocked, x.Count, x.Mean, x.M2, x.Told, x.Tellers
	if st.told > 0 && st.tellers == 0 { // a snapshot from before there was a count
		st.tellers = max(1, uint32(x.Count))
	}
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

// retell tells the policy of everything there is.
func (c *Core) retell(s *Snapshot) error {
	v := &c.view
	for i := range v.machines {
		if v.machines[i].Up {
			c.observe(Event{Kind: MachineJoined, Machine: MachineID(i)})
		}
	}
	for i := range s.Jobs {
		if x := &s.Jobs[i]; x.State == JobActive {
			c.retellJob(x)
		}
	}
	order := slices.Clone(s.Attempts) // of a task the first first, of all the oldest
	slices.SortFunc(order, func(a, b SavedAttempt) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Started, b.Started), cmp.Compare(a.Task, b.Task))
	})
	for i := range order {
		if err := v.take(&order[i]); err != nil {
			return err
		}
	}
	for i := range order {
		c.observe(c.about(order[i].ID.row(), AttemptTaken))
	}
	for i := range s.Jobs {
		if s.Jobs[i].Paused {
			c.pause(s.Jobs[i].ID)
		}
	}
	return nil
}

// retellJob tells the policy of a job that is active as when it arrived, but that some of it is done.
func (c *Core) retellJob(x *SavedJob) {
	v := &c.view
	c.observe(Event{Kind: JobArrived, Job: x.ID})
	for i := range x.Stages {
		if s := x.Stage + StageID(i); x.Stages[i].State == StageOpen {
			v.stage(s).State = StageOpen
			v.enqueueAll(s)
			c.observe(Event{Kind: StageReady, Job: x.ID, Stage: s})
		}
	}
}

// take lets an attempt run that was launched before.
func (v *View) take(x *SavedAttempt) error {
	row, k := x.ID.row(), v.kin(x.Task)
	if k.job.MaxLive > 0 && v.held.has(int(x.Task)) {
		v.held.remove(int(x.Task))
		v.line(x.Task, k)
	}
	if k.task.Live == 0 && k.task.State != TaskPending {
		return fmt.Errorf("sched: snapshot: attempt %x runs, its task %d is in state %d", x.ID, x.Task, k.task.State)
	}
	v.attempts[row] = attempt{
		task: x.Task, stage: k.task.Stage, machine: x.Machine, number: x.Number, started: x.Started, gen: x.ID.gen(),
		clone: x.Clone, running: true, waiting: x.Waits, advanced: x.Reported != nil,
	}
	if r := x.Reported; r != nil {
		v.progress[row] = headway{from: r.From, done: r.Done, at: r.At, rate: r.Rate}
	}
	if k.task.Live == 0 {
		v.engage(x.Task, k)
	}
	v.link(row, k)
	if x.Owed {
		v.owed.grow(len(v.attempts))
		v.owed.add(int(row))
	}
	k.task.Launched-- // it was counted when it was launched
	return nil
}

// chain puts the attempts of each machine into the order of their launches, in which they were not told.
func (v *View) chain(s *Snapshot) {
	for i := range v.machines {
		v.machines[i].first = -1
	}
	for i := range s.Attempts {
		x := &s.Attempts[i]
		m, row := &v.machines[x.Machine], x.ID.row()
		v.here[row].prev, v.here[row].next = -1, m.first
		if m.first >= 0 {
			v.here[m.first].prev = row
		}
		m.first = row
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

// validateRows checks that each row of attempts is used once, unless it has had all its generations.
func (s *Snapshot) validateRows() error {
	old := 0
	for _, gen := range s.Rows {
		if gen == spent {
			old++
		}
	}
	if len(s.Spare)+len(s.Attempts)+old != len(s.Rows) {
		return fmt.Errorf("%d rows of attempts, %d of them used and %d not", len(s.Rows), len(s.Attempts), len(s.Spare))
	}
	seen := make([]bool, len(s.Rows))
	use := func(row int) error {
		if row < 0 || row >= len(seen) || seen[row] || s.Rows[row] == 0 || s.Rows[row] == spent {
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
		if x.Index < next || int(x.Index)+int(x.More) >= j.tasks() || x.State > TaskStranded || x.State > TaskBlocked && x.State < TaskDone {
			return fmt.Errorf("task %d: state %d", x.Index, x.State)
		}
		next = x.Index + x.More + 1
	}
	return nil
}
