package policy

// FillSRPT: MaxSRPT of Lin, Zhang, Wierman, Tan, IFIP Performance 2013, that maps for the shuffle station too when it
// would idle; see overlap.fill for the fluid rule and docs/explain/fillsrpt.md for the argument.
//
//	x, y, L, r   remaining map and shuffle size, their larger, and y/x of the original sizes: see stations
//	S2, S1       jobs with y > x by original size, the others
//	h, g         the first by L of S1 and of S2 of the jobs that have map tasks waiting
//	q            (1 - r_h)/(r_g - r_h): the share of the map station that g needs, so that both keep the shuffle station busy
//
//	a shuffle slot   goes to the job with the least L that has a shuffle task waiting
//	a map slot       goes to g    if g comes before h, or there is no h
//	                 else to h    if there is no g, or r_h >= 1, or the shuffle tasks that run or may run keep the
//	                              shuffle slots busy for as long as a map task of h and a shuffle task of g take:
//	                              those that run count in full
//	                 else to g    while fewer than q of the slots run map tasks of S2:
//	                              q if n2 (r_g - 1/2) > n1; else q/2 if the jobs since the cluster was last
//	                              empty brought at least as much shuffle as map work; else 0
//	                 else to h
//
// n2 and n1 are the jobs of S2 with map tasks waiting and those of S1 that come before g. Ties by S2, arrival, id.
// Slots are rounded to whole ones, and tasks are not preempted. Work that jobs brought is what was known at their
// arrival.
//
// With clones=auto, auto adds its clones and chooses between a clone and the task that is next here. An event costs
// O(stages of the job + log jobs), with size=bytes their square, a map slot O(jobs of S1 before g); a change of
// machines O(jobs).

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/internal/tandem"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var fillsrptEntry = kit.Entry{
	Name:    "fillsrpt",
	Family:  kit.Stations,
	Clones:  "none; with clones=auto those of auto",
	Cost:    "O(stages of the job + log jobs), with size=bytes their square, a map slot O(map-heavy jobs before the first shuffle-heavy one); a machine that comes or goes O(jobs)",
	Summary: "as maxsrpt, but maps shuffle-heavy jobs too when the shuffle slots would idle and it pays",
	Needs:   kit.Needs{Jobs: true, Classes: true, Instead: "fifo, or spark for clones"},
	Source:  "Tailcut, after Lin et al., IFIP Performance 2013",
	Params: slices.Concat(tandem.Params, []kit.Param{
		{Name: "clones", Kind: kit.Choice, Default: "none", Choices: []string{"none", "auto"}, Help: "what clones stragglers: nothing, or auto's rule with its prices"},
	}),
	ProgressIf:     func(a kit.Args) bool { return a.Choice("clones") == "auto" },
	WorkConserving: true,
	New: func(a kit.Args) sched.Policy {
		p := &fillsrpt{stations: tandem.NewStations(a)}
		if a.Choice("clones") == "auto" {
			p.clones = autoEntry.New(settings(autoEntry, "")).(*auto)
			p.clones.order.ChosenBy(p)
		}
		return p
	},
}

type fillsrpt struct {
	stations tandem.Stations
	clones   *auto // nil for none

	jobs    sched.Table[sched.JobID, fillJob]
	kinds   [2]kit.Heap[tandem.Rank] // S1, S2: jobs with tasks that wait for a slot of this class
	live    int                      // attempts of S2 that run in such slots
	ready   sched.Time               // how long shuffle tasks that run or may run keep the station busy
	brought tandem.Sizes             // by the jobs since the cluster was last empty
	shuffle bool                     // this is the shuffle station
	before  []int
}

// fillJob is what a job has added to live and ready, and its kind.
type fillJob struct {
	heavy, live int
	ready       sched.Time
}

func (p *fillsrpt) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.MachineJoined {
		p.shuffle = v.Machine(ev.Machine).Class > 0
	}
	if p.clones != nil {
		p.clones.Observe(v, ev)
	}
	p.Overhear(v, ev)
}

// Overhear takes in what happens at the other station, which the order depends on as much.
func (p *fillsrpt) Overhear(v *sched.View, ev *sched.Event) {
	p.stations.Observe(v, ev)
	if ev.Kind == sched.JobArrived {
		p.count(v, ev.Job)
	}
	if tandem.About(ev) {
		p.Touch(v, ev.Job)
	}
	if ev.Kind == sched.JobRetired {
		p.jobs.Drop(ev.Job)
	}
}

// count takes in the work that a job brings.
func (p *fillsrpt) count(v *sched.View, j sched.JobID) {
	first, _ := v.ActiveJob(0)
	if _, more := v.ActiveJob(first + 1); first == j && !more {
		p.brought = tandem.Sizes{}
	}
	job := v.Job(j)
	_, brings := p.stations.Of(v, &job)
	p.brought.X += brings.X
	p.brought.Y += brings.Y
}

// Touch looks at a job again.
func (p *fillsrpt) Touch(v *sched.View, j sched.JobID) {
	job, x := v.Job(j), p.jobs.At(j)
	p.live -= x.heavy * x.live
	p.ready -= x.ready
	p.kinds[x.heavy].Drop(int(j))
	x.live, x.ready = int(job.Live), 0
	if job.State == sched.JobActive {
		left, original := p.stations.Of(v, &job)
		if x.heavy = 0; original.X < original.Y {
			x.heavy = 1
		}
		if !job.Paused {
			x.ready = p.stations.Ready(v, &job)
		}
		if job.Pending > 0 {
			p.kinds[x.heavy].Set(int(j), tandem.Rank{First: max(left.X, left.Y), Second: 1 - float64(x.heavy), Arrived: job.Arrived})
		}
	}
	p.live += x.heavy * x.live
	p.ready += x.ready
}

func (p *fillsrpt) Decide(v *sched.View, act *sched.Actions) {
	if p.stations.Moved {
		p.stations.Moved = false
		for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
			p.Touch(v, j)
		}
	}
	if p.clones != nil {
		p.clones.Decide(v, act)
		return
	}
	for v.FreeSlots() > 0 {
		j, ok := p.Choose(v)
		if !ok {
			return
		}
		t, _ := kit.FirstPending(v, j)
		m, _ := v.FreeMachine(0)
		kit.Start(v, act, t, m)
		p.Touch(v, j)
	}
}

// Choose returns the job that gets the next slot; ok is false if none has a task that waits.
func (p *fillsrpt) Choose(v *sched.View) (sched.JobID, bool) {
	s1, s2 := &p.kinds[0], &p.kinds[1]
	switch {
	case s1.Len()+s2.Len() == 0:
		return 0, false
	case s1.Len() == 0 || s2.Len() > 0 && s2.TopKey().Compare(s1.TopKey()) < 0:
		return sched.JobID(s2.Top()), true
	case s2.Len() > 0 && !p.shuffle && p.live < p.share(v):
		return sched.JobID(s2.Top()), true
	}
	return sched.JobID(s1.Top()), true
}

// share returns how many map slots are for S2 where the first of S1 comes before the first of S2.
func (p *fillsrpt) share(v *sched.View) int {
	h, g := v.Job(sched.JobID(p.kinds[0].Top())), v.Job(sched.JobID(p.kinds[1].Top()))
	_, first := p.stations.Of(v, &h)
	_, next := p.stations.Of(v, &g)
	if first.X <= first.Y || next.X == 0 || p.ready >= p.stations.Takes(v, &h, 0)+p.stations.Takes(v, &g, 1) {
		return 0
	}
	part := 0.0
	p.before, _, _ = p.kinds[0].Within(tandem.Rank{First: p.kinds[1].TopKey().First}, p.before[:0])
	switch {
	case float64(p.kinds[1].Len())*(next.Y-next.X/2) > float64(len(p.before))*next.X:
		part = 1
	case p.brought.Y >= p.brought.X:
		part = 0.5
	}
	low, high := first.Y/first.X, next.Y/next.X
	return int(math.Round(part * (1 - low) / (high - low) * float64(v.Slots())))
}
