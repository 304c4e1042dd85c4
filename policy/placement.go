package policy

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// placing chooses the sites at which pending tasks start. A policy that takes an order of jobs takes one of these
// beside it, as the parameter sites.
type placing interface {
	observe(v *sched.View, ev *sched.Event)

	// plan appends sites for pending tasks of a job, which is the next in the order, and of whose tasks each is there
	// once; nothing where they had better wait. There is a free slot somewhere. Each place is free when those before it
	// are taken.
	plan(v *sched.View, j sched.JobID, to []placement) []placement

	// wake returns the instant at which plan may answer otherwise although nothing happens, sched.Never if there is
	// none.
	wake() sched.Time
}

// placement is a task and the site where it shall start.
type placement struct {
	task sched.TaskID
	site sched.SiteID
}

// siting carries out what a placing plans.
type siting struct {
	by    placing
	stays bool // clones start at the site of the task's other attempts
	plan  []placement
	done  int
	of    sched.JobID   // whose plan it is
	aside []sched.JobID // that shall wait for now
}

// sitesParam is the parameter of policies that can choose sites; the first choice is the default.
func sitesParam(choices ...string) Param {
	return Param{
		Name: "sites", Kind: Choice, Default: choices[0], Choices: choices,
		Help: "where tasks start: any, the first free slot; delay, where their data is, if a slot there is free soon; flutter or iridium, where that policy would, clones at the same site",
	}
}

// waitParam is how long delay scheduling waits.
var waitParam = Param{Name: "wait", Kind: Span, Default: "3s", Help: "with sites=delay, how long a stage waits for a slot where its data is"}

// sited returns the order with the choice of sites that the parameters name.
func sited(o jobOrder, a Args) jobOrder {
	switch a.Choice("sites") {
	case "delay":
		o.siting = &siting{by: &delay{wait: a.Span("wait"), next: sched.Never}}
	case "flutter":
		o.siting = &siting{by: newFlutter(newSiteWatch(defaults(watchParams))), stays: true}
	case "iridium":
		o.siting = &siting{by: newIridium(newLinkWatch(defaults(linkParams))), stays: true}
	}
	return o
}

// defaults returns parameters as they come.
func defaults(params []Param) Args {
	a := Args{entry: new(Entry), text: map[string]string{}}
	a.entry.Params = params
	for k := range params {
		a.text[params[k].Name] = params[k].Default
	}
	return a
}

// watching returns what the choice of sites knows of them, nil if nothing.
func (o *jobOrder) watching() *siteWatch {
	if o.siting != nil {
		if p, ok := o.siting.by.(*flutter); ok {
			return p.watch
		}
	}
	return nil
}

// observe keeps plans and what they are made from up to date.
func (s *siting) observe(v *sched.View, ev *sched.Event) {
	s.plan, s.done = s.plan[:0], 0
	s.by.observe(v, ev)
}

// next returns the next launch of the plan for a job, and plans anew when there is none.
func (s *siting) next(v *sched.View, j sched.JobID) (t sched.TaskID, m sched.MachineID, ok bool) {
	if s.of != j {
		s.of, s.plan, s.done = j, s.plan[:0], 0
	}
	for fresh := false; ; fresh = true {
		for s.done < len(s.plan) {
			x := s.plan[s.done]
			s.done++
			if v.Task(x.task).State != sched.TaskPending {
				continue // it was given a slot otherwise
			}
			if m, ok := v.Sites().FreeMachine(x.site, 0); ok {
				return x.task, m, true
			}
		}
		if s.plan, s.done = s.plan[:0], 0; fresh || v.FreeSlots() == 0 || v.Job(j).Pending == 0 {
			return 0, 0, false
		}
		s.plan = s.by.plan(v, j, s.plan)
	}
}

// nextSited is next where sites are chosen: a plan is carried out to its end, whatever the order of jobs meanwhile is.
func (o *jobOrder) nextSited(v *sched.View) (t sched.TaskID, m sched.MachineID, ok bool) {
	s := o.siting
	for s.done < len(s.plan) && !ok {
		t, m, ok = s.next(v, s.of)
	}
	for !ok && o.jobs.len() > 0 && v.FreeSlots() > 0 {
		j := sched.JobID(o.jobs.top())
		if t, m, ok = s.next(v, j); !ok {
			o.jobs.drop(int(j))
			s.aside = append(s.aside, j)
		}
	}
	if !ok {
		for _, j := range s.aside {
			o.touch(v, j)
		}
		s.aside = s.aside[:0]
	}
	return t, m, ok
}

// nextOf returns a pending task of a job and the free machine that it gets; ok is false if there is none of either.
func (o *jobOrder) nextOf(v *sched.View, j sched.JobID) (t sched.TaskID, m sched.MachineID, ok bool) {
	if o.siting != nil {
		return o.siting.next(v, j)
	}
	if t, ok = firstPending(v, j); !ok {
		return 0, 0, false
	}
	m, ok = v.FreeMachine(0)
	return t, m, ok
}

// settle asks to be called when tasks have waited long enough for their site.
func (o *jobOrder) settle(act *sched.Actions) {
	if o.siting != nil {
		act.WakeAt(o.siting.by.wake())
	}
}

// elsewhere returns a free machine for a clone of a running task: one on which it does not run, or else any that is
// free. Where clones stay, it is at the site of the task's youngest attempt.
func (o *jobOrder) elsewhere(v *sched.View, t sched.TaskID) (sched.MachineID, bool) {
	if o.siting == nil || !o.siting.stays {
		return elsewhere(v, t)
	}
	a, _ := v.FirstAttempt(t)
	site := v.Machine(v.Attempt(a).Machine).Site
	first, found := v.Sites().FreeMachine(site, 0)
	for m, ok := first, found; ok; m, ok = v.Sites().FreeMachine(site, m+1) {
		if !runsOn(v, t, m) {
			return m, true
		}
	}
	return first, found
}

// roomBeside returns how many slots are free for attempts of a task that starts on a machine, with that one.
func (o *jobOrder) roomBeside(v *sched.View, m sched.MachineID) int {
	if o.siting == nil || !o.siting.stays {
		return v.FreeSlots()
	}
	return v.Sites().FreeSlots(v.Machine(m).Site)
}

// batch is pending tasks of a job with what they read, for policies that place them together.
type batch struct {
	tasks   []batched
	sources []sched.Source
	waiting perStage[queued]
}

// batched is a task that reads batch.sources[from:to].
type batched struct {
	id       sched.TaskID
	stage    sched.StageID
	bytes    float64
	from, to int32
}

// queued is the pending tasks of a stage, by index, those that read most first; and some that are not pending any more.
type queued struct{ tasks heap[falling[float64]] }

// observe takes note of tasks that become pending. What they read is known by then and stays.
func (b *batch) observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.StageReady:
		q := b.waiting.open(ev.Stage)
		q.tasks.clear()
		for t, ok := v.PendingTask(ev.Stage, 0); ok; t, ok = v.PendingTask(ev.Stage, t+1) {
			b.enqueue(v, q, t)
		}
	case sched.TaskReady:
		b.enqueue(v, b.waiting.of(ev.Stage), ev.Task)
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		b.waiting.end(v, ev)
	}
}

func (b *batch) enqueue(v *sched.View, q *queued, t sched.TaskID) {
	bytes := 0.0
	b.sources = v.Sites().AppendSources(b.sources[:0], t)
	for _, x := range b.sources {
		bytes += float64(x.Bytes)
	}
	q.tasks.set(int(t-v.Stage(v.Task(t).Stage).First), falling[float64]{bytes})
}

// gather collects pending tasks of a stage: all, or if these are more than most, those that read most.
func (b *batch) gather(v *sched.View, s sched.StageID, most int) {
	stage, from := v.Stage(s), len(b.tasks)
	if int(stage.Pending) <= most {
		for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
			b.add(v, s, t)
		}
		return
	}
	q := &b.waiting.of(s).tasks
	for len(b.tasks)-from < most {
		t := stage.First + sched.TaskID(q.top())
		q.drop(q.top())
		if v.Task(t).State == sched.TaskPending {
			b.add(v, s, t)
		}
	}
	for i := range b.tasks[from:] {
		x := &b.tasks[from+i] // it waits until it is launched
		q.set(int(x.id-stage.First), falling[float64]{x.bytes})
	}
}

func (b *batch) add(v *sched.View, s sched.StageID, t sched.TaskID) {
	x := batched{id: t, stage: s, from: int32(len(b.sources))}
	b.sources = v.Sites().AppendSources(b.sources, t)
	x.to = int32(len(b.sources))
	for _, y := range b.of(&x) {
		x.bytes += float64(y.Bytes)
	}
	b.tasks = append(b.tasks, x)
}

func (b *batch) empty() { b.tasks, b.sources = b.tasks[:0], b.sources[:0] }

func (b *batch) of(x *batched) []sched.Source { return b.sources[x.from:x.to] }

// at returns the bytes that a task reads at a site.
func (b *batch) at(x *batched, k sched.SiteID) float64 {
	for _, y := range b.of(x) {
		if y.Site == k {
			return float64(y.Bytes)
		}
	}
	return 0
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
