package plan

import (
	"math"
	"slices"
	"testing"
)

// enumerate returns E[T] and E[C] of a policy of n tasks drawn from the samples, by going over every outcome: every choice
// of n originals, and every choice of every attempt of every straggler, all as likely. Its fork and its costs are
// the definition's and share nothing with the package but the policy. The samples are to be multiples of 1/8: then the sums are
// exact, and only the division rounds.
func enumerate(samples []float64, n int, p Policy) (latency, cost float64) {
	k := n - p.Stragglers
	outcomes := 0.0
	originals := make([]float64, n)
	each(len(samples), n, func(choice []int) {
		for i, c := range choice {
			originals[i] = samples[c]
		}
		sorted := slices.Sorted(slices.Values(originals))
		fork := 0.0
		if k > 0 {
			fork = sorted[k-1]
		}
		var running []float64 // what is left of the originals at the fork
		spent := 0.0
		for _, x := range originals {
			if k > 0 && x <= fork {
				spent += x
			} else {
				running = append(running, x-fork)
				spent += fork
			}
		}
		t, c := after(samples, running, p, fork)
		latency += t
		cost += c + spent
		outcomes++
	})
	return latency / outcomes, cost / outcomes / float64(n)
}

// after returns the means of latency and of the machine time after the fork, over every choice of the clones.
func after(samples, running []float64, p Policy, fork float64) (latency, cost float64) {
	fresh := p.Clones
	if p.Original == Kill {
		fresh++
	}
	count := 0.0
	each(len(samples), fresh*len(running), func(choice []int) {
		worst := 0.0
		for i, rest := range running {
			if p.Original == Kill {
				rest = math.Inf(1)
			}
			for _, c := range choice[i*fresh : (i+1)*fresh] {
				rest = min(rest, samples[c])
			}
			worst = max(worst, rest)
			cost += float64(p.Clones+1) * rest
		}
		latency += fork + worst
		count++
	})
	return latency / count, cost / count
}

// each goes over all base^digits numbers.
func each(base, digits int, visit func([]int)) {
	choice := make([]int, digits)
	for {
		visit(choice)
		i := 0
		for ; i < digits; i++ {
			if choice[i]++; choice[i] < base {
				break
			}
			choice[i] = 0
		}
		if i == digits {
			return
		}
	}
}

// Exact resampling, errata section 2 rule B, against every resample and copy.
func TestExactAgainstEnumeration(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []float64
		tasks   int
		clones  int
	}{
		{"distinct", []float64{1, 2.5, 4}, 3, 2},
		{"ties", []float64{1, 3, 3, 7}, 3, 1},
		{"a straggler", []float64{1, 1.25, 50}, 3, 2},
		{"a zero", []float64{0, 2, 5}, 3, 1},
		{"more tasks than samples", []float64{1, 6}, 4, 2},
		{"fewer tasks than samples", []float64{1, 2, 4, 8, 16}, 2, 2},
		{"one task", []float64{1, 2, 9}, 1, 3},
		{"constant", []float64{4, 4}, 3, 2},
	} {
		l := sample(t, c.samples...)
		e, err := NewExact(l, c.tasks)
		if err != nil {
			t.Fatal(err)
		}
		g := e.Grid(c.clones)
		for p := range allPolicies(c.tasks, c.clones) {
			latency, cost := enumerate(c.samples, c.tasks, p)
			for name, by := range map[string]Evaluator{"single": e, "grid": g} {
				got, err := by.Evaluate(p)
				if err != nil {
					t.Fatal(err)
				}
				if !near(got.Latency, latency, 1e-12) || !near(got.Cost, cost, 1e-12) {
					t.Errorf("%s %s %+v: %v, %v; enumeration gives %v, %v", c.name, name, p, got.Latency, got.Cost, latency, cost)
				}
			}
		}
	}
}

// allPolicies lists every policy, also those that say the same.
func allPolicies(tasks, clones int) func(func(Policy) bool) {
	return func(yield func(Policy) bool) {
		for s := 0; s <= tasks; s++ {
			for r := 0; r <= clones; r++ {
				if !yield(Policy{s, r, Keep}) || !yield(Policy{s, r, Kill}) {
					return
				}
			}
		}
	}
}

// near says whether two figures agree to a relative difference.
func near(x, y, relative float64) bool {
	return x == y || math.Abs(x-y) <= relative*math.Max(math.Abs(x), math.Abs(y))
}
