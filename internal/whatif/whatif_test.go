package whatif

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// watched keeps what happens to attempts, as a server's records would.
type watched struct {
	sched.Policy
	jobs []past.AttemptColumns
}

func (p *watched) Observe(v *sched.View, e *sched.Event) {
	end := map[sched.EventKind]live.End{sched.AttemptDone: live.Won, sched.AttemptLost: live.Lost}[e.Kind]
	if end != "" {
		a := v.Attempt(e.Attempt)
		job := v.Stage(v.Task(a.Task).Stage)
		c := &p.jobs[job.Job]
		c.Task, c.Number = append(c.Task, int(a.Task-job.First)), append(c.Number, int(a.Number))
		c.Began, c.Ran = append(c.Began, a.Started-v.Job(job.Job).Arrived), append(c.Ran, v.Now()-a.Started)
		c.End, c.Clone = append(c.End, end), append(c.Clone, a.Clone)
	}
	p.Policy.Observe(v, e)
}

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// lived plays jobs in truth, under a policy on slots, and returns what would be kept of them and their mean flow time.
func lived(t testing.TB, w *trace.Workload, spec string, slots int, seed uint64) ([]*past.JobRecord, float64) {
	t.Helper()
	p, err := policy.New(spec, seed)
	if err != nil {
		t.Fatal(err)
	}
	watch := &watched{Policy: p, jobs: make([]past.AttemptColumns, len(w.Jobs))}
	res, err := sim.Run(t.Context(), w, watch, sim.Options{Machines: 1, Slots: slots, Limits: sched.DefaultLimits(), Model: sim.StatedLaw, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	var jobs []*past.JobRecord
	mean := 0.0
	for i, j := range res.Jobs {
		at := noon.Add(time.Duration(j.Arrival))
		jobs = append(jobs, &past.JobRecord{
			Run: fmt.Sprint("r", i), Name: []string{"small", "large"}[min(1, int(j.Tasks)/20)], State: past.Succeeded, Policy: spec, Slots: slots, Submitted: at,
			Ended: at.Add(time.Duration(j.Completion - j.Arrival)), Spec: &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: int(j.Tasks)}}},
			Stages: []past.StageRecord{{PastStage: watch.jobs[i].Sample("tasks", int(j.Tasks))}},
		})
		mean += (j.Completion - j.Arrival).Seconds() / float64(len(res.Jobs))
	}
	return jobs, mean
}

// nights is a workload of small and large jobs that wait for each other, with stragglers.
func nights(t testing.TB, jobs int) *trace.Workload {
	t.Helper()
	l, err := laws.Parse("mixture:w1=0.95,of1=(uniform:lo=8,hi=12),w2=0.05,of2=(uniform:lo=60,hi=90)")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	w := &trace.Workload{Names: []string{""}, Laws: []laws.Law{l}}
	arrival := sched.Time(0)
	for i := range jobs {
		tasks := uint32(4 + rng.IntN(8))
		if i%4 == 0 {
			tasks = uint32(40 + rng.IntN(80))
		}
		w.Jobs = append(w.Jobs, trace.JobRow{Arrival: arrival, Number: uint32(i), FirstStage: uint32(i), Stages: 1})
		w.Stages = append(w.Stages, trace.StageRow{FirstTask: uint32(len(w.Durations)), Tasks: tasks, Mean: sched.FromSeconds(l.Mean())})
		w.Durations = append(w.Durations, make([]sched.Time, tasks)...)
		arrival += sched.FromSeconds(rng.ExpFloat64() * 60)
	}
	return w
}

// What the answer says of another policy, other slots and the same ones comes true: the same jobs, lived through in
// truth, take as long on average. What was recorded comes from one run, under which attempts of stragglers were cut off.
func TestAnswersComeTrue(t *testing.T) {
	w := nights(t, 120)
	jobs, took := lived(t, w, "spark", 8, 1)
	q := Question{Name: "*", Policies: []string{"spark", "fifo", "srpt", "fair"}, Slots: []string{"8", "12"}, Runs: 10, Seed: 3}
	a, err := q.Ask(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(a.Recorded.MeanFlow-took) > 1e-6*took || a.Recorded.Policy != "spark" || a.Recorded.Slots != 8 || a.Jobs != 120 || len(a.Cases) != 8 {
		t.Errorf("%+v", a.Recorded)
	}
	for i, c := range a.Cases {
		var truth []float64
		for seed := range uint64(20) {
			slots := 8 + 4*(i/4)
			_, mean := lived(t, w, c.Policy, slots, 100+seed)
			truth = append(truth, mean)
		}
		e := sim.EstimateOf(truth)
		t.Logf("%s on %s: %.1f ± %.1f s, in truth %.1f ± %.1f s", c.Policy, c.Slots, *c.MeanFlow, *c.MeanFlowCI, e.Mean, e.Half)
		if ratio := *c.MeanFlow / e.Mean; ratio < 0.85 || ratio > 1.15 {
			t.Errorf("%s on %s: %.1f s, in truth %.1f s", c.Policy, c.Slots, *c.MeanFlow, e.Mean)
		}
		if i > 0 && math.Abs(*c.Difference-(*c.MeanFlow-*a.Cases[0].MeanFlow)) > 1e-6 {
			t.Errorf("the difference is %v", *c.Difference)
		}
	}
	if srpt := a.Cases[2]; *srpt.Difference+*srpt.DifferenceCI >= 0 {
		t.Errorf("srpt is not better than spark: %v ± %v", *srpt.Difference, *srpt.DifferenceCI)
	}
}

// Stages, edges, classes and deadlines are as they were.
func TestWorkload(t *testing.T) {
	j := &past.JobRecord{
		Run: "r", Name: "n", State: past.Succeeded, Submitted: noon, Ended: noon.Add(time.Minute), Deadline: noon.Add(90 * time.Second), Slots: 4, Policy: "fifo",
		Spec: &sched.JobSpec{Weight: 2, Priority: 3, Stages: []sched.StageSpec{{Tasks: 3}, {Tasks: 2, Need: 1}}, Edges: []sched.Edge{{From: 0, To: 1, Kind: sched.PerTask, Pairs: [][2]uint32{{0, 1}, {2, 0}}}}},
		Stages: []past.StageRecord{
			{PastStage: live.PastStage{Name: "map", Durations: []float64{1, 2, 3}, Reports: new(false)}, Class: "map"},
			{PastStage: live.PastStage{Name: "reduce", Durations: []float64{4}, Cut: []float64{5}}, Class: "reduce"},
		},
	}
	later := *j
	later.Run, later.Submitted = "s", noon.Add(time.Hour)
	n := Choose([]*past.JobRecord{&later, j, {Run: "f", State: past.Failed}, {Run: "i", State: past.Succeeded}})
	if len(n.Jobs) != 2 || n.Jobs[0] != j || len(n.LeftOut) != 2 {
		t.Fatalf("%+v", n)
	}
	w, err := n.Workload("n", 0)
	if err != nil {
		t.Fatal(err)
	}
	spec := sched.JobSpec{}
	w.Spec(1, &spec)
	if w.Jobs[1].Arrival != 3600*sched.Second || w.Jobs[0].Deadline != 90*sched.Second || w.Jobs[1].Deadline != 1 { // which had passed
		t.Errorf("arrival %v, deadline %v", w.Jobs[1].Arrival, w.Jobs[1].Deadline)
	}
	if spec.Weight != 2 || spec.Priority != 3 || spec.Stages[1].Need != 1 || len(spec.Edges) != 1 || len(spec.Edges[0].Pairs) != 2 {
		t.Errorf("%+v", spec)
	}
	if !slices.Equal(w.Classes, []string{"map", "reduce"}) || w.Stages[1].Class != 1 || !slices.Equal(w.DurationsOf(&w.Stages[0]), []sched.Time{sched.Second, 2 * sched.Second, 3 * sched.Second}) {
		t.Errorf("%+v", w)
	}
	if !w.Stages[0].Silent || w.Stages[1].Silent { // of the second nothing is known
		t.Error("the first stage has reported nothing", w.Stages)
	}
	if first, second := w.Stages[0].Mean, w.Stages[2].Mean; first != 0 || second != 2*sched.Second { // as a scheduler would have known
		t.Errorf("means %v and %v", first, second)
	}
	if w, err = n.Workload("n", time.Hour); err != nil || w.Jobs[0].Deadline != 3600*sched.Second {
		t.Error(w.Jobs[0].Deadline, err)
	}
}

func TestMistakes(t *testing.T) {
	jobs, _ := lived(t, nights(t, 5), "fifo", 4, 1)
	for _, c := range []struct {
		q    Question
		want string
	}{
		{Question{Name: "n", Policies: []string{"nope"}}, "policies"},
		{Question{Name: "n", Slots: []string{"0"}}, "slots"},
		{Question{Name: "n", Runs: -1}, "runs"},
		{Question{Name: "n", Runs: 2000}, "runs"},
		{Question{Name: "n", Deadline: "soon"}, "deadline"},
		{Question{Name: "n", Slots: slices.Repeat([]string{"4"}, 65)}, "policies"},
	} {
		_, err := c.q.Ask(t.Context(), jobs)
		var field *grammar.FieldError
		if !errors.As(err, &field) || field.Field != c.want {
			t.Errorf("%+v: %v, want a mistake in %s", c.q, err, c.want)
		}
	}
	for want, q := range map[string]Question{"name": {}, "last": {Name: "n", Last: "-3d"}} {
		_, err := q.Query(noon)
		var field *grammar.FieldError
		if !errors.As(err, &field) || field.Field != want {
			t.Errorf("%v, want a mistake in %s", err, want)
		}
	}
	days := Question{Name: "n", Last: "1.5d"}
	if query, err := days.Query(noon); err != nil || !query.Since.Equal(noon.Add(-36*time.Hour)) {
		t.Error(query, err)
	}
	if _, err := (&Question{Name: "n"}).Ask(t.Context(), nil); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}
