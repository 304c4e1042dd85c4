package sim

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

func lowerBound(t testing.TB, w *trace.Workload, o Options) float64 {
	t.Helper()
	b, err := LowerBound(w, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBatchBounds: (8), (17) and (18) on two jobs by hand. Job A has 4 maps of 2 s and no reduces, job B 2 maps of 1
// s and a reduce of 3 s: works 8 and 5.
func TestBatchBounds(t *testing.T) {
	jobs := []BatchJob{{Maps: 4, MapMean: 2, ReduceMean: 99}, {Maps: 2, MapMean: 1, Reduces: 1, ReduceMean: 3}}
	if got := PathBound(jobs, 2); got != 2./2+4./2 {
		t.Errorf("(8): %v, want 3", got)
	}
	if got := WorkBound(jobs, 2); got != (2*5.+8.)/2 {
		t.Errorf("(17): %v, want 9", got)
	}
	if a, b := BatchBound(jobs, 2, 2), BatchBound(jobs, 100, 1); a != 9 || b != 6 {
		t.Errorf("(18): %v and %v, want 9 and 6", a, b)
	}
}

// TestLowerBoundByHand: what the bound is for each service.
func TestLowerBoundByHand(t *testing.T) {
	const batch = `{"stages":[{"durations_seconds":[2,2,2,4],"law":"uniform:lo=3,hi=9"}]}
{"stages":[{"durations_seconds":[1,1],"law":"uniform:lo=3,hi=9"},{"durations_seconds":[3],"law":"det:value=1","after":["0"]}]}`
	for _, c := range []struct {
		name string
		o    Options
		want float64 // sum of both jobs' flow times
	}{
		{"resample: paths 2 and 4", Options{Machines: 100}, 2 + 4},
		{"resample: works 8 and 5", Options{Machines: 2}, (2*5. + 8) / 2},
		{"slots count", Options{Machines: 1, Slots: 2}, (2*5. + 8) / 2},
		{"speed", Options{Machines: 1, Slots: 2, Speed: 2}, (2*5. + 8) / 4},
		{"each waits a second at least", Options{Machines: 1, Wait: laws.TwoPoint{Lo: 1, Hi: 9, P: 0.5}}, 2*8 + 12},
		{"launch delay: works 12 and 8", Options{Machines: 1, LaunchDelay: sched.Second}, 2*8 + 12},
		{"stated law: works 12 and 7", Options{Machines: 1, Model: StatedLaw}, 2*7 + 12},
		{"one law", Options{Machines: 100, Model: model(t, "pareto:alpha=1.5,xm=10")}, 10 + 20},
		{"slowdown at least 1", Options{Machines: 100, Model: model(t, "sx")}, 4 + 4},
		{"machines at least half as slow", Options{Machines: 100, Model: model(t, "machine:slowdown=(uniform:lo=0.5,hi=2)")}, 2 + 2},
		{"capacity: (8)", Options{Machines: 100, Model: model(t, "capacity:law=(uniform:lo=0,hi=2)")}, (4. + 4) / 2},
		{"capacity: (17)", Options{Machines: 1, Model: model(t, "capacity:law=(uniform:lo=0,hi=2)")}, 2*5 + 10},
	} {
		if got := 2 * lowerBound(t, load(t, batch), c.o); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	const later = "0 1 10 10\n2 1 3 3\n20 1 1 1\n" // SRPT: the second job goes first from 2 to 5, the first ends at 13
	if got := 3 * lowerBound(t, load(t, later), Options{Machines: 1}); math.Abs(got-(13+3+1)) > 1e-9 {
		t.Errorf("SRPT: %v, want 17", got)
	}
	// A capacity of up to twice the mean cannot be counted on in the mean if jobs come later: SRPT at double speed.
	if got := 3 * lowerBound(t, load(t, later), Options{Machines: 1, Model: model(t, "capacity:law=(uniform:lo=0,hi=2)")}); math.Abs(got-(6.5+1.5+0.5)) > 1e-9 {
		t.Errorf("capacity with later arrivals: %v, want 8.5", got)
	}
	need := load(t, `{"stages":[{"durations_seconds":[9,1,5],"need":2,"resumable":true}]}`)
	if got := lowerBound(t, need, Options{Machines: 1, Model: model(t, "sx:slowdown=det:value=1")}); got != 6 {
		t.Errorf("two of three tasks: %v, want 6", got)
	}
	if got := lowerBound(t, need, Options{Machines: 1, Progress: Progress{Noise: 1}}); got != 0 {
		t.Errorf("reports that may lie: %v, want 0", got)
	}
}

// TestSRPTAgainstTwin compares with SRPT written in small steps of a clock; instants are whole seconds there.
func TestSRPTAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []trace.JobRow
		var works []float64
		arrival := 0
		for range rapid.IntRange(1, 8).Draw(t, "jobs") {
			arrival += rapid.IntRange(0, 5).Draw(t, "gap")
			jobs = append(jobs, trace.JobRow{Arrival: sched.Time(arrival) * sched.Second})
			works = append(works, float64(rapid.IntRange(0, 6).Draw(t, "work")))
		}
		want := 0.0
		left := slices.Clone(works)
		for now := 0.0; slices.Max(left) > 0; now++ {
			best := -1
			for j := range jobs {
				if left[j] > 0 && jobs[j].Arrival.Seconds() <= now {
					want++
					if best < 0 || left[j] < left[best] {
						best = j
					}
				}
			}
			if best >= 0 {
				left[best]--
			}
		}
		if got := srpt(jobs, works, 1); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v, want %v", got, want)
		}
		for i := range works {
			works[i] *= 3
		}
		if got := srpt(jobs, works, 3); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v at three times the speed and work, want %v", got, want)
		}
	})
}

// TestNoRunBeatsTheBound: whatever happens in a messy world, the mean flow time is no less than the bound, luck or no
// luck. With the model capacity and jobs that come at once the bound holds in the mean only; the jobs of these worlds
// mostly do not.
func TestNoRunBeatsTheBound(t *testing.T) {
	tight := 0.0
	rapid.Check(t, func(t *rapid.T) {
		w, o := drawWorkload(t), drawOptions(t)
		o.Progress.Noise = 0
		if w.Horizon() == 0 {
			o.Model = OneLaw(laws.Uniform{Lo: 1, Hi: 2})
		}
		r, err := Run(t.Context(), w, greedy{clones: true}, o)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := LowerBound(w, o)
		if err != nil {
			t.Fatal(err)
		}
		mean := r.Stats().MeanFlow
		if bound > mean+1e-6 {
			t.Fatalf("mean flow %v s, bound %v s", mean, bound)
		}
		if mean > 0 {
			tight = max(tight, bound/mean)
		}
	})
	if tight < 0.8 && !testing.Short() { // of 300 times 100 random workloads the tightest reached 0.9 each time
		t.Errorf("the bound was never above %v of what was reached", tight)
	}
}
