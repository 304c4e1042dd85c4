package policy

import "github.com/tailcut/tailcut/sched"

// perStage keeps what a policy knows of each open stage. The memory of a closed stage goes to the next one, so a T has
// a reset that keeps its buffers; pointers to a T stay valid while its stage is open.
type perStage[T any] struct {
	index  []int32 // by StageID: number of its T plus 1, 0 where there is nothing
	blocks [][]T   // of stageBlock each: number n is blocks[n/stageBlock][n%stageBlock]
	made   int32
	spare  []int32
}

// stageBlock is how many stages get their memory at once.
const stageBlock int32 = 64

// open returns the memory of a stage that is new, with whatever its last owner left in it.
func (p *perStage[T]) open(s sched.StageID) *T {
	p.index = grown(p.index, int(s))
	if n := len(p.spare); n > 0 {
		p.index[s] = p.spare[n-1]
		p.spare = p.spare[:n-1]
		return p.of(s)
	}
	if p.made%stageBlock == 0 {
		p.blocks = append(p.blocks, make([]T, stageBlock))
	}
	p.made++
	p.index[s] = p.made
	return p.of(s)
}

// of returns the memory of an open stage.
func (p *perStage[T]) of(s sched.StageID) *T {
	n := p.index[s] - 1
	return &p.blocks[n/stageBlock][n%stageBlock]
}

// close gives back the memory of a stage if it has some.
func (p *perStage[T]) close(s sched.StageID) {
	if int(s) < len(p.index) && p.index[s] > 0 {
		p.spare = append(p.spare, p.index[s])
		p.index[s] = 0
	}
}

// end gives back the memory of the stages that an event ends.
func (p *perStage[T]) end(v *sched.View, ev *sched.Event) {
	for s, last := closed(v, ev); s < last; s++ {
		p.close(s)
	}
}

// end takes the stages that an event ends out of a heap of stages.
func (h *heap[K]) end(v *sched.View, ev *sched.Event) {
	for s, last := closed(v, ev); s < last; s++ {
		h.drop(int(s))
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
