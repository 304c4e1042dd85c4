package kit

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
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
	// sorts the jobs, first served first, gives them weights, whose sum is below 2^63, and returns what all together
	// weigh in the unit of the power of speed
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
	Weight  uint64  // whole, so that equal remainders are equal
	Demand  int     // tasks that wait or run
	Share   int
	rest    uint64 // what the share lacks of the weight's part, in units of the sum of weights
}

// Weights sets the weights of jobs to whole numbers in proportion to their keys, which are at least 0: these times a
// power of two, rounded. Keys that differ by whole factors stay exactly so.
func Weights(jobs []Part) {
	most := 0.0
	for i := range jobs {
		most = max(most, jobs[i].Key)
	}
	_, high := math.Frexp(most)
	room := 62 - bits.Len(uint(len(jobs)))
	for i := range jobs {
		jobs[i].Weight = uint64(math.Round(math.Ldexp(jobs[i].Key, room-high)))
	}
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
	weight := uint64(0)
	for i := range p.Jobs {
		if x := &p.Jobs[i]; x.Weight > 0 {
			p.order = append(p.order, int32(i))
			weight += x.Weight
		}
	}
	slices.SortFunc(p.order, func(a, b int32) int { // who is satisfied first
		x, y := &p.Jobs[a], &p.Jobs[b]
		return cmp.Or(compare(uint64(x.Demand), y.Weight, uint64(y.Demand), x.Weight), cmp.Compare(a, b))
	})
	left := slots
	for i, k := range p.order {
		x := &p.Jobs[k]
		if compare(uint64(x.Demand), weight, uint64(left), x.Weight) > 0 {
			p.round(p.order[i:], left, weight)
			return
		}
		x.Share = x.Demand
		left -= x.Demand
		weight -= x.Weight
	}
}

// compare compares a x b with c x d.
func compare(a, b, c, d uint64) int {
	hi, lo := bits.Mul64(a, b)
	high, low := bits.Mul64(c, d)
	return cmp.Or(cmp.Compare(hi, high), cmp.Compare(lo, low))
}

// round divides slots among jobs each of which can use its part, and weigh so much together.
func (p *Splitter) round(jobs []int32, slots int, weight uint64) {
	left := slots
	for _, k := range jobs {
		x := &p.Jobs[k]
		hi, lo := bits.Mul64(uint64(slots), x.Weight)
		share, rest := bits.Div64(hi, lo, weight)
		x.Share, x.rest = int(share), rest
		left -= x.Share
	}
	slices.SortFunc(jobs, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.Jobs[b].rest, p.Jobs[a].rest), cmp.Compare(a, b))
	})
	for _, k := range jobs[:left] { // whose parts are no whole numbers, and below the demand
		p.Jobs[k].Share++
	}
}
