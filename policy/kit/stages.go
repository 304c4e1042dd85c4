package kit

import (
	"iter"

	"github.com/tailcut/tailcut/sched"
)

// PerStage keeps what a policy knows of each open stage. The memory of a closed stage goes to the next one, so who
// opens a stage resets what is in it and keeps buffers. Pointers to a T stay valid while its stage is open.
type PerStage[T any] struct {
	index  sched.Table[sched.StageID, int32] // number of its T
	blocks [][]T                             // of stageBlock each: number n is blocks[n/stageBlock][n%stageBlock]
	made   int32
	spare  []int32
}

// stageBlock is how many stages get their memory at once.
const stageBlock int32 = 64

// Open returns the memory of a stage that is new, with whatever its last owner left in it.
func (p *PerStage[T]) Open(s sched.StageID) *T {
	if n := len(p.spare); n > 0 {
		*p.index.At(s) = p.spare[n-1]
		p.spare = p.spare[:n-1]
		return p.Of(s)
	}
	if p.made%stageBlock == 0 {
		p.blocks = append(p.blocks, make([]T, stageBlock))
	}
	*p.index.At(s) = p.made
	p.made++
	return p.Of(s)
}

// Of returns the memory of an open stage.
func (p *PerStage[T]) Of(s sched.StageID) *T {
	n := *p.index.Of(s)
	return &p.blocks[n/stageBlock][n%stageBlock]
}

// All goes through the open stages in their order.
func (p *PerStage[T]) All() iter.Seq2[sched.StageID, *T] {
	return func(yield func(sched.StageID, *T) bool) {
		for s := range p.index.All() {
			if !yield(s, p.Of(s)) {
				return
			}
		}
	}
}

// Has tells whether a stage has memory.
func (p *PerStage[T]) Has(s sched.StageID) bool { return p.index.Has(s) }

// Close gives back the memory of a stage if it has some.
func (p *PerStage[T]) Close(s sched.StageID) {
	if p.Has(s) {
		p.spare = append(p.spare, *p.index.Of(s))
		p.index.Drop(s)
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
