package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// splitter divides the slots among the active jobs at the beginning of each slot of time, in proportion to weights that
// a policy gives them, and lets jobs below their shares start waiting tasks. A job gets no more than it has tasks that
// wait or run; what it cannot use the others share. Nothing is preempted and nothing cloned, so a job above its share
// keeps what it has until it ends, and slots that no share claims go to whoever has a task, in the same order.
//
// If there are slots for all tasks that wait, and the jobs with weights are the first, shares decide nothing: all
// start, in the jobs' order.
//
// A slot of time costs O(n log n) for n active jobs, or n jobs with tasks that wait where there are slots for all of
// these.
type splitter struct {
	slotClock
	// sorts the jobs, first served first, gives them weights, and returns what all together weigh
	weigh func(v *sched.View, jobs []part) float64
	// Jobs with weights come first, and the order of two jobs depends on no other.
	prefix bool
	jobs   []part  // of this decision
	order  []int32 // scratch of divide: indexes of jobs

	// exponent of the power of speed, if the policy sets the speed, which depends on all jobs: without prefix; else 0
	energy int
}

// part is the share of a job.
type part struct {
	job     sched.JobID
	arrived sched.Time
	key     float64 // for the policy
	weight  float64
	demand  int // tasks that wait or run
	share   int
	quota   float64
}

// Earlier or later arrivals first, ties by id.
func earlierPart(a, b part) int {
	return cmp.Or(cmp.Compare(a.arrived, b.arrived), cmp.Compare(a.job, b.job))
}
func laterPart(a, b part) int { return earlierPart(b, a) }

func (p *splitter) Observe(*sched.View, *sched.Event) {}

func (p *splitter) Decide(v *sched.View, act *sched.Actions) {
	if !p.begins(v, act) {
		return
	}
	settled := v.FreeSlots() == 0 || v.Pending() == 0
	if settled && !p.Paces() {
		return
	}
	all := p.prefix && v.Pending() <= v.FreeSlots()
	p.jobs = p.jobs[:0]
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		if job := v.Job(j); job.Pending > 0 || !all {
			p.jobs = append(p.jobs, part{job: j, arrived: job.Arrived, demand: int(job.Pending + job.Live)})
		}
	}
	weight := p.weigh(v, p.jobs)
	if p.Paces() && v.Slots() > 0 {
		p.pace(act, weight, v.Slots())
	}
	if settled {
		return
	}
	if !all {
		p.divide(v.Slots())
		for i := range p.jobs {
			x := &p.jobs[i]
			p.start(v, act, x.job, x.share-int(v.Job(x.job).Live))
		}
	}
	for i := 0; i < len(p.jobs) && v.FreeSlots() > 0; i++ {
		p.start(v, act, p.jobs[i].job, v.FreeSlots())
	}
}

// Paces tells whether the policy sets the speed of the machines.
func (p *splitter) Paces() bool { return p.energy > 0 }

// pace sets the speed of each slot such that the power of the speed of all is the weight: (slots x speed)^energy =
// weight.
func (p *splitter) pace(act *sched.Actions, weight float64, slots int) {
	speed := math.Pow(weight, 1/float64(p.energy)) / float64(slots)
	if err := act.Pace(min(max(speed, math.SmallestNonzeroFloat64), math.MaxFloat64)); err != nil {
		panic(fmt.Sprintf("policy: speed %v for the weight %v: %v", speed, weight, err))
	}
}

// start gives up to n waiting tasks of a job an attempt each.
func (p *splitter) start(v *sched.View, act *sched.Actions, j sched.JobID, n int) {
	for ; n > 0; n-- {
		t, ok := firstPending(v, j)
		m, free := v.FreeMachine(0)
		if !ok || !free {
			return
		}
		begin(v, act, t, m)
	}
}

// divide sets the shares: the weights' parts of the slots, none above the demand (those that would be give the rest to
// the others), in whole numbers by largest remainder, ties to the job that is served first.
func (p *splitter) divide(slots int) {
	p.order = p.order[:0]
	weight := 0.0
	for i := range p.jobs {
		if x := &p.jobs[i]; x.weight > 0 {
			p.order = append(p.order, int32(i))
			weight += x.weight
		}
	}
	slices.SortFunc(p.order, func(a, b int32) int { // who is satisfied first
		x, y := &p.jobs[a], &p.jobs[b]
		return cmp.Or(cmp.Compare(float64(x.demand)/x.weight, float64(y.demand)/y.weight), cmp.Compare(a, b))
	})
	left := slots
	for i, k := range p.order {
		x := &p.jobs[k]
		if float64(x.demand)*weight > float64(left)*x.weight {
			p.round(p.order[i:], left, weight)
			return
		}
		x.share = x.demand
		left -= x.demand
		weight -= x.weight
	}
}

// round divides slots among jobs none of which can have too many.
func (p *splitter) round(jobs []int32, slots int, weight float64) {
	left := slots
	for _, k := range jobs {
		x := &p.jobs[k]
		x.quota = float64(slots) * x.weight / weight
		x.share = min(int(x.quota), x.demand)
		left -= x.share
	}
	slices.SortFunc(jobs, func(a, b int32) int {
		x, y := &p.jobs[a], &p.jobs[b]
		return cmp.Or(cmp.Compare(y.quota-float64(y.share), x.quota-float64(x.share)), cmp.Compare(a, b))
	})
	for _, k := range jobs {
		if x := &p.jobs[k]; left > 0 && x.share < x.demand {
			x.share++
			left--
		}
	}
}
