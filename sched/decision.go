package sched

import "fmt"

// DecisionKind says what a driver has to do.
type DecisionKind uint8

// The orders. The fields of [Decision] that each sets are in brackets.
const (
	Launch DecisionKind = iota // [Job Stage Task Machine Attempt Number From Reason] start an attempt
	// [Job Stage Task Machine Attempt Number Reason] end an attempt; its slot is free already
	Kill
	Commit // [Job Stage Task Machine Attempt Number] make this attempt's output the task's result
	Close  // [Job Reason] the job is over; Job.State says how
	Wake   // [At] call Advance at this instant at the latest; replaces the Wake before
	// [Speed] all machines run at this factor of their ordinary speed from now on; only of a policy that [Paces]
	Pace
)

var decisionNames = [...]string{"launch", "kill", "commit", "close", "wake", "pace"}

// String returns the order in lower case.
func (k DecisionKind) String() string {
	if int(k) < len(decisionNames) {
		return decisionNames[k]
	}
	return fmt.Sprintf("decision-%d", uint8(k))
}

// Reason says why an order was given, for journals and people.
type Reason uint8

// Reasons. Policies give the first group, the core the second.
const (
	Unexplained Reason = iota
	Original           // the first attempt of a task
	Retry              // another attempt after the earlier ones ended without result
	Resume             // another attempt that goes on from a checkpoint
	Straggling         // a clone because the task is slow or late
	Cloning            // a clone because the policy clones before it knows
	Share              // preempted: the job is above its share
	Replaced           // killed: another attempt takes over
	Deadline           // the deadline asks for it

	SiblingWon  // another attempt of the task finished first
	StageOver   // the stage needs no more tasks
	JobOver     // the job is done, failed or cancelled
	MachineGone // the machine is lost
	Waited      // the job has waited for as long as Limits.MaxWait allows
)

var reasonNames = [...]string{
	"", "original", "retry", "resume", "straggling", "cloning", "share", "replaced", "deadline",
	"sibling-won", "stage-over", "job-over", "machine-gone", "waited",
}

// String returns the reason in lower case with hyphens, "" for Unexplained.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason-%d", uint8(r))
}

// Decision is an order of the core to its driver. It is flat and holds no pointer.
type Decision struct {
	At      Time // the instant of the decision; for Wake, the instant to wake at
	Kind    DecisionKind
	Reason  Reason
	Job     JobID
	Stage   StageID
	Task    TaskID
	Machine MachineID
	Number  uint32 // attempts of the task launched before this one
	Attempt AttemptID
	From    float64 // fraction of the task's work that a Launch goes on from; 0 starts it anew
	Speed   float64 // of a Pace: factor on the ordinary speed of all machines, positive and finite
}
