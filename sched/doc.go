// Package sched is the scheduling core: one deterministic state machine that every driver shares.
//
// A driver hands [Core.Advance] facts (an attempt finished, a machine was lost) and gets decisions back (launch this,
// kill that, wake me at). The simulator, the local process engine and the Kubernetes engine are drivers of the same
// core, so a policy tried on a million simulated tasks is, to the byte, the policy that schedules real work, and a live
// run's journal replays.
//
// The core never reads a clock, does no I/O, starts no goroutine, and once its tables have grown to the size of the
// workload it allocates nothing. What it returns depends only on the calls that were made. The core itself rules
// that the first attempt to finish wins, that a task is done once, that no slot is used twice and that limits hold; a
// [Policy] decides which tasks get attempts, where and when, and cannot break these rules.
//
// The package is not a place for clocks, journals, processes or random numbers: those belong to drivers.
package sched
