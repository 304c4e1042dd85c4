package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
)

// waveLaws are of all kinds: constant, with atoms, light and heavy tails. Their means are between 15 and 25 s.
func waveLaws(t *testing.T) []laws.Law {
	sample, err := laws.NewEmpirical([]float64{10, 12, 12, 15, 20, 40})
	if err != nil {
		t.Fatal(err)
	}
	return []laws.Law{
		laws.Deterministic{Value: 17}, sample, laws.Uniform{Lo: 10, Hi: 30}, laws.Lognormal{Mu: 2.8, Sigma: 0.5},
		laws.Pareto{Xm: 8, Alpha: 1.5}, laws.Pareto{Xm: 12, Alpha: 2.5}, laws.Exponential{Mu: 0.05}, laws.Gamma{Shape: 4, Scale: 5},
	}
}

// A thousand tasks of 17 s on a hundred slots are done after ten times that, on five after an hour less 200 s.
func TestWavesOfConstantTasks(t *testing.T) {
	w := Work{Tasks: 1000, Law: laws.Deterministic{Value: 17}, Deadline: 3600}
	for g, want := range map[int]float64{100: 1, 5: 1, 4: 0} {
		if c := w.Waves(0, g, 0); c != exactly(want) {
			t.Errorf("%d at once: %+v, want exactly %g", g, c, want)
		}
	}
	w.Deadline = 170
	if c := w.Waves(2, 100, 0); c != exactly(1) {
		t.Errorf("ten waves of 17 s in 170 s: %+v", c)
	}
	w.Deadline, w.Elapsed, w.Progress = 160, 75, 0.5
	if c := w.Waves(0, 100, 0); c != exactly(1) {
		t.Errorf("ten waves of half of 17 s in 85 s: %+v", c)
	}
}

// One after the other, exponential tasks take the time of a Gamma law; all but one at once, and many, agree with what is played.
func TestExponentialWaves(t *testing.T) {
	for _, c := range []struct{ n, g, left float64 }{{30, 1, 500}, {30, 1, 900}, {400, 1, 9000}} {
		want := laws.Gamma{Shape: c.n, Scale: 20}.CDF(c.left)
		if got := exponentialWaves(0.05, int(c.n), int(c.g), c.left); !near(got, want, 1e-9) {
			t.Errorf("%+v: %g, want %g", c, got, want)
		}
	}
	for _, c := range []struct {
		n, g int
		left float64
	}{{20, 19, 80}, {100, 30, 130}, {300, 10, 620}, {7, 2, 70}} {
		w := Work{Tasks: c.n, Law: laws.Exponential{Mu: 0.05}, Deadline: c.left}
		got, seen := w.Waves(0, c.g, 0), w.shift(0).play(c.g, 1000)
		if got.Low != got.High || got.P < seen.Low-0.01 || got.P > seen.High+0.01 {
			t.Errorf("%+v: exactly %.4f, played %+v", c, got.P, seen)
		}
	}
}

// slowList is list scheduling without a heap.
func slowList(lasts []float64, g int) float64 {
	free := make([]float64, g)
	for _, y := range lasts {
		first := 0
		for i := range free {
			if free[i] < free[first] {
				first = i
			}
		}
		free[first] += y
	}
	return slices.Max(free)
}

// What is played is list scheduling; the fewest tasks at once are what trying each number finds, and Graham's bounds hold.
func TestWavePlay(t *testing.T) {
	all := waveLaws(t)
	rapid.Check(t, func(t *rapid.T) {
		s := shift{tasks: rapid.IntRange(1, 40).Draw(t, "tasks"), law: rapid.SampledFrom(all).Draw(t, "law")}
		s.left = nanoseconds(rapid.Float64Range(5, 500).Draw(t, "left"))
		var p wavePlay
		p.draw(s, 3, rapid.IntRange(0, 1000).Draw(t, "number"))
		want, before := never, math.Inf(1)
		for g := s.tasks; g >= 1; g-- {
			end := slowList(p.lasts, g)
			if got := p.done(g); got != end {
				t.Fatalf("%d at once: done at %g, want %g", g, got, end)
			}
			if g < s.tasks && end < before {
				t.Fatalf("with one fewer than %d at once the job is done sooner", g+1)
			}
			if before = end; end <= s.left {
				want = g
			}
		}
		if got := p.fewest(s.left); got != want {
			t.Fatalf("fewest %d, want %d", got, want)
		}
	})
}

// More tasks at once, more clones and a later deadline make no played job later.
func TestWavesAreMonotone(t *testing.T) {
	for _, l := range waveLaws(t) {
		w := Work{Tasks: 40, Law: l, Deadline: 110}
		last := -1.0
		for g := 2; g < 40; g += 3 {
			p := w.shift(0).play(g, 100).P
			later := w
			later.Deadline = 120
			if p < last || w.shift(1).play(g, 100).P < p || later.shift(0).play(g, 100).P < p {
				t.Errorf("%v: %d at once have chance %g, three fewer %g", l, g, p, last)
			}
			last = p
		}
	}
}

// The bounds hold what is played, and prove what is clear.
func TestWaveBounds(t *testing.T) {
	for _, l := range waveLaws(t) {
		for _, n := range []int{10, 200, 1000} {
			for _, left := range []float64{60, 200, 4000} {
				s := Work{Tasks: n, Law: l, Deadline: left}.shift(0)
				b := s.bounds()
				for _, g := range []int{1, 3, n / 20, n / 5, n - 1} {
					if g < 1 {
						continue
					}
					seen := s.play(g, 40000/n)
					if low, high := 1-b.late(g), b.early(g); seen.High < low-1e-12 || seen.Low > high+1e-12 {
						t.Errorf("%v, %d tasks in %g s, %d at once: played %+v, bounds %g and %g", l, n, left, g, seen, low, high)
					}
				}
			}
		}
	}
	clear := Work{Tasks: 1000, Law: laws.Lognormal{Mu: 2.7, Sigma: 0.5}, Deadline: 3600}
	if c := clear.Waves(0, 100, 0); c.Samples > 0 || c.Low < 1-proven {
		t.Errorf("three minutes of work in an hour: %+v", c)
	}
	huge := Work{Tasks: 10_000_000, Law: laws.Lognormal{Mu: 2.7, Sigma: 0.5}, Deadline: 36000}
	if few, many := huge.Waves(0, 1000, 0), huge.Waves(0, 10_000, 0); few.High > 1e-6 || many.Low < 0.999 {
		t.Errorf("ten million tasks: %+v on 1,000 slots, %+v on 10,000", few, many)
	}
}

// Where the originals fit, the division is that of the paper; where they do not, all find their seats.
func TestJointWavesAreForJobsThatDoNotFit(t *testing.T) {
	for seed := range 100 {
		rng := rand.New(rand.NewPCG(uint64(seed), 17))
		jobs := drawJobs(rng, 5)
		pool := Pool{Slots: base(jobs, 1) + rng.IntN(60), Lambda: 1, MaxAttempts: 5, MasterSlots: 1}
		waves := pool
		waves.Waves = true
		for _, u := range utilities {
			a, b := new(Joint).Optimise(pool, u, jobs), new(Joint).Optimise(waves, u, jobs)
			if !slices.Equal(a.Clones, b.Clones) || !slices.Equal(a.AtOnce, b.AtOnce) || a.Used != b.Used {
				t.Fatalf("seed %d, %v: %+v, with waves %+v", seed, u, a, b)
			}
		}
	}
	big := Work{Tasks: 1000, Law: laws.Deterministic{Value: 17}, Deadline: 3600}
	small := Work{Tasks: 10, Law: laws.Pareto{Alpha: 1.5, Xm: 120}, Deadline: 500}
	for _, u := range utilities {
		got := new(Joint).Optimise(Pool{Slots: 100, Lambda: 1, MaxAttempts: 5, Waves: true}, u, []Work{big, small})
		if got.AtOnce[0] != 5 || got.Clones[0] != 0 || got.Clones[1] != 4 || got.AtOnce[1] != 10 {
			t.Errorf("%v: %+v", u, got)
		}
	}
	big.Slots = 4 // one too few
	if got := new(Joint).Optimise(Pool{Slots: 2000, Lambda: 1, Waves: true}, UtilitySum, []Work{big}); got.AtOnce[0] != 4 {
		t.Errorf("a job bounded to four slots: %+v", got)
	}
	big.Slots = 2500
	if got := new(Joint).Optimise(Pool{Slots: 5000, Lambda: 1, Waves: true}, UtilitySum, []Work{big}); got.Used > 2500 {
		t.Errorf("a job bounded to 2,500 slots: %+v", got)
	}
}

// With waves the division is the best of all choices of rungs.
func TestJointWavesAgainstEnumeration(t *testing.T) {
	for _, u := range utilities {
		var joint Joint
		for seed := range 10 {
			rng := rand.New(rand.NewPCG(uint64(seed), 18))
			jobs := make([]Work, 2)
			for i := range jobs {
				jobs[i] = Work{Tasks: 3 + rng.IntN(10), Law: laws.Pareto{Alpha: 1.5 + rng.Float64(), Xm: 10}, Deadline: 20 + 80*rng.Float64()}
			}
			pool := Pool{Slots: 4 + rng.IntN(base(jobs, 0)-4), Lambda: 1, MaxAttempts: 3, Waves: true, MasterSlots: rng.IntN(2)}
			joint.Optimise(pool, u, jobs)
			chosen := make([]int, len(joint.claims))
			for i, c := range joint.claims {
				chosen[i] = c.clones
			}
			if best := bestRungs(joint.claims, pool.Slots, u); beats(joint.claims, best, chosen, u) {
				t.Fatalf("%v, seed %d: rungs %v, best %v", u, seed, chosen, best)
			}
		}
	}
}

func bestRungs(claims []claim, slots int, u Utility) (best []int) {
	steps := make([]int, len(claims))
	var visit func(i, left int)
	visit = func(i, left int) {
		if i == len(claims) {
			if best == nil || beats(claims, steps, best, u) {
				best = slices.Clone(steps)
			}
			return
		}
		for s := range claims[i].rungs {
			if claims[i].cost(s) <= left {
				steps[i] = s
				visit(i+1, left-claims[i].cost(s))
			}
		}
	}
	visit(0, slots)
	return best
}

// beats says that rungs are better than others by more than rounding.
func beats(claims []claim, a, b []int, u Utility) bool {
	var x, y []float64
	gain := 0.0
	for i := range claims {
		p, q := claims[i].log(a[i]), claims[i].log(b[i])
		x, y = append(x, p), append(y, q)
		if u != UtilityMaxMin && p > q {
			gain += u.gain(q, p)
		} else if u != UtilityMaxMin {
			gain -= u.gain(p, q)
		}
	}
	if u != UtilityMaxMin {
		return gain > 1e-9
	}
	slices.Sort(x)
	slices.Sort(y)
	for i := range x {
		if !near(x[i], y[i], 1e-6) {
			return x[i] > y[i]
		}
	}
	return false
}

func BenchmarkWaves(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		w := Work{Tasks: n, Law: laws.Lognormal{Mu: 2.7, Sigma: 0.5}, Deadline: 180}
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			for b.Loop() {
				new(Joint).Optimise(Pool{Slots: n / 9, Lambda: 1, MaxAttempts: 5, Waves: true}, UtilitySum, []Work{w})
			}
		})
	}
}
