package policy

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// probeStory is a hand-worked example: jobs that arrive a second after each other, and every launch.
type probeStory struct {
	name, policy string
	machines     int
	jobs         []*sched.JobSpec
	lasts        []sched.Time // of tasks, in order
	want         []string     // "instant task machine"
}

// job is one of n tasks that are expected to take a mean.
func ofMean(n int, mean sched.Time) *sched.JobSpec {
	return &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: n, Mean: mean}}}
}

// TestProbeStories: with as many probes as machines, or one machine, nothing is left to chance. trip=2s puts a second
// between a message and its arrival.
func TestProbeStories(t *testing.T) {
	s := sched.Second
	stories := []probeStory{
		// Sparrow, section 3.4: the probe is there at 1 s, the answer to its question at 3 s. The second reservation
		// asks too, and finds nothing; it costs its machine nothing else.
		{"a task goes to the machine that asks first", "sparrow:trip=2s", 2, []*sched.JobSpec{ofMean(1, 0)}, []sched.Time{10 * s}, []string{"3s t0 m0"}},
		// Machine 0 has a task of job 0 until 103 s, machine 1 until 13 s. Job 1 has reservations at both, and its task
		// goes where a slot is free first, which queue lengths would not tell.
		{"late binding", "sparrow:trip=2s", 2, []*sched.JobSpec{ofMean(2, 0), ofMean(1, 0)}, []sched.Time{100 * s, 10 * s, 5 * s}, []string{"3s t0 m0", "3s t1 m1", "15s t2 m1"}},
		// Section 3.5. Both machines ask for job 0 at 1 s and get its tasks. Of its four reservations two are left,
		// which are taken back at 3 s. So machine 0 asks for job 1 at 13 s; else it would ask for job 0 once more.
		{"cancellation", "sparrow:trip=2s", 2, []*sched.JobSpec{ofMean(2, 0), ofMean(2, 0)}, []sched.Time{10 * s, 100 * s, 10 * s}, []string{"3s t0 m0", "3s t1 m1", "15s t2 m0", "27s t3 m0"}},
		{"no cancellation", "sparrow:trip=2s,cancel=false", 2, []*sched.JobSpec{ofMean(2, 0), ofMean(2, 0)}, []sched.Time{10 * s, 100 * s, 10 * s}, []string{"3s t0 m0", "3s t1 m1", "17s t2 m0", "29s t3 m0"}},
		// Section 3.1: the lengths are there at 2 s, the tasks at 3 s, and nobody asks.
		{"early binding", "sparrow:trip=2s,sampling=batch", 2, []*sched.JobSpec{ofMean(3, 0)}, []sched.Time{10 * s}, []string{"3s t0 m0", "3s t1 m1", "13s t2 m0"}},
		// Hawk, section 3: the central scheduler sends the long tasks to both machines, and each probe of job 1 waits
		// behind one. Machine 1 ends first, serves its own reservation, and steals the other.
		{"stealing", "hawk:trip=0s,probes=1,short=0", 2, []*sched.JobSpec{ofMean(2, 2000*s), ofMean(2, s)}, []sched.Time{3000 * s, 10 * s, 5 * s}, []string{"0s t0 m0", "0s t1 m1", "10s t2 m1", "15s t3 m1"}},
		{"no stealing", "hawk:trip=0s,probes=1,short=0,steal=0", 2, []*sched.JobSpec{ofMean(2, 2000*s), ofMean(2, s)}, []sched.Time{3000 * s, 10 * s, 5 * s}, []string{"0s t0 m0", "0s t1 m1", "10s t2 m1", "50m0s t3 m0"}},
		// Of four machines one takes no long tasks: number 3. Two tasks of 2,000 s and one of 4,000 s go to the others,
		// and the next to the first that is expected to be free. That was wrong, but the task stays where it is.
		{"least work", "hawk:trip=0s,short=0.25,steal=0", 4, []*sched.JobSpec{ofMean(1, 4000*s), ofMean(2, 2000*s), ofMean(1, 2000*s)}, []sched.Time{10 * s, 5000 * s, 2000 * s, s}, []string{"0s t0 m0", "1s t1 m1", "1s t2 m2", "1h23m21s t3 m1"}},
		// Eagle: machine 0 has the long task and turns the probe away, at 1 s of job 1 (2 s); it arrives at machine 1 at
		// 4 s and waits there.
		{"succinct state sharing", "eagle:trip=2s,probes=1,short=0", 2, []*sched.JobSpec{ofMean(1, 2000*s), ofMean(2, s)}, []sched.Time{3000 * s, 10 * s}, []string{"1s t0 m0", "4s t1 m1", "16s t2 m1"}},
		// Job 0 has both machines. Job 1 has one reservation at each, and so has job 2. Machine 0 is free at 10 s.
		{"sticky batch probing", "eagle:trip=0s,probes=1,bypass=-1", 2, []*sched.JobSpec{ofMean(2, s), ofMean(2, s), ofMean(2, s)}, []sched.Time{10 * s, 100 * s, 10 * s}, []string{"0s t0 m0", "0s t1 m1", "10s t2 m0", "20s t3 m0", "30s t4 m0", "40s t5 m0"}},
		{"without it", "eagle:trip=0s,probes=1,bypass=-1,sticky=false", 2, []*sched.JobSpec{ofMean(2, s), ofMean(2, s), ofMean(2, s)}, []sched.Time{10 * s, 100 * s, 10 * s}, []string{"0s t0 m0", "0s t1 m1", "10s t2 m0", "20s t4 m0", "1m40s t3 m1", "1m50s t5 m1"}},
		// On one machine: job 1 has three tasks left, jobs 2 to 4 one each. Two of these may overtake the reservations of
		// job 1, and then it is their turn.
		{"the job with the least left", "eagle:trip=0s,probes=1,bypass=2,sticky=false", 1, []*sched.JobSpec{ofMean(1, s), ofMean(3, s), ofMean(1, s), ofMean(1, s), ofMean(1, s)}, []sched.Time{10 * s}, []string{"0s t0 m0", "10s t4 m0", "20s t5 m0", "30s t1 m0", "40s t2 m0", "50s t3 m0", "1m0s t6 m0"}},
	}
	for i := range stories {
		t.Run(stories[i].name, func(t *testing.T) {
			if diff := cmp.Diff(stories[i].want, stories[i].launches(t)); diff != "" {
				t.Errorf("launches (-want +got):\n%s", diff)
			}
		})
	}
}

func (p *probeStory) launches(t *testing.T) (all []string) {
	w := on(t, p.policy, sched.NoLimits())
	w.Machines(p.machines)
	for i, spec := range p.jobs {
		w.Submit(sched.Time(i)*sched.Second, spec)
	}
	w.Fate = policytest.Lasts(0, p.lasts...)
	w.Seen = func(_ sched.Time, orders []sched.Decision) {
		for i := range orders {
			if d := &orders[i]; d.Kind == sched.Launch {
				all = append(all, fmt.Sprintf("%v t%d m%d", w.Core.View().Now(), d.Task, d.Machine))
			}
		}
	}
	w.Run()
	return all
}

// flowsUnder simulates a workload and returns the flow times of its jobs.
func flowsUnder(t *testing.T, w *trace.Workload, spec string, o sim.Options) (seconds []float64) {
	t.Helper()
	p, err := New(spec, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	o.Limits = sched.NoLimits()
	res, err := sim.Run(context.Background(), w, p, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range res.Jobs {
		seconds = append(seconds, (res.Jobs[i].Completion - res.Jobs[i].Arrival).Seconds())
	}
	return seconds
}

func synthesized(t *testing.T, spec string, seed uint64) *trace.Workload {
	t.Helper()
	w, err := trace.Synthesize(spec, seed)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestProbesEverywhereAreOneQueue: with a probe of each task at every machine, late binding is one queue in order of
// arrival, whatever the cluster. So is a central scheduler under which all jobs are long and last as long as expected.
func TestProbesEverywhereAreOneQueue(t *testing.T) {
	for seed := range uint64(3) {
		o := sim.Options{Machines: 3 + int(seed)*6, Slots: 1 + int(seed), Seed: seed}
		for _, x := range [][2]string{
			{"sparrow:probes=60,trip=0s", "tasks=1"}, {"sparrow:probes=60,trip=0s,cancel=false", "tasks=uniform:lo=1,hi=9"},
			{"hawk:probes=60,trip=0s,steal=0", "tasks=uniform:lo=1,hi=9"}, {"eagle:probes=60,trip=0s,bypass=-1", "tasks=uniform:lo=1,hi=9"},
		} {
			w := synthesized(t, "synth:jobs=100;law=pareto:alpha=1.5,xm=1;arrivals=poisson:rate=2;"+x[1], seed)
			if diff := cmp.Diff(flowsUnder(t, w, "fifo", o), flowsUnder(t, w, x[0], o)); diff != "" {
				t.Fatalf("%s, seed %d (-fifo +probes):\n%s", x[0], seed, diff)
			}
		}
		w := synthesized(t, "synth:jobs=100;tasks=uniform:lo=1,hi=9;law=det:value=3;arrivals=poisson:rate=2", seed)
		o.Slots = 1
		if diff := cmp.Diff(flowsUnder(t, w, "fifo", o), flowsUnder(t, w, "hawk:cutoff=0s,short=0,trip=0s", o)); diff != "" {
			t.Fatalf("all long, seed %d (-fifo +hawk):\n%s", seed, diff)
		}
	}
}

// TestTwoChoices: Sparrow's section 3.1, and Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE
// TPDS 2001: with d choices, exponential durations of mean 1 and a load of r, the mean flow time is the sum over i of
// r^((d^i-d)/(d-1)), and 1/(1-r) with one.
func TestTwoChoices(t *testing.T) {
	t.Parallel()
	const load, machines, runs = 0.7, 100, 3
	for d, spec := range map[float64]string{1: "power-of-two:probes=1,trip=0s", 2: "power-of-two:trip=0s"} {
		want := 1 / (1 - load)
		if d > 1 {
			want = 0
			for i := 1.0; i < 12; i++ {
				want += math.Pow(load, (math.Pow(d, i)-d)/(d-1))
			}
		}
		var means []float64
		for seed := range uint64(runs) {
			w := synthesized(t, fmt.Sprintf("synth:jobs=30000;tasks=1;law=exp:mean=1;arrivals=poisson:rate=%g", load*machines), seed)
			flows := flowsUnder(t, w, spec, sim.Options{Machines: machines, Seed: seed})
			mean, _ := laws.MeanInterval(flows[len(flows)/4:], 0.95) // the cluster is empty at first
			means = append(means, mean)
		}
		if mean, half := laws.MeanInterval(means, 0.99); math.Abs(mean-want) > min(half, 0.1*want)+0.02*want {
			t.Errorf("%g choices: mean flow time %.3f ± %.3f, want %.3f", d, mean, half, want)
		}
	}
}
