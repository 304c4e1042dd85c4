package policy

// MaxSRPT: Lin, Zhang, Wierman, Tan, "Joint Optimization of Overlapping Phases in MapReduce", IFIP Performance 2013,
// Algorithm 1, with tasks in place of a fluid.
//
//	x_i(t), y_i(t)  remaining map and shuffle size: see stations
//	L_i(t)          max(x_i(t), y_i(t))
//
//	a free slot of either class goes to the job with the least L that has a task of that class waiting
//
// The map station serves the job with the least L that has map work, as in the box. The shuffle station walks the jobs
// by increasing L: a job whose shuffle tasks wait for their maps leaves the slots to the next (the work-conserving
// reading; in the box the first job alone is served, which is unstable). Ties by arrival, then id. Deviation: tasks are
// not preempted, so a job of smaller L waits for slots to become free.
//
// The policy needs a cluster with two classes of slots, and jobs whose shuffle tasks wait for their map tasks one by
// one. Without classes a job is map work alone, and the policy is SRPT. An event costs O(stages of the job + log jobs);
// a change of machines O(jobs).

import (
	"github.com/tailcut/tailcut/policy/internal/tandem"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var maxsrptEntry = kit.Entry{
	Name:           "maxsrpt",
	Family:         kit.Stations,
	Cost:           "O(stages of the job + log jobs), with size=bytes their square; a machine that comes or goes O(jobs)",
	Summary:        "map and shuffle slots to the job whose larger remaining phase is smallest; no clones",
	Needs:          kit.Needs{Jobs: true, Classes: true, Instead: "fifo, or spark for clones"},
	Source:         "Lin et al., IFIP Performance 2013, Algorithm 1",
	Params:         tandem.Params,
	WorkConserving: true,
	New:            func(a kit.Args) sched.Policy { return &maxsrpt{stations: tandem.NewStations(a)} },
}

type maxsrpt struct {
	stations tandem.Stations
	jobs     kit.Heap[tandem.Rank] // with tasks that wait for a slot of this class
}

func (p *maxsrpt) Observe(v *sched.View, ev *sched.Event) {
	p.stations.Observe(v, ev)
	if tandem.About(ev) {
		p.touch(v, ev.Job)
	}
}

// Overhear takes in what happens at the other station, which the order depends on as much.
func (p *maxsrpt) Overhear(v *sched.View, ev *sched.Event) { p.Observe(v, ev) }

// touch looks at a job again.
func (p *maxsrpt) touch(v *sched.View, j sched.JobID) {
	job := v.Job(j)
	if job.Pending == 0 || job.State != sched.JobActive {
		p.jobs.Drop(int(j))
		return
	}
	left, _ := p.stations.Of(v, &job)
	p.jobs.Set(int(j), tandem.Rank{First: max(left.X, left.Y), Arrived: job.Arrived})
}

// Sizes returns how large a job was in the beginning, as far as the policy knows it now: seconds of the whole map and
// of the whole shuffle station. Studies ask it how well it knows.
func (p *maxsrpt) Sizes(v *sched.View, j sched.JobID) (x, y float64) {
	job := v.Job(j)
	_, all := p.stations.Of(v, &job)
	return all.X, all.Y
}

func (p *maxsrpt) Decide(v *sched.View, act *sched.Actions) {
	if p.stations.Moved {
		p.stations.Moved = false
		for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
			p.touch(v, j)
		}
	}
	for p.jobs.Len() > 0 && v.FreeSlots() > 0 {
		j := sched.JobID(p.jobs.Top())
		t, _ := kit.FirstPending(v, j)
		m, _ := v.FreeMachine(0)
		kit.Start(v, act, t, m)
		if v.Job(j).Pending == 0 {
			p.jobs.Drop(int(j))
		}
	}
}
