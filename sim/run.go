package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Options are everything about a run but the workload and the policy.
type Options struct {
	Machines int
	Slots    int // per machine; 0 means 1
	// how many of the machines there are over time, for their slots of class 0; none for all of them all the time
	Present []Present
	// slots per machine of class 1, 2 and so on, for workloads with classes; Slots are of class 0
	More     []int
	Sizes    []int        // slots of class 0 of each machine, instead of Slots; nil if all have as many
	Limits   sched.Limits // as they are: the zero value allows no attempt
	Model    Model        // how long attempts last; nil means Resample
	Cluster  *Cluster     // of several sites, which have Machines and Slots of their own; nil if there are no sites
	Faults   Faults
	Outages  []Outage // of machines, instead of Faults
	Progress Progress
	// of the machines: durations, and what is known of them beforehand, are divided by it; 0 means 1
	Speed       float64
	LaunchDelay sched.Time // that an attempt holds its slot before it begins
	Wait        laws.Law   // likewise, in seconds, and policies are told when attempts begin; nil for none
	Overheads   Overheads  // beside these
	Seed        uint64
	Check       bool            // check the core's invariants after every step; slow
	Tick        func(tasks int) // called now and then with the number of tasks finished since the last call; may be nil
	Watch       Watch           // sees every step; may be nil
	Steer       Steer           // may have another policy go on; may be nil
}

// Steer sees the core after a step, and what it was told in it. If it returns a policy, that one decides from here on,
// and no attempt that runs ends by its doing. It may keep nothing of what it sees but snapshots.
type Steer func(c *sched.Core, facts []sched.Event) (sched.Policy, error)

// Watch sees what the core was told at an instant and what it decided, with the core as it is then. It may keep none of
// them.
type Watch func(v *sched.View, facts []sched.Event, decisions []sched.Decision)

// Run replays a workload under a policy on machines that are all there when the first job arrives, and returns when
// the last job is over. It fails if the policy leaves jobs unfinished for ever, or if ctx is cancelled.
//
// A policy has a state of its own: each run needs a new one.
func Run(ctx context.Context, w *trace.Workload, p sched.Policy, o Options) (*Result, error) {
	return new(Simulator).Run(ctx, w, p, o)
}

// Run is the function [Run] in the memory of the runs before. The result is the caller's.
func (s *Simulator) Run(ctx context.Context, w *trace.Workload, p sched.Policy, o Options) (*Result, error) {
	if err := s.begin(w, p, o); err != nil {
		return nil, err
	}
	for s.closed < len(w.Jobs) {
		if s.steps%256 == 0 {
			if err := s.pause(ctx); err != nil {
				return nil, err
			}
		}
		s.steps++
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	return s.result(), nil
}

// Simulator runs one workload after the other and keeps its tables in between: growing them takes a good part of a
// short run. The zero value is ready. It is not safe for concurrent use.
type Simulator struct {
	w       *trace.Workload
	o       Options
	core    sched.Core
	service Service
	shared  *machineCapacity       // the service if attempts of a task share their progress, else nil
	varying varying                // the service if the machines' pace changes and attempts share nothing, else nil
	crews   map[sched.TaskID]*crew // of tasks that are not done, if they do
	changed []*crew                // to be planned anew
	faults  *faultPlan             // nil if machines do not fail
	outages *outagePlan            // nil if it is not known when they do
	present *presence              // nil if machines neither come nor go
	geo     *geo                   // nil if there are no sites
	paced   bool                   // the policy sets the speed of the machines
	speed   float64                // that it has set last, 1 before
	efforts []effort               // by row of the core's attempt table, if it does

	resumable bool                     // some stage is
	headways  []headway                // by row, if the pace varies and attempts are remembered
	reached   map[sched.TaskID]float64 // share that attempts which were killed had done, if stages are resumable

	dying map[sched.MachineID][]sched.Time    // when slots of killed attempts will be free, if that takes time
	warm  map[uint32]map[sched.MachineID]bool // by number of the job: machines that it has begun on, if that matters

	start, now sched.Time // of the first arrival, and of the step
	wake       sched.Time // that the core has asked for
	arrived    int        // jobs submitted so far; the core's ids are indexes of w.Jobs
	closed     int        // jobs that are over
	ticked     int        // tasks told to Tick
	done       int        // tasks finished
	steps      int64
	events     int64
	idle       int // steps since something happened that was not the policy's own doing
	killed     int // attempts that the policy killed since a task was finished or a job arrived or ended

	ends    queue     // by row of the core's attempt table: the attempt's next report or its end
	rows    []running // likewise; kept only if attempts report as they go or share their progress
	stages  sched.Table[sched.StageID, recording]
	writes  sched.Table[sched.StageID, []int64] // see trace.Workload.Writes; empty if the workload has no bytes
	jobs    []JobResult                         // of the workload, as they end
	over    []sched.JobID                       // to be retired in the next step: nobody asks for them any more
	facts   []sched.Event
	told    []sched.Event // forecasts for the next step, which follows at the same instant
	back    []sched.MachineID
	gone    []sched.MachineID
	reports []sched.Event
	warmed  uint32  // of no meaning, see Core.Warm
	attempt Attempt // handed to the service
	spec    sched.JobSpec
	path    trace.PathFinder
}

// running is what the simulator knows about an attempt.
type running struct {
	id      sched.AttemptID
	start   sched.Time // of its launch
	begun   sched.Time // when it begins its work: it is launched then and has what it reads; Never before that is known
	end     sched.Time
	from    float64
	job     uint32 // number of the job, and
	task    uint32 // index of the task in it: what luck depends on
	number  uint32
	reports uint32
	machine sched.MachineID
	stage   sched.StageID
	of      sched.TaskID
	// how long it hangs, 0 if it does not, and after how much work
	hangs, stops sched.Time
	waits        bool // to begin: then one sees how far others have come, and so from where it goes on
	toldBegun    bool // the core knows that it has begun, see Options.Wait
}

// recording finds what was recorded for a stage of the core.
type recording struct {
	first    sched.TaskID // of the stage
	offset   uint32       // index in the job of the stage's first task
	recorded uint32       // index in the workload's Durations of the stage's first task
	tasks    uint32
	job      uint32 // number
	law      int32
	silent   bool
}

// begin makes everything ready for a run.
func (s *Simulator) begin(w *trace.Workload, p sched.Policy, o Options) error {
	o.Slots = max(o.Slots, 1)
	if o.Speed == 0 {
		o.Speed = 1
	}
	sites, err := newGeo(w, &o)
	if err != nil {
		return err
	}
	if err := o.check(w); err != nil {
		return err
	}
	o.Progress.Every = min(o.Progress.Every, sched.Never/4) // so that a sum with it does not overflow
	if o.Model == nil {
		o.Model = Resample
	}
	service, err := o.Model(w, o.Machines, o.Seed)
	if err != nil {
		return err
	}
	shared, ok := service.(*machineCapacity)
	switch {
	case !ok || !shared.checkpoint:
		shared = nil
	case o.Cluster != nil:
		return errors.New("under checkpointing there are no sites")
	case o.LaunchDelay > 0:
		return errors.New("under checkpointing there is no launch delay")
	}
	if err := o.canWait(shared != nil); err != nil {
		return err
	}
	paced := sched.Paces(p)
	if err := o.canTake(paced, service, shared != nil); err != nil {
		return err
	}
	if paced {
		if err := canPace(&o, service); err != nil {
			return err
		}
	}
	if _, varies := service.(varying); o.Progress.Odd.Kind != honest && (varies || paced) {
		return errors.New("expected a service under which the pace of an attempt does not change, since its reports are odd")
	}
	start := w.Jobs[0].Arrival
	outages, err := newOutagePlan(&o, start)
	if err != nil {
		return err
	}
	present, err := newPresence(&o, start)
	if err != nil {
		return err
	}
	*s = Simulator{
		w: w, o: o, core: s.core, service: service, shared: shared, crews: s.crews, changed: s.changed[:0],
		faults: newFaultPlan(o.Faults, o.Machines, start, o.Seed), outages: outages, present: present, start: start, now: start, wake: sched.Never,
		ends: s.ends.emptied(), rows: s.rows[:0], stages: s.stages, writes: s.writes, over: s.over[:0], facts: s.facts[:0], told: s.told[:0], back: s.back[:0], gone: s.gone[:0],
		reports: s.reports[:0], spec: s.spec, path: s.path, geo: sites,
		paced: paced, speed: 1, efforts: s.efforts[:0], headways: s.headways[:0], reached: s.reached,
	}
	if s.varying, ok = service.(varying); ok && shared != nil {
		s.varying = nil
	}
	s.stages.Clear()
	s.writes.Clear()
	s.jobs = make([]JobResult, len(w.Jobs))
	for i := range w.Stages {
		s.resumable = s.resumable || w.Stages[i].Resumable
	}
	if s.core.Reset(p, o.Limits); o.Wait != nil {
		s.core.WaitToBegin()
	}
	if clear(s.reached); s.resumable && s.reached == nil {
		s.reached = map[sched.TaskID]float64{}
	}
	if clear(s.crews); shared != nil && s.crews == nil {
		s.crews = map[sched.TaskID]*crew{}
	}
	return s.addMachines()
}

// check says what is wrong with options whatever the service and the policy, nil if nothing is.
func (o *Options) check(w *trace.Workload) error {
	switch {
	case len(w.Jobs) == 0:
		return errors.New("expected a workload of at least one job")
	case o.Machines < 1:
		return fmt.Errorf("expected at least one machine, got %d", o.Machines)
	case o.Sizes != nil && (len(o.Sizes) != o.Machines || slices.ContainsFunc(o.Sizes, func(n int) bool { return n < 1 })):
		return fmt.Errorf("expected at least one slot on each of %d machines, got %v", o.Machines, o.Sizes)
	case !(o.Speed > 0) || math.IsInf(o.Speed, 0):
		return fmt.Errorf("expected a positive speed, got %v", o.Speed)
	case o.LaunchDelay < 0 || !(o.Progress.Noise >= 0):
		return errors.New("expected a launch delay and noise of at least 0")
	}
	return nil
}

// step moves to the next instant at which anything happens, tells the core, and does what it says.
func (s *Simulator) step() error {
	t := s.next()
	if t == sched.Never {
		return s.stuck("nothing more will happen, and what runs never ends")
	}
	moved := t > s.now
	s.now = t
	if t >= s.wake {
		s.wake = sched.Never
		s.events++
	}
	if err := s.collect(); err != nil {
		return err
	}
	s.events += int64(len(s.facts))
	own := len(s.told)
	if s.geo != nil {
		own += s.geo.late
	}
	if busy := s.busy(); busy != nil {
		own += busy.facts
	}
	outside := len(s.facts) > own || moved && !s.ends.empty()
	s.told = s.told[:0]
	if s.idle++; outside {
		s.idle = 0
	} else if s.idle > maxIdle {
		return s.stuck(fmt.Sprintf("the policy asked to be woken %d times, and nothing else happened", s.idle))
	}
	if s.killed > maxKilled {
		return s.stuck(fmt.Sprintf("the policy killed %d attempts and launched others, and no task was finished meanwhile", s.killed))
	}
	s.retire()
	decisions, err := s.core.Advance(t, s.facts)
	if err != nil {
		return err
	}
	if s.o.Watch != nil {
		s.o.Watch(s.core.View(), s.facts, decisions)
	}
	for i := range decisions {
		if decisions[i].Kind == sched.Kill { // before somebody is launched who goes on from there
			s.leaveBehind(&decisions[i])
		}
	}
	for i := range decisions {
		s.carryOut(&decisions[i])
	}
	s.plan()
	if wan := s.wan(); wan != nil {
		wan.settle()
	}
	if err := s.steer(); err != nil {
		return err
	}
	if s.o.Check {
		return s.core.Check()
	}
	return nil
}

// steer lets another policy go on, which is asked at once.
func (s *Simulator) steer() error {
	if s.o.Steer == nil {
		return nil
	}
	p, err := s.o.Steer(&s.core, s.facts)
	if p == nil || err != nil {
		return err
	}
	now := s.core.Snapshot()
	now.Keep()
	s.wake = s.now
	return s.core.Restore(now, p, s.o.Limits)
}

// maxIdle bounds the steps in which a policy may keep itself busy while nothing else happens.
const maxIdle = 1_000_000

// maxKilled bounds the attempts that a policy may kill while no task is finished and no job begins or ends.
const maxKilled = 1_000_000

// next returns the next instant at which something happens.
func (s *Simulator) next() sched.Time {
	if len(s.told) > 0 || len(s.back) > 0 {
		return s.now
	}
	t := min(s.ends.next(), s.wake, s.present.next(), s.outages.next())
	if s.arrived < len(s.w.Jobs) {
		t = min(t, s.w.Jobs[s.arrived].Arrival)
	}
	if s.faults != nil {
		t = min(t, s.faults.next.next())
	}
	if wan := s.wan(); wan != nil {
		t = min(t, wan.next)
	}
	if busy := s.busy(); busy != nil {
		t = min(t, busy.next.next())
	}
	return s.decides(t)
}

// collect gathers all facts of the present instant, in the core's canonical order as far as that is cheap, and
// submits the jobs that arrive.
func (s *Simulator) collect() error {
	s.facts, s.reports = s.facts[:0], s.reports[:0]
	if s.geo != nil {
		s.geo.late = len(s.geo.fetched)
	}
	if s.faults != nil {
		s.back, s.gone = s.faults.due(s.now, s.back, s.gone[:0])
	}
	if s.outages != nil {
		s.back, s.gone = s.outages.due(s.now, s.back, s.gone[:0])
	}
	if wan := s.wan(); wan != nil {
		wan.advance(s.now, s.came, s.fetched)
	}
	busy := s.busy()
	if busy != nil {
		s.back, s.gone = busy.due(s.now, s.core.View(), s.back, s.gone[:0])
	}
	if s.present != nil {
		s.back, s.gone = s.present.due(s.now, s.core.View(), s.back, s.gone[:0])
	}
	s.tell(sched.MachineJoined, s.back)
	s.back = s.back[:0]
	for s.ends.next() <= s.now {
		id := sched.AttemptID(s.ends.pop())
		s.warmed += s.core.Warm(s.ends.ahead)
		if s.keeps() && s.goesOn(&s.rows[id.Row()]) {
			continue
		}
		if s.shared != nil {
			delete(s.crews, s.core.View().Attempt(id).Task)
		}
		if busy != nil {
			s.gone = busy.release(s.core.View().Attempt(id).Machine, s.core.View(), s.gone)
		}
		s.gone = s.present.release(s.core.View().Attempt(id).Machine, s.core.View(), s.gone)
		if s.geo != nil {
			s.geo.tellFetched(s.core.View(), id, s.now, s.o.LaunchDelay)
			s.geo.chargeEnd(s.core.View(), id, s.now, s.o.LaunchDelay)
		}
		s.facts = append(s.facts, sched.Event{At: s.now, Kind: sched.AttemptDone, Attempt: id, Bytes: s.written(id), Span: s.o.LaunchDelay})
		s.done++
		s.killed = 0
	}
	if s.geo != nil {
		s.facts = append(s.facts, s.geo.fetched...)
		s.geo.fetched = s.geo.fetched[:0]
	}
	s.facts = append(s.facts, s.told...)
	s.facts = append(s.facts, s.reports...)
	s.tell(sched.MachineLost, s.gone)
	for s.arrived < len(s.w.Jobs) && s.w.Jobs[s.arrived].Arrival <= s.now {
		if err := s.submit(); err != nil {
			return err
		}
	}
	return nil
}

// submit makes the next job known to the core and reports its arrival.
func (s *Simulator) submit() error {
	j := s.arrived
	s.w.Spec(j, &s.spec)
	for i := range s.spec.Stages {
		st := &s.spec.Stages[i]
		st.Mean, st.SD = scaled(st.Mean, 1/s.o.Speed), scaled(st.SD, 1/s.o.Speed)
	}
	if s.geo != nil {
		s.geo.place(s.w, j, &s.spec, s.o.Seed)
	}
	first := sched.TaskID(s.core.View().Rows().Tasks())
	id, err := s.core.Submit(&s.spec)
	if err != nil {
		return fmt.Errorf("job %d: %w", s.w.Jobs[j].Number, err)
	}
	offset := uint32(0)
	stage := s.core.View().Job(id).FirstStage
	for i, st := range s.w.StagesOf(j) {
		*s.stages.At(stage + sched.StageID(i)) = recording{
			first: first + sched.TaskID(offset), offset: offset, recorded: st.FirstTask, tasks: st.Tasks, job: s.w.Jobs[j].Number, law: st.Law, silent: st.Silent,
		}
		if offset += st.Tasks; len(s.w.Bytes) > 0 {
			*s.writes.At(stage + sched.StageID(i)) = s.w.Writes(j, i)
		}
	}
	s.facts = append(s.facts, sched.Event{At: s.now, Kind: sched.JobArrived, Job: id})
	s.arrived++
	s.killed = 0
	return nil
}

// pause looks up from the work now and then.
func (s *Simulator) pause(ctx context.Context) error {
	if s.o.Tick != nil {
		s.o.Tick(s.done - s.ticked)
		s.ticked = s.done
	}
	return context.Cause(ctx)
}

// ErrStuck is wrapped by the error of a run that cannot end because the policy leaves jobs unfinished for ever.
var ErrStuck = errors.New("the run is stuck")

// stuck says why a run cannot end.
func (s *Simulator) stuck(why string) error {
	v := s.core.View()
	return fmt.Errorf("%w at %v: %s; %d jobs are unfinished, %d tasks wait and %d attempts run on %d slots",
		ErrStuck, s.now, why, len(s.w.Jobs)-s.closed, v.Pending(), v.Cluster().Live(), v.Slots())
}
