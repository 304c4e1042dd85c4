package promise

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

func named(specs ...string) (all []func(uint64) (sched.Policy, error)) {
	for _, spec := range specs {
		all = append(all, func(seed uint64) (sched.Policy, error) { return policy.New(spec, seed) })
	}
	return all
}

// twoJobs are one of four tasks and one of one task behind it, of 10 s each, on one slot.
func twoJobs(t *testing.T, known *Durations) *State {
	ten := sched.StageSpec{Tasks: 4, Mean: 10 * sched.Second}
	one := ten
	one.Tasks = 1
	law := laws.Deterministic{Value: 10}
	w := newWorld(t, 1, "fifo", 1, []sched.JobSpec{{Stages: []sched.StageSpec{ten}}, {Stages: []sched.StageSpec{one}}}, []laws.Law{law, law})
	return &State{Snapshot: w.core.Snapshot(), Limits: sched.DefaultLimits(), Seed: 3, Known: func(sched.JobID, int) *Durations { return known }}
}

// TestCompare: two jobs whose ends one can say. A task of the long job runs at first, so the short one waits for that.
func TestCompare(t *testing.T) {
	always := &Durations{Past: []Run{{Ended: []float64{10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}}}}
	s := twoJobs(t, always)
	flows, jobs, err := s.Compare(t.Context(), named("fifo", "srpt", "fifo"), 30)
	if err != nil || jobs != 2 || len(flows) != 3 {
		t.Fatalf("%v, %d jobs, %v", flows, jobs, err)
	}
	longer := 0.0
	for k := range flows[0] {
		if flows[0][k] != flows[2][k] {
			t.Fatalf("play %d: %v and %v s under the same policy", k, flows[0][k], flows[2][k])
		}
		longer += (flows[0][k] - flows[1][k]) / 30
	}
	// fifo: 40 and 50 s; srpt: 50 and 20 s. Each job may be slower than others were.
	if math.Abs(longer-10) > 2 {
		t.Errorf("%v s longer under fifo than under srpt, want 10", longer)
	}
	if flows, jobs, err = twoJobs(t, nil).Compare(t.Context(), named("fifo", "srpt"), 5); jobs != 0 || err != nil {
		t.Errorf("nothing is known: %v, %d jobs, %v", flows, jobs, err)
	}
}

// TestCompareLuck: an attempt lasts as long under each policy, so differences are much less uncertain than times.
func TestCompareLuck(t *testing.T) {
	var past Run
	for i := range 40 {
		past.Ended = append(past.Ended, 10*math.Pow(float64(i)+0.5, 1.5)/100)
	}
	jobs := make([]sched.JobSpec, 8)
	law := make([]laws.Law, len(jobs))
	for i := range jobs {
		jobs[i].Stages = []sched.StageSpec{{Tasks: 4 + 5*i}}
		law[i] = laws.Deterministic{Value: 10}
	}
	w := newWorld(t, 1, "fair", 6, jobs, law)
	s := &State{Snapshot: w.core.Snapshot(), Limits: sched.NoLimits(), Seed: 4, Known: func(sched.JobID, int) *Durations { return &Durations{Past: []Run{past}} }}
	flows, _, err := s.Compare(t.Context(), named("fair", "fifo"), 40)
	if err != nil {
		t.Fatal(err)
	}
	gains := make([]float64, 40)
	for k := range gains {
		gains[k] = flows[0][k] - flows[1][k]
	}
	_, alone := laws.MeanInterval(flows[0], 0.95)
	gain, paired := laws.MeanInterval(gains, 0.95)
	t.Logf("± %.2f s alone, %.2f ± %.2f s paired", alone, gain, paired)
	if paired > alone/2 || gain < paired {
		t.Errorf("± %v s alone, gain %v ± %v s", alone, gain, paired)
	}
}
