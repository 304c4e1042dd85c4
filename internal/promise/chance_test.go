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

// TestChanceOfReported: an attempt that has reported a half after 10 s ends after 20, whatever the law says of others.
// One that stands still takes as long again. A policy that judges attempts by their reports does so in plays, too: it
// replaces a slow one, of which the plays of fifo wait for the end.
func TestChanceOfReported(t *testing.T) {
	l := mustParse(t, "uniform:lo=8,hi=12")
	rng := rand.New(rand.NewPCG(1, 3))
	past := runs(rng, l, 20, 100)
	s := sched.Second
	for _, c := range []struct {
		name     string
		policy   string
		slots    int
		done     float64
		silent   sched.Time
		deadline sched.Time
		low      float64
		high     float64
	}{
		{"as fast as it reports", "fifo", 1, 0.5, 0, 21 * s, 0.99, 1},
		{"no faster", "fifo", 1, 0.5, 0, 19 * s, 0, 0.01},
		{"it stands still", "fifo", 1, 0.5, 8 * s, 25 * s, 0, 0.01},
		{"for shorter", "fifo", 1, 0.5, 4 * s, 25 * s, 0.99, 1},
		{"slow, and nobody helps", "fifo", 2, 0.1, 0, 40 * s, 0, 0.01},
		{"slow, and replaced", "laxity:judge=1s", 2, 0.1, 0, 40 * s, 0.95, 1},
	} {
		spec := sched.JobSpec{Deadline: c.deadline, Stages: []sched.StageSpec{{Tasks: 1, Resumable: true, Mean: 10 * s, SD: s}}}
		w := newWorld(t, 1, "fifo", c.slots, []sched.JobSpec{spec}, []laws.Law{mustParse(t, "det:value=1000")})
		w.now = 10 * s
		for id := range w.alive {
			w.advance([]sched.Event{{Kind: sched.AttemptProgress, Attempt: id, Progress: c.done}})
		}
		w.now += c.silent
		w.advance(nil)
		state := w.state(c.policy, []*Durations{past})
		p, err := state.Foresee(t.Context(), 1e12)
		if err != nil {
			t.Fatal(err)
		}
		if got := *p[0].Chance; got < c.low || got > c.high {
			t.Errorf("%s: %.3f, not between %v and %v", c.name, got, c.low, c.high)
		}
	}
}
