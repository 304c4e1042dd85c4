package policy

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// hopperTwin has the rules at the top of hopper.go, with everything counted anew for each slot that is given away. The tail index is the policy's, which has tests of its
// own. What lasts from one division of the slots to the next is what each job got.
type hopperTwin struct {
	naive
	epsilon, beta float64
	alpha         string
	copies        int

	tail   tailIndex
	single map[sched.StageID]*logs // durations of winners without clones
	stale  bool
	share  map[sched.JobID]int
	order  map[sched.JobID]float64
	took   map[sched.JobID]bool
	half   map[sched.JobID]int // unfinished tasks at which the slots are divided anew, where they are scarce
}

func newHopperTwin(epsilon, beta, prior float64, alpha string, copies int) *hopperTwin {
	return &hopperTwin{
		naive: newNaive(false), epsilon: epsilon, beta: beta, alpha: alpha, copies: copies, tail: tailIndex{prior: prior}, single: map[sched.StageID]*logs{},
		share: map[sched.JobID]int{}, order: map[sched.JobID]float64{}, half: map[sched.JobID]int{}, took: map[sched.JobID]bool{},
	}
}

func TestHopperTwin(t *testing.T) {
	checkTwins(t, func(t *rapid.T) (string, sched.Policy) {
		x := newHopperTwin(
			rapid.SampledFrom([]float64{0, 0.1, 0.5, 1}).Draw(t, "epsilon"), rapid.SampledFrom([]float64{0, 1, 1.3, 2}).Draw(t, "beta"),
			rapid.SampledFrom([]float64{1, 1.5}).Draw(t, "prior"), rapid.SampledFrom([]string{"bytes", "one", "work"}).Draw(t, "alpha"),
			rapid.IntRange(1, 3).Draw(t, "copies"),
		)
		x.tnew = rapid.SampledFrom([]string{"finished", "all", "known"}).Draw(t, "tnew")
		return fmt.Sprintf("hopper:epsilon=%g,beta=%g,prior=%g,alpha=%s,copies=%d,tnew=%s", x.epsilon, x.beta, x.tail.prior, x.alpha, x.copies, x.tnew), x
	})
}

func (p *hopperTwin) Observe(v *sched.View, ev *sched.Event) {
	p.naive.Observe(v, ev)
	switch ev.Kind {
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized, sched.JobArrived, sched.StageReady, sched.StageDone, sched.JobFailed, sched.JobCancelled,
		sched.TaskGivenUp, sched.JobPaused, sched.JobContinued:
		p.stale = true
		if won := p.single[ev.Stage]; ev.Kind == sched.StageDone && won != nil {
			p.tail.add(won)
		}
	case sched.AttemptDone:
		if a := v.Attempt(ev.Attempt); v.Task(ev.Task).Launched == 1 && a.From == 0 {
			if p.single[ev.Stage] == nil {
				p.single[ev.Stage] = &logs{}
			}
			p.single[ev.Stage].add((v.Now() - a.Started).Seconds())
		}
		half, scarce := p.half[ev.Job]
		if phase := p.phases(v, ev.Job)[0]; scarce && phase.tasks <= half {
			p.stale = true
		}
	}
}

type hopperPhaseTwin struct {
	tasks int
	work  float64
}

// phases returns the current phase of a job and the two after it: its open stages, and the first of those that are blocked.
func (p *hopperTwin) phases(v *sched.View, j sched.JobID) [3]hopperPhaseTwin {
	var x [3]hopperPhaseTwin
	job, next := v.Job(j), 1
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		n := max(0, min(int(st.Need), int(st.Tasks)-int(st.GivenUp))-int(st.Done))
		mean, _, ok := st.Estimate()
		if !ok {
			mean = srewPrior
		}
		switch {
		case st.State == sched.StageOpen:
			x[0].tasks += n
			x[0].work += float64(n) * mean
		case st.State == sched.StageBlocked && n > 0 && next < len(x):
			x[next] = hopperPhaseTwin{n, float64(n) * mean}
			next++
		}
	}
	return x
}

// divide gives every active job its slots, in rational numbers.
func (p *hopperTwin) divide(v *sched.View) {
	clear(p.share)
	clear(p.half)
	clear(p.order)
	clear(p.took)
	var jobs []sched.JobID
	for _, j := range p.jobs(v) {
		if job := v.Job(j); job.Pending+job.Live > 0 {
			jobs = append(jobs, j)
			p.took[j] = true
		}
	}
	beta := p.beta
	if beta == 0 {
		beta = p.tail.index()
	}
	factor := big.NewRat(decimals, int64(math.Round(beta/2*decimals)))
	size, total := map[sched.JobID]*big.Rat{}, new(big.Rat)
	for _, j := range jobs { // ids are in order of arrival
		x := p.phases(v, j)
		virtual := func(k int) *big.Rat {
			alpha := 1.0
			if p.alpha == "work" && x[k].work > 0 && x[k+1].work > 0 {
				alpha = x[k+1].work / x[k].work
			}
			return new(big.Rat).Mul(factor, big.NewRat(int64(x[k].tasks)*int64(math.Round(max(1, 1024*math.Sqrt(alpha)))), 1024))
		}
		size[j] = virtual(0)
		p.order[j], _ = size[j].Float64()
		if next, _ := virtual(1).Float64(); next > p.order[j] {
			p.order[j] = next
		}
		total.Add(total, size[j])
	}
	slices.SortFunc(jobs, func(a, b sched.JobID) int { return p.Compare(v, a, b) })
	slots, left := big.NewRat(int64(v.Slots()), 1), v.Slots()
	if total.Cmp(slots) > 0 {
		fair := big.NewRat(decimals-int64(math.Round(p.epsilon*decimals)), decimals*int64(len(jobs)))
		least := floor(fair.Mul(fair, slots))
		for _, j := range jobs {
			p.share[j] = min(least, ceil(size[j]))
			left -= p.share[j]
			p.half[j] = p.phases(v, j)[0].tasks / 2
		}
		for _, j := range jobs {
			for ; left > 0 && p.share[j] < ceil(size[j]); left-- {
				p.share[j]++
			}
		}
		return
	}
	rest := map[sched.JobID]*big.Rat{}
	for _, j := range jobs {
		part := new(big.Rat).Quo(new(big.Rat).Mul(size[j], slots), total)
		p.share[j] = floor(part)
		rest[j] = part.Sub(part, big.NewRat(int64(p.share[j]), 1))
		left -= p.share[j]
	}
	slices.SortStableFunc(jobs, func(a, b sched.JobID) int { return rest[b].Cmp(rest[a]) })
	for _, j := range jobs[:left] {
		p.share[j]++
	}
}

func floor(x *big.Rat) int { return int(new(big.Int).Div(x.Num(), x.Denom()).Int64()) }
func ceil(x *big.Rat) int  { return -floor(new(big.Rat).Neg(x)) }

// Compare says who is served first.
func (p *hopperTwin) Compare(v *sched.View, a, b sched.JobID) int {
	return cmp.Or(cmp.Compare(p.order[a], p.order[b]), cmp.Compare(v.Job(a).Arrived, v.Job(b).Arrived), cmp.Compare(a, b))
}

func (p *hopperTwin) Decide(v *sched.View, act *sched.Actions) {
	p.look(v, act)
	for _, j := range p.jobs(v) {
		job := v.Job(j)
		p.stale = p.stale || p.took[j] != (job.Pending+job.Live > 0)
	}
	if p.stale && len(p.jobs(v)) > 0 {
		p.stale = false
		p.divide(v)
	}
	for v.FreeSlots() > 0 {
		jobs := p.jobs(v)
		slices.SortFunc(jobs, func(a, b sched.JobID) int { return p.Compare(v, a, b) })
		if !slices.ContainsFunc(jobs, func(j sched.JobID) bool { return p.serve(v, act, j) }) {
			return
		}
	}
}

// serve gives a job a slot if it is below its share and has a use for one: a task that waits, or else the one with the most time left if that is more than a new
// attempt is expected to take.
func (p *hopperTwin) serve(v *sched.View, act *sched.Actions, j sched.JobID) bool {
	job := v.Job(j)
	if int(job.Live) >= p.share[j] {
		return false
	}
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if v.Rows().JobOf(t) == j && v.Task(t).State == sched.TaskPending {
			p.start(v, act, t)
			return true
		}
	}
	var late sched.TaskID
	latest := sched.Time(0)
	for _, s := range p.stages(v) {
		mean, known := p.mean(v, s)
		if v.Stage(s).Job != j || !known {
			continue
		}
		for _, t := range p.running(v, s) {
			end, ok := p.end(v, t)
			if ok && int(v.Task(t).Live) < p.copies && v.AttemptRoom(t) > 0 && end > max(latest, kit.Later(v.Now(), mean)) {
				late, latest = t, end
			}
		}
	}
	if latest == 0 || v.CloneRoom() == 0 {
		return false
	}
	p.clone(v, act, late, sched.Straggling)
	return true
}
