package sim

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// listSchedule is Graham's list scheduling, written without a core, an event or a heap: each task in order of arrival goes to the machine that is free first.
func listSchedule(w *trace.Workload, machines int) (completions []sched.Time) {
	free := make([]sched.Time, machines)
	for j := range w.Jobs {
		end := w.Jobs[j].Arrival
		for _, d := range w.DurationsOf(&w.StagesOf(j)[0]) {
			m := 0
			for i := range free {
				if free[i] < free[m] {
					m = i
				}
			}
			free[m] = max(free[m], w.Jobs[j].Arrival) + d
			end = max(end, free[m])
		}
		completions = append(completions, end)
	}
	return completions
}

// skipIfChecked leaves a long run to builds in which it takes seconds.
func skipIfChecked(t *testing.T) {
	t.Helper()
	if Checked {
		t.Skip("the core checks itself after every step in this build")
	}
}

func completions(r *Result) (all []sched.Time) {
	for i := range r.Jobs {
		all = append(all, r.Jobs[i].Completion)
	}
	return all
}

func TestFIFOIsListScheduling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &trace.Workload{Names: []string{""}}
		arrival := sched.Time(0)
		for range rapid.IntRange(1, 30).Draw(t, "jobs") {
			arrival += sched.Time(rapid.IntRange(0, 20).Draw(t, "gap"))
			first := len(w.Durations)
			for range rapid.IntRange(1, 9).Draw(t, "tasks") {
				w.Durations = append(w.Durations, sched.Time(rapid.IntRange(0, 30).Draw(t, "duration")))
			}
			w.Jobs = append(w.Jobs, trace.JobRow{Arrival: arrival, FirstStage: uint32(len(w.Stages)), Stages: 1})
			w.Stages = append(w.Stages, trace.StageRow{FirstTask: uint32(first), Tasks: uint32(len(w.Durations) - first), Law: -1})
		}
		machines := rapid.IntRange(1, 6).Draw(t, "machines")
		r, err := Run(t.Context(), w, greedy{}, Options{Machines: machines, Limits: sched.DefaultLimits(), Check: true})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(listSchedule(w, machines), completions(r)); d != "" {
			t.Fatal(d)
		}
	})
}

func TestFIFOIsListSchedulingOnGoogle2011(t *testing.T) {
	skipIfChecked(t)
	dir := os.Getenv("TAILCUT_TRACES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "traces")
	}
	path := filepath.Join(dir, "google-2011", "GOOG_subtrace.first7000.tr.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no trace at %s; set TAILCUT_TRACES", path)
	}
	w, err := trace.Load(path, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	const machines = 1_000 // few enough that jobs wait for each other
	r := simulate(t, w, greedy{}, Options{Machines: machines})
	if d := cmp.Diff(listSchedule(w, machines), completions(r)); d != "" {
		t.Error(d)
	}
	if st := r.Stats(); st.MeanSlowdown < 1.5 || st.Utilisation < 0.5 {
		t.Errorf("slowdown %v, utilisation %v: the cluster was idle and the test proves little", st.MeanSlowdown, st.Utilisation)
	}
}

const busy = "synth:jobs=60;tasks=uniform:lo=1,hi=12;law=pareto:alpha=1.5,xm=10;arrivals=poisson:rate=0.1"

func TestSameSeedSameResult(t *testing.T) {
	w := synth(t, busy)
	o := Options{Machines: 20, Model: model(t, "machine:keep=1m"), Faults: Faults{MTBF: 200 * sched.Second, MTTR: 20 * sched.Second}, Seed: 5}
	first := simulate(t, w, greedy{clones: true}, o)
	for range 3 {
		if d := cmp.Diff(first, simulate(t, w, greedy{clones: true}, o)); d != "" {
			t.Fatal(d)
		}
	}
	o.Seed = 6
	if cmp.Equal(first, simulate(t, w, greedy{clones: true}, o)) {
		t.Error("another seed gives the same result")
	}
}

// TestProcessorsDoNotMatter runs a batch of simulations on one processor and on several.
func TestProcessorsDoNotMatter(t *testing.T) {
	w := synth(t, busy)
	batch := func() []*Result {
		all := make([]*Result, 12)
		err := Each(t.Context(), len(all), func(i int) error {
			all[i] = simulate(t, w, greedy{clones: true}, Options{Machines: 20, Seed: RunSeed(1, i)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	many := batch()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if d := cmp.Diff(many, batch()); d != "" {
		t.Error(d)
	}
}

// TestScaling: in a world whose times are all seven times as long everything takes seven times as long, to the nanosecond.
func TestScaling(t *testing.T) {
	w := synth(t, busy)
	long := *w
	long.Jobs, long.Durations = slices.Clone(w.Jobs), slices.Clone(w.Durations)
	for i := range long.Jobs {
		long.Jobs[i].Arrival *= 7
	}
	for i := range long.Durations {
		long.Durations[i] *= 7
	}
	short := completions(simulate(t, w, greedy{clones: true}, Options{Machines: 20, Seed: 2}))
	for i := range short {
		short[i] *= 7
	}
	if d := cmp.Diff(short, completions(simulate(t, &long, greedy{clones: true}, Options{Machines: 20, Seed: 2}))); d != "" {
		t.Error(d)
	}
}

// TestShift: what the clock says when the first job arrives does not matter, not to faults and machines either.
func TestShift(t *testing.T) {
	const by = 1_406_471 * sched.Second // as in the Google trace
	w := synth(t, busy)
	late := *w
	late.Jobs = slices.Clone(w.Jobs)
	for i := range late.Jobs {
		late.Jobs[i].Arrival += by
	}
	o := Options{Machines: 20, Model: model(t, "machine"), Faults: Faults{MTBF: 200 * sched.Second, MTTR: 20 * sched.Second}}
	early := completions(simulate(t, w, greedy{clones: true}, o))
	for i := range early {
		early[i] += by
	}
	if d := cmp.Diff(early, completions(simulate(t, &late, greedy{clones: true}, o))); d != "" {
		t.Error(d)
	}
}

// TestRelabelling: a job's luck hangs on its number, not on the jobs around it. Two jobs that have the cluster to themselves keep their flow times
// when a job between them is gone.
func TestRelabelling(t *testing.T) {
	w := load(t, "0 3 1 5 6 7\n1000 2 1 9 9\n2000 3 1 5 6 7\n")
	all := simulate(t, w, greedy{clones: true}, Options{Machines: 9, Model: model(t, "exp:mean=10")})
	fewer := *w
	fewer.Jobs = []trace.JobRow{w.Jobs[0], w.Jobs[2]}
	rest := simulate(t, &fewer, greedy{clones: true}, Options{Machines: 9, Model: model(t, "exp:mean=10")})
	if d := cmp.Diff([]JobResult{all.Jobs[0], all.Jobs[2]}, rest.Jobs); d != "" {
		t.Error(d)
	}
	if all.Jobs[0].Fruitful == all.Jobs[2].Fruitful {
		t.Error("two jobs have the same luck")
	}
}

// lengths records how long each attempt (job, task, number) of a run lasts.
type lengths struct {
	Service
	seen map[[3]uint32]sched.Time
}

func (l lengths) Duration(a *Attempt) sched.Time {
	d := l.Service.Duration(a)
	l.seen[[3]uint32{a.Job, a.Task, a.Number}] = d
	return d
}

// TestCommonRandomNumbers: cloning shifts nobody else's luck; every attempt that two policies have in common lasts as long under both.
func TestCommonRandomNumbers(t *testing.T) {
	w := synth(t, busy)
	for _, spec := range []string{"resample", "sx", "pareto:alpha=1.5,xm=10"} {
		var seen [2]map[[3]uint32]sched.Time
		for i, clones := range []bool{false, true} {
			seen[i] = map[[3]uint32]sched.Time{}
			m := func(w *trace.Workload, machines int, seed uint64) (Service, error) {
				s, err := model(t, spec)(w, machines, seed)
				return lengths{s, seen[i]}, err
			}
			simulate(t, w, greedy{clones: clones}, Options{Machines: 30, Model: m})
		}
		if len(seen[1]) <= len(seen[0]) {
			t.Fatalf("%s: %d attempts with clones, %d without", spec, len(seen[1]), len(seen[0]))
		}
		for a, d := range seen[0] {
			if seen[1][a] != d {
				t.Errorf("%s: attempt %v lasts %v, with clones elsewhere %v", spec, a, d, seen[1][a])
			}
		}
	}
}

// TestMMc compares the mean time in an M/M/c queue with Erlang's formula (C(c, a)/(c mu - lambda) + 1/mu). The tolerance is four standard
// errors over independent runs.
func TestMMc(t *testing.T) {
	skipIfChecked(t)
	for _, c := range []struct {
		machines int
		want     float64 // for lambda = 0.7 c and mu = 1
	}{
		{1, 1 / (1 - 0.7)},           // M/M/1: 1/(mu-lambda)
		{2, 1 / (1 - 0.7*0.7)},       // M/M/2: 1/(mu (1-rho^2))
		{5, 1 + erlangC(5, 3.5)/1.5}, // general
	} {
		const runs = 30
		var sum, squares float64
		for k := range runs {
			w, err := trace.Synthesize("synth:jobs=4000;tasks=1;law=exp:mean=1;arrivals="+laws.Exponential{Mu: 0.7 * float64(c.machines)}.String(), RunSeed(1, k))
			if err != nil {
				t.Fatal(err)
			}
			x := simulate(t, w, greedy{}, Options{Machines: c.machines}).Stats().MeanFlow
			sum += x
			squares += x * x
		}
		mean := sum / runs
		se := math.Sqrt((squares/runs - mean*mean) / (runs - 1))
		if math.Abs(mean-c.want) > 4*se {
			t.Errorf("M/M/%d: mean time %v, want %v within %v", c.machines, mean, c.want, 4*se)
		}
	}
}

// erlangC is the probability of having to wait with c servers and offered load a.
func erlangC(c int, a float64) float64 {
	term, sum := 1.0, 0.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	last := term / (1 - a/float64(c))
	return last / (sum + last)
}

func TestFailuresCostTimeAndNothingElse(t *testing.T) {
	w := synth(t, "synth:jobs=40;tasks=10;law=exp:mean=10")
	sound := simulate(t, w, greedy{}, Options{Machines: 20})
	faulty := simulate(t, w, greedy{}, Options{Machines: 20, Faults: Faults{MTBF: 60 * sched.Second, MTTR: 30 * sched.Second}, Check: true})
	a, b := sound.Stats(), faulty.Stats()
	if b.Attempts <= a.Attempts || b.Fruitless == 0 || b.MeanFlow <= a.MeanFlow {
		t.Errorf("without failures %+v\nwith %+v", a, b)
	}
	for _, j := range faulty.Jobs {
		if j.Failed {
			t.Errorf("job %d failed", j.Number)
		}
	}
}

func TestSpeedAndLaunchDelay(t *testing.T) {
	w := load(t, "0 2 4 4 4\n10 1 3 3\n")
	for _, c := range []struct {
		name string
		o    Options
		want []sched.Time
	}{
		{"plain", Options{Machines: 1}, []sched.Time{8 * sched.Second, 13 * sched.Second}},
		{"twice as fast", Options{Machines: 1, Speed: 2}, []sched.Time{4 * sched.Second, 11500 * sched.Millisecond}},
		{"a second to launch", Options{Machines: 1, LaunchDelay: sched.Second}, []sched.Time{10 * sched.Second, 14 * sched.Second}},
		{"a second to wait", Options{Machines: 1, Wait: laws.Deterministic{Value: 1}}, []sched.Time{10 * sched.Second, 14 * sched.Second}},
		{"nothing to wait for", Options{Machines: 1, Wait: laws.Deterministic{}}, []sched.Time{8 * sched.Second, 13 * sched.Second}},
		{"two slots", Options{Machines: 1, Slots: 2}, []sched.Time{4 * sched.Second, 13 * sched.Second}},
	} {
		if d := cmp.Diff(c.want, completions(simulate(t, w, greedy{}, c.o))); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestStats(t *testing.T) {
	// Jobs of 2 s and 4 s on one machine, one after the other; the second misses its deadline.
	w := load(t, `{"deadline_seconds":2,"stages":[{"durations_seconds":[2]}]}
{"arrival_seconds":1,"deadline_seconds":4,"stages":[{"durations_seconds":[4]}]}`)
	got := simulate(t, w, greedy{}, Options{Machines: 1}).Stats()
	want := Stats{
		Succeeded: 2,
		MeanFlow:  3.5, MedianFlow: 3.5, P90Flow: 4.7, P99Flow: 4.97, MaxFlow: 5, MeanSlowdown: (1 + 5./4) / 2, Makespan: 6,
		Attempts: 2, Fruitful: 6, Utilisation: 1, Deadlines: 2, DeadlinesMet: 1, ValuePossible: 2, ValueWon: 1,
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })); d != "" {
		t.Error(d)
	}
}

// TestValue has a job of 2 s and three of 4 s one after the other on a machine: in time; a minute late at a cost of 2 a
// minute; late for nothing; and dropped at its deadline after 1 s of its run, so that the last one is in time.
func TestValue(t *testing.T) {
	w := load(t, `{"deadline_seconds":2,"value":3,"stages":[{"durations_seconds":[2]}]}
{"deadline_seconds":2,"value":10,"late":"soft:2","stages":[{"durations_seconds":[60]}]}
{"deadline_seconds":10,"value":5,"late":"hard","stages":[{"durations_seconds":[4]}]}
{"deadline_seconds":67,"late":"drop","weight":7,"stages":[{"durations_seconds":[4]}]}
{"deadline_seconds":71,"late":"drop","stages":[{"durations_seconds":[4]}]}`)
	res := simulate(t, w, greedy{}, Options{Machines: 1})
	if d := cmp.Diff([]sched.Time{2 * sched.Second, 62 * sched.Second, 66 * sched.Second, 67 * sched.Second, 71 * sched.Second}, completions(res)); d != "" {
		t.Error(d)
	}
	got := res.Stats()
	if got.ValuePossible != 26 || got.ValueWon != 12 || got.TardinessCost != 2 || got.Dropped != 1 || got.Failed != 1 {
		t.Errorf("%+v", got)
	}
}

// TestFailedJobsImproveNothing: a job that was given up at once has no part in the means, and is counted.
func TestFailedJobsImproveNothing(t *testing.T) {
	r := &Result{Slots: 1, End: 10 * sched.Second, Jobs: []JobResult{
		{Completion: 10 * sched.Second, Deadline: sched.Never, Alone: 5 * sched.Second}, {Failed: true, Deadline: sched.Never, Alone: 5 * sched.Second},
	}}
	if st := r.Stats(); st.MeanFlow != 10 || st.MedianFlow != 10 || st.MeanSlowdown != 2 || st.Succeeded != 1 || st.Failed != 1 {
		t.Errorf("%+v", st)
	}
	r.Jobs = r.Jobs[1:]
	if st := r.Stats(); !math.IsNaN(st.MeanFlow) || !math.IsNaN(st.P99Flow) || !math.IsNaN(st.MeanSlowdown) || st.Failed != 1 {
		t.Errorf("no job succeeded: %+v", st)
	}
}

// resumer kills the only attempt of a task once, half-way, and goes on from there.
type resumer struct{ launched int }

func (*resumer) Observe(*sched.View, *sched.Event) {}

func (p *resumer) Decide(v *sched.View, act *sched.Actions) {
	if t := v.Task(0); t.State == sched.TaskPending {
		p.launched++
		must(act.Launch(0, 0, t.Saved, sched.Original))
		if p.launched == 1 {
			act.WakeAt(5 * sched.Second)
		}
	} else if a, ok := v.FirstAttempt(0); ok && v.Now() == 5*sched.Second && p.launched == 1 {
		if err := act.Kill(a, sched.Share); err != nil {
			panic(err)
		}
		act.WakeAt(7 * sched.Second)
	}
}

// TestResume: an attempt of 10 s is killed after 5 and goes on at 7; a second attempt of the task lasts 10 s too, so half of it are 5.
func TestResume(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[10],"resumable":true}]}`)
	r := simulate(t, w, &resumer{}, Options{Machines: 1, Progress: Progress{Exact: true}})
	if j := r.Jobs[0]; j.Completion != 12*sched.Second || j.Fruitful != 10*sched.Second || j.Fruitless != 0 {
		t.Errorf("%+v, want an end at 12 s and 10 s of fruitful time", j)
	}
}
