package reproduce

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// TestSearchTimeAnew: where attempts do not resume, one that takes ten minutes costs a launch and a second. Without slowdowns resuming is of no use. With a slowdown each
// task takes as long as by the rule of one limit that is best, here by trying all of them.
func TestSearchTimeAnew(t *testing.T) {
	sure := newSearchTime(laws.Deterministic{Value: 1}, 5, 10, 1000, false)
	if got := sure.of(240); got > 245 || got < 243 {
		t.Errorf("a task of 240 s takes %v without slowdowns, want 245", got)
	}
	two := newSearchTime(laws.TwoPoint{Lo: 60, Hi: 600, P: 0.5}, 5, 1, 1, false)
	if got, want := two.of(1), 5.0+60+6; math.Abs(got-want) > 0.3 {
		t.Errorf("a minute or ten: %v s, want %v", got, want)
	}
	law := laws.Pareto{Alpha: 3, Xm: 1}
	best := math.Inf(1)
	for limit := 241.0; limit < 1000; limit++ { // an attempt goes on that takes no longer
		n, good, sum := 2000, 0, 0.0
		for i := range n {
			if x := 240 * law.Quantile((float64(i)+0.5)/float64(n)); x <= limit {
				good, sum = good+1, sum+x
			} else {
				sum += 10
			}
		}
		best = min(best, (5*float64(n)+sum)/float64(good))
	}
	if got := newSearchTime(law, 5, 10, 500, false).of(240); math.Abs(got-best) > 0.01*best {
		t.Errorf("slowdowns of Pareto(1, 3): %v s, the best limit has %v", got, best)
	}
}

// TestSearchTime: without slowdowns a task takes its launch and its size. Where attempts are equally likely to take a
// minute or ten, and tell after a second, each slow one costs a launch and a second, of which a six-hundredth of the task
// is done: about 5 s + (60 s + 6 s) - a second for each slow one.
func TestSearchTime(t *testing.T) {
	sure := newSearchTime(laws.Deterministic{Value: 1}, 5, 10, 1000, true)
	for _, x := range []float64{40, 240, 999} {
		if got := sure.of(x); got > x+5 || got < x+3 {
			t.Errorf("a task of %v s takes %v without slowdowns, want %v", x, got, x+5)
		}
	}
	two := newSearchTime(laws.TwoPoint{Lo: 60, Hi: 600, P: 0.5}, 5, 1, 1, true)
	if got, want := two.of(1), 5.0+60+6-60./600; math.Abs(got-want) > 0.3 {
		t.Errorf("a minute or ten: %v s, want about %v", got, want)
	}
	pareto := newSearchTime(laws.Pareto{Alpha: 3, Xm: 1}, 5, 10, 500, true)
	if got := pareto.of(240) / 240; got < 1.1 || got > 1.25 {
		t.Errorf("slowdowns of Pareto(1, 3): %v times the size", got)
	}
}
