package reproduce

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// TestSearchTime: without slowdowns a task takes its launch and its size. Where attempts are equally likely to take a
// minute or ten, and tell after a second, each slow one costs a launch and a second, of which a six-hundredth of the task
// is done: about 5 s + (60 s + 6 s) - a second for each slow one.
func TestSearchTime(t *testing.T) {
	sure := newSearchTime(laws.Deterministic{Value: 1}, 5, 10, 1000)
	for _, x := range []float64{40, 240, 999} {
		if got := sure.of(x); got > x+5 || got < x+3 {
			t.Errorf("a task of %v s takes %v without slowdowns, want %v", x, got, x+5)
		}
	}
	two := newSearchTime(laws.TwoPoint{Lo: 60, Hi: 600, P: 0.5}, 5, 1, 1)
	if got, want := two.of(1), 5.0+60+6-60./600; math.Abs(got-want) > 0.3 {
		t.Errorf("a minute or ten: %v s, want about %v", got, want)
	}
	pareto := newSearchTime(laws.Pareto{Alpha: 3, Xm: 1}, 5, 10, 500)
	if got := pareto.of(240) / 240; got < 1.1 || got > 1.25 {
		t.Errorf("slowdowns of Pareto(1, 3): %v times the size", got)
	}
}
