// Package trace holds what is read from and written to files about work: workloads, which say what is to be run, and
// journals, which say what was run.
//
// A [Workload] keeps its rows in columns: the durations of all tasks are one flat slice, and jobs and stages refer to
// each other by offset, so that ten million tasks take a few hundred megabytes. It comes from a file in one of the
// formats of docs/reference/workloads.md ([Read]) or from a generator ([Synthesize]); [Load] takes what a user writes
// on the command line. An [Importer] decides what public traces leave open, a [Filter] chooses jobs, and [Summarize]
// says what a workload is like.
//
// The package knows neither clocks nor policies. It does not simulate.
package trace
