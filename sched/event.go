package sched

import (
	"cmp"
	"fmt"
)

// EventKind says what happened. The order of the constants is the canonical order of simultaneous facts: what ended is
// known before what was lost, and both before what is newly asked for. A machine that is lost and joins again needs two
// instants: at one instant it joins first.
type EventKind uint8

// Facts, which drivers report. The fields of [Event] that each needs are in brackets.
const (
	MachineJoined EventKind = iota // [Machine] a machine has become usable, for the first time or again
	// [Machine, Site, Bytes, Span, Attempt if it still runs or has run] so many bytes have come to the machine from
	// another site
	DataFetched
	// [Attempt, Bytes, Span] the attempt finished its task's work; Bytes say where data is if an edge is Measured, and
	// always how much there will be, see Sites.Foretold
	AttemptDone
	AttemptFailed   // [Attempt] the attempt ended without result
	AttemptProgress // [Attempt, Progress, Rate] the attempt has come this far
	MachineLost     // [Machine] the machine and everything on it is gone
	JobArrived      // [Job] a submitted job may start
	JobCancelled    // [Job] the job is not wanted any more
	// the instant of the last Wake has come; the core tells this from the clock, drivers need not report it
	TimerFired
	// [Job] a job that began and has failed, or was cancelled, may go on: what is done stays done, failures are
	// forgiven; policies see it arrive again. So may an active job that has given tasks up and runs nothing: policies
	// see it fail first
	JobRetried
	// [Attempt] the attempt ended without result, and so would every other of its task: retries are of no use; policies
	// see AttemptFailed
	AttemptDoomed
	// [Attempt] the attempt could not begin, or work, for want of something on its machine that others may use up:
	// processes, descriptors, memory. It is no failure and counts as no attempt; policies see AttemptLost
	AttemptRefused
	// [Machine, Slots] the machine has room for so many attempts, until it is lost; those beyond run to their ends
	MachineResized
	// [Attempt] the attempt's process or containers have started; until then it waits, in a core that knows the
	// difference, see Core.WaitToBegin
	AttemptBegan
	// [Job] the job is over and nobody asks for it any more: its rows are gone for good, with those of its stages and
	// tasks, and so is what policies keep of it
	JobRetired
	JobPaused    // [Job] nothing of the job starts until it is continued, see pause.go
	JobContinued // [Job] what JobPaused said holds no longer
	// [Job, Priority, Weight, Deadline] the job has these from now on; zero values mean what they do in a JobSpec
	JobChanged
	// [Machine] like MachineLost, but what attempts in resumable stages have saved is still there, as it is when the
	// driver died and not the machine; policies see MachineLost
	MachineStopped
)

// Consequences of facts, which only policies see. The core fills in every id that applies.
const (
	// the core ended the attempt: a sibling won, its machine is lost, its stage or job is over
	AttemptLost EventKind = iota + 32
	// one task waits for an attempt: its last input is there, or its only attempt ended without result
	TaskReady
	// every task of the stage that has no input of its own to wait for waits for an attempt
	StageReady
	StageDone // the stage has as many finished tasks as it needs, or nothing left to run
	JobDone   // every stage has what it needs
	JobFailed // more tasks have failed for good than the job allows, or nothing is left to run without them
	// a task of an open stage has failed more often than the job forgives, or waits for one that has: it will not run,
	// and Stage.Hopeful is one less
	TaskGivenUp
	// an attempt runs that the policy did not launch: the core did, or an earlier policy
	AttemptTaken
)

var eventNames = map[EventKind]string{
	MachineJoined: "machine-joined", DataFetched: "data-fetched", AttemptDone: "attempt-done", AttemptFailed: "attempt-failed",
	AttemptProgress: "attempt-progress", MachineLost: "machine-lost", JobArrived: "job-arrived",
	JobCancelled: "job-cancelled", TimerFired: "timer-fired", JobRetried: "job-retried",
	AttemptDoomed: "attempt-doomed", AttemptRefused: "attempt-refused", MachineResized: "machine-resized",
	AttemptBegan: "attempt-began",
	JobRetired:   "job-retired", JobPaused: "job-paused", JobContinued: "job-continued", JobChanged: "job-changed",
	MachineStopped: "machine-stopped",
	AttemptLost:    "attempt-lost", TaskReady: "task-ready", StageReady: "stage-ready",
	StageDone: "stage-done", JobDone: "job-done", JobFailed: "job-failed",
	TaskGivenUp: "task-given-up", AttemptTaken: "attempt-taken",
}

// String returns the kind's name in lower case with hyphens.
func (k EventKind) String() string {
	if s, ok := eventNames[k]; ok {
		return s
	}
	return fmt.Sprintf("event-%d", uint8(k))
}

// Event is something that has happened. It is flat and holds no pointer, so that it can be compared, recorded and
// replayed.
type Event struct {
	At       Time
	Kind     EventKind
	Job      JobID
	Stage    StageID
	Task     TaskID
	Machine  MachineID
	Site     SiteID // DataFetched: where the data was
	Attempt  AttemptID
	Progress float64 // AttemptProgress: fraction of the task's work done, in [0, 1]
	Rate     float64 // AttemptProgress: fraction done per second from here on if the driver knows it, else 0
	// DataFetched: that were fetched, positive; AttemptDone: that each reader of the result reads of it,
	// 0 where that is not known
	Bytes int64
	// DataFetched: from the request to the last byte, latency included; AttemptDone: from the launch, or the beginning
	// of one that waited, until its work began; 0 where that is not known
	Span  Time
	Slots uint32 // MachineResized

	Priority int32   // JobChanged, and so are Weight and Deadline
	Weight   float64 // 0 for 1
	Deadline Time    // 0 for none
}

// compare puts facts into canonical order: instant, kind, ids, and of two reports about one attempt the further one
// last, so that it stands.
func (e *Event) compare(o *Event) int {
	if c := cmp.Compare(e.At, o.At); c != 0 {
		return c
	}
	if c := cmp.Compare(e.Kind, o.Kind); c != 0 {
		return c
	}
	if c := cmp.Compare(e.Attempt.row(), o.Attempt.row()); c != 0 {
		return c
	}
	if c := cmp.Compare(e.Job, o.Job); c != 0 {
		return c
	}
	if c := cmp.Compare(e.Machine, o.Machine); c != 0 {
		return c
	}
	if c := cmp.Compare(e.Progress, o.Progress); c != 0 {
		return c
	}
	if c := cmp.Compare(e.Rate, o.Rate); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(e.Site, o.Site), cmp.Compare(e.Bytes, o.Bytes), cmp.Compare(e.Span, o.Span), cmp.Compare(e.Slots, o.Slots)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(e.Priority, o.Priority), cmp.Compare(e.Weight, o.Weight), cmp.Compare(e.Deadline, o.Deadline))
}
