package plan

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// The fewest slots give the chance, one task fewer at once does not, and no other number of clones needs a slot less
// than the sampling of the choice may cost.
func TestFewestSlots(t *testing.T) {
	for _, l := range waveLaws(t) {
		for _, left := range []float64{80, 200} {
			w := Work{Tasks: 30, Law: l, Deadline: left}
			s, ok := w.FewestSlots(0.95, 4)
			if !ok {
				if w.PoCD(3) >= 0.95 {
					t.Errorf("%v, %g s: none, but all at once is enough", l, left)
				}
				continue
			}
			if s.Slots != s.AtOnce*(s.Clones+1) || s.Chance.Low < 0.95 || s.Chance != w.Waves(s.Clones, s.AtOnce, 0) {
				t.Errorf("%v, %g s: %+v", l, left, s)
			}
			if s.AtOnce > 1 && w.Waves(s.Clones, s.AtOnce-1, 0).Low >= 0.95 {
				t.Errorf("%v, %g s: one fewer than %+v is enough", l, left, s)
			}
			for clones := range 4 {
				if g, found := w.fewestAtOnce(clones, 0.95, 1000, seedTell); found && g*(clones+1) < s.Slots*9/10-1 {
					t.Errorf("%v, %g s: %d at once with %d clones are enough; got %+v", l, left, g, clones, s)
				}
			}
		}
	}
}

// Clones save slots of jobs that without them are in time only if many tasks run at once, even where all at once are
// certain to be: of 30 tasks a fifth takes 300 s instead of 20 s. One at a time with two clones is enough for 1,000 s.
func TestFewestSlotsWhereAllAtOnceAreCertain(t *testing.T) {
	law, err := laws.Parse("twopoint:lo=20,hi=300,p=0.2")
	if err != nil {
		t.Fatal(err)
	}
	w := Work{Tasks: 30, Law: law, Deadline: 1000}
	if w.PoCD(0) != 1 {
		t.Fatal("all at once are not certain to be in time")
	}
	if s, ok := w.FewestSlots(0.95, 5); !ok || s.Slots != 3 || s.Clones != 2 || s.Chance.Low < 0.95 {
		t.Errorf("%+v, %v; without clones %+v", s, ok, w.Waves(0, 3, 0))
	}
}

// A later deadline and a smaller chance never need more slots, an impossible one needs none, and a job that runs goes on.
func TestFewestSlotsAreMonotone(t *testing.T) {
	w := Work{Tasks: 50, Law: laws.Lognormal{Mu: 2.8, Sigma: 0.5}}
	last := math.MaxInt
	for _, w.Deadline = range []float64{80, 140, 150, 200, 1000} {
		s, ok := w.FewestSlots(0.9, 1)
		lax, _ := w.FewestSlots(0.8, 1)
		if !ok || s.Slots > last || lax.Slots > s.Slots {
			t.Errorf("%g s: %+v, for 80 %% %+v", w.Deadline, s, lax)
		}
		last = s.Slots
	}
	w.Deadline, w.Elapsed = 100, 120
	if s, ok := w.FewestSlots(0.9, 100); ok || s.Chance.P != 0 {
		t.Errorf("past its deadline: %+v", s)
	}
	w = Work{Tasks: 50, Law: w.Law, Deadline: 1000, Elapsed: 10, Progress: 0.5}
	if s, _ := w.FewestSlots(0.9, 5); s.AtOnce != 50 {
		t.Errorf("half done: %+v", s)
	}
	w = Work{Tasks: 50, Law: w.Law, Deadline: 150, Slots: 5}
	if s, ok := w.FewestSlots(0.9, 5); ok || s.AtOnce != 5 {
		t.Errorf("bounded to five slots: %+v", s)
	}
}

// A job has the chance within the time that is told for it, and not much sooner.
func TestWithin(t *testing.T) {
	for _, l := range waveLaws(t) {
		for _, g := range []int{3, 29, 30} {
			w := Work{Tasks: 30, Law: l, Elapsed: 10, Progress: 0.25}
			within := w.Within(0.95, 1, g)
			w.Deadline = w.Elapsed + within*(1+1e-8)
			if c := w.Waves(1, g, 0); c.Low < 0.95-1e-9 {
				t.Errorf("%v, %d at once: within %g s the chance is %+v", l, g, within, c)
			}
			w.Deadline = w.Elapsed + within*0.999
			if c := w.Waves(1, g, 0); c.Low > 0.9501 {
				t.Errorf("%v, %d at once: before %g s the chance is %+v already", l, g, within, c)
			}
		}
	}
	big := Work{Tasks: 1_000_000, Law: laws.Lognormal{Mu: 2.7, Sigma: 0.5}, Deadline: 1}
	if w := big.Within(0.99, 0, 1000); !(w > 16_000 && w < 18_000) { // 16,862 s of work for each place
		t.Errorf("a million tasks on a thousand slots: %g s", w)
	}
	if w := (Work{Tasks: 3, Law: big.Law, Progress: 1}).Within(0.99, 0, 1); w != 0 {
		t.Errorf("a job that is done: %g s", w)
	}
}
