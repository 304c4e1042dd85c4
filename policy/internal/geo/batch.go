package geo

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// Batch is pending tasks of a job with what they read, for policies that place them together.
type Batch struct {
	Tasks   []Batched
	sources []sched.Source
	waiting kit.PerStage[queued]
}

// Batched is a task that reads batch.sources[from:to].
type Batched struct {
	ID       sched.TaskID
	Stage    sched.StageID
	Zone     int32 // see sched.Sites.Zone
	bytes    float64
	from, to int32
}

// queued is the pending tasks of a stage, by index, those that read most first; and some that are not pending any more.
type queued struct {
	tasks kit.Heap[kit.Falling[float64]]
}

// Observe takes note of tasks that become pending. What they read is known by then and stays.
func (b *Batch) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.StageReady:
		q := b.waiting.Open(ev.Stage)
		q.tasks.Clear()
		for t, ok := v.PendingTask(ev.Stage, 0); ok; t, ok = v.PendingTask(ev.Stage, t+1) {
			b.enqueue(v, q, t)
		}
	case sched.TaskReady:
		b.enqueue(v, b.waiting.Of(ev.Stage), ev.Task)
	case sched.JobContinued: // nobody told of the tasks whose attempts ended while it was paused
		job := v.Job(ev.Job)
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
				b.enqueue(v, b.waiting.Of(s), t)
			}
		}
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		b.waiting.End(v, ev)
	}
}

func (b *Batch) enqueue(v *sched.View, q *queued, t sched.TaskID) {
	bytes := 0.0
	b.sources = v.Sites().AppendSources(b.sources[:0], t)
	for _, x := range b.sources {
		bytes += float64(x.Bytes)
	}
	q.tasks.Set(int(t-v.Stage(v.Task(t).Stage).First), kit.Falling[float64]{X: bytes})
}

// Gather collects pending tasks of a stage: all, or if these are more than most, those that read most.
func (b *Batch) Gather(v *sched.View, s sched.StageID, most int) {
	stage, from := v.Stage(s), len(b.Tasks)
	if v.Sites().Confined(stage.Job) {
		b.gatherZones(v, s)
		return
	}
	if int(stage.Pending) <= most {
		for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
			b.Add(v, s, t)
		}
		return
	}
	q := &b.waiting.Of(s).tasks
	for len(b.Tasks)-from < most {
		t := stage.First + sched.TaskID(q.Top())
		q.Drop(q.Top())
		if v.Task(t).State == sched.TaskPending {
			b.Add(v, s, t)
		}
	}
	for i := range b.Tasks[from:] {
		x := &b.Tasks[from+i] // it waits until it is launched
		q.Set(int(x.ID-stage.First), kit.Falling[float64]{X: x.bytes})
	}
}

// gatherZones collects the pending tasks of a stage of a job whose data may not be everywhere: of those that may run at
// the same sites no more than have a free slot there, those that read most. All pending tasks are looked at.
func (b *Batch) gatherZones(v *sched.View, s sched.StageID) {
	from := len(b.Tasks)
	for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
		b.Add(v, s, t)
	}
	all := b.Tasks[from:]
	slices.SortFunc(all, func(x, y Batched) int {
		return cmp.Or(cmp.Compare(x.Zone, y.Zone), cmp.Compare(y.bytes, x.bytes), cmp.Compare(x.ID, y.ID))
	})
	kept, room := all[:0], 0
	for i, x := range all {
		if i == 0 || x.Zone != all[i-1].Zone {
			room = freeIn(v, x.ID)
		}
		if room > 0 {
			room--
			kept = append(kept, x)
		}
	}
	b.Tasks = b.Tasks[:from+len(kept)]
}

// freeIn returns the free slots at sites where a task may run.
func freeIn(v *sched.View, t sched.TaskID) (free int) {
	for k := range sched.SiteID(v.Sites().Len()) {
		if v.Sites().Allows(t, k) {
			free += v.Sites().FreeSlots(k)
		}
	}
	return free
}

// Add puts a pending task of a stage into the batch.
func (b *Batch) Add(v *sched.View, s sched.StageID, t sched.TaskID) {
	x := Batched{ID: t, Stage: s, Zone: v.Sites().Zone(t), from: int32(len(b.sources))}
	b.sources = v.Sites().AppendSources(b.sources, t)
	x.to = int32(len(b.sources))
	for _, y := range b.Of(&x) {
		x.bytes += float64(y.Bytes)
	}
	b.Tasks = append(b.Tasks, x)
}

// Empty takes all tasks out and keeps the memory.
func (b *Batch) Empty() { b.Tasks, b.sources = b.Tasks[:0], b.sources[:0] }

// Of returns what a task of the batch reads.
func (b *Batch) Of(x *Batched) []sched.Source { return b.sources[x.from:x.to] }

// At returns the bytes that a task reads at a site.
func (b *Batch) At(x *Batched, k sched.SiteID) float64 {
	for _, y := range b.Of(x) {
		if y.Site == k {
			return float64(y.Bytes)
		}
	}
	return 0
}

// Cut keeps n tasks: those that read most.
func (b *Batch) Cut(n int) {
	if len(b.Tasks) <= n {
		return
	}
	slices.SortFunc(b.Tasks, func(x, y Batched) int { return cmp.Or(cmp.Compare(y.bytes, x.bytes), cmp.Compare(x.ID, y.ID)) })
	b.Tasks = b.Tasks[:n]
}

// Compare sorts tasks by stage, by where they may run, and by what they read.
func (b *Batch) Compare(x, y *Batched) int {
	if c := cmp.Or(cmp.Compare(x.Stage, y.Stage), cmp.Compare(x.Zone, y.Zone)); c != 0 {
		return c
	}
	return slices.CompareFunc(b.Of(x), b.Of(y), func(s, t sched.Source) int { return cmp.Or(cmp.Compare(s.Site, t.Site), cmp.Compare(s.Bytes, t.Bytes)) })
}

// nearest returns the site where a task reads most; ok is false if it reads nothing.
func nearest(sources []sched.Source) (k sched.SiteID, ok bool) {
	most := int64(math.MinInt64)
	for _, x := range sources {
		if x.Bytes > most {
			k, most = x.Site, x.Bytes
		}
	}
	return k, len(sources) > 0
}
