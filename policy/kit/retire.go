package kit

import "github.com/tailcut/tailcut/sched"

// What a policy keeps of jobs, stages and tasks stands in tables that have memory for what is in them (sched.Table,
// PerStage, Heap), because ids ascend for ever. What is not taken out when its stage or job ends is dropped when the
// job is retired: until then it may be retried. While JobRetired is observed the rows can be read for the last time.

// DropTasks drops what a table has of the tasks of a job.
func DropTasks[T any](t *sched.Table[sched.TaskID, T], v *sched.View, j sched.JobID) {
	job := v.Job(j)
	t.DropAll(v.Stage(job.FirstStage).First, job.Tasks)
}

// DropStages drops what a table has of the stages of a job.
func DropStages[T any](t *sched.Table[sched.StageID, T], v *sched.View, j sched.JobID) {
	job := v.Job(j)
	t.DropAll(job.FirstStage, job.Stages)
}
