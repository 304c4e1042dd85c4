package sched

import (
	"fmt"
	"math"
)

// Core is the scheduling state machine. It is not safe for concurrent use; drivers own it.
type Core struct {
	view   View
	policy Policy
	act    Actions
	buffers
	wake      Time  // the pending Wake, Never if none
	told      Time  // the Wake that the driver knows
	seen      Event // what the policy is being shown; a variable of observe would be allocated each time
	unaudited int   // rows that audit has saved up since its last Check
	paces     bool  // the policy may order Pace
	withheld  int   // clones, see Actions.Withhold
}

// buffers are the lists of a core whose memory Reset keeps.
type buffers struct {
	out      []Decision
	ended    []int32 // attempts that ended in this call of Advance; their rows stay readable until the next
	given    []JobID // jobs that the policy has given up in this call of Decide
	dropLine line    // jobs by the deadlines at which they are dropped, see late.go
	idled    []JobID // jobs that have nothing running any more and are to be put into line, see maxwait.go
	lines    [Classes]line
	spare    []int32 // rows free for new attempts, last in first out
	sorter   sorter
	here     []uint32              // of Check
	live     Table[TaskID, uint16] // likewise
}

func (b *buffers) empty() {
	b.out, b.ended, b.given, b.spare = b.out[:0], b.ended[:0], b.given[:0], b.spare[:0]
	b.idled, b.dropLine = b.idled[:0], b.dropLine[:0]
	for k := range b.lines {
		b.lines[k] = b.lines[k][:0]
	}
	b.sorter.keys, b.sorter.facts = b.sorter.keys[:0], b.sorter.facts[:0]
	b.here = b.here[:0]
	b.live.Clear()
}

// New returns a core without jobs and machines.
func New(p Policy, l Limits) *Core {
	c := &Core{}
	c.Reset(p, l)
	return c
}

// Reset makes the core what New returns, in the memory that it has. What View and Advance returned before is no longer
// valid. Fields are as in a new core unless they are of buffers or tables, which are emptied.
func (c *Core) Reset(p Policy, l Limits) {
	c.buffers.empty()
	c.view.tables.empty()
	*c = Core{
		policy: p, paces: Paces(p), wake: Never, told: Never, buffers: c.buffers,
		view: View{tables: c.view.tables, limits: l.following(p), pace: 1},
	}
	c.act.core = c
}

// Withheld returns how many clones policies have told that the limits withheld from them.
func (c *Core) Withheld() int { return c.withheld }

// View returns what the core knows. It changes with every call of Advance.
func (c *Core) View() *View { return &c.view }

// maxSlots bounds the slots of a machine.
const maxSlots = 1 << 20

// AddMachine makes a machine known. It can be used after the fact MachineJoined. It must have at least one slot.
func (c *Core) AddMachine(site SiteID, slots int) (MachineID, error) {
	return c.AddMachineOf(0, site, slots)
}

// AddMachineOf is AddMachine for slots of a class. A machine with slots of several classes is known once for each,
// under ids of their own: what befalls the machine is reported of them all.
func (c *Core) AddMachineOf(class Class, site SiteID, slots int) (MachineID, error) {
	if class >= Classes {
		return 0, fmt.Errorf("sched: slots are of class 0 to %d, not %d", Classes-1, class)
	}
	if slots < 1 || slots > maxSlots {
		return 0, fmt.Errorf("sched: a machine has between 1 and %d slots, not %d", maxSlots, slots)
	}
	v := &c.view
	if v.network != nil && int(site) >= v.network.Sites() || site >= maxSites {
		return 0, fmt.Errorf("sched: there is no site %d", site)
	}
	v.settleIn(MachineID(len(v.machines)), site)
	v.machines = append(v.machines, Machine{Site: site, Slots: uint32(slots), full: uint32(slots), room: uint32(slots), Class: class, first: -1})
	v.free[class].grow(len(v.machines))
	v.know(class)
	return MachineID(len(v.machines) - 1), nil
}

// Submit makes a job known. It may start after the fact JobArrived. The spec is not kept.
func (c *Core) Submit(spec *JobSpec) (JobID, error) {
	if err := spec.Validate(); err != nil {
		return 0, fmt.Errorf("sched: %w", err)
	}
	v := &c.view
	if err := v.reach(spec); err != nil {
		return 0, fmt.Errorf("sched: %w", err)
	}
	if err := c.mayConfine(spec); err != nil {
		return 0, fmt.Errorf("sched: %w", err)
	}
	if err := v.mayIssue(spec); err != nil {
		return 0, fmt.Errorf("sched: %w", err)
	}
	id := JobID(v.issuedJobs)
	job := Job{
		Retries: uint32(spec.Retries), MaxFailed: uint32(spec.MaxFailed), MinShare: uint32(spec.MinShare),
		MaxLive: uint32(spec.MaxLive), MaxAttempts: uint32(spec.MaxAttempts),
		FirstStage: StageID(v.issuedStages), Stages: uint32(len(spec.Stages)), StagesLeft: uint32(len(spec.Stages)),
	}
	job.Value, job.valued, job.Late = spec.Value, spec.Value > 0, spec.Late
	job.rank(spec.Priority, spec.Weight, spec.Deadline)
	for i := range spec.Stages {
		st := &spec.Stages[i]
		need := st.Need
		if need == 0 {
			need = st.Tasks
		}
		stage := StageID(v.issuedStages)
		*v.stages.At(stage) = Stage{
			Job: id, First: TaskID(v.issuedTasks), Tasks: uint32(st.Tasks), Need: uint32(need), Index: uint16(i),
			Retries: uint32(spec.retriesOf(i)), Resumable: st.Resumable, Waits: st.Waits, Mean: st.Mean, SD: st.SD, Class: st.Class,
		}
		if len(st.Sample) > 0 {
			*v.sample.At(stage) = st.Sample
		}
		v.issuedStages++
		v.waiting[st.Class].grow(int(v.issuedStages))
		v.know(st.Class)
		v.tasks.Fill(TaskID(v.issuedTasks), uint32(st.Tasks), Task{Stage: stage, first: -1})
		v.issuedTasks += uint32(st.Tasks)
		job.Tasks += uint32(st.Tasks)
	}
	job.Unfinished = job.Tasks
	*v.jobs.At(id) = job
	v.issuedJobs++
	v.active.grow(int(v.issuedJobs))
	v.pending.grow(int(v.issuedTasks))
	v.running.grow(int(v.issuedTasks))
	v.held.grow(int(v.issuedTasks))
	v.connect(id, job.FirstStage, spec)
	v.confine(id, TaskID(v.issuedTasks)-TaskID(job.Tasks), spec)
	c.markDone(id, spec)
	return id, nil
}

// Advance moves the core to instant now and applies what has happened since the last call: facts between the two
// instants, in any order (the slice is sorted in place). It then asks the policy once, and returns what is to be done,
// in order. The slice is the core's and valid until the next call.
//
// Facts about attempts that have ended are ignored, so are second reports of the same thing. An error means that the
// driver reported something that cannot be: an id that was never given out, or an instant out of range. The core is
// unchanged then.
func (c *Core) Advance(now Time, facts []Event) ([]Decision, error) {
	if now < c.view.now {
		return nil, fmt.Errorf("sched: time goes back from %d to %d", c.view.now, now)
	}
	for i := range facts {
		if err := c.checkFact(&facts[i], now); err != nil {
			return nil, err
		}
	}
	c.sorter.sort(facts)
	c.out = c.out[:0]
	c.recycle()
	for i := range facts {
		c.view.now = facts[i].At
		c.apply(&facts[i])
	}
	c.view.now = now
	if c.wake <= now {
		c.wake = Never
		c.observe(Event{Kind: TimerFired})
	}
	c.drop()
	c.decide()
	if c.told <= now {
		c.told = Never
	}
	if next := min(c.wake, c.nextDue(), c.nextDrop()); next < c.told {
		c.told = next
		c.out = append(c.out, Decision{At: next, Kind: Wake})
	}
	if checking {
		c.audit()
	}
	return c.out, nil
}

// decide asks the policy, and again as long as it gives jobs up, launches what jobs that are due have to have, or makes
// room for tasks that were held back.
func (c *Core) decide() {
	c.admitHeld()
	for again := true; again; {
		c.feed()
		first := len(c.out)
		c.policy.Decide(&c.view, &c.act)
		again = len(c.given) > 0
		c.giveUp()
		again = c.takeBack(first) || again
		again = c.admitHeld() || again
	}
}

func (c *Core) checkFact(f *Event, now Time) error {
	v := &c.view
	ok := true
	switch f.Kind {
	case MachineJoined, MachineLost, MachineStopped:
		ok = int(f.Machine) < len(v.machines)
	case DataFetched:
		ok = int(f.Machine) < len(v.machines) && int(f.Site) < len(v.sites) && f.Bytes > 0 && f.Span >= 0 && (f.Attempt == 0 || v.issued(f.Attempt))
	case MachineResized:
		ok = int(f.Machine) < len(v.machines) && f.Slots <= maxSlots
	case AttemptDone, AttemptFailed, AttemptDoomed, AttemptRefused, AttemptBegan:
		ok = v.issued(f.Attempt) && f.Bytes >= 0 && f.Span >= 0
	case AttemptProgress:
		ok = v.issued(f.Attempt) && f.Progress >= 0 && f.Progress <= 1 && f.Rate >= 0 && f.Rate <= math.MaxFloat64
	case JobArrived, JobCancelled, JobRetried, JobPaused, JobContinued:
		ok = uint32(f.Job) < v.issuedJobs
	case JobChanged:
		ok = uint32(f.Job) < v.issuedJobs && validWeight(f.Weight) && f.Deadline >= 0
	case JobRetired:
		if ok = uint32(f.Job) < v.issuedJobs; ok && v.jobs.look(f.Job).State <= JobActive {
			return fmt.Errorf("sched: job %d is not over and cannot be retired", f.Job)
		}
	case TimerFired:
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("sched: no such fact: %+v", *f)
	}
	if f.At < v.now || f.At > now {
		return fmt.Errorf("sched: fact at %d is outside %d to %d: %+v", f.At, v.now, now, *f)
	}
	return nil
}

// giveUp ends the jobs that the policy has cancelled.
func (c *Core) giveUp() {
	for _, j := range c.given {
		if c.view.job(j).State == JobActive {
			c.closeJob(j, JobStopped, JobCancelled)
		}
	}
	c.given = c.given[:0]
}

// recycle frees the rows of attempts that ended in the last call.
func (c *Core) recycle() {
	for _, row := range c.ended {
		if c.view.attempts[row].gen++; c.view.attempts[row].gen < spent {
			c.spare = append(c.spare, row)
		}
	}
	c.ended = c.ended[:0]
}

func (c *Core) observe(ev Event) {
	c.seen = ev
	c.seen.At = c.view.now
	c.policy.Observe(&c.view, &c.seen)
}

func (c *Core) order(d Decision) {
	d.At = c.view.now
	c.out = append(c.out, d)
}
