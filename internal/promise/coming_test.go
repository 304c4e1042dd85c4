package promise

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// flow is a server on two slots to which a job of four tasks comes every 10 s or so. A larger one with a deadline is there.
func flow(t *testing.T, policy string, jobs int, silent sched.Time) *State {
	t.Helper()
	l := mustParse(t, "uniform:lo=4,hi=6")
	w := newWorld(t, 1, policy, 2, nil, []laws.Law{l})
	past := runs(w.rng, l, 10, 20)
	var came []Came
	mean := sched.FromSeconds(5)
	for i := range jobs {
		came = append(came, Came{At: sched.Time(10*i+i%3) * sched.Second, Spec: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 4, Mean: mean}}}, Known: []*Durations{past}})
	}
	w.until(sched.Time(10*jobs)*sched.Second + silent)
	w.submit([]sched.JobSpec{{Deadline: w.now + 100*sched.Second, Stages: []sched.StageSpec{{Tasks: 30, Mean: mean}}}})
	s := w.state(policy, []*Durations{past})
	s.Came = came
	return s
}

func chanceOf(t *testing.T, s *State) float64 {
	t.Helper()
	p, err := s.Foresee(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return *p[0].Chance
}

// TestComingJobs: 30 tasks of 5 s on two slots take 75 s, and a deadline after 100 s is met unless others go first. Under
// srpt the jobs that come do, and under fifo they change nothing at all. A server that has seen few jobs, or none for long,
// foresees none.
func TestComingJobs(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		jobs         int
		silent       sched.Time
		low, high    float64
	}{
		{"nobody came", "srpt", 0, 0, 0.98, 1},
		{"too few came", "srpt", leastGaps, 0, 0.98, 1},
		{"they overtake", "srpt", 20, 5 * sched.Second, 0, 0.05},
		{"the last came long ago", "srpt", 20, 1000 * sched.Second, 0.8, 1},
		{"they come after it", "fifo", 20, 5 * sched.Second, 0.98, 1},
	} {
		if got := chanceOf(t, flow(t, c.policy, c.jobs, c.silent)); got < c.low || got > c.high {
			t.Errorf("%s: chance %.3f, not between %v and %v", c.name, got, c.low, c.high)
		}
	}
}

// Under fifo the promises of jobs of one stage are the same, to the nanosecond, whoever comes.
func TestComingJobsUnderFIFO(t *testing.T) {
	s := flow(t, "fifo", 20, 0)
	with, err := s.Foresee(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Came = nil
	without, err := s.Foresee(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(without, with); d != "" {
		t.Errorf("promises differ (-without +with):\n%s", d)
	}
}

// Who comes is a function of the seed and of the play, whatever the policy.
func TestComingJobsAreDrawn(t *testing.T) {
	arrivals := func(policy string, seed uint64, play int) (at []sched.Time, n int) {
		s := flow(t, policy, 20, 0)
		s.Seed = seed
		g := newGame(s, MostTasks)
		for k := range play + 1 {
			if err := g.play(k); err != nil {
				t.Fatal(err)
			}
		}
		for i := range g.coming.jobs {
			at = append(at, g.core.View().Job(g.coming.jobs[i].ID).Arrived-s.Snapshot.At)
		}
		return at, len(at)
	}
	a, n := arrivals("srpt", 1, 3)
	b, _ := arrivals("srpt", 1, 3)
	if d := cmp.Diff(a, b); n == 0 || d != "" {
		t.Errorf("the same seed (-first +second):\n%s", d)
	}
	c, m := arrivals("fair", 1, 3)
	if d := cmp.Diff(a[:min(n, m)], c[:min(n, m)]); d != "" {
		t.Errorf("another policy (-srpt +fair):\n%s", d)
	}
	if d, _ := arrivals("srpt", 2, 3); cmp.Equal(a, d) {
		t.Error("another seed draws the same")
	}
}

// The gap since the last submission counts as one that is not over: where jobs came at random, the next one comes as
// soon as ever; where none has come for far longer than between any two, it is not near.
func TestNextOneComes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, c := range []struct {
		name      string
		age       float64
		low, high float64 // of the mean time until the next one, in mean gaps
	}{
		{"just now", 0, 0.7, 1.4},
		{"a while ago", 1, 0.6, 1.8},
		{"long ago", 100, 20, 200},
	} {
		var came []Came
		now := 0.0
		for range 40 {
			came = append(came, Came{At: sched.FromSeconds(now), Spec: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1}}}})
			now += rng.ExpFloat64()
		}
		last := came[len(came)-1].At
		g := &game{State: &State{Came: came}, snapshot: &sched.Snapshot{At: last + sched.FromSeconds(c.age)}}
		g.await(nil)
		g.coming.until = sched.Never
		sum := 0.0
		for play := range 400 {
			g.coming.begin(1, play, g.snapshot.At)
			sum += (g.coming.next - g.snapshot.At).Seconds() / 400
		}
		if math.IsNaN(sum) || sum < c.low || sum > c.high {
			t.Errorf("%s: the next one comes after %.2f gaps, not between %v and %v", c.name, sum, c.low, c.high)
		}
	}
}

// Plays end, and cost no more than they may, where jobs come that never leave room for those that are there.
func TestComingJobsAreBounded(t *testing.T) {
	s := flow(t, "srpt", MostCame, 0)
	for i := range s.Came {
		s.Came[i].Spec.Stages = []sched.StageSpec{{Tasks: 25, Mean: sched.Second}}
	}
	g := newGame(s, MostTasks)
	for k := range 20 {
		if err := g.play(k); err != nil {
			t.Fatal(err)
		}
		if n := len(g.coming.jobs); n == 0 || n > mostComing {
			t.Errorf("%d jobs come", n)
		}
		if g.jobs[0].ends[k] == sched.Never {
			t.Error("a job never ends")
		}
	}
}

// ChanceAt counts the plays in which the job is not over either. After the deadline nothing is left to hope for.
func TestChanceAt(t *testing.T) {
	at := time.Unix(1e9, 0)
	p := Promise{Made: at, Chance: new(chance(6, 9)), Plays: &Plays{N: 9, Deadline: at.Add(10 * time.Second)}}
	for i := range 6 {
		p.Plays.Met = append(p.Plays.Met, time.Duration(i+1)*time.Second)
	}
	for _, c := range []struct{ after, want float64 }{{0, chance(6, 9)}, {3, chance(3, 6)}, {6.5, chance(0, 3)}, {10.1, 0}} {
		if got := *p.ChanceAt(at.Add(time.Duration(c.after * float64(time.Second)))); got != c.want {
			t.Errorf("after %v s: %v, want %v", c.after, got, c.want)
		}
	}
	if p.Plays = nil; *p.ChanceAt(at.Add(time.Hour)) != *p.Chance {
		t.Error("a chance that was kept changes")
	}
	if p.Chance = nil; p.ChanceAt(at) != nil {
		t.Error("a chance of nothing")
	}
}
