package policy

// SEW, smallest effective workload: Xu, Lau, Yang, de Veciana, Hou, IEEE TPDS 2017, Section 3, Algorithm 1.
//
//	M            View.Slots
//	map, reduce  the first stage of a job, and all others
//	machines     the slots in two groups: ceil(maps x M) for maps, the others for reduces, each at least one
//	E, sigma     StageSpec.Mean and SD; 1 s and 0 where they are not known
//	Upsilon_j    sum over stages of tasks x (E + lambda sigma), as the job arrives with it
//
//	a free slot of a group goes to the job with the smallest Upsilon that has a task of the kind waiting, to clones of running tasks of the kind if there is
//	none anywhere. Reduces wait until all maps of their job are done. Nothing is preempted.
//
// Readings. The box looks for a reduce at the first job in order only, and leaves the slot free as long as its maps run
// (lines 12 and 13); the proof of Theorem 2 needs every slot busy. The first job that has a reduce waiting is meant;
// strict=true is the box. Tasks are taken in order where the paper takes random ones, and the tasks that are cloned
// take turns, starting with the one that has waited longest for a turn. What reduces wait for is what the job's edges
// say. Groups are counts of slots, not machines, so that machines may come and go; the map group rounds up. Equal
// workloads by arrival, then id.
//
// The paper's jobs are all there at the start. Here a job takes its place when it arrives. An event costs O(log jobs +
// stages of the job).

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var sewEntry = kit.Entry{
	Name:    "sew",
	Family:  kit.Early,
	Clones:  "any task, in slots that are idle",
	Cost:    "O(log jobs + stages of the job)",
	Summary: "smallest effective workload first, in groups of slots for maps and reduces; idle slots clone",
	Needs:   kit.Needs{Jobs: true, Lacking: "there is no order of jobs, and what is free clones"},
	Source:  "Xu et al., IEEE TPDS 2017, Section 3, Algorithm 1: SEW",
	Params: []kit.Param{
		{Name: "lambda", Kind: kit.Float, Default: "1", Max: 1e6, Help: "standard deviations added to a task's mean duration"},
		{Name: "maps", Kind: kit.Float, Default: "0.5", Min: 0, Max: 1, Help: "fraction of the slots that is for first stages"},
		{Name: "strict", Kind: kit.Bool, Default: "false", Help: "reduce slots wait for the first job in order, as the box has it"},
	},
	New: func(a kit.Args) sched.Policy {
		return &sew{lambda: a.Float("lambda"), maps: a.Float("maps"), strict: a.Bool("strict")}
	},
}

type sew struct {
	lambda, maps float64
	strict       bool

	groups [2]sewGroup                       // of maps, of reduces
	work   sched.Table[sched.JobID, float64] // Upsilon
	list   kit.Heap[kit.Standing]            // jobs with reduces that are not scheduled, whether they may run or not
	lists  kit.Lists
}

// sewGroup is one kind of tasks and its slots.
type sewGroup struct {
	used    int                    // attempts running
	jobs    kit.Heap[kit.Standing] // jobs with a task of the kind waiting
	running kit.List               // one attempt of each running task of the kind that may be cloned; the first is next
}

// group returns the kind of a stage.
func (p *sew) group(v *sched.View, s sched.StageID) *sewGroup {
	return &p.groups[min(v.Stage(s).Index, 1)]
}

func (p *sew) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.JobArrived:
		p.arrive(v, ev.Job)
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		p.group(v, ev.Stage).used--
		p.lists.Remove(ev.Attempt)
		if v.Task(ev.Task).State == sched.TaskRunning && v.Task(ev.Task).Live > 0 {
			p.queue(v, ev.Task)
		}
	case sched.AttemptTaken:
		p.group(v, ev.Stage).used++
		p.queue(v, ev.Task)
	case sched.JobContinued:
		kit.Reconsider(v, ev, func(t sched.TaskID) { p.queue(v, t) })
	case sched.JobRetired:
		p.work.Drop(ev.Job)
		return
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized, sched.TimerFired, sched.AttemptBegan, sched.AttemptProgress, sched.DataFetched:
		return
	}
	p.touch(v, ev.Job)
}

// queue gives a running task its turn to be cloned, if it has none.
func (p *sew) queue(v *sched.View, t sched.TaskID) {
	if a, _ := v.FirstAttempt(t); !p.listed(v, t) {
		p.lists.Append(&p.group(v, v.Task(t).Stage).running, a, t, v.Now())
	}
}

// listed tells whether an attempt of the task stands for it in the list of its group.
func (p *sew) listed(v *sched.View, t sched.TaskID) bool {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		if p.lists.ListOf(a) != nil {
			return true
		}
	}
	return false
}

// arrive computes Upsilon.
func (p *sew) arrive(v *sched.View, j sched.JobID) {
	work := p.work.At(j)
	*work = 0
	job := v.Job(j)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		mean, sd, ok := st.Estimate()
		if !ok {
			mean, sd = srewPrior, 0
		}
		*work += float64(st.Unfinished()) * (mean + p.lambda*sd)
	}
}

// touch puts a job in or takes it out of the orders, as its waiting tasks are.
func (p *sew) touch(v *sched.View, j sched.JobID) {
	job := v.Job(j)
	var waiting [2]uint32
	unscheduled := uint32(0)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages) && job.State == sched.JobActive && !job.Paused; s++ {
		st := v.Stage(s)
		waiting[min(st.Index, 1)] += st.Pending
		if st.Index > 0 && st.State != sched.StageClosed {
			unscheduled += st.Hopeful() - st.Done - st.Running
		}
	}
	put := func(h *kit.Heap[kit.Standing], n uint32) {
		if n == 0 {
			h.Drop(int(j))
		} else {
			h.Set(int(j), kit.Standing{Share: p.work.Get(j), Arrived: job.Arrived})
		}
	}
	put(&p.groups[0].jobs, waiting[0])
	put(&p.groups[1].jobs, waiting[1])
	put(&p.list, unscheduled)
}

func (p *sew) Decide(v *sched.View, act *sched.Actions) {
	slots := v.Slots()
	maps := max(1, int(math.Ceil(p.maps*float64(slots))))
	p.serve(v, act, 0, maps)
	p.serve(v, act, 1, max(1, slots-maps))
}

// serve fills the slots of a group.
func (p *sew) serve(v *sched.View, act *sched.Actions, kind, slots int) {
	g := &p.groups[kind]
	for g.used < slots && v.FreeSlots() > 0 {
		switch {
		case p.strict && kind == 1 && p.list.Len() > 0 && (g.jobs.Len() == 0 || g.jobs.Top() != p.list.Top()):
			return
		case g.jobs.Len() > 0:
			t := sewTask(v, sched.JobID(g.jobs.Top()), kind)
			m, _ := v.FreeMachine(0)
			a := kit.Start(v, act, t, m)
			p.lists.Append(&g.running, a, t, v.Now())
			p.touch(v, v.Rows().JobOf(t))
		case v.CloneRoom() == 0 || !p.clone(v, act, g):
			return
		}
		g.used++
	}
}

// sewTask returns the first task of a kind that waits in a job that has one.
func sewTask(v *sched.View, j sched.JobID, kind int) sched.TaskID {
	s, _ := v.WaitingStage(v.Job(j).FirstStage + sched.StageID(kind))
	t, _ := v.PendingTask(s, 0)
	return t
}

// clone starts another attempt of the task whose turn it is. Those that have all that the limits allow lose their turns
// until they lose an attempt.
func (p *sew) clone(v *sched.View, act *sched.Actions, g *sewGroup) bool {
	for l := p.lists.First(&g.running); l != nil; l = p.lists.First(&g.running) {
		t := l.Task
		if v.AttemptRoom(t) == 0 {
			p.lists.Unlink(l)
			continue
		}
		m, _ := kit.Elsewhere(v, t)
		kit.Launch(act, t, m, 0, sched.Cloning)
		p.lists.Move(l, &g.running)
		return true
	}
	return false
}
