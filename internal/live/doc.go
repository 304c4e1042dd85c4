// Package live runs jobs for real: a loop between a sched.Core, the wall clock, a journal and Executors that start and
// end attempts. A Run is the loop with one job and a journal that ends with it, an Engine the loop with many.
//
// The order of things is what makes a run survive anything. Reports of the executor become facts; the core turns them
// into decisions; both are appended to the journal; only then are the decisions carried out, and those that outlive a
// crash of the system only when the disk has the record. The first AttemptDone of a task in the journal is therefore
// the one claim on the task's result, and a restart that replays the journal knows exactly what was claimed. Small
// outputs are in the same record as the claim. Whatever was running when the engine died counts as lost with its
// machine.
//
// The package knows neither processes nor pods: executors do.
package live
