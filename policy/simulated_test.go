package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// simulatedInstances is how many whole simulations a policy and its plain reference are compared in by every go test.
const simulatedInstances = 40

func TestSimulatedOracles(t *testing.T) {
	t.Parallel()
	for name, draw := range simulated {
		t.Run(name, func(t *testing.T) { compareInSimulations(t, 0, simulatedInstances, draw) })
	}
}

// simulated are the plain references, as the digests of the papers have their rules.
var simulated = map[string]func(*rapid.T) (string, sched.Policy){
	"mantri": drawMantri, "mantri-dup": drawMantriDup, "grass": drawGrass, "grass that learns": drawGrassLearning, "dolly": drawDolly,
}

// compareInSimulations runs policies and their references over random workloads on random clusters, under random limits
// and reports. Every job must end at the same instant, after the same attempts.
func compareInSimulations(t *testing.T, first, n int, draw func(*rapid.T) (string, sched.Policy)) {
	attempts, clones := 0, 0
	for i := first; i < first+n; i++ {
		var spec string
		var reference sched.Policy
		var o sim.Options
		var from string
		rapid.Custom(func(r *rapid.T) int {
			spec, reference = draw(r)
			o, from = drawWorld(r, spec)
			return 0
		}).Example(i)
		w, err := trace.Synthesize(from, uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		o.Seed = uint64(i)
		var jobs [2][]sim.JobResult
		for k, p := range []sched.Policy{reference, p} {
			res, err := sim.Run(context.Background(), w, p, o)
			if err != nil {
				t.Fatalf("instance %d, %s: %v", i, spec, err)
			}
			jobs[k] = res.Jobs
		}
		if !slices.Equal(jobs[0], jobs[1]) {
			t.Errorf("instance %d: %s differs from its reference\n%s\n%+v\n%s", i, spec, from, o, firstDifference(jobs[0], jobs[1]))
		}
		for _, j := range jobs[0] {
			attempts, clones = attempts+int(j.Attempts), clones+int(j.Clones)
		}
	}
	t.Logf("%d instances, %d attempts, %d clones", n, attempts, clones)
	if clones < n && !testing.Short() {
		t.Errorf("%d clones in %d instances: they are too tame", clones, n)
	}
}

func drawWorld(r *rapid.T, spec string) (o sim.Options, workload string) {
	least, most, tasks := 2, 14, 12
	if strings.Contains(spec, "sample=0.8") { // which takes many jobs
		least, most, tasks = 16, 20, 4
	}
	o = sim.Options{Machines: rapid.IntRange(2, 24).Draw(r, "machines"), Slots: rapid.IntRange(1, 3).Draw(r, "slots"), Model: sim.Resample}
	o.Limits = rapid.SampledFrom([]sched.Limits{
		sched.NoLimits(), sched.DefaultLimits(), {Attempts: 2, Clones: sched.CloneBudget{Floor: 3}}, {Attempts: 3, Clones: sched.CloneBudget{RunningShare: 0.5}},
	}).Draw(r, "limits")
	o.Progress = rapid.SampledFrom([]sim.Progress{{Exact: true}, {Every: sched.Second}, {Every: 5 * sched.Second}, {Every: 2 * sched.Second, Noise: 0.3}}).Draw(r, "progress")
	law := rapid.SampledFrom([]string{"pareto:alpha=1.5,xm=4", "exp:mean=10", "twopoint:lo=5,hi=60,p=0.8"}).Draw(r, "law")
	workload = fmt.Sprintf("synth:jobs=%d;tasks=%d;law=%s;arrivals=poisson:rate=%g", rapid.IntRange(least, most).Draw(r, "jobs"), rapid.IntRange(1, tasks).Draw(r, "tasks"), law,
		rapid.SampledFrom([]float64{0.02, 0.2, 2}).Draw(r, "rate"))
	if rapid.Bool().Draw(r, "deadlines") {
		workload += ";deadline=40s"
	}
	return o, workload
}

// firstDifference shows the first job of which two results differ.
func firstDifference(want, got []sim.JobResult) string {
	for i := range want {
		if want[i] != got[i] {
			return fmt.Sprintf("job %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	return ""
}
