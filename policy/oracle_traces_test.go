package policy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// replayed are the real traces over which the decision code of the originals is replayed. Alibaba's table has no
// durations of single tasks, so a slowdown makes stragglers there.
var replayed = []struct {
	file  string
	model sim.Model
}{
	{"google-2011/GOOG_subtrace.first7000.tr.gz", sim.Resample}, {"swim-facebook/FB-2009_samples_24_times_1hr_0.tsv.gz", sim.Resample},
	{"hadoop-rumen/19-jobs.trace.json.gz", sim.Resample}, {"hadoop-rumen/trace_7m.json.gz", sim.Resample},
	{"alibaba-v2018/batch_task.sample6600.csv.gz", sim.SizeTimesSlowdown(laws.Pareto{Alpha: 2, Xm: 0.5})},
}

// replayedTasks is about how many tasks of a trace are replayed at once: an oracle looks at each of them every time.
const replayedTasks = 200

// originals are the policies that follow a program's code, with what they are replayed with; u is a twentieth of the
// mean task.
var originals = []struct {
	oracle *oracle
	spec   func(r *rapid.T, u sched.Time) string
}{
	{&sparkOracle, func(r *rapid.T, u sched.Time) string {
		return fmt.Sprintf("spark:quantile=%g,multiplier=%g,interval=%s,min_runtime=%s,task_threshold=%s,marks=%s", one(r, 0.9, 0.75, 0.3), one(r, 3, 1.5, 1), u, one(r, 0, 10*u), one(r, 0, 30*u), one(r, "latest", "earliest"))
	}},
	{&hadoop2Oracle, func(r *rapid.T, u sched.Time) string {
		return fmt.Sprintf("hadoop2:estimator=%s,retry=%s,rest=%s,smooth=%s,skip=%d", one(r, "legacy", "simple-exponential", "simple-exponential-first"), u, one(r, u, 10*u), 20*u, one(r, 2, 24))
	}},
	{&flinkOracle, func(r *rapid.T, u sched.Time) string {
		return fmt.Sprintf("flink:ratio=%g,multiplier=%g,lower_bound=%s,interval=%s,block=%s", one(r, 0.75, 0.3), one(r, 1.5, 1), one(r, 20*u, 2*u), u, one(r, 0, 5*u, 40*u))
	}},
	{&hadoopOracle, func(r *rapid.T, u sched.Time) string {
		return fmt.Sprintf("hadoop:gap=%g,lag=%s,lag_from=%s,heartbeat=%s", one(r, 0.2, 0.05, 0), one(r, 0, 5*u, 40*u), one(r, "job", "task"), one(r, u, 3*u))
	}},
}

// one draws one of the values.
func one[T any](r *rapid.T, of ...T) T { return rapid.SampledFrom(of).Draw(r, "one of several") }

// TestOriginalsOnTraces replays the decision code of the originals over real traces: under the policy and under its oracle
// every job must end at the same instant, after the same attempts.
func TestOriginalsOnTraces(t *testing.T) { compareOnTraces(t, 0, tracesStretches) }

// tracesStretches is how many stretches of each trace every go test replays.
const tracesStretches = 4

// compareOnTraces runs so many stretches of each trace, from a number on, under each of the originals.
func compareOnTraces(t *testing.T, first, n int) {
	folder := os.Getenv("TAILCUT_TRACES")
	if folder == "" {
		folder = "../../shared/traces"
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no real traces here (%v); set TAILCUT_TRACES to their folder", err)
	}
	for _, from := range replayed {
		whole, err := trace.Load(filepath.Join(folder, from.file), nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range originals {
			t.Run(x.oracle.name+" "+filepath.Base(from.file), func(t *testing.T) {
				clones := 0
				for i := first; i < first+n; i++ {
					clones += compareOnTrace(t, whole, i, from.model, x.oracle, x.spec)
				}
				t.Logf("%d stretches, %d clones", n, clones)
			})
		}
	}
}

// compareOnTrace compares a policy with its oracle on a stretch of a trace and returns how many clones ran.
func compareOnTrace(t *testing.T, whole *trace.Workload, i int, model sim.Model, o *oracle, draw func(*rapid.T, sched.Time) string) (clones int) {
	var w *trace.Workload
	var spec string
	options := sim.Options{Seed: uint64(i), Model: model}
	rapid.Custom(func(r *rapid.T) int {
		w = stretch(t, whole, rapid.IntRange(0, len(whole.Jobs)-1).Draw(r, "skip"))
		u := max(1, sched.FromSeconds(w.WorkSeconds()/float64(max(1, w.Tasks()))/20)/sched.Second) * sched.Second
		spec = draw(r, u) + ",order=" + one(r, "fifo", "fair", "srpt") + ",clones=" + one(r, "job", "cluster")
		options.Machines, options.Slots = max(2, w.Tasks()/one(r, 2, 5, 15)), one(r, 1, 3)
		options.Limits = one(r, sched.NoLimits(), sched.DefaultLimits())
		options.Progress = one(r, sim.Progress{Exact: true}, sim.Progress{Every: u}, sim.Progress{Every: 3 * u, Noise: 0.3})
		return 0
	}).Example(i)
	e, args, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	var jobs [2][]sim.JobResult
	for k, p := range []sched.Policy{o.slow(args), e.New(args)} {
		res, err := sim.Run(context.Background(), w, p, options)
		if err != nil {
			t.Fatalf("stretch %d, %s: %v", i, spec, err)
		}
		jobs[k] = res.Jobs
	}
	if !slices.Equal(jobs[0], jobs[1]) {
		t.Errorf("stretch %d of %d jobs: %s differs from its oracle\n%+v\n%s", i, len(w.Jobs), spec, options, firstDifference(jobs[0], jobs[1]))
	}
	for _, j := range jobs[0] {
		clones += int(j.Clones)
	}
	return clones
}

// stretch returns jobs of a trace from about one on, no more tasks than replayedTasks unless a single job has, which
// arrive more densely than they did.
func stretch(t *testing.T, whole *trace.Workload, skip int) *trace.Workload {
	for skip+1 < len(whole.Jobs) && whole.TasksOf(skip) > replayedTasks {
		skip++
	}
	tasks, to, from := 0, sched.Time(0), whole.Jobs[skip].Arrival
	for j := skip; j < len(whole.Jobs) && to == 0; j++ {
		if tasks += whole.TasksOf(j); tasks > replayedTasks && whole.Jobs[j].Arrival > from {
			to = whole.Jobs[j].Arrival
		}
	}
	w, err := (&trace.Filter{Skip: skip, To: to, Load: 3}).Apply(whole)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
