package plan

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// TestLater: three waves of maps that take 10 s each leave what is left of 40 s to five reduces, which then have as many
// clones as fit on ten slots. So the chance is that of Theorem 1 for the reduces, and a clone of each map, for which
// there would be six waves, none.
func TestLater(t *testing.T) {
	reduce := laws.Exponential{Mu: 0.2}
	w := Work{Tasks: 30, Law: laws.Deterministic{Value: 10}, Deadline: 40, Later: []Phase{{Tasks: 5, Law: reduce}}}
	const n = 400
	all := w.rungs(10, 5, n)
	best := all[len(all)-1]
	want := Work{Tasks: 5, Law: reduce, Deadline: 10}.PoCD(1)
	if got := math.Exp(best.log); best.atOnce != 10 || best.clones != 0 || math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/n) {
		t.Errorf("%d at once with %d clones have the chance %.3f, want 10 and 0 and %.3f", best.atOnce, best.clones, got, want)
	}
	a := new(Joint).Optimise(Pool{Slots: 10, Lambda: 1, MaxAttempts: 5, Waves: true, Draws: n * 30}, UtilityMaxMin, []Work{w})
	if a.Clones[0] != 0 || a.AtOnce[0] != 10 || a.Used != 10 {
		t.Errorf("got %+v, want all slots for ten maps at once", a)
	}
}

// TestLaterChance: two stages one after the other, of which the first has all its tasks at once, and a clone of each, and
// the second runs in waves with the clones that are best for the time that is left.
func TestLaterChance(t *testing.T) {
	const n = 4000
	first, second := laws.Exponential{Mu: 0.2}, laws.Uniform{Lo: 1, Hi: 9}
	then := Work{Tasks: 1, Later: []Phase{{Tasks: 4, Law: first}, {Tasks: 12, Law: second}}}.then(8, 3, n)
	for _, left := range []float64{8, 12, 16, 24, 40} {
		want := 0.0
		for clones, atOnce := range []int{8, 4, 2} {
			w := Work{Tasks: 16, Stages: []Phase{{Tasks: 4, Law: laws.Min(first, 2)}, {Tasks: 12, Law: laws.Min(second, clones+1), After: []int{0}}}, Deadline: left}
			want = max(want, w.Waves(0, atOnce, 20_000).P)
		}
		if got := then.chance(left * 1e9); math.Abs(got-want) > 4*math.Sqrt(max(want*(1-want), 1e-3)/n) {
			t.Errorf("%v s are enough with the chance %.3f, want %.3f", left, got, want)
		}
	}
}
