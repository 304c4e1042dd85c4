package reproduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
)

// Theorems 3 and 5: with a little more speed each SRPT is as good as the best of all schedules. The best is not known,
// so a policy at the theorem's speed is compared with a lower bound on it, which proves the theorem for that instance,
// and with the best schedule known, which could refute it.

// speedTheorem is one of the two.
type speedTheorem struct {
	name, speed string
	policy      overlap.Discipline
	of          func(jobs []overlap.Demand) float64
}

var speedTheorems = [...]speedTheorem{
	{"Theorem 3", "2α/(1+α)", maxSRPT, func(jobs []overlap.Demand) float64 {
		alpha := 1.0
		for _, j := range jobs {
			alpha = max(alpha, imbalanceOf(j))
		}
		return 2 / (1 + 1/alpha)
	}},
	{"Theorem 5", "1+1/β", split, func(jobs []overlap.Demand) float64 {
		beta := math.Inf(1)
		for _, j := range jobs {
			beta = min(beta, imbalanceOf(j))
		}
		return 1 + 1/beta
	}},
}

func imbalanceOf(j overlap.Demand) float64 { return max(j.Map/j.Shuffle, j.Shuffle/j.Map) }

// speedFamily is a family of random instances.
type speedFamily struct {
	name string
	n    int
	draw func(r *rand.Rand) []overlap.Demand
}

func speedFamilies() []speedFamily {
	stream := func(n int, imbalance func(r *rand.Rand) float64, gap float64) func(r *rand.Rand) []overlap.Demand {
		return func(r *rand.Rand) []overlap.Demand {
			jobs, clock := make([]overlap.Demand, n), 0.0
			for i := range jobs {
				clock += gap * r.ExpFloat64()
				x := math.Exp(r.NormFloat64())
				jobs[i] = overlap.Demand{Arrival: clock, Map: x, Shuffle: x * math.Pow(imbalance(r), float64(1-2*r.IntN(2)))}
			}
			return jobs
		}
	}
	near := func(r *rand.Rand) float64 { return 1 + 0.2*r.Float64() }
	far := func(r *rand.Rand) float64 { return 5 + 5*r.Float64() }
	any := func(r *rand.Rand) float64 { return math.Exp(2 * r.Float64()) }
	return []speedFamily{
		{"batches of 5, any ratios", 300, stream(5, any, 0)},
		{"streams of 50, ratios up to 1.2", 100, stream(50, near, 1.7)},
		{"streams of 50, ratios of 5 to 10", 100, stream(50, far, 5)},
		{"streams of 50, any ratios", 100, stream(50, any, 2.5)},
		{"streams of 200, Section 5.3 at load 0.9", 50, func(r *rand.Rand) []overlap.Demand { return slices.Collect(overlap.Synthetic(200, 0.9, r.Uint64())) }},
	}
}

// speedSection judges both theorems on all families.
func speedSection(seed uint64, quick bool) report.Section {
	s := report.Section{
		Title: "Theorems 3 and 5: resource augmentation",
		Text: []string{"MaxSRPT at speed 2α/(1+α), α the largest of all ratios of a job's sizes, and SplitSRPT at speed 1+1/β, β the least, are at least as good as the best " +
			"schedule at speed 1. An instance is proven if the policy's total at this speed is no more than the tight lower bound at speed 1, refuted if it is " +
			"more than the best schedule known: that of any policy here, and in batches of any order. Between the two nothing is decided."},
	}
	table := report.Table{Name: "speeds", Columns: []string{"theorem", "instances", "number", "mean speed", "proven", "refuted", "total at that speed over the bound", "at speed 1", "best known over bound"}}
	for _, t := range speedTheorems {
		refuted, proven, all := 0, 0, 0
		for f, family := range speedFamilies() {
			if quick {
				family.n /= 5
			}
			var sums [4]float64
			bad, good := 0, 0
			for i := range family.n {
				jobs := family.draw(rand.New(rand.NewPCG(seed, uint64(f)<<32|uint64(i))))
				speed := t.of(jobs)
				fast := totalFlow(t.policy, speeded(jobs, speed))
				bound, best := tightBound(jobs)*float64(len(jobs)), bestKnown(jobs)
				if fast <= bound*(1+1e-9) {
					good++
				}
				if fast > best*(1+1e-9) {
					bad++
				}
				for k, v := range []float64{speed, fast / bound, totalFlow(t.policy, jobs) / bound, best / bound} {
					sums[k] += v / float64(family.n)
				}
			}
			table.Add(t.name, family.name, family.n, sums[0], good, bad, sums[1], sums[2], sums[3])
			refuted, proven, all = refuted+bad, proven+good, all+family.n
		}
		s.Claims = append(s.Claims, report.Check(refuted == 0 && proven == all,
			fmt.Sprintf("%s: %v at speed %s is as good as the best schedule at speed 1; random instances where that is proven", t.name, t.policy.Kind, t.speed),
			"all", fmt.Sprintf("%d of %d, %d refuted", proven, all, refuted)))
	}
	s.Tables = []report.Table{table}
	return s
}

// speeded is what jobs are to stations of a speed. Each station's work shrinks; arrivals stay.
func speeded(jobs []overlap.Demand, speed float64) []overlap.Demand {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		jobs[i].Map /= speed
		jobs[i].Shuffle /= speed
	}
	return jobs
}

// bestKnown is the least total response time of all policies here, and of all orders of a small batch.
func bestKnown(jobs []overlap.Demand) float64 {
	best := math.Inf(1)
	for _, p := range theorem2Against {
		best = min(best, totalFlow(p, jobs))
	}
	if n := len(jobs); n <= 6 && jobs[n-1].Arrival == jobs[0].Arrival {
		best = min(best, bestOrder(jobs, n))
	}
	return best
}
