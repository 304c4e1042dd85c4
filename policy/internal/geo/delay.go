package geo

// Delay scheduling: Zaharia, Borthakur, Sen Sarma, Elmeleegy, Shenker, Stoica, EuroSys 2010, as Spark's TaskSetManager
// has it, with a site as the unit of locality and two levels: the site where a task reads most, and any.
//
//	on an offer: while now-timer >= wait and level < ANY: timer += wait, level++
//	             a pending task at least as local as level starts, the most local first; then level := locality of that task, timer := now
//
// Tasks that read nothing are at home everywhere. A task that has waited long enough goes to the site with the most
// free slots. Sites where data of a task may not be are none for it: it is at home where it reads most among the
// others.
//
// An event costs what it makes pending; a plan costs O(sites where the stage's tasks are at home).

import (
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// Delay is delay scheduling, as a choice of sites.
type Delay struct {
	wait    sched.Time
	next    sched.Time // when a stage has waited long enough
	stages  kit.PerStage[delayStage]
	behind  sched.Table[sched.TaskID, uint32] // of tasks in a queue: the next one plus 1
	sources []sched.Source
}

// delayStage has the pending tasks of a stage, by the site where they are at home.
type delayStage struct {
	anywhere bool // the level
	timer    sched.Time
	homes    []home
}

// home is a queue of tasks that may run at the same sites, numbers plus 1, 0 for none; everywhere is that of tasks
// without data.
type home struct {
	site        sched.SiteID
	zone        int32
	everywhere  bool
	first, last uint32
}

// NewDelay returns delay scheduling where a stage waits so long for a slot where its data is.
func NewDelay(wait sched.Time) *Delay { return &Delay{wait: wait, next: sched.Never} }

// Wake returns when the first stage has waited long enough.
func (p *Delay) Wake() sched.Time {
	next := p.next
	p.next = sched.Never
	return next
}

// Observe takes note of tasks that become pending.
func (p *Delay) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.anywhere, st.timer = false, v.Now()
		p.remake(v, ev.Stage)
	case sched.TaskReady:
		p.enqueue(v, p.stages.Of(ev.Stage), ev.Task)
	case sched.AttemptTaken:
		p.remake(v, ev.Stage)
	case sched.JobContinued:
		job := v.Job(ev.Job)
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			if p.stages.Has(s) {
				p.remake(v, s)
			}
		}
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.stages.End(v, ev)
	case sched.JobRetired:
		kit.DropTasks(&p.behind, v, ev.Job) // that never had their turn
	}
}

// remake fills the queues of a stage with what waits now: some of it may have got an attempt, or have lost one,
// otherwise than the queues know.
func (p *Delay) remake(v *sched.View, s sched.StageID) {
	st := p.stages.Of(s)
	st.homes = st.homes[:0]
	for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
		p.enqueue(v, st, t)
	}
}

func (p *Delay) enqueue(v *sched.View, st *delayStage, t sched.TaskID) {
	p.sources = v.Sites().AppendSources(p.sources[:0], t)
	zone := v.Sites().Zone(t)
	if zone != 0 {
		p.sources = slices.DeleteFunc(p.sources, func(x sched.Source) bool { return !v.Sites().Allows(t, x.Site) })
	}
	site, some := nearest(p.sources)
	i := 0
	for i < len(st.homes) && (st.homes[i].site != site || st.homes[i].everywhere == some || st.homes[i].zone != zone) {
		i++
	}
	if i == len(st.homes) {
		st.homes = append(st.homes, home{site: site, zone: zone, everywhere: !some})
	}
	h := &st.homes[i]
	*p.behind.At(t) = 0
	if h.first == 0 {
		h.first = uint32(t) + 1
	} else {
		*p.behind.At(sched.TaskID(h.last - 1)) = uint32(t) + 1
	}
	h.last = uint32(t) + 1
}

// take returns the first task of a queue, which leaves it.
func (p *Delay) take(h *home) sched.TaskID {
	t := sched.TaskID(h.first - 1)
	h.first = p.behind.Get(t)
	p.behind.Drop(t)
	return t
}

// Plan lets the stages of a job choose among the free slots, one task at a time.
func (p *Delay) Plan(v *sched.View, j sched.JobID, to []kit.Placement) []kit.Placement {
	job := v.Job(j)
	for s, ok := v.WaitingStage(job.FirstStage); ok && s < job.FirstStage+sched.StageID(job.Stages); s, ok = v.WaitingStage(s + 1) {
		if t, site, ok := p.offer(v, p.stages.Of(s)); ok {
			return append(to, kit.Placement{Task: t, Site: site})
		}
	}
	return to
}

// offer lets a stage choose among the free slots.
func (p *Delay) offer(v *sched.View, st *delayStage) (sched.TaskID, sched.SiteID, bool) {
	var waits *home
	for i := range st.homes {
		h := &st.homes[i]
		if h.first == 0 {
			continue
		}
		site := h.site
		if h.everywhere {
			site = roomiest(v, h)
		}
		if v.Sites().FreeSlots(site) > 0 {
			st.anywhere, st.timer = false, v.Now()
			return p.take(h), site, true
		}
		if waits == nil && v.Sites().FreeSlots(roomiest(v, h)) > 0 {
			waits = h
		}
	}
	if waits == nil {
		return 0, 0, false
	}
	st.anywhere = st.anywhere || v.Now()-st.timer >= p.wait
	if !st.anywhere {
		p.next = min(p.next, st.timer+min(p.wait, sched.Never-st.timer))
		return 0, 0, false
	}
	st.timer = v.Now()
	site := roomiest(v, waits)
	return p.take(waits), site, true
}

// roomiest returns the site with the most free slots where the tasks of a queue may run.
func roomiest(v *sched.View, h *home) (best sched.SiteID) {
	most := -1
	for k := range sched.SiteID(v.Sites().Len()) {
		if n := v.Sites().FreeSlots(k); n > most && v.Sites().Allows(sched.TaskID(h.first-1), k) {
			best, most = k, n
		}
	}
	return best
}
