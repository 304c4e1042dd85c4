// Package sim drives the scheduling core with a virtual clock and an executor that rolls dice.
//
// [Run] replays a workload under one policy. It knows nothing about scheduling: what happens is decided by sched.Core,
// the same that drives real work. What the simulator adds is how long attempts last ([Model]), when machines fail
// ([Faults]) and what a policy is told of the progress of attempts ([Progress]).
//
// Luck is keyed, not streamed: every random number is a function of the seed and of what it is for, such as the third
// attempt of task 7 of job
//  12. The same attempt is as lucky under every policy, and a clone more or less shifts nobody else's luck, so that two
//     policies can be compared on common random numbers.
//
// The package holds no policies and prints nothing.
package sim
