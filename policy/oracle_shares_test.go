package policy

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// slowCapacity is the digest's section 3 with the checks of AbstractLeafQueue and UsersManager, in rational numbers.
type slowCapacity struct {
	first, cap, limit *big.Rat
	queues            int
	exceeded          bool
}

var capacityOracle = oracle{
	name: "capacity",
	specs: []string{
		"capacity", "capacity:queues=3,first=0.1,cap=0.7", "capacity:user_check=reached,first=0.7", "capacity:first=0,user_limit=0.3", "capacity:queues=4,first=0.3,user_limit=0",
		"capacity:queues=1,first=1,user_limit=0.4,cap=0.6", "capacity:first=1,user_limit=1.5,user_check=reached",
	},
	slow: func(a kit.Args) sched.Policy {
		return &slowCapacity{decimal(a, "first"), decimal(a, "cap"), decimal(a, "user_limit"), a.Int("queues"), a.Choice("user_check") == "exceeded"}
	},
	plain: true,
}

// decimal returns a parameter exactly as it was typed.
func decimal(a kit.Args, name string) *big.Rat {
	x, _ := new(big.Rat).SetString(a.Get(name))
	return x
}

func times(x *big.Rat, n int) *big.Rat { return new(big.Rat).Mul(x, big.NewRat(int64(n), 1)) }

func (p *slowCapacity) Observe(*sched.View, *sched.Event) {}

func (p *slowCapacity) queue(v *sched.View, j sched.JobID) int {
	return min(max(int(v.Job(j).Priority), 0), p.queues-1)
}

func (p *slowCapacity) guaranteed(q int) *big.Rat {
	if q == 0 {
		return p.first
	}
	return new(big.Rat).Quo(new(big.Rat).Sub(big.NewRat(1, 1), p.first), big.NewRat(int64(p.queues-1), 1))
}

// below tells whether a job is below its limit.
func (p *slowCapacity) below(v *sched.View, j sched.JobID) bool {
	limit := max(1, ceil(times(p.limit, max(1, ceil(times(p.guaranteed(p.queue(v, j)), v.Slots()))))))
	live := int(v.Job(j).Live)
	return p.limit.Sign() == 0 || live < limit || p.exceeded && live == limit
}

func (p *slowCapacity) Decide(v *sched.View, act *sched.Actions) {
	for v.FreeSlots() > 0 {
		used := make([]int, p.queues)
		next := make([]*sched.JobID, p.queues)
		for j := range sched.JobID(v.Rows().Jobs()) {
			job := v.Job(j)
			if job.State != sched.JobActive {
				continue
			}
			q := p.queue(v, j)
			used[q] += int(job.Live)
			if _, waits := pendingOf(v, j); waits && p.below(v, j) && (next[q] == nil || job.Arrived < v.Job(*next[q]).Arrived) {
				next[q] = &j
			}
		}
		best := -1
		for q := range p.queues {
			if next[q] != nil && used[q] < max(1, ceil(times(p.cap, v.Slots()))) && (best < 0 || p.hungrier(q, best, used)) {
				best = q
			}
		}
		if best < 0 {
			return
		}
		t, _ := pendingOf(v, *next[best])
		m, _ := v.FreeMachine(0)
		kit.Start(v, act, t, m)
	}
}

// hungrier tells whether used/guaranteed is smaller in one queue than in another; without a guarantee it is infinite.
func (p *slowCapacity) hungrier(a, b int, used []int) bool {
	x, y := p.guaranteed(a), p.guaranteed(b)
	switch {
	case x.Sign() == 0:
		return false
	case y.Sign() == 0:
		return true
	}
	return times(y, used[a]).Cmp(times(x, used[b])) < 0
}

// slowShares divides the slots by weights in rational numbers, as the digest's sections 5 and 6 have it: jobs that can
// use less than their part get what they can use, the others divide the rest by largest remainder.
type slowShares struct {
	kit.Clock
	weigh func(v *sched.View, jobs []sched.JobID) []*big.Rat // sorts the jobs, first served first
}

func (p *slowShares) Observe(*sched.View, *sched.Event) {}

func (p *slowShares) Decide(v *sched.View, act *sched.Actions) {
	if !p.Begins(v, act) {
		return
	}
	var jobs []sched.JobID
	for j := range sched.JobID(v.Rows().Jobs()) {
		if job := v.Job(j); job.State == sched.JobActive && !job.Paused {
			jobs = append(jobs, j)
		}
	}
	weights := p.weigh(v, jobs)
	demand := make([]int, len(jobs))
	for i, j := range jobs {
		demand[i] = int(v.Job(j).Pending + v.Job(j).Live)
	}
	shares := divided(v.Slots(), weights, demand)
	for i, j := range jobs {
		p.start(v, act, j, shares[i]-int(v.Job(j).Live))
	}
	for _, j := range jobs {
		p.start(v, act, j, v.FreeSlots())
	}
}

func (p *slowShares) start(v *sched.View, act *sched.Actions, j sched.JobID, n int) {
	for ; n > 0 && v.FreeSlots() > 0; n-- {
		t, ok := pendingOf(v, j)
		if !ok {
			return
		}
		m, _ := v.FreeMachine(0)
		kit.Start(v, act, t, m)
	}
}

// divided returns whole shares of slots.
func divided(slots int, weights []*big.Rat, demand []int) []int {
	shares, open := make([]int, len(weights)), map[int]bool{}
	for i, w := range weights {
		if w.Sign() > 0 {
			open[i] = true
		}
	}
	part := func(i int) *big.Rat {
		sum := new(big.Rat)
		for k := range open {
			sum.Add(sum, weights[k])
		}
		return times(new(big.Rat).Quo(weights[i], sum), slots)
	}
	for again := true; again; { // who can use no more than his part has what he can use
		again = false
		for i := range weights {
			if open[i] && part(i).Cmp(big.NewRat(int64(demand[i]), 1)) >= 0 {
				shares[i], again = demand[i], true
				slots -= demand[i]
				delete(open, i)
				break
			}
		}
	}
	var order []int
	left, rest := slots, make([]*big.Rat, len(weights))
	for i := range weights {
		if open[i] {
			x := part(i)
			shares[i] = floor(x)
			rest[i] = x.Sub(x, big.NewRat(int64(shares[i]), 1))
			left -= shares[i]
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return rest[b].Cmp(rest[a]) })
	for _, i := range order[:min(max(left, 0), len(order))] {
		shares[i]++
	}
	return shares
}

func latestFirst(v *sched.View, jobs []sched.JobID) {
	slices.SortFunc(jobs, func(a, b sched.JobID) int {
		return cmp.Or(cmp.Compare(v.Job(b).Arrived, v.Job(a).Arrived), cmp.Compare(b, a))
	})
}

func ones(n, of int) []*big.Rat {
	weights := make([]*big.Rat, of)
	for i := range weights {
		weights[i] = new(big.Rat)
		if i < n {
			weights[i].SetInt64(1)
		}
	}
	return weights
}

var lapsOracle = oracle{
	name:  "laps",
	specs: []string{"laps", "laps:beta=0.1", "laps:beta=1", "laps:beta=0.3,slot=2s", "laps:beta=0.7"},
	slow: func(a kit.Args) sched.Policy {
		beta := decimal(a, "beta")
		return &slowShares{Clock: kit.Clock{Slot: a.Span("slot")}, weigh: func(v *sched.View, jobs []sched.JobID) []*big.Rat {
			latestFirst(v, jobs)
			return ones(ceil(times(beta, len(jobs))), len(jobs))
		}}
	},
	plain: true,
}

var wlapsOracle = oracle{
	name:  "wlaps",
	specs: []string{"wlaps", "wlaps:beta=0.3", "wlaps:beta=1,power=3", "wlaps:power=1,beta=0.25", "wlaps:beta=0.7,slot=3s"},
	slow: func(a kit.Args) sched.Policy {
		beta, power := decimal(a, "beta"), int(a.Float("power"))
		return &slowShares{Clock: kit.Clock{Slot: a.Span("slot")}, weigh: func(v *sched.View, jobs []sched.JobID) []*big.Rat {
			latestFirst(v, jobs)
			return agedWeights(v, jobs, beta, power)
		}}
	},
	plain: true,
}

// agedWeights returns age^(power-1) times the weight of each job, from the first on until they are beta of all.
func agedWeights(v *sched.View, jobs []sched.JobID, beta *big.Rat, power int) []*big.Rat {
	weights, sum := make([]*big.Rat, len(jobs)), new(big.Rat)
	for _, aged := range []bool{true, false} { // while no job has an age, all have their weights
		for i, j := range jobs {
			w := new(big.Rat).SetFloat64(v.Job(j).Weight)
			for range power - 1 {
				if aged {
					w.Mul(w, big.NewRat(int64(v.Now()-v.Job(j).Arrived), 1))
				}
			}
			weights[i] = w
			sum.Add(sum, w)
		}
		if sum.Sign() > 0 {
			break
		}
	}
	left := new(big.Rat).Mul(sum, beta)
	for _, w := range weights {
		if w.Cmp(left) > 0 {
			w.Set(left)
		}
		left.Sub(left, w)
	}
	return weights
}

var intermediateOracle = oracle{
	name:  "intermediate-srpt",
	specs: []string{"intermediate-srpt", "intermediate-srpt:slot=2s"},
	slow: func(a kit.Args) sched.Policy {
		x := &slowIntermediate{orders: naiveOrder{done: map[sched.JobID]int{}}}
		x.slowShares = slowShares{Clock: kit.Clock{Slot: a.Span("slot")}, weigh: func(v *sched.View, jobs []sched.JobID) []*big.Rat {
			slices.SortFunc(jobs, func(a, b sched.JobID) int {
				return cmp.Or(cmp.Compare(x.orders.work(v, a), x.orders.work(v, b)), cmp.Compare(v.Job(a).Arrived, v.Job(b).Arrived), cmp.Compare(a, b))
			})
			return ones(v.Slots(), len(jobs))
		}}
		return x
	},
	plain: true,
}

type slowIntermediate struct {
	slowShares
	orders naiveOrder
}

func (p *slowIntermediate) Observe(v *sched.View, ev *sched.Event) { p.orders.Observe(v, ev) }

// The orders of digest sections 1, 2 and 5; TestOrderTwin has more worlds of them.
var fifoOracle, fairOracle, srptOracle = slowOrder("fifo"), slowOrder("fair"), slowOrder("srpt")

func slowOrder(name string) oracle {
	return oracle{name: name, specs: []string{name}, slow: func(kit.Args) sched.Policy { return newNaiveOrder(name) }, plain: true}
}

var hopperOracle = oracle{
	name: "hopper",
	specs: []string{
		"hopper", "hopper:alpha=work,beta=1", "hopper:alpha=one,epsilon=1", "hopper:epsilon=0,beta=1.9,copies=3", "hopper:epsilon=0.9,beta=1.3", "hopper:prior=1,alpha=work,epsilon=0.5",
	},
	slow: func(a kit.Args) sched.Policy {
		return newHopperTwin(a.Float("epsilon"), a.Float("beta"), a.Float("prior"), a.Choice("alpha"), a.Int("copies"))
	},
}

var eseOracle = oracle{
	name:  "ese",
	specs: []string{"ese", "ese:slot=0s,eta=10", "ese:slot=1s,sigma=0.2,xi=0", "ese:slot=0s,sigma=0.5,gamma=0.3,eta=5", "ese:slot=2s,copies=3,eta=10,gamma=0"},
	slow: func(a kit.Args) sched.Policy {
		return newESETwin(a.Span("slot"), a.Float("sigma"), a.Float("eta"), a.Float("xi"), a.Float("gamma"), a.Int("copies"))
	},
}
