package kit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Splitter divides the slots among the active jobs at the beginning of each slot of time, in proportion to weights
// that a policy gives them, and lets jobs below their shares start waiting tasks. A job gets no more than it has
// tasks that wait or run; what it cannot use the others share. Nothing is preempted and nothing cloned, so a job
// above its share keeps what it has until it ends, and slots that no share claims go to whoever has a task, in the
// same order.
//
// If there are slots for all tasks that wait, and the jobs with weights are the first, shares decide nothing: all
// start, in the jobs' order.
//
// A slot of time costs O(n log n) for n active jobs, or n jobs with tasks that wait where there are slots for all of
// these.
type Splitter struct {
	Clock
	// sorts the jobs, first served first, gives them weights, and returns what all together weigh
	Weigh func(v *sched.View, jobs []Part) float64
	// Jobs with weights come first, and the order of two jobs depends on no other.
	Prefix bool
	Jobs   []Part  // of this decision
	order  []int32 // scratch of divide: indexes of jobs

	// exponent of the power of speed, if the policy sets the speed, which depends on all jobs: without prefix; else 0
	Energy int
}

// Part is the share of a job.
type Part struct {
	Job     sched.JobID
	Arrived sched.Time
	Key     float64 // for the policy
	Weight  float64
	Demand  int // tasks that wait or run
	Share   int
	quota   float64
}

// EarlierPart puts the earlier arrival first, ties by id.
func EarlierPart(a, b Part) int {
	return cmp.Or(cmp.Compare(a.Arrived, b.Arrived), cmp.Compare(a.Job, b.Job))
}

// LaterPart is EarlierPart the other way round.
func LaterPart(a, b Part) int { return EarlierPart(b, a) }

// Observe does nothing: everything is looked up when a slot of time begins.
func (p *Splitter) Observe(*sched.View, *sched.Event) {}

// Decide divides the slots when a slot of time begins.
func (p *Splitter) Decide(v *sched.View, act *sched.Actions) {
	if !p.Begins(v, act) {
		return
	}
	settled := v.FreeSlots() == 0 || v.Pending() == 0
	if settled && !p.Paces() {
		return
	}
	all := p.Prefix && v.Pending() <= v.FreeSlots()
	p.Jobs = p.Jobs[:0]
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		if job := v.Job(j); !job.Paused && (job.Pending > 0 || !all) {
			p.Jobs = append(p.Jobs, Part{Job: j, Arrived: job.Arrived, Demand: int(job.Pending + job.Live)})
		}
	}
	weight := p.Weigh(v, p.Jobs)
	if p.Paces() && v.Slots() > 0 {
		p.pace(act, weight, v.Slots())
	}
	if settled {
		return
	}
	if !all {
		p.Divide(v.Slots())
		for i := range p.Jobs {
			x := &p.Jobs[i]
			p.Start(v, act, x.Job, x.Share-int(v.Job(x.Job).Live))
		}
	}
	for i := 0; i < len(p.Jobs) && v.FreeSlots() > 0; i++ {
		p.Start(v, act, p.Jobs[i].Job, v.FreeSlots())
	}
}

// Paces tells whether the policy sets the speed of the machines.
func (p *Splitter) Paces() bool { return p.Energy > 0 }

// pace sets the speed of each slot such that the power of the speed of all is the weight: (slots x speed)^energy =
// weight.
func (p *Splitter) pace(act *sched.Actions, weight float64, slots int) {
	speed := math.Pow(weight, 1/float64(p.Energy)) / float64(slots)
	if err := act.Pace(min(max(speed, math.SmallestNonzeroFloat64), math.MaxFloat64)); err != nil {
		panic(fmt.Sprintf("policy: speed %v for the weight %v: %v", speed, weight, err))
	}
}

// Start gives up to n waiting tasks of a job an attempt each.
func (p *Splitter) Start(v *sched.View, act *sched.Actions, j sched.JobID, n int) {
	for ; n > 0; n-- {
		t, ok := FirstPending(v, j)
		m, free := v.FreeMachine(0)
		if !ok || !free {
			return
		}
		Start(v, act, t, m)
	}
}

// Divide sets the shares: the weights' parts of the slots, none above the demand (those that would be give the rest
// to the others), in whole numbers by largest remainder, ties to the job that is served first.
func (p *Splitter) Divide(slots int) {
	p.order = p.order[:0]
	weight := 0.0
	for i := range p.Jobs {
		if x := &p.Jobs[i]; x.Weight > 0 {
			p.order = append(p.order, int32(i))
			weight += x.Weight
		}
	}
	slices.SortFunc(p.order, func(a, b int32) int { // who is satisfied first
		x, y := &p.Jobs[a], &p.Jobs[b]
		return cmp.Or(cmp.Compare(float64(x.Demand)/x.Weight, float64(y.Demand)/y.Weight), cmp.Compare(a, b))
	})
	left := slots
	for i, k := range p.order {
		x := &p.Jobs[k]
		if float64(x.Demand)*weight > float64(left)*x.Weight {
			p.round(p.order[i:], left, weight)
			return
		}
		x.Share = x.Demand
		left -= x.Demand
		weight -= x.Weight
	}
}

// round divides slots among jobs none of which can have too many.
func (p *Splitter) round(jobs []int32, slots int, weight float64) {
	left := slots
	for _, k := range jobs {
		x := &p.Jobs[k]
		x.quota = float64(slots) * x.Weight / weight
		x.Share = min(int(x.quota), x.Demand)
		left -= x.Share
	}
	slices.SortFunc(jobs, func(a, b int32) int {
		x, y := &p.Jobs[a], &p.Jobs[b]
		return cmp.Or(cmp.Compare(y.quota-float64(y.Share), x.quota-float64(x.Share)), cmp.Compare(a, b))
	})
	for _, k := range jobs {
		if x := &p.Jobs[k]; left > 0 && x.Share < x.Demand {
			x.Share++
			left--
		}
	}
}
