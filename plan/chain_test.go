package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// One task of exponential duration per stage: the sum is Erlang's.
func TestChainErlang(t *testing.T) {
	stage := Work{Tasks: 1, Law: laws.Exponential{Mu: 1}, Deadline: 12}
	sum, term := 0.0, 1.0
	for k := 1; k <= 4; k++ {
		got, within, err := ChainPoCD([]Work{stage, stage, stage, stage}[:k], make([]int, k))
		if err != nil {
			t.Fatal(err)
		}
		sum += term
		term *= 12 / float64(k)
		want := math.Exp(-12) * sum // P(the sum of k stages > 12)
		if miss := 1 - got; math.Abs(miss-want) > within+1e-15 || math.Abs(miss-want) > 1e-4*want+1e-12 {
			t.Errorf("%d stages miss with %g ± %g, want %g", k, miss, within, want)
		}
	}
}

// Isolated jobs of up to three stages, the first running.
func TestChainAgainstSimulation(t *testing.T) {
	pareto := laws.Pareto{Alpha: 1.5, Xm: 120}
	for i, c := range []struct {
		stages []Work
		clones []int
	}{
		{[]Work{{Tasks: 10, Law: pareto, Deadline: 800}, {Tasks: 3, Law: pareto}}, []int{2, 1}},
		{[]Work{{Tasks: 10, Law: pareto, Deadline: 900, Elapsed: 100, Progress: 0.5, Launch: 5}, {Tasks: 3, Law: laws.Uniform{Lo: 50, Hi: 200}},
			{Tasks: 1, Law: laws.Lognormal{Mu: 4, Sigma: 1}}}, []int{1, 0, 1}},
	} {
		const jobs = 100_000
		rng := rand.New(rand.NewPCG(5, uint64(i)))
		met := 0
		for range jobs {
			end := isolated(c.stages[0], c.clones[0], rng)
			for s, w := range c.stages[1:] {
				end += isolated(w, c.clones[s+1], rng)
			}
			if end <= c.stages[0].Deadline {
				met++
			}
		}
		got, within, err := ChainPoCD(c.stages, c.clones)
		if want := float64(met) / jobs; err != nil || math.Abs(got-want) > 0.01 || !(within < 0.005) {
			t.Errorf("case %d: PoCD %.4f ± %.4f, simulated %.4f, error %v", i, got, within, want, err)
		}
	}
}

func TestChainAtTheEnds(t *testing.T) {
	w := Work{Tasks: 10, Law: laws.Pareto{Alpha: 1.5, Xm: 120}, Deadline: 500}
	if got, within, err := ChainPoCD([]Work{w}, []int{1}); got != w.PoCD(1) || within != 0 || err != nil {
		t.Errorf("one stage: %g ± %g, %v, want %g", got, within, err, w.PoCD(1))
	}
	late := w
	late.Elapsed = 500
	if got, _, err := ChainPoCD([]Work{late, w}, []int{1, 1}); got != 0 || err != nil {
		t.Errorf("no time left: %g, %v", got, err)
	}
	// 2·120 s is more than there is: both bounds are 0.
	short := w
	short.Deadline = 230
	if got, within, err := ChainPoCD([]Work{short, w}, []int{4, 4}); math.Abs(got) > 1e-14 || within != 0 || err != nil {
		t.Errorf("too short for two stages: %g ± %g, %v", got, within, err)
	}
	// Atoms: 100 s and 100 s are within 201 s for sure.
	sure := Work{Tasks: 7, Law: laws.Deterministic{Value: 100}, Deadline: 201}
	if got, within, err := ChainPoCD([]Work{sure, sure}, []int{0, 0}); math.Abs(got-1) > within || within > 1e-12 || err != nil {
		t.Errorf("deterministic stages: %g ± %g, %v", got, within, err)
	}
	if _, _, err := ChainPoCD(nil, nil); err == nil {
		t.Error("no stages: no error")
	}
}

// What 100 stages cannot make is no less likely than impossible: rounding left a bound above 1, and a chance below 0. As
// it is not impossible, its interval is no single point either.
func TestChainThatIsTooLong(t *testing.T) {
	law, err := laws.Parse("lognormal:mean=40,sd=30")
	if err != nil {
		t.Fatal(err)
	}
	stage := Work{Tasks: 200, Law: law, Deadline: 10_000}
	works, phases := make([]Work, 100), make([]Phase, 100)
	for i := range works {
		works[i], phases[i] = stage, Phase{Tasks: 200, Law: stage.Law}
		if i > 0 {
			phases[i].After = []int{i - 1}
		}
	}
	if got, within, err := ChainPoCD(works, make([]int, 100)); !(got >= 0 && got < 1e-9) || within < 0 || err != nil {
		t.Errorf("%g ± %g, %v", got, within, err)
	}
	w := Work{Tasks: 20_000, Stages: phases, Deadline: 10_000}
	if c := w.Waves(0, 200, 0); !(c.P >= 0 && c.P < 1e-9) || c.Low != 0 || !(c.High > c.P && c.High < 1e-9) {
		t.Errorf("%+v", c)
	}
}

func BenchmarkChain(b *testing.B) {
	w := Work{Tasks: 10, Law: laws.Pareto{Alpha: 1.5, Xm: 120}, Deadline: 800}
	for b.Loop() {
		if p, _, err := ChainPoCD([]Work{w, w}, []int{1, 1}); err != nil || !(p > 0) {
			b.Fatal(p, err)
		}
	}
}
