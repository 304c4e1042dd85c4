package kit

import "github.com/tailcut/tailcut/sched"

// PerStage keeps what a policy knows of each open stage. The memory of a closed stage goes to the next one, so a T has
// a reset that keeps its buffers; pointers to a T stay valid while its stage is open.
type PerStage[T any] struct {
	Index  []int32 // by StageID: number of its T plus 1, 0 where there is nothing
	blocks [][]T   // of stageBlock each: number n is blocks[n/stageBlock][n%stageBlock]
	made   int32
	spare  []int32
}

// stageBlock is how many stages get their memory at once.
const stageBlock int32 = 64

// Open returns the memory of a stage that is new, with whatever its last owner left in it.
func (p *PerStage[T]) Open(s sched.StageID) *T {
	p.Index = Grown(p.Index, int(s))
	if n := len(p.spare); n > 0 {
		p.Index[s] = p.spare[n-1]
		p.spare = p.spare[:n-1]
		return p.Of(s)
	}
	if p.made%stageBlock == 0 {
		p.blocks = append(p.blocks, make([]T, stageBlock))
	}
	p.made++
	p.Index[s] = p.made
	return p.Of(s)
}

// Of returns the memory of an open stage.
func (p *PerStage[T]) Of(s sched.StageID) *T {
	n := p.Index[s] - 1
	return &p.blocks[n/stageBlock][n%stageBlock]
}

// Close gives back the memory of a stage if it has some.
func (p *PerStage[T]) Close(s sched.StageID) {
	if int(s) < len(p.Index) && p.Index[s] > 0 {
		p.spare = append(p.spare, p.Index[s])
		p.Index[s] = 0
	}
}

// End gives back the memory of the stages that an event ends.
func (p *PerStage[T]) End(v *sched.View, ev *sched.Event) {
	for s, last := closed(v, ev); s < last; s++ {
		p.Close(s)
	}
}

// End takes the stages that an event ends out of a heap of stages.
func (h *Heap[K]) End(v *sched.View, ev *sched.Event) {
	for s, last := closed(v, ev); s < last; s++ {
		h.Drop(int(s))
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
