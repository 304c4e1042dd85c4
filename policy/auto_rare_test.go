package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// TestAutoRareReports: one attempt in twenty hangs for twenty times as long, and reports are as rare as tasks are long. Silence
// is noticed after four reports that do not come, which is far too late here. Slots are idle.
func TestAutoRareReports(t *testing.T) {
	t.Parallel()
	progress, err := sim.ParseProgress("hang:p=0.05,lasts=200s,interval=10s")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tasks, law string
		most       float64 // mean flow time by that of srew:slot=0s
	}{
		"jobs of eight": {"8", "lognormal:mean=10,sd=3", 1.03},
		"single tasks":  {"1", "lognormal:mean=10,sd=3", 1.1},
	} {
		w := untold(t, "synth:jobs=400;tasks="+c.tasks+";law="+c.law+";arrivals=poisson:rate=0.1")
		flow := map[string]float64{}
		for _, spec := range []string{"auto", "srew:slot=0s"} {
			for run := range 3 {
				res := resultOf(t, w, spec, sim.Options{Machines: 40, Slots: 1, Limits: sched.DefaultLimits(), Model: sim.StatedLaw, Seed: uint64(run), Progress: progress})
				for j := range res.Jobs {
					flow[spec] += (res.Jobs[j].Completion - res.Jobs[j].Arrival).Seconds() / float64(3*len(res.Jobs))
				}
			}
		}
		t.Logf("%s: %v", name, flow)
		if flow["auto"] > c.most*flow["srew:slot=0s"] {
			t.Errorf("%s: mean flow time %.1f s, of srew:slot=0s %.1f", name, flow["auto"], flow["srew:slot=0s"])
		}
	}
}

// TestAfter compares with the mean of what exceeds a time; where nothing does, what is left grows with the time.
func TestAfter(t *testing.T) {
	r := rand.New(rand.NewPCG(118, 1))
	for range 200 {
		law := drawLeft(r)
		since := 12 * r.Float64()
		sum, mass := 0.0, 0.0
		for i, x := range law.x {
			if x > since {
				sum += law.w[i] * (x - since)
				mass += law.w[i]
			}
		}
		law.after(since)
		total := 0.0
		for _, w := range law.w {
			total += w
		}
		switch {
		case math.Abs(total-1) > 1e-9 || !slices.IsSorted(law.x):
			t.Fatalf("%+v is no law", law)
		case mass > 0 && math.Abs(law.mean()-sum/mass) > 1e-9:
			t.Fatalf("after %v: mean %v, want %v", since, law.mean(), sum/mass)
		case mass == 0 && (law.mean() < since/2 || law.mean() > 2*since):
			t.Fatalf("nothing exceeds %v: mean %v", since, law.mean())
		}
	}
	law := timeLeft{x: []float64{3}, w: []float64{1}}
	if law.after(0); law.mean() != 3 {
		t.Errorf("at once: %v", law.mean())
	}
}

// TestUnlike compares with all pairs.
func TestUnlike(t *testing.T) {
	r := rand.New(rand.NewPCG(118, 2))
	for range 100 {
		s := drawSample(r, func() float64 { return 1 + 0.2*r.Float64() })
		n, less := len(s.sorted), 0
		for _, x := range s.sorted {
			for _, y := range s.sorted {
				if y < (1-hair)*x {
					less++
				}
			}
		}
		if got, want := s.unlike(), float64(less)/float64(n*(n-1)); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v: %v, want %v", s.sorted, got, want)
		}
	}
}

// TestRaces: clones of which nothing is known show whether they draw durations of their own, whatever the law.
func TestRaces(t *testing.T) {
	const worlds = 20
	for name, law := range map[string]func(r *rand.Rand) float64{
		"exponential":      (*rand.Rand).ExpFloat64,
		"one in ten hangs": func(r *rand.Rand) float64 { return 1 + 9*math.Floor(r.Float64()+0.1) },
		"light":            func(r *rand.Rand) float64 { return math.Exp(0.3 * r.NormFloat64()) },
	} {
		for _, redrawn := range []bool{true, false} {
			mean := 0.0
			for seed := range uint64(worlds) {
				mean += chanceAfterRaces(rand.New(rand.NewPCG(118, seed)), law, redrawn) / worlds
			}
			if redrawn && mean < 0.6 || !redrawn && mean >= fewWins {
				t.Errorf("%s, drawn anew %v: chance %.2f", name, redrawn, mean)
			}
		}
	}
}

// chanceAfterRaces returns how likely it seems that clones draw new durations, after 300 races in stages of six tasks.
func chanceAfterRaces(r *rand.Rand, law func(*rand.Rand) float64, redrawn bool) float64 {
	var u unknown
	for range 300 {
		var stage sample
		stage.reset()
		for range 6 {
			d := law(r)
			stage.add(d)
			u.learns(d)
		}
		u.ends(&stage)
		attempts := 2 + r.IntN(3)
		later := 0.1 * r.Float64()
		own, clone := law(r), math.Inf(1)
		for range attempts - 1 {
			if redrawn {
				clone = min(clone, later+law(r))
			}
		}
		u.race(attempts, later, clone < own)
	}
	return u.chance()
}
