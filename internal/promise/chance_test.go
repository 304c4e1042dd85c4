package promise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// TestChance: a task of exp(10 s) is done within 10 s with 1-1/e; two on one slot within 20 s with Erlang's 1-3/e^2. A job
// that is dropped is not done, and one without a deadline has no chance.
func TestChance(t *testing.T) {
	l := mustParse(t, "exp:mean=10")
	rng := rand.New(rand.NewPCG(1, 2))
	s := sched.Second
	for _, c := range []struct {
		name     string
		tasks    int
		deadline sched.Time
		late     sched.Late
		want     float64
	}{
		{"one task", 1, 10 * s, sched.Late{}, 1 - math.Exp(-1)},
		{"two one after the other", 2, 20 * s, sched.Late{}, 1 - 3*math.Exp(-2)},
		{"dropped", 2, 20 * s, sched.Late{Kind: sched.LateDrop}, 1 - 3*math.Exp(-2)},
		{"long ago", 2, 1, sched.Late{}, 0},
		{"no deadline", 2, 0, sched.Late{}, -1},
	} {
		w := newWorld(t, 1, "fifo", 1, []sched.JobSpec{{Deadline: c.deadline, Late: c.late, Stages: []sched.StageSpec{{Tasks: c.tasks}}}}, []laws.Law{l})
		p, err := w.state("fifo", []*Durations{runs(rng, l, 100, 100)}).Foresee(t.Context(), 1e12)
		if err != nil {
			t.Fatal(err)
		}
		switch got := p[0].Chance; {
		case c.want < 0 && got != nil, c.want >= 0 && got == nil:
			t.Errorf("%s: %v", c.name, got)
		case got != nil && math.Abs(*got-c.want) > 0.1: // three standard errors of 199 plays
			t.Errorf("%s: %.3f, want %.3f", c.name, *got, c.want)
		}
	}
}
