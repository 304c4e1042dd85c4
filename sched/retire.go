package sched

import (
	"fmt"
	"math"
)

// A core that lives for ever forgets. A job that is over stays as it is until the driver says JobRetired: then nobody
// asks for it any more, and its rows go, with those of its stages and tasks. Ids are not given out again, so a late
// fact about a retired job is known for what it is and ignored, and order by id stays order of submission. Who asks the
// view for a retired row gets an empty one that is in the state JobGone, StageGone or TaskGone.
//
// See docs/decisions/0029-the-core-forgets.md.

// retire takes away what is known of a job that is over. Policies may look at it for the last time.
func (c *Core) retire(j JobID) {
	c.observe(Event{Kind: JobRetired, Job: j})
	v := &c.view
	job := *v.job(j)
	v.tasks.DropAll(v.stage(job.FirstStage).First, job.Tasks)
	v.stages.DropAll(job.FirstStage, job.Stages)
	v.sample.DropAll(job.FirstStage, job.Stages)
	if l := v.links.Get(j); l != nil {
		if !l.large() {
			v.spareLinks = append(v.spareLinks, l.empty())
		}
		v.links.Drop(j)
	}
	v.beside.Drop(j)
	v.confined.Drop(j)
	v.jobs.Drop(j)
}

// mayIssue says why a core has no ids left for a job, nil if it has.
func (v *View) mayIssue(spec *JobSpec) error {
	tasks := 0
	for i := range spec.Stages {
		tasks += spec.Stages[i].Tasks
	}
	for _, x := range [...]struct {
		what   string
		issued uint32
		more   int
	}{{"jobs", v.issuedJobs, 1}, {"stages", v.issuedStages, len(spec.Stages)}, {"tasks", v.issuedTasks, tasks}} {
		if x.more > math.MaxUint32-int(x.issued) {
			return fmt.Errorf("%d %s have had ids so far, and there are %d: none are left for %d more", x.issued, x.what, uint32(math.MaxUint32), x.more)
		}
	}
	return nil
}
