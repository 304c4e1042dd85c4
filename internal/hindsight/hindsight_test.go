package hindsight

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// world is a job as it is in truth, of which runs are made that are kept as real ones are.
type world struct {
	tasks, slots, runs int
	law                string
	policy             string
	reports            string  // all, none, or "" where it is not known
	same               bool    // it is the same tasks that are slow in each run, and a clone of them, too
	stretch            float64 // how much longer runs take than their attempts explain
}

func (w *world) question(t testing.TB, seed uint64) *Question {
	t.Helper()
	q := &Question{
		Spec: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: w.tasks}}}, Stages: []string{"tasks"}, Slots: w.slots,
		Limits: sched.DefaultLimits(), Policy: canonical(t, w.policy), Seed: 1, Past: &live.Past{},
	}
	for _, spec := range []string{"auto", "fifo", "spark", "spark:quantile=0.5", "fork:p=0.05", "fork:p=0.1", "fork:p=0.2"} {
		q.Others = append(q.Others, canonical(t, spec))
	}
	law, err := laws.Parse(w.law)
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.runs {
		q.Past.Runs = append(q.Past.Runs, w.run(t, law, sim.RunSeed(seed, i)))
	}
	return q
}

func canonical(t testing.TB, spec string) string {
	t.Helper()
	c, err := policy.Canonical(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run plays one run, and keeps what is known of it afterwards. Attempts of a task take what its first takes if w.same.
func (w *world) run(t testing.TB, law laws.Law, seed uint64) live.PastRun {
	t.Helper()
	work := &trace.Workload{Names: []string{""}, Laws: []laws.Law{law}, Jobs: []trace.JobRow{{Stages: 1}}, Stages: []trace.StageRow{{Tasks: uint32(w.tasks)}}}
	if w.same {
		rng := rand.New(rand.NewPCG(9, 9))
		for range w.tasks {
			work.Durations = append(work.Durations, sched.FromSeconds(laws.Sample(law, rng.Float64())))
		}
	} else {
		work.Durations = make([]sched.Time, w.tasks)
	}
	watch := &watched{won: map[sched.TaskID]float64{}}
	model := sim.StatedLaw
	if w.same {
		model = sim.Intrinsic
	}
	p, err := policy.New(w.policy, seed)
	if err != nil {
		t.Fatal(err)
	}
	watch.Policy = p
	res, err := sim.Run(t.Context(), work, watch, sim.Options{Machines: 1, Slots: w.slots, Limits: sched.DefaultLimits(), Model: model, Progress: sim.Progress{Exact: w.reports == "all"}, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	st := live.PastStage{Name: "tasks", Tasks: w.tasks, Cut: watch.cut}
	if w.reports != "" {
		st.Reports = new(w.reports == "all")
	}
	var order []sched.TaskID
	for task, d := range watch.won {
		st.Durations = append(st.Durations, d)
		order = append(order, task)
	}
	slices.Sort(st.Durations)
	slices.SortFunc(order, func(a, b sched.TaskID) int {
		if d := watch.won[b] - watch.won[a]; d != 0 {
			return int(math.Copysign(1, d))
		}
		return int(a) - int(b)
	})
	for _, task := range order[:past.Slowest(w.tasks)] {
		st.Slowest = append(st.Slowest, int(task))
	}
	return live.PastRun{
		ID: "r", Seconds: (res.Jobs[0].Completion).Seconds() * max(1, w.stretch), Policy: canonical(t, w.policy), Slots: w.slots,
		Stages: []live.PastStage{st},
	}
}

// watched sees how long attempts ran.
type watched struct {
	sched.Policy
	won map[sched.TaskID]float64
	cut []float64
}

func (p *watched) Observe(v *sched.View, e *sched.Event) {
	if e.Kind == sched.AttemptDone || e.Kind == sched.AttemptLost {
		ran := (v.Now() - v.Attempt(e.Attempt).Started).Seconds()
		if e.Kind == sched.AttemptDone {
			p.won[e.Task] = ran
		} else {
			p.cut = append(p.cut, ran)
		}
	}
	p.Policy.Observe(v, e)
}

func TestAsk(t *testing.T) {
	stragglers := "mixture:w1=0.97,of1=(uniform:lo=1.6,hi=2.4),w2=0.03,of2=(uniform:lo=32,hi=48)"
	for _, c := range []struct {
		name    string
		world   world
		answers bool
	}{
		{"stragglers without clones", world{tasks: 100, slots: 20, runs: 5, law: stragglers, policy: "fifo"}, true},
		{"many tasks", world{tasks: 1000, slots: 300, runs: 4, law: stragglers, policy: "fifo"}, true},
		{"clones as good as any", world{tasks: 100, slots: 20, runs: 5, law: stragglers, policy: "spark:quantile=0.5"}, false},
		{"stragglers without clones, silent", world{tasks: 100, slots: 20, runs: 5, law: stragglers, policy: "fifo", reports: "none"}, true},
		{"stragglers without clones, reports", world{tasks: 100, slots: 20, runs: 5, law: stragglers, policy: "fifo", reports: "all"}, true},
		{"decides by reports, of which nothing is known", world{tasks: 100, slots: 20, runs: 5, law: stragglers, policy: "mantri"}, false},
		{"reports decide well", world{tasks: 100, slots: 20, runs: 5, law: stragglers, policy: "auto", reports: "all"}, false},
		{"silent and decided well", world{tasks: 100, slots: 20, runs: 5, law: stragglers, policy: "auto", reports: "none"}, false},
		{"waits for reports in vain", world{tasks: 100, slots: 20, runs: 5, law: stragglers, policy: "mantri", reports: "none"}, true},
		{"the same tasks are slow", world{tasks: 100, slots: 20, runs: 5, law: stragglers, policy: "fifo", same: true}, false},
		{"the same of few tasks are slow", world{tasks: 8, slots: 8, runs: 8, law: "mixture:w1=0.8,of1=(uniform:lo=1.6,hi=2.4),w2=0.2,of2=(uniform:lo=32,hi=48)", policy: "fifo", same: true}, false},
		{"no stragglers", world{tasks: 100, slots: 20, runs: 5, law: "uniform:lo=8,hi=10", policy: "fifo"}, false},
		{"too few runs", world{tasks: 100, slots: 20, runs: 2, law: stragglers, policy: "fifo"}, false},
		{"too few tasks", world{tasks: 8, slots: 20, runs: 3, law: stragglers, policy: "fifo"}, false},
		{"a saving of less than five seconds", world{tasks: 100, slots: 20, runs: 5, law: "mixture:w1=0.97,of1=(uniform:lo=0.16,hi=0.24),w2=0.03,of2=(uniform:lo=3.2,hi=4.8)", policy: "fifo"}, false},
		{"runs that their attempts do not explain", world{tasks: 100, slots: 20, runs: 5, law: stragglers, policy: "fifo", stretch: 2}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := c.world.question(t, 3)
			began := time.Now()
			a, err := q.Ask(t.Context())
			t.Logf("%v %+v %v", err, a, time.Since(began))
			if c.answers == errors.Is(err, ErrNothing) || err != nil && !errors.Is(err, ErrNothing) {
				t.Fatalf("answers %+v, %v", a, err)
			}
			if err != nil {
				return
			}
			if time.Since(began) > time.Minute { // a second on a machine that does nothing else, without the race detector
				t.Error("takes too long")
			}
			if a.Low < leastSaving || a.MachineTime > mostCost || a.Would >= a.Was || a.Runs != c.world.runs {
				t.Errorf("%+v", a)
			}
			c.world.compare(t, q, a)
		})
	}
}

// compare plays the world itself under both policies: what is promised comes true, on average.
func (w *world) compare(t *testing.T, q *Question, a *Answer) {
	t.Helper()
	law, err := laws.Parse(w.law)
	if err != nil {
		t.Fatal(err)
	}
	const runs = 50
	saved := 0.0
	for i := range runs {
		was := w.run(t, law, sim.RunSeed(77, i))
		other := *w
		other.policy = q.Others[a.Other]
		saved += (was.Seconds - other.run(t, law, sim.RunSeed(77, i)).Seconds) / runs
	}
	if saved < a.Low || saved > a.High {
		t.Errorf("saves %.1f s in truth, and %.1f to %.1f by the answer", saved, a.Low, a.High)
	}
}

// Of many worlds in which no policy saves anything, hardly one gets an answer.
func TestSilence(t *testing.T) {
	answers := 0
	const worlds = 60
	for i := range worlds {
		w := world{tasks: 20 + 10*(i%5), slots: 4 << (i % 3), runs: 3 + i%4, policy: "fifo", same: true, law: []string{
			"lognormal:mean=20,sd=20", "exp:mean=20", "mixture:w1=0.95,of1=(uniform:lo=4,hi=6),w2=0.05,of2=(uniform:lo=48,hi=72)", "pareto:alpha=2,xm=5",
		}[i%4]}
		switch a, err := w.question(t, uint64(i)).Ask(t.Context()); {
		case err == nil:
			answers++
			t.Logf("%+v: %+v", w, a)
		case !errors.Is(err, ErrNothing):
			t.Fatal(err)
		}
	}
	if answers > 0 {
		t.Errorf("%d of %d worlds get an answer", answers, worlds)
	}
}

func TestPoissonTail(t *testing.T) {
	for _, c := range []struct {
		k    int
		mean float64
		want float64
	}{{0, 1, 1}, {1, 1, 1 - math.Exp(-1)}, {2, 0.1, 1 - math.Exp(-0.1)*1.1}} {
		if got := poissonTail(c.k, c.mean); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d of %v: %v, want %v", c.k, c.mean, got, c.want)
		}
	}
}
