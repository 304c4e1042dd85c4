package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// Worked by hand. Durations are 1, 2 or 10 with the same probability. At 3 s one task runs, so it has 7 s to go; at age
// 1 another has 1 or 9 s.
func TestUnderwayByHand(t *testing.T) {
	law, err := laws.NewEmpirical([]float64{1, 2, 10})
	if err != nil {
		t.Fatal(err)
	}
	check := func(running []Running, want map[Policy]Outcome) {
		t.Helper()
		got, err := Underway(law, running, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range got {
			if w, ok := want[c.Policy]; ok && (math.Abs(c.Latency-w.Latency) > 1e-12 || math.Abs(c.Cost-w.Cost) > 1e-12) {
				t.Errorf("%+v: %v, want %v", c.Policy, c.Outcome, w)
			}
		}
	}
	check([]Running{{[]float64{3}, 1}}, map[Policy]Outcome{
		{}:           {Latency: 7, Cost: 7},
		{1, 1, Keep}: {Latency: (1 + 2 + 7) / 3., Cost: 2 * (1 + 2 + 7) / 3.},
		{1, 0, Kill}: {Latency: 13 / 3., Cost: 13 / 3.},
		{1, 1, Kill}: {Latency: (5*1. + 3*2 + 10) / 9, Cost: 2 * (5*1. + 3*2 + 10) / 9},
	})
	check([]Running{{[]float64{3}, 1}, {[]float64{1}, 1}}, map[Policy]Outcome{
		{}: {Latency: (7 + 9) / 2., Cost: (7 + 5) / 2.},
	})
	check([]Running{{[]float64{3}, 1}, {[]float64{10}, 4}}, map[Policy]Outcome{ // older than any: done
		{}: {Latency: 7, Cost: 7. / 5},
	})
}

// What is played from the same state agrees, ages of all kinds included.
func TestUnderwayPlayed(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 1))
	values := make([]float64, 40)
	for i := range values {
		values[i] = math.Exp(dice.NormFloat64())
	}
	law, err := laws.NewEmpirical(values)
	if err != nil {
		t.Fatal(err)
	}
	running := []Running{{[]float64{0}, 2}, {[]float64{0.5, 0.1}, 3}, {[]float64{1.5}, 2}}
	choices, err := Underway(law, running, 2)
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 20_000
	for _, c := range choices {
		var latency, cost tally
		for range rounds {
			longest, sum := 0.0, 0.0
			for _, x := range running {
				for range x.Tasks {
					rest, fresh, attempts := math.Inf(1), c.Clones, c.Clones
					if c.Original == Keep {
						for _, age := range x.Ages {
							rest = min(rest, law.InvSurvival(law.Survival(age)*(1-dice.Float64()))-age)
						}
						attempts += len(x.Ages)
					} else {
						fresh++
						attempts++
					}
					for range fresh {
						rest = min(rest, law.InvSurvival(1-dice.Float64()))
					}
					longest = max(longest, rest)
					sum += rest * float64(attempts)
				}
			}
			latency.add(longest)
			cost.add(sum / 7)
		}
		if math.Abs(latency.mean-c.Latency) > 5*latency.standardError() || math.Abs(cost.mean-c.Cost) > 5*cost.standardError() {
			t.Errorf("%+v: played %.4f ± %.4f, %.4f ± %.4f", c, latency.mean, latency.standardError(), cost.mean, cost.standardError())
		}
	}
}

// The ages being what [Exact] averages over, the figures agree: of a two-point law every fork with stragglers left is at
// the smaller value.
func TestUnderwayExact(t *testing.T) {
	law, err := laws.NewEmpiricalCounts([]float64{1, 9}, []int{3, 1})
	if err != nil {
		t.Fatal(err)
	}
	const n = 6
	exact, err := NewExact(law, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Policy{{1, 1, Keep}, {1, 2, Kill}} {
		// s = 1: it forks at 1 s with one unfinished, or if more are unfinished at 9 s, when all is over, or none is
		want, err := exact.Evaluate(p)
		if err != nil {
			t.Fatal(err)
		}
		var got Outcome
		for left := range n + 1 {
			q := binomialMass(n, left, 0.25)
			switch left {
			case 0:
				got.Latency += q
				got.Cost += q
			case 1:
				all, err := Underway(law, []Running{{[]float64{1}, 1}}, p.Clones)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range all {
					if c.Clones == p.Clones && c.Original == p.Original && c.Stragglers == 1 {
						got.Latency += q * (1 + c.Latency)
						got.Cost += q * (1 + c.Cost/n)
					}
				}
			default:
				got.Latency += q * 9
				got.Cost += q * float64((n-left)+9*left) / n
			}
		}
		if math.Abs(got.Latency-want.Latency) > 1e-9 || math.Abs(got.Cost-want.Cost) > 1e-9 {
			t.Errorf("%+v: %v, exactly %v", p, got, want)
		}
	}
}

func binomialMass(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a-b-c) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
}

func TestUnderwayErrors(t *testing.T) {
	law, err := laws.Parse("exp:mean=1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Underway(law, []Running{{[]float64{1}, 1}}, 1); err == nil {
		t.Error("a law without atoms is accepted")
	}
}
