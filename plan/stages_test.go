package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// stagedWork draws a job of up to six stages, each after some of those before it.
func stagedWork(rng *rand.Rand, l laws.Law) Work {
	w := Work{Deadline: 100}
	for i := range 1 + rng.IntN(6) {
		s := Phase{Tasks: 1 + rng.IntN(9), Law: l}
		for k := range i {
			if rng.IntN(3) == 0 {
				s.After = append(s.After, k)
			}
		}
		w.Stages, w.Tasks = append(w.Stages, s), w.Tasks+s.Tasks
	}
	return w
}

// slowStages is list scheduling as it is told: whenever a place is free, the first task in the list gets it that may begin.
func slowStages(p *wavePlay, g int) float64 {
	const open = -1
	ends := make([]float64, len(p.lasts)) // of each task, open while it has not begun
	for i := range ends {
		ends[i] = open
	}
	of := func(t int) (stage int) {
		for stage < len(p.first)-1 && p.first[stage+1] <= t {
			stage++
		}
		return stage
	}
	over := func(stage int, now float64) bool {
		for t := range ends {
			if of(t) == stage && (ends[t] == open || ends[t] > now) {
				return false
			}
		}
		return true
	}
	for now := 0.0; ; {
		busy := 0
		for _, end := range ends {
			if end > now {
				busy++
			}
		}
		for t := range ends {
			mayBegin := !slices.ContainsFunc(p.stages[of(t)].After, func(k int) bool { return !over(k, now) })
			if ends[t] == open && busy < g && mayBegin {
				ends[t] = now + p.lasts[t]
				busy++
			}
		}
		next := math.Inf(1)
		for _, end := range ends {
			if end > now {
				next = min(next, end)
			}
		}
		if math.IsInf(next, 1) {
			return now
		}
		now = next
	}
}

func TestStagesTwin(t *testing.T) {
	l, err := laws.Parse("uniform:lo=1,hi=9")
	if err != nil {
		t.Fatal(err)
	}
	sooner := 0
	for k := range 300 {
		rng := rand.New(rand.NewPCG(uint64(k), 1))
		w := stagedWork(rng, l)
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
		s := w.shift(rng.IntN(3))
		var p wavePlay
		p.draw(s, seedTell, k)
		before := math.Inf(1)
		for g := 1; g <= w.Tasks+1; g++ {
			got := p.done(g)
			if want := slowStages(&p, g); got != want {
				t.Fatalf("job %d with %d at once: done at %v, want %v", k, g, got, want)
			}
			if got < s.atLeast(g) || got > s.atMost(g) {
				t.Errorf("job %d with %d at once: done at %v, not between %v and %v", k, g, got, s.atLeast(g), s.atMost(g))
			}
			if got > before {
				sooner++
			}
			before = got
		}
	}
	if sooner == 0 {
		t.Error("no job is later with more at once: Graham's anomaly was not among them")
	}
}

// A job of one stage is played as the job without stages is.
func TestOneStage(t *testing.T) {
	for _, l := range waveLaws(t) {
		w := Work{Tasks: 30, Law: l, Deadline: 4 * l.Quantile(0.7)}
		one := Work{Tasks: 30, Deadline: w.Deadline, Stages: []Phase{{Tasks: 30, Law: l}}}
		for g := 5; g < 30; g += 6 {
			want, got := w.shift(1).play(g, 300), one.shift(1).play(g, 300)
			if got != want {
				t.Errorf("%v, %d at once: %+v, want %+v", l, g, got, want)
			}
		}
	}
}

// Chances that are known. Ten tasks of 5 s and then four of 3 s take ceil(10/g)*5 + ceil(4/g)*3 seconds; two tasks of
// exp(10 s) one after the other are done within 20 s with Erlang's 1-3/e^2.
func TestStagesByHand(t *testing.T) {
	fixed := Work{Tasks: 14, Deadline: 13, Stages: []Phase{{Tasks: 10, Law: laws.Deterministic{Value: 5}}, {Tasks: 4, Law: laws.Deterministic{Value: 3}, After: []int{0}}}}
	for g := 1; g <= 15; g++ {
		want := 0.0
		if math.Ceil(10/float64(g))*5+math.Ceil(4/float64(g))*3 <= 13 {
			want = 1
		}
		if got := fixed.Waves(0, g, 0); got != exactly(want) {
			t.Errorf("%d at once: %+v, want %v", g, got, want)
		}
	}
	if s, ok := fixed.FewestSlots(0.99, 3); !ok || s.Slots != 5 || s.Clones != 0 {
		t.Errorf("fewest slots %+v, %v; want 5", s, ok)
	}
	if within := fixed.Within(0.99, 0, 5); within != 13 {
		t.Errorf("within %v, want 13", within)
	}
	late := fixed
	if late.Deadline = 7.9; !late.Hopeless() || fixed.Hopeless() {
		t.Error("a path of 8 s has no time")
	}
	exp := laws.Exponential{Mu: 0.1}
	erlang := 1 - 3*math.Exp(-2)
	chain := Work{Tasks: 2, Deadline: 20, Stages: []Phase{{Tasks: 1, Law: exp}, {Tasks: 1, Law: exp, After: []int{0}}}}
	c := chain.Waves(0, 1, 0)
	if c.Low > erlang || c.High < erlang || c.High-c.Low > 0.002 || math.Abs(c.P-erlang) > 1e-4 {
		t.Errorf("%+v, want %v", c, erlang)
	}
	side := chain
	side.Stages = []Phase{{Tasks: 1, Law: exp}, {Tasks: 1, Law: exp}}
	if c := side.Waves(0, 1, 0); c.Samples == 0 || c.Low > erlang || c.High < erlang { // on one slot it is the same
		t.Errorf("side by side on one slot: %+v, want %v", c, erlang)
	}
	both := math.Pow(1-math.Exp(-2), 2)
	if c := side.Waves(0, 2, 0); c.Low > both || c.High < both {
		t.Errorf("side by side on two slots: %+v, want %v", c, both)
	}
}

// Jobs of several stages share slots with others, and what is told of them is what plays say that the choice has not seen.
func TestStagesShareSlots(t *testing.T) {
	l, err := laws.Parse("pareto:alpha=1.5,xm=10")
	if err != nil {
		t.Fatal(err)
	}
	for k := range 30 {
		rng := rand.New(rand.NewPCG(uint64(k), 2))
		var jobs []Work
		for range 1 + rng.IntN(4) {
			w := stagedWork(rng, l)
			if rng.IntN(3) == 0 {
				w = Work{Tasks: 1 + rng.IntN(20), Law: l}
			}
			w.Deadline = 20 + 200*rng.Float64()
			jobs = append(jobs, w)
		}
		pool := Pool{Slots: 1 + rng.IntN(80), Lambda: 1, MaxAttempts: 4, HopelessLast: true, Waves: true}
		a := (&Joint{}).Optimise(pool, UtilitySum, jobs)
		used := 0
		for i, w := range jobs {
			if a.Clones[i] == Queued {
				continue
			}
			used += a.AtOnce[i] * (a.Clones[i] + 1)
			if a.AtOnce[i] < 1 || a.AtOnce[i] > w.Tasks {
				t.Errorf("%d: %d of %d tasks at once", k, a.AtOnce[i], w.Tasks)
			}
		}
		if used > pool.Slots || used != a.Used {
			t.Errorf("%d: %d slots of %d, told %d", k, used, pool.Slots, a.Used)
		}
		w := jobs[0]
		if s, ok := w.FewestSlots(0.9, 4); ok && len(w.Stages) > 0 && (s.Chance.P < 0.9 || s.Slots != s.AtOnce*(s.Clones+1)) {
			t.Errorf("%d: %+v", k, s)
		}
	}
}

func TestStagesAreChecked(t *testing.T) {
	l := laws.Deterministic{Value: 1}
	for _, c := range []struct {
		name string
		work Work
	}{
		{"tasks are not the sum", Work{Tasks: 2, Stages: []Phase{{Tasks: 1, Law: l}}}},
		{"no task", Work{Tasks: 1, Stages: []Phase{{Tasks: 1, Law: l}, {Law: l}}}},
		{"no law", Work{Tasks: 1, Stages: []Phase{{Tasks: 1}}}},
		{"after itself", Work{Tasks: 1, Stages: []Phase{{Tasks: 1, Law: l, After: []int{0}}}}},
		{"twice after", Work{Tasks: 2, Stages: []Phase{{Tasks: 1, Law: l}, {Tasks: 1, Law: l, After: []int{0, 0}}}}},
		{"progress", Work{Tasks: 1, Progress: 0.5, Stages: []Phase{{Tasks: 1, Law: l}}}},
		{"too many tasks", Work{Tasks: played + 1, Stages: []Phase{{Tasks: played + 1, Law: l}}}},
	} {
		if c.work.Deadline = 10; c.work.Validate() == nil {
			t.Errorf("%s: valid", c.name)
		}
	}
}
