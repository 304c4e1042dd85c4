// Package history reads what other systems wrote about the tasks that they ran: event logs, job histories, accounting
// tables. One file per format; docs/howto/past-jobs.md lists them.
//
// [Open] tells the format, and the compression, from the content. [Log.Attempts] then streams one [Record] after the
// other, and [Stages] sorts them into the samples of durations that a planner wants.
//
//	log, err := history.Open("application_1_0001.zstd", nil, "")
//	for a, err := range log.Attempts() { ... }
//
// Memory is what the attempts need that are running at the same time, not the size of the log; Google task events and
// retried tasks also cost a row per task, and journals and workloads are held whole. An error is one line that names
// file, line, field and what was expected there.
//
// What may have made tasks slow is asked of [StageRecord.Skew] and [StageRecord.SlowHost]. The package knows no
// policies. Workloads to simulate are read by package trace.
package history
