package sched

import "math"

// Ids are indexes of the core's tables, given out in ascending order and never reused, except an AttemptID: its row is
// recycled.
type (
	JobID     uint32
	StageID   uint32
	TaskID    uint32
	MachineID uint32
	SiteID    uint32
)

// AttemptID is a row of the attempt table and the row's generation, so that a late fact about an attempt
// that is gone is recognised although its row is in use again. The zero value is no attempt. A row that has had all
// its generations is not used again, so that no id ever means two attempts.
type AttemptID uint64

// spent is the generation of a row that has had all others. No attempt has it.
const spent = math.MaxUint32

func attemptID(row int32, gen uint32) AttemptID { return AttemptID(gen)<<32 | AttemptID(uint32(row)) }
func (a AttemptID) row() int32                  { return int32(uint32(a)) }
func (a AttemptID) gen() uint32                 { return uint32(a >> 32) }

// Row returns the attempt's row: a small integer that no other running attempt has, for tables kept by row.
func (a AttemptID) Row() int { return int(uint32(a)) }

// Generation tells the attempt from those that had its row before and after it; the first of a row is 1.
func (a AttemptID) Generation() uint32 { return a.gen() }

// JobState, StageState and TaskState order the lives of jobs, stages and tasks; larger is later.
type (
	JobState   uint8
	StageState uint8
	TaskState  uint8
)

// States.
const (
	JobSubmitted JobState = iota // known, may not start yet
	JobActive
	JobSucceeded
	JobBroken  // failed: a stage has less than it needs
	JobStopped // cancelled
	JobGone    // retired: nothing is known of it any more

	StageBlocked StageState = 0 // waits for another stage
	StageOpen    StageState = 1 // its tasks may run
	StageClosed  StageState = 2 // has what it needs, or nothing left to run
	StageGone    StageState = 3 // of a job that is retired

	TaskBlocked TaskState = 0 // waits for a stage or task
	TaskPending TaskState = 1 // may run, no attempt running
	TaskRunning TaskState = 2 // at least one attempt running
	TaskDone    TaskState = 3
	TaskSkipped TaskState = 4 // not needed any more
	TaskBroken  TaskState = 5 // has failed more often than the job forgives
	// cannot run: a task or stage that it waits for has failed for good, see loss.go
	TaskStranded TaskState = 6
	TaskGone     TaskState = 7 // of a job that is retired
)

// Job is the row of a job. What every event changes stands together at the end.
type Job struct {
	Retries     uint32 // failures of one task that are forgiven where its stage says nothing
	MaxFailed   uint32 // tasks that may fail for good before the job fails
	MaxLive     uint32 // attempts that may run at once; 0 for no bound
	MaxAttempts uint32 // of one task, where the limits allow more; 0 for no bound of its own
	Priority    int32
	MinShare    uint32
	FirstStage  StageID
	Stages      uint32
	Tasks       uint32 // of all stages
	Weight      float64
	Arrived     Time    // valid once active
	Closed      Time    // valid once over
	Deadline    Time    // Never if there is none
	Value       float64 // of the job by its deadline, see Worth; its weight where none is given
	Late        Late
	Fruitless   Time   // machine time of attempts that have ended and are not fruitful
	Fruitful    Time   // machine time of winners, and of preempted attempts whose progress was kept
	Clones      uint32 // attempts launched while another attempt of the task was running
	Failures    uint32 // attempts that failed
	Broken      uint32 // tasks that have failed for good
	StagesLeft  uint32
	Attempts    uint32 // attempts launched so far
	Unfinished  uint32 // tasks that are not over: they wait or run
	Pending     uint32 // tasks that wait for an attempt
	Live        uint32 // attempts running now
	State       JobState
	served      Time // when it had its last turn, see maxwait.go
	valued      bool // Value is given, and not its weight
	Paused      bool // nothing of it starts, see pause.go
	short       bool // a stage was closed without what it needs
	stirred     bool // it may have room for tasks that are held back, see share.go
	robbed      bool // a policy has killed an attempt of it while it was due, and launched none since
}

// Stage is the row of a stage. What every event changes stands together at the end.
type Stage struct {
	Tasks     uint32
	blocked   uint32 // barriers in front of the stage
	Mean, SD  Time   // known beforehand, else 0
	Job       JobID
	First     TaskID // tasks are First .. First+Tasks-1
	edgeFirst uint32 // its outgoing edges are links.edges[edgeFirst : edgeFirst+edgeCount]
	edgeCount uint32
	Retries   uint32 // failures of one task that are forgiven
	Need      uint32 // finished tasks that make the stage done
	Done      uint32
	GivenUp   uint32 // tasks that have failed for good, or cannot run because others have
	Pending   uint32 // tasks that wait for an attempt
	Running   uint32 // tasks with an attempt running
	Live      uint32 // attempts running
	Index     uint16 // in the job, from 0
	State     StageState
	Resumable bool
	Waits     bool  // its attempts wait until they begin, see Core.WaitToBegin
	Class     Class // of the slots that its tasks need
	Reads     bool  // its tasks read data that is at sites, see Sites.AppendSources
	feeds     bool  // other tasks read its tasks' results
	told      int64 // bytes that each reader reads, of the results together that came with AttemptDone
	tellers   uint32
	count     float64
	mean, m2  float64 // of finished attempts' durations, seconds per whole task (Welford 1962)
}

// Unfinished returns the number of tasks that the stage still needs and may still get.
func (s *Stage) Unfinished() uint32 {
	most := min(s.Need, s.Hopeful())
	return most - min(s.Done, most)
}

// Hopeful returns the number of tasks that are done or may still be: all but those given up. A rule that waits for a
// share of the stage's tasks takes the share of these, or it might wait for ever.
func (s *Stage) Hopeful() uint32 { return s.Tasks - s.GivenUp }

// Estimate returns the mean and standard deviation of the duration of one attempt, in seconds: those known beforehand,
// or else those of the attempts that have won in this stage. ok is false while there is neither.
func (s *Stage) Estimate() (mean, sd float64, ok bool) {
	if s.Mean > 0 {
		return s.Mean.Seconds(), s.SD.Seconds(), true
	}
	return s.Measured()
}

// Whole returns the seconds that a whole task takes the way an attempt took d for what follows the fraction from of it.
// ok is false if that is less than a 64th of the task: the attempt has then hardly done more than begin, which
// multiplied would say that tasks last for ages.
func Whole(d Time, from float64) (seconds float64, ok bool) {
	return d.Seconds() / (1 - from), 1-from >= 1./64
}

// Measured returns the mean and sample standard deviation, in seconds, of the durations of the attempts that have won;
// an attempt that resumed counts as the whole task would have taken, if it says something of that; see Whole. ok is
// false while none has.
func (s *Stage) Measured() (mean, sd float64, ok bool) {
	if s.count == 0 {
		return 0, 0, false
	}
	if s.count > 1 {
		sd = math.Sqrt(s.m2 / (s.count - 1))
	}
	return s.mean, sd, true
}

func (s *Stage) measure(d Time, from float64) {
	x, ok := Whole(d, from)
	if !ok {
		return
	}
	s.count++
	delta := x - s.mean
	s.mean += delta / s.count
	s.m2 += delta * (x - s.mean)
}

// Task is the row of a task.
type Task struct {
	Stage    StageID
	State    TaskState
	NoClones bool    // a clone of it has failed: it has one attempt at a time
	Live     uint16  // attempts running
	Failures uint16  // attempts that failed and were no clones
	site     uint16  // of the attempt that won
	Launched uint32  // attempts launched so far
	Saved    float64 // furthest progress of an attempt that was preempted or failed; a Resume may go on from it
	first    int32   // row of its first running attempt, -1 if none
	blocked  uint32  // single tasks it still waits for
}

// Attempt is what is known of an attempt. It can be read until the call of Advance after the one in which the attempt
// ended.
type Attempt struct {
	Task       TaskID
	Machine    MachineID
	Number     uint32  // attempts of the task launched before this one
	Clone      bool    // launched while another attempt of the task was running
	Waiting    bool    // it has not begun, see Core.WaitToBegin
	Started    Time    // when it began; now while it is Waiting
	From       float64 // fraction of the work it began with: what it was to go on from, or less if it has reported less
	Progress   float64 // fraction of the task's work done at ProgressAt, as last reported; From before the first report
	ProgressAt Time
	Rate       float64 // fraction per second since ProgressAt if the driver told, else 0
}

// attempt is the row of an attempt. Attempts end in any order, so that in a large cluster each event meets a row that
// is in no cache: a row is half a cache line, and what few events need is in tables beside it (progress, neighbours).
//
// The stage is the task's: the rows of both are then fetched at once, instead of one after the other.
type attempt struct {
	task     TaskID
	stage    StageID
	machine  MachineID
	number   uint32
	started  Time // when it began; while it waits, when it was launched
	gen      uint32
	clone    bool // View.here knows the attempt of the task that was launched before
	running  bool
	waiting  bool // for AttemptBegan
	advanced bool // it began with some of the work done or has reported: View.progress knows it
}

// headway is how far an attempt has come, see Attempt.
type headway struct {
	from, done float64
	at         Time
	rate       float64
}

// neighbours are the rows of the attempts that stand before and after one in the list of its machine, -1 at the ends,
// and after it in that of its task. They hold while there are such: the only attempt of a machine has none to look up,
// and only a clone one of its task.
type neighbours struct{ prev, next, older int32 }

// ProgressAtTime returns the fraction of the task's work done at now: exact where the driver told the rate, else as
// last reported.
func (a *Attempt) ProgressAtTime(now Time) float64 {
	if a.Rate == 0 {
		return a.Progress
	}
	return min(1, a.Progress+a.Rate*(now-a.ProgressAt).Seconds())
}

// Remaining estimates the time that the attempt still needs from its progress so far: t_rem = age (1-phi)/(phi-From).
// ok is false before there is progress to judge by.
func (a *Attempt) Remaining(now Time) (rem Time, ok bool) {
	if a.Rate > 0 {
		return FromSeconds((1 - a.ProgressAtTime(now)) / a.Rate), true
	}
	if a.Progress <= a.From || a.ProgressAt <= a.Started {
		return 0, false
	}
	rate := (a.Progress - a.From) / (a.ProgressAt - a.Started).Seconds()
	return max(0, FromSeconds((1-a.Progress)/rate)-(now-a.ProgressAt)), true
}

// Machine is the row of a machine, or of its slots of one class.
type Machine struct {
	Site  SiteID
	Slots uint32
	Used  uint32
	Class Class // of its slots
	Up    bool
	full  uint32 // slots when it joins
	room  uint32 // slots that it should have: Slots are more while attempts beyond run
	first int32  // row of one attempt running here, -1 if none
}
