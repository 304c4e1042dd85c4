package plan

import (
	"cmp"
	"fmt"
	"math"
)

// Pool is what jobs with deadlines share.
type Pool struct {
	Slots       int     // m >= 0
	Lambda      float64 // λ, the share of the slots that originals, clones and masters may take together, 0 < λ <= 1
	MaxAttempts int     // of a task, original included; 0 is no bound
	MasterSlots int     // that each job holds beside those of its tasks; 1 in the paper
	Taken       int     // slots of the share that others hold
	// a job that is [Work.Hopeless] waits for the slots that the others leave, clones included; in the paper it takes
	// its turn
	HopelessLast bool
	// jobs run in waves where not all originals fit, or where [Work.Slots] is fewer than a job's tasks; in the paper
	// they wait
	Waves bool
	// durations to draw for each way to run a job in waves, about; 0 for a share of 2 million of all jobs. Of a job of
	// more than a thirtieth of it, bounds take the place of played chances.
	Draws int
}

// Validate returns an error that names the first field out of range.
func (p Pool) Validate() error {
	switch {
	case p.Slots < 0 || p.Slots > math.MaxInt32:
		return fmt.Errorf("a pool has from 0 to %d slots, got %d", math.MaxInt32, p.Slots)
	case !(p.Lambda > 0 && p.Lambda <= 1):
		return fmt.Errorf("lambda is a share of the slots, more than 0 and at most 1, got %g", p.Lambda)
	case p.MaxAttempts < 0:
		return fmt.Errorf("the attempts of a task are at least 1, or 0 for no bound, got %d", p.MaxAttempts)
	case p.Taken < 0:
		return fmt.Errorf("the slots that others hold must not be negative, got %d", p.Taken)
	case p.Draws < 0:
		return fmt.Errorf("the durations to draw must not be negative, got %d", p.Draws)
	case p.MasterSlots < 0:
		return fmt.Errorf("the slots of a job's master must not be negative, got %d", p.MasterSlots)
	}
	return nil
}

// Usable returns ⌊λm⌋, where rounding does not cost a slot, without what others hold.
func (p Pool) Usable() int { return max(0, p.share()-p.Taken) }

func (p Pool) share() int { return int(math.Floor(p.Lambda*float64(p.Slots) + 1e-9)) }

// Queued stands for the clones of a job that has to wait, because its originals do not fit.
const Queued = -1

// Allocation is an answer of [Joint].
type Allocation struct {
	Clones []int // of each task of each job, or Queued; the Joint's, until it is asked again
	AtOnce []int // tasks of each job that run at once, fewer than it has if they run in waves; the Joint's too
	Used   int   // slots: of originals, clones and masters
	// Gap is by how much the sum of utilities may be short of the largest possible, as far as is known; 0 is a proof
	// that it is not, but for rounding.
	Gap float64
}

// Joint divides slots among jobs with deadlines: it maximises Σv_j U(R_j(r_j)) subject to Σ(N_j(r_j+1)+master) <=
// λm (Shed, equations 10 to 13). Its zero value is ready; one that is used again allocates nothing.
//
// For α = ∞ it is the paper's Algorithm 1: raise the smallest PoCD while a clone of each of its job's tasks fits, with
// a heap, O(Σr log J). That is lexicographically max-min, but for ties of unequal jobs. Two things are added to the
// box: a job that no clone can help gets none, for otherwise one hopeless job takes all; and a job that misses its
// deadline with a probability below 1e-15 gets no more.
//
// The values v_j are 1 in the paper; for α = ∞ they mean nothing.
//
// For finite α the paper has no algorithm, and its rule is far from the largest ΣR: R_j is not concave in r where N is
// large, it is S-shaped. Here clones are added by gain per slot along the concave hull of U(R_j), which solves the
// linear relaxation and so bounds the optimum. What is left is a small knapsack: the choices that no better allocation
// can contain, by that bound, are dropped, and dynamic programming over slots settles the rest. The answer is exact
// unless that takes more than some million steps; then the jobs whose choices are nearest to a tie are settled, and
// [Allocation.Gap] says how much may be missing.
type Joint struct {
	// Steps bounds the dynamic programme; 0 is 2²⁰, one or two milliseconds. It takes up to two bytes of memory for
	// each.
	Steps  int
	claims []claim
	clones []int
	atOnce []int
	queue  claimHeap
	rest   knapsack
}

// claim is a job that has its originals.
type claim struct {
	odds
	job    int    // its place among the jobs
	slots  int    // that one clone of each task takes
	rungs  []rung // of a job that may run in waves; what is said of clones is then said of steps from rung to rung
	most   int    // clones
	clones int
	value  float64 // by which its utility counts
	next   int     // clones after the next step along the hull
	rate   float64 // what that step adds to the utility per slot; 0 if there is none
	hull   int     // clones where the linear relaxation ends
}

// certain is the miss below which a job gets no more clones.
const certain = 1e-15

// Optimise divides the slots of a pool among the jobs, which must be valid, as the pool and the utility must. They are
// in the order of their arrival, with those that run first: originals are placed in that order, and where those of one
// do not fit, it and all after it wait, until they are asked about again. A job that would not fit an empty pool does
// not hold up others; nor does a hopeless one with [Pool.HopelessLast].
func (j *Joint) Optimise(pool Pool, u Utility, jobs []Work) Allocation {
	waves := pool.Waves && !pool.fits(jobs)
	var left int
	if waves {
		left = j.admitWaves(pool, jobs)
	} else {
		left = j.admit(pool, jobs)
	}
	a := Allocation{Used: pool.Usable() - left}
	if u == UtilityMaxMin {
		j.raiseSmallest(left)
	} else {
		a.Gap = j.climb(u, left)
	}
	if waves {
		a.Used = pool.Usable() - j.placeWaves(pool, jobs, left)
	} else {
		a.Used += j.place(pool, jobs, a.Used)
	}
	a.Clones, a.AtOnce = j.clones, j.atOnce
	return a
}

// place writes down what jobs get of which all tasks run at once, and returns the slots of clones and hopeless jobs.
func (j *Joint) place(pool Pool, jobs []Work, originals int) (used int) {
	for _, c := range j.claims {
		j.clones[c.job] = c.clones
		used += c.clones * c.slots
	}
	if pool.HopelessLast {
		used += j.admitHopeless(pool, jobs, pool.Usable()-originals-used)
	}
	j.atOnce = j.atOnce[:0]
	for i, w := range jobs {
		if j.clones[i] == Queued {
			w.Tasks = 0
		}
		j.atOnce = append(j.atOnce, w.Tasks)
	}
	return used
}

// admitHopeless gives what is left to the originals of jobs that cannot meet their deadlines, in order, as far as they
// fit and no other job waits. It returns the slots that they take.
func (j *Joint) admitHopeless(pool Pool, jobs []Work, left int) (used int) {
	for i, w := range jobs {
		if j.clones[i] == Queued && !w.Hopeless() && pool.need(w) <= pool.Usable() {
			return 0
		}
	}
	for i, w := range jobs {
		if need := pool.need(w); w.Hopeless() && need <= left-used {
			j.clones[i] = 0
			used += need
		}
	}
	return used
}

// need returns the slots that the originals and the master of a job take.
func (p Pool) need(w Work) int {
	if w.Tasks == 0 {
		return 0
	}
	return w.Tasks + p.MasterSlots
}

// admit places the originals and returns the slots that are left.
func (j *Joint) admit(pool Pool, jobs []Work) (left int) {
	j.claims, j.clones = j.claims[:0], j.clones[:0]
	left = pool.Usable()
	whole, waiting := pool.share(), false
	for i, w := range jobs {
		need := pool.need(w)
		if w.Tasks == 0 {
			j.clones = append(j.clones, 0)
			continue
		}
		o := w.odds()
		hopeless := pool.HopelessLast && o.hopeless()
		if hopeless || need > left || waiting {
			waiting = waiting || need <= whole && !hopeless
			j.clones = append(j.clones, Queued)
			continue
		}
		left -= need
		j.clones = append(j.clones, 0)
		j.claims = append(j.claims, claim{odds: o, job: i, slots: w.Tasks, value: cmp.Or(w.Value, 1)})
	}
	for i := range j.claims {
		c := &j.claims[i]
		c.most = pool.mostClones(jobs[c.job], c.odds, left)
	}
	return left
}

// enough returns the clones with which a job is certain to meet its deadline, or that are of help at all.
func (o odds) enough() int {
	missing := math.Log(certain/o.tasks) - o.original
	if missing >= 0 {
		return 0
	}
	if of := float64(o.held) * o.original; of > missing && o.clone < 0 {
		return o.held + int(min(max(math.Ceil((missing-of)/o.clone), 1), math.MaxInt32))
	} else if of > missing {
		return o.held
	}
	return int(math.Ceil(missing / o.original))
}

// raiseSmallest is Algorithm 1. PoCDs are compared by their logarithms, which differ where both are nearly 0 or nearly
// 1. Those that agree in seven digits are equal, and the first of equals is raised, so that rounding decides nothing.
func (j *Joint) raiseSmallest(left int) {
	j.queue.reset()
	for i := range j.claims {
		if c := &j.claims[i]; c.most > 0 {
			j.queue.push(int32(i), c.short())
		}
	}
	for !j.queue.empty() {
		c := &j.claims[j.queue.top()]
		if c.clones == c.most || c.cost(c.clones+1)-c.cost(c.clones) > left {
			j.queue.pop()
			continue
		}
		left -= c.cost(c.clones+1) - c.cost(c.clones)
		c.clones++
		j.queue.replace(c.short())
	}
}

// short returns by how much the logarithm of a claim's PoCD falls short of 0, in seven digits.
func (c *claim) short() float64 { return float64(float32(-c.log(c.clones))) }
