package policy

import "github.com/tailcut/tailcut/sched"

// perStage keeps what a policy knows of each open stage. The memory of a closed stage goes to the next one, so a T has a reset that keeps
// its buffers; pointers to a T stay valid while its stage is open.
type perStage[T any] struct {
	index []int32 // by StageID: index in all plus 1, 0 where there is nothing
	all   []*T
	spare []int32
}

// open returns the memory of a stage that is new, with whatever its last owner left in it.
func (p *perStage[T]) open(s sched.StageID) *T {
	p.index = grown(p.index, int(s))
	if n := len(p.spare); n > 0 {
		p.index[s] = p.spare[n-1]
		p.spare = p.spare[:n-1]
	} else {
		p.all = append(p.all, new(T))
		p.index[s] = int32(len(p.all))
	}
	return p.all[p.index[s]-1]
}

// of returns the memory of an open stage.
func (p *perStage[T]) of(s sched.StageID) *T { return p.all[p.index[s]-1] }

// close gives back the memory of a stage if it has some.
func (p *perStage[T]) close(s sched.StageID) {
	if int(s) < len(p.index) && p.index[s] > 0 {
		p.spare = append(p.spare, p.index[s])
		p.index[s] = 0
	}
}

// closed returns the stages first to last-1 that an event ends.
func closed(v *sched.View, ev *sched.Event) (first, last sched.StageID) {
	switch ev.Kind {
	case sched.StageDone:
		return ev.Stage, ev.Stage + 1
	case sched.JobFailed, sched.JobCancelled:
		job := v.Job(ev.Job)
		return job.FirstStage, job.FirstStage + sched.StageID(job.Stages)
	}
	return 0, 0
}
