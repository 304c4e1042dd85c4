package policy

import (
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// iridiumStage is the tasks of an open stage that wait, under place=stage.
type iridiumStage struct {
	fresh  []sched.TaskID // that have no site yet
	queues []iridiumQueue // in the order in which sites got tasks
}

// iridiumQueue is the tasks that wait for a slot at a site, tasks[first:], and some that do not wait any more.
type iridiumQueue struct {
	site     sched.SiteID
	anywhere bool  // of those that read nothing
	zone     int32 // where they may run, if anywhere
	tasks    []sched.TaskID
	first    int
}

// iridiumPlace is where a task shall run.
type iridiumPlace struct {
	known, listed bool // listed: in a queue, or fresh
	anywhere      bool
	zone          int32
	site          sched.SiteID
}

// note takes note of tasks that become pending.
func (p *iridium) note(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.fresh, st.queues = st.fresh[:0], st.queues[:0]
		for t, row := sched.TaskID(0), v.Stage(ev.Stage); t < sched.TaskID(row.Tasks); t++ {
			if x := p.places.Get(row.First + t); x.listed { // of a job that is retried: its queues ended with it
				p.places.At(row.First + t).listed = false
			}
		}
		p.list(v, ev.Stage)
	case sched.TaskReady:
		p.enlist(p.stages.Of(ev.Stage), ev.Task)
	case sched.JobContinued: // nobody told of the tasks whose attempts ended while it was paused
		job := v.Job(ev.Job)
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			if p.stages.Has(s) {
				p.list(v, s)
			}
		}
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.stages.End(v, ev)
	case sched.JobRetired:
		kit.DropTasks(&p.places, v, ev.Job)
	}
}

func (p *iridium) list(v *sched.View, s sched.StageID) {
	st := p.stages.Of(s)
	for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
		p.enlist(st, t)
	}
}

// enlist has a task wait for its site, or for getting one.
func (p *iridium) enlist(st *iridiumStage, t sched.TaskID) {
	x := p.places.At(t)
	if x.listed {
		return
	}
	x.listed = true
	if !x.known {
		st.fresh = append(st.fresh, t)
		return
	}
	q := st.queue(x)
	q.tasks = append(q.tasks, t)
}

func (st *iridiumStage) queue(x *iridiumPlace) *iridiumQueue {
	for i := range st.queues {
		if q := &st.queues[i]; q.site == x.site && q.anywhere == x.anywhere && q.zone == x.zone {
			return q
		}
	}
	st.queues = append(st.queues, iridiumQueue{site: x.site, anywhere: x.anywhere, zone: x.zone})
	return &st.queues[len(st.queues)-1]
}

// planStages is place=stage.
func (p *iridium) planStages(v *sched.View, j sched.JobID, to []kit.Placement) []kit.Placement {
	free := kit.Zeroed(p.free, v.Sites().Len())
	for k := range free {
		free[k] = v.Sites().FreeSlots(sched.SiteID(k))
	}
	p.free = free
	job := v.Job(j)
	for s, ok := v.WaitingStage(job.FirstStage); ok && s < job.FirstStage+sched.StageID(job.Stages); s, ok = v.WaitingStage(s + 1) {
		st := p.stages.Of(s)
		p.divideStage(v, s, st)
		for i := range st.queues {
			q := &st.queues[i]
			for k := range free {
				if free[k] > 0 && q.goesTo(v, sched.SiteID(k)) {
					n := len(to)
					to = p.serve(v, q, sched.SiteID(k), free[k], to)
					free[k] -= len(to) - n
				}
			}
		}
	}
	return to
}

// goesTo tells whether tasks of a queue start at a site.
func (q *iridiumQueue) goesTo(v *sched.View, k sched.SiteID) bool {
	if !q.anywhere {
		return q.site == k
	}
	return q.zone == 0 || q.first < len(q.tasks) && v.Sites().Allows(q.tasks[q.first], k)
}

// serve appends tasks of a queue, n at most, to start at a site. They leave the queue when they do not wait any more.
func (p *iridium) serve(v *sched.View, q *iridiumQueue, k sched.SiteID, n int, to []kit.Placement) []kit.Placement {
	from, i := len(to), q.first
	for ; i < len(q.tasks) && len(to)-from < n; i++ {
		if t := q.tasks[i]; v.Task(t).State == sched.TaskPending {
			to = append(to, kit.Placement{Task: t, Site: k})
		} else {
			p.places.At(t).listed = false
		}
	}
	q.first = i
	for _, x := range slices.Backward(to[from:]) {
		q.first--
		q.tasks[q.first] = x.Task
	}
	return to
}

// divideStage divides the tasks of a stage that have no site, or one that has lost its slots, among the sites.
func (p *iridium) divideStage(v *sched.View, s sched.StageID, st *iridiumStage) {
	for i := range st.queues {
		if q := &st.queues[i]; !q.anywhere && v.Sites().Slots(q.site) == 0 {
			st.fresh = append(st.fresh, q.tasks[q.first:]...)
			q.tasks, q.first = q.tasks[:0], 0
		}
	}
	if len(st.fresh) == 0 {
		return
	}
	p.links(v)
	p.room = kit.Zeroed(p.room, v.Sites().Len())
	p.batch.Empty()
	for _, t := range st.fresh {
		*p.places.At(t) = iridiumPlace{}
		if v.Task(t).State != sched.TaskPending {
			continue
		}
		p.sources = v.Sites().AppendSources(p.sources[:0], t)
		switch {
		case len(p.sources) == 0:
			p.settle(st, t, iridiumPlace{anywhere: true, zone: v.Sites().Zone(t)})
		case len(p.sources) == 1 && v.Sites().Slots(p.sources[0].Site) > 0 && v.Sites().Allows(t, p.sources[0].Site):
			p.settle(st, t, iridiumPlace{site: p.sources[0].Site})
		default:
			p.batch.Add(v, s, t)
		}
	}
	st.fresh = st.fresh[:0]
	for k := range p.room {
		if v.Sites().Slots(sched.SiteID(k)) > 0 {
			p.room[k] = len(p.batch.Tasks)
		}
	}
	p.planned = p.shareZones(v, p.planned[:0])
	for _, x := range p.planned {
		p.settle(st, x.Task, iridiumPlace{site: x.Site})
	}
	for i := range p.batch.Tasks { // the sites where their data may be have no slots, for now
		p.enlist(st, p.batch.Tasks[i].ID)
	}
}

// settle says where a task shall run, for which it waits.
func (p *iridium) settle(st *iridiumStage, t sched.TaskID, x iridiumPlace) {
	x.known = true
	*p.places.At(t) = x
	p.enlist(st, t)
}
