package tandem

import (
	"cmp"
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// Stations knows the remaining sizes of jobs at the two stations of the overlapping tandem queue: map work is that of
// stages that need slots of class 0, shuffle work that of all others. A size is the work left divided by the slots of
// the station: seconds of the whole station. Work left is unfinished tasks x mean duration, where the mean is, by the
// parameter size (Section 4.3 of the paper),
//
//	known    Stage.Mean; else as first
//	first    that of the stage's finished tasks; before there is one, that of all finished tasks of the station when the job arrived, else 1 s
//	history  on the line through (tasks, work) of the stages of the same station that were done when the job arrived, by least squares; while it is not
//	         determined, or not positive there, the mean of finished tasks of the station, else 1 s
//	bytes    of a shuffle task: what it reads / bandwidth, see bytes.go; else as first
//
// What a job is told from others' fate it is told at its arrival, so that an event changes the sizes of one job.
type Stations struct {
	rule  sizeRule
	slots [2]float64                        // of machines that are up
	prior sched.Table[sched.StageID, prior] // as judged at the arrival
	done  [2]spent                          // finished tasks
	line  [2]Line                           // finished stages
	Moved bool                              // slots have changed, and so all sizes

	bandwidth float64 // told, bytes per second of a shuffle slot, or 0
	read      volume  // by finished shuffle tasks
}

// prior is what a stage is judged by that has done nothing yet.
type prior struct {
	task float64 // seconds
	byte float64 // seconds that a shuffle slot takes for one; 0 while nobody knows
}

type sizeRule uint8

const (
	sizeKnown sizeRule = iota
	sizeFirst
	sizeHistory
	sizeBytes
)

// Params say what a size is judged by.
var Params = []kit.Param{
	{
		Name: "size", Kind: kit.Choice, Default: "known", Choices: []string{"known", "first", "history", "bytes"},
		Help: "how to estimate a job's size: from known means, from its first finished tasks, by regression over finished jobs, or the shuffle from the bytes that its first map tasks wrote",
	},
	{
		Name: "bandwidth", Kind: kit.Float, Default: "0", Min: 0, Max: 1e15,
		Help: "size=bytes: bytes per second that a shuffle slot reads; 0 learns it from finished shuffle tasks",
	},
}

// NewStations returns stations that judge sizes as the parameters say.
func NewStations(a kit.Args) Stations {
	p := Stations{bandwidth: a.Float("bandwidth")}
	switch a.Choice("size") {
	case "first":
		p.rule = sizeFirst
	case "history":
		p.rule = sizeHistory
	case "bytes":
		p.rule = sizeBytes
	}
	return p
}

// Sizes are a job's at the two stations, in seconds: x at the map station, y at the shuffle station.
type Sizes struct{ X, Y float64 }

// Imbalance returns max(x/y, y/x), +Inf if one of them is 0 and 1 if both are.
func (s Sizes) Imbalance() float64 {
	if s.X == s.Y {
		return 1
	}
	return max(s.X, s.Y) / min(s.X, s.Y)
}

type spent struct{ tasks, seconds float64 }

func (s spent) mean() float64 {
	if s.tasks == 0 || s.seconds == 0 {
		return 1
	}
	return s.seconds / s.tasks
}

// Observe takes in an event of either station.
func (p *Stations) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.MachineJoined:
		m := v.Machine(ev.Machine)
		p.slots[station(m.Class)] += float64(m.Slots)
		p.Moved = true
	case sched.MachineLost, sched.MachineResized:
		p.slots = [2]float64{}
		for id := range v.Rows().Machines() {
			if m := v.Machine(sched.MachineID(id)); m.Up {
				p.slots[station(m.Class)] += float64(m.Slots)
			}
		}
		p.Moved = true
	case sched.JobArrived:
		job := v.Job(ev.Job)
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			st := v.Stage(s)
			at, prior := station(st.Class), p.prior.At(s)
			prior.task, prior.byte = p.done[at].mean(), p.perByte()
			if work, ok := p.line[at].At(float64(st.Tasks)); ok && p.rule == sizeHistory && work > 0 {
				prior.task = work / float64(st.Tasks)
			}
		}
	case sched.AttemptDone:
		a := v.Attempt(ev.Attempt)
		if x, ok := sched.Whole(v.Now()-a.Started, a.From); ok {
			st := v.Stage(ev.Stage)
			d := &p.done[station(st.Class)]
			d.tasks++
			d.seconds += x
			p.learn(v, ev.Stage, &st, x)
		}
	case sched.StageDone:
		st := v.Stage(ev.Stage)
		if mean, _, ok := st.Measured(); ok {
			p.line[station(st.Class)].Add(float64(st.Tasks), mean*float64(st.Tasks))
		}
	case sched.JobRetired:
		kit.DropStages(&p.prior, v, ev.Job)
	}
}

func station(class sched.Class) int { return int(min(class, 1)) }

// Of returns the sizes of a job: what is left, and what there was in the beginning as far as is known now.
func (p *Stations) Of(v *sched.View, job *sched.Job) (left, original Sizes) {
	var now, all [2]float64
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		mean, at := p.mean(v, &st, s), station(st.Class)
		now[at] += float64(st.Unfinished()) * mean
		all[at] += float64(st.Need) * mean
	}
	for k := range now {
		if p.slots[k] > 0 {
			now[k] /= p.slots[k]
			all[k] /= p.slots[k]
		}
	}
	return Sizes{now[0], now[1]}, Sizes{all[0], all[1]}
}

// Ready returns how long the shuffle tasks of a job that run or may run keep the whole station busy: those that are
// left, but for their part of the map tasks that are left. A policy at the map station does not see which of them wait.
func (p *Stations) Ready(v *sched.View, job *sched.Job) sched.Time {
	left, all := tasks(v, job)
	if all[1] == 0 {
		return 0
	}
	ready := float64(left[1])
	if all[0] > 0 {
		ready = max(0, ready-math.Ceil(float64(left[0]*all[1])/float64(all[0])))
	}
	_, original := p.Of(v, job)
	return sched.FromSeconds(ready * original.Y / float64(all[1]))
}

// Takes returns how long a job's task at a station takes, 0 if there is none.
func (p *Stations) Takes(v *sched.View, job *sched.Job, at int) sched.Time {
	_, all := tasks(v, job)
	_, original := p.Of(v, job)
	return sched.FromSeconds([2]float64{original.X, original.Y}[at] * p.slots[at] / float64(max(1, all[at])))
}

// tasks counts a job's tasks at the stations: what is left, and what there was.
func tasks(v *sched.View, job *sched.Job) (left, all [2]uint64) {
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		at := station(st.Class)
		left[at] += uint64(st.Unfinished())
		all[at] += uint64(st.Need)
	}
	return left, all
}

// mean returns the duration of a task, in seconds.
func (p *Stations) mean(v *sched.View, st *sched.Stage, s sched.StageID) float64 {
	if p.rule == sizeHistory {
		return p.prior.Get(s).task
	}
	if seconds, ok := p.reading(v, st, s); ok {
		return seconds
	}
	if p.rule == sizeKnown && st.Mean > 0 {
		return st.Mean.Seconds()
	}
	if mean, _, ok := st.Measured(); ok {
		return mean
	}
	return p.prior.Get(s).task
}

// Line is a least-squares line through points that only become more.
type Line struct{ n, x, y, xx, xy float64 } // means, and sums of products of deviations from them (Welford 1962)

// Add takes in a point.
func (l *Line) Add(x, y float64) {
	l.n++
	dx := x - l.x
	l.x += dx / l.n
	l.y += (y - l.y) / l.n
	l.xx += dx * (x - l.x)
	l.xy += dx * (y - l.y)
}

// At returns the value at x; ok is false while the points do not determine the line.
func (l *Line) At(x float64) (y float64, ok bool) {
	if l.xx == 0 {
		return 0, false
	}
	return l.y + l.xy/l.xx*(x-l.x), true
}

// Rank is the place of a job at a station; smaller goes first.
type Rank struct {
	First, Second float64
	Arrived       sched.Time
}

// Compare sorts ranks.
func (a Rank) Compare(b Rank) int {
	return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Second, b.Second), cmp.Compare(a.Arrived, b.Arrived))
}

// About tells whether an event may change what is left of a job, or what of it waits.
func About(ev *sched.Event) bool {
	switch ev.Kind {
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized, sched.TimerFired, sched.AttemptBegan, sched.AttemptProgress, sched.DataFetched:
		return false
	}
	return true
}
