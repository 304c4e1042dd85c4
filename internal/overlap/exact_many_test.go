package overlap

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// Policies against rational arithmetic, instance by instance: which job is done first, second and so on is exactly the same, jobs that are done together in
// any order; and each is done when it must be. A completion is a rational number such as 1/3 of a second, which no float64 is equal to; so the time is to be
// within a few units in the last place of the float64 nearest to it.
func exactInstances(t *testing.T, n int) {
	for _, spec := range battery {
		p := mustParse(t, spec)
		within := 8.0 // units in the last place of the latest completion
		if p.Kind == WPS {
			within = 1e6 // weights differ a million times
		}
		t.Run(spec, func(t *testing.T) {
			nearest, total, ties, most := 0, 0, 0, 0.0
			for seed := range uint64(n) {
				jobs := tiedInstance(seed)
				want := exactFinishes(p, jobs)
				var order []int64
				got := make([]float64, len(jobs))
				Run(p, slices.Values(jobs), func(c Completion) {
					order = append(order, c.Index)
					got[c.Index] = c.Time
				})
				latest := 0.0
				for i := range want {
					f, _ := want[i].Float64()
					latest = max(latest, f)
				}
				for i := range want {
					f, _ := want[i].Float64()
					off := math.Abs(got[i]-f) / (math.Nextafter(latest, math.Inf(1)) - latest)
					most = max(most, off)
					total++
					if got[i] == f {
						nearest++
					}
					if !(off <= within) {
						t.Fatalf("seed %d: job %d of %v:\n got %v\nwant %v", seed, i, jobs, got, want)
					}
				}
				for i := range order[1:] {
					a, b := want[order[i]], want[order[i+1]]
					if c := a.Cmp(b); c > 0 {
						t.Fatalf("seed %d: %v: job %d is done before %d, at %v and %v", seed, jobs, order[i], order[i+1], a, b)
					} else if c == 0 {
						ties++
					}
				}
			}
			t.Logf("%d instances, %d completions, %d of them together with another; %.1f %% are the nearest float64, the others at most %.3g units off",
				n, total, ties, 100*float64(nearest)/float64(total), most)
			if ties == 0 {
				t.Error("no two jobs were done together")
			}
		})
	}
}

// exactFinishes are the completions as rational numbers.
func exactFinishes(p Discipline, jobs []Demand) []*big.Rat {
	e := newExact(p, jobs)
	for e.step() {
	}
	out := make([]*big.Rat, len(jobs))
	for i, j := range e.jobs {
		out[i] = j.finish
	}
	return out
}

// tiedInstance draws jobs of few sizes, multiples of 1/64, and few times.
func tiedInstance(seed uint64) []Demand {
	random := rand.New(rand.NewPCG(seed, 22))
	pick := func(of ...float64) float64 { return of[random.IntN(len(of))] }
	jobs := make([]Demand, 2+random.IntN(8))
	clock := 0.0
	for i := range jobs {
		clock += pick(0, 0, 0, 0.25, 0.5, 1, 1, 1.5, 2, 4)
		jobs[i] = Demand{
			Arrival: clock, Map: pick(0, 0.125, 0.25, 0.5, 0.75, 1, 1, 1.5, 2, 3, 4, 7, 1.0/64), Shuffle: pick(0, 0.125, 0.25, 0.5, 0.75, 1, 1, 1.5, 2, 3, 4, 7, 1.0/64),
			Weight: pick(0, 0, 0.001, 0.5, 1, 2, 3, 8, 1000),
		}
	}
	return jobs
}

func TestExactInstances(t *testing.T) { exactInstances(t, 200) }
