// Package probes holds what the policies with queues at machines have in common: reservations that schedulers place at
// random, late binding, a central scheduler for long jobs, stealing, and machines that turn probes away. It holds no
// policy.
//
// Schedulers and machines are pictures: all is the state of one policy, and a message is what it does later. A message
// takes half a round trip. Everything a message says is as it is when it arrives.
//
//	a task waits        its job's scheduler sends probes to machines drawn at random: reservations in their queues
//	a slot is free      its machine asks the scheduler of the first reservation for a task, a round trip in which the slot
//	                    waits; the answer is the job's next task, or that there is none left
//	a long task waits   the central scheduler sends it to the machine with the least long work, to whose queue it is bound
//
// A reservation is for any task of its job. So is what is bound: which task of a job it starts is decided when it
// starts, which matters to nobody, because the tasks of a job are alike to the scheduler.
//
// Memory is that of the reservations: those of a job are at most as many for each waiting task as a task has probes,
// and, unless schedulers cancel, what is left of them until the job is over.
package probes

import "github.com/tailcut/tailcut/sched"

// Settings are what the policies differ in.
type Settings struct {
	Seed   uint64
	Probes int        // of a task
	Trip   sched.Time // of a message and its answer
	Sample Sample
	Cancel bool // schedulers take back reservations when no task of the job waits

	// The rest is for clusters with long jobs.
	Hybrid bool       // there is a central scheduler
	Cutoff sched.Time // mean duration of a task above which its job is long
	Short  float64    // share of the machines that take no long tasks
	Steal  int        // machines that an idle one looks at for short tasks behind long ones
	Avoid  bool       // machines with long tasks turn probes away
	Stick  bool       // a machine goes on with the job whose task has ended there
	Bypass int        // how often jobs with less left may overtake a reservation; -1 for queues in order of arrival
}

// Sample says how the scheduler of a job samples machines.
type Sample uint8

// Ways to sample.
const (
	Late  Sample = iota // probes of all tasks together, which are reservations
	Batch               // probes of all tasks together; the tasks go to the shortest of the queues
	Each                // probes of each task alone; it goes to the shorter of the queues
)

// Away is how often a probe is turned away by machines with long tasks before it goes to one that takes none.
const Away = 2
