// Package run runs a job on this machine, or on another through a program that knows it: it claims the output folder,
// takes up a run that is there already, drives the job to its end, publishes the results and tidies up.
//
// [New] finds what is wrong with what is asked for before anything is touched. The engine that it returns either says
// what would run, [Engine.Preview], or does it, [Engine.Run]. What has been decided and done is in a journal, from
// which the same request goes on.
//
// A program that imports this package starts itself for the guard of its attempts, and for attempts of map/reduce work.
// It need not know: internal/live/proc answers before main begins.
package run
