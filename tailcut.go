// Package tailcut runs batch jobs of many parallel tasks, and shortens them where they wait for their slowest tasks: it
// starts clones of the right tasks at the right moment, and keeps one result of each task.
//
// Each question that the command tailcut answers is one call here:
//
//   - [Simulate] compares policies on a workload, on a simulated cluster.
//   - [Recommend] says from measured durations when to clone, how often, and whether to keep the original.
//   - [Explain] says for which stages of a log clones would help, and why not for the others.
//   - [Run] runs a job of commands on this machine.
//   - [Register] adds a policy, which the other calls then know by its name.
//
// What they are made of can be imported too: package sched is the scheduling core, policy the published policies, and
// policy/kit what to write another one with; laws are laws of durations, plan evaluates rules of cloning, trace reads
// workloads, and sim is the simulator.
package tailcut

import "github.com/tailcut/tailcut/policy"

// Register adds a policy, which every call that takes a policy's name then knows. Call it before others, as from an
// init function or at the beginning of main. It panics if the entry is not complete or its name is taken.
func Register(e *policy.Entry) { policy.Register(e) }

// Policies returns the names of all policies and presets, in alphabetical order. With parameters a policy is written
// NAME:param=value,param=value.
func Policies() []string { return policy.Names() }
