package overlap

import (
	"cmp"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// exact simulates by definition as [twin] does, in rational numbers: ties are ties, and nothing is rounded.
type exact struct {
	policy Discipline
	jobs   []*exactJob
	clock  *big.Rat
	fills  exactFill // under FillSRPT
}

type exactJob struct {
	index                 int
	arrival, size, work   *big.Rat // size and work are the map and the shuffle work that it came with
	x, y, weight          *big.Rat
	mapRate, take, finish *big.Rat // finish is nil until it is done
}

var zero, one = new(big.Rat), big.NewRat(1, 1)

func rat(f float64) *big.Rat        { return new(big.Rat).SetFloat64(f) }
func add(a, b *big.Rat) *big.Rat    { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat    { return new(big.Rat).Sub(a, b) }
func mul(a, b *big.Rat) *big.Rat    { return new(big.Rat).Mul(a, b) }
func quo(a, b *big.Rat) *big.Rat    { return new(big.Rat).Quo(a, b) }
func lesser(a, b *big.Rat) *big.Rat { return least(a, b, func(c int) bool { return c <= 0 }) }
func larger(a, b *big.Rat) *big.Rat { return least(a, b, func(c int) bool { return c >= 0 }) }

// least takes nil for infinity.
func least(a, b *big.Rat, first func(int) bool) *big.Rat {
	switch {
	case a == nil:
		return b
	case b == nil || first(a.Cmp(b)):
		return a
	}
	return b
}

func newExact(p Discipline, jobs []Demand) *exact {
	e := &exact{policy: p, clock: rat(jobs[0].Arrival)}
	for i, j := range jobs {
		weight := one
		if p.Kind == WPS && j.Weight > 0 {
			weight = rat(j.Weight)
		}
		e.jobs = append(e.jobs, &exactJob{
			index: i, arrival: rat(j.Arrival), size: rat(j.Map), work: rat(j.Shuffle), x: rat(j.Map), y: rat(j.Shuffle), weight: weight,
		})
	}
	return e
}

func runExact(p Discipline, jobs []Demand) []float64 {
	out := make([]float64, len(jobs))
	for i, finish := range exactFinishes(p, jobs) {
		out[i], _ = finish.Float64()
	}
	return out
}

// released is the rate at which map work sets shuffle work free.
func (j *exactJob) released() *big.Rat {
	if j.size.Sign() == 0 {
		return zero
	}
	return quo(mul(j.mapRate, j.work), j.size)
}

func (j *exactJob) backlog() *big.Rat {
	if j.x.Sign() == 0 {
		return j.y
	}
	return sub(j.y, quo(mul(j.work, j.x), j.size))
}

// step goes to the next event, and says whether there was one.
func (e *exact) step() bool {
	var present []*exactJob
	var dt *big.Rat
	for _, j := range e.jobs {
		switch {
		case j.arrival.Cmp(e.clock) > 0:
			dt = lesser(dt, sub(j.arrival, e.clock))
		case j.finish == nil && j.x.Sign() == 0 && j.y.Sign() == 0:
			j.finish = e.clock
		case j.finish == nil:
			j.mapRate, j.take = zero, zero
			present = append(present, j)
		}
	}
	e.fills.catches = nil
	e.rates(present)
	for _, j := range present {
		if j.mapRate.Sign() > 0 {
			dt = lesser(dt, quo(j.x, j.mapRate))
		}
		if falls := sub(j.take, j.released()); falls.Sign() > 0 && j.backlog().Sign() > 0 {
			dt = lesser(dt, quo(j.backlog(), falls))
		}
	}
	dt = lesser(dt, e.fills.catches)
	if dt == nil {
		return false
	}
	for _, j := range present {
		j.x, j.y = sub(j.x, mul(j.mapRate, dt)), sub(j.y, mul(j.take, dt))
	}
	e.clock = add(e.clock, dt)
	return true
}

func (e *exact) rates(present []*exactJob) {
	if len(present) == 0 {
		return
	}
	switch e.policy.Kind {
	case FCFS:
		exactMap(present, one)
		exactShuffle(present, one)
	case MaxSRPT:
		slices.SortStableFunc(present, func(a, b *exactJob) int { return larger(a.x, a.y).Cmp(larger(b.x, b.y)) })
		exactMap(present, one)
		if e.policy.Literal {
			present = present[:1]
		}
		exactShuffle(present, one)
	case SplitSRPT:
		e.split(present)
	case KLPS, WPS:
		e.sharing(present)
	case FillSRPT:
		e.fill(present)
	}
}

func exactMap(jobs []*exactJob, rate *big.Rat) (used *big.Rat) {
	for _, j := range jobs {
		if j.x.Sign() > 0 {
			j.mapRate = add(j.mapRate, rate)
			return rate
		}
	}
	return zero
}

func exactShuffle(jobs []*exactJob, rate *big.Rat) (used *big.Rat) {
	left := rate
	for _, j := range jobs {
		j.take = left
		if j.backlog().Sign() == 0 {
			j.take = lesser(left, j.released())
		}
		left = sub(left, j.take)
	}
	return sub(rate, left)
}

func (e *exact) split(present []*exactJob) {
	var beta *big.Rat
	var s1, s2 []*exactJob
	for _, j := range present {
		if j.size.Sign() > 0 && j.work.Sign() > 0 {
			beta = lesser(beta, larger(quo(j.size, j.work), quo(j.work, j.size)))
		}
		if j.size.Cmp(j.work) >= 0 {
			s1 = append(s1, j)
		} else {
			s2 = append(s2, j)
		}
	}
	mu1 := zero
	if beta != nil {
		mu1 = quo(one, add(one, beta))
	}
	mu2 := sub(one, mu1)
	slices.SortStableFunc(s1, func(a, b *exactJob) int { return cmp.Or(a.x.Cmp(b.x), a.y.Cmp(b.y)) })
	slices.SortStableFunc(s2, func(a, b *exactJob) int { return a.y.Cmp(b.y) })
	used1, used2 := exactMap(s1, mu2), exactMap(s2, mu1)
	if !e.policy.Literal {
		if used1.Sign() == 0 {
			exactMap(s2, mu2)
		}
		if used2.Sign() == 0 {
			exactMap(s1, mu1)
		}
	}
	used1, used2 = exactShuffle(s1, mu1), exactShuffle(s2, mu2)
	if !e.policy.Literal {
		exactShuffle(s1, sub(one, used2))
		exactShuffle(s2, sub(one, used1))
	}
}

func (e *exact) sharing(present []*exactJob) {
	total, weights := zero, zero
	var mapped []*exactJob
	for _, j := range present {
		weights = add(weights, j.weight)
		if j.x.Sign() > 0 && (e.policy.Kind == WPS || len(mapped) < e.policy.K) {
			mapped, total = append(mapped, j), add(total, j.weight)
		}
	}
	for _, j := range mapped {
		j.mapRate = quo(j.weight, total)
	}
	// Fill water: the least want per weight first; who has a backlog wants all.
	want := func(j *exactJob) *big.Rat {
		if j.backlog().Sign() > 0 {
			return nil
		}
		return quo(j.released(), j.weight)
	}
	slices.SortStableFunc(present, func(a, b *exactJob) int {
		switch wa, wb := want(a), want(b); {
		case wa == nil && wb == nil:
			return 0
		case wa == nil:
			return 1
		case wb == nil:
			return -1
		default:
			return wa.Cmp(wb)
		}
	})
	left := one
	for _, j := range present {
		j.take = quo(mul(j.weight, left), weights)
		if j.backlog().Sign() == 0 {
			j.take = lesser(j.take, j.released())
		}
		left, weights = sub(left, j.take), sub(weights, j.weight)
	}
}

// Jobs of few sizes, multiples of 1/64, tie all the time. Who goes first then is the rule's to say, whatever has been
// rounded before. Sizes of more bits are not tried here: keys have 36.
func TestExact(t *testing.T) {
	for _, spec := range battery {
		p := mustParse(t, spec)
		t.Run(spec, rapid.MakeCheck(func(t *rapid.T) {
			jobs := dyadic(t)
			within := 1e-9
			if p.Kind == WPS { // a virtual time for weights of 1 to a million
				within = 1e-7
			}
			compare(t, jobs, completions(p, jobs), runExact(p, jobs), within)
		}))
	}
}

// What a rounded sum is off by grows with the clock, and with the jobs that a large one waits for.
func TestExactOnLongStreams(t *testing.T) {
	for _, spec := range []string{"fcfs", "maxsrpt", "maxsrpt:conserving=false"} {
		p := mustParse(t, spec)
		for seed := range uint64(5) {
			random := rand.New(rand.NewPCG(seed, 1))
			jobs, clock := make([]Demand, 150), float64(1<<20)
			for i := range jobs {
				clock += float64(random.IntN(8)) / 4
				jobs[i] = Demand{Arrival: clock, Map: float64(random.IntN(12)) / 4, Shuffle: float64(random.IntN(4)) / 4}
				if random.IntN(8) == 0 {
					jobs[i].Map = float64(8 + random.IntN(8))
				}
			}
			got, want := completions(p, jobs), runExact(p, jobs)
			for i := range jobs {
				if diff := got[i] - want[i]; diff > 1e-6 || diff < -1e-6 {
					t.Fatalf("%s, seed %d: job %d, %v: got %v, want %v", spec, seed, i, jobs[i], got[i], want[i])
				}
			}
		}
	}
}
