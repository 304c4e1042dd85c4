// Package proc runs attempts as processes of this machine.
//
// Every attempt is a process group with a folder and a file for standard output of its own and writes nowhere else.
// When an attempt has won, its folder is renamed to its task's: that is the commit. A small output goes into the
// journal instead. The folders of a run:
//
//	journal             what happened
//	lock                held by the engine
//	attempts/S-T.N/     of attempt N of task T of stage S, while it may still win
//	attempts/stdout.K   standard output of attempts, used again
//	done/S/T/           committed results: stdout, and in files what an array task left in its folder
//
// What the executors of several jobs share is their host: the thread that starts all processes, the guard, and what is
// known of the machine's limits.
//
// No process outlives the run: a lost attempt's group is killed; on Linux an attempt dies with the engine, and a guard
// process kills the descendants that are left, found by a variable in their environment.
package proc
