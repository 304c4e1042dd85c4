package policy

import (
	"math"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/policy/internal/tandem"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// overlapping makes a job of n maps and n shuffles, shuffle i after map i, that take x and y seconds of a station with so many slots.
func overlapping(n int, x, y float64, slots int) *sched.JobSpec {
	mean := func(size float64) sched.Time { return sched.FromSeconds(size * float64(slots) / float64(n)) }
	return &sched.JobSpec{
		Stages: []sched.StageSpec{{Tasks: n, Mean: mean(x)}, {Tasks: n, Mean: mean(y), Class: 1}},
		Edges:  []sched.Edge{{From: 0, To: 1, Kind: sched.Pointwise}},
	}
}

// tandem runs jobs of sizes (x, y) that arrive together, in 1,000 tasks a phase, on a cluster with ten slots of either class, and returns their completions in seconds.
func tandemOf(t *testing.T, spec string, jobs ...tandem.Sizes) []float64 {
	t.Helper()
	const tasks, slots = 1000, 10
	p, err := NewPerClass(spec, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	w := policytest.NewWorld(t, p, sched.DefaultLimits())
	w.Classes = 2
	w.Machine(0, slots)
	w.Machine(0, slots)
	for _, j := range jobs {
		w.Submit(0, overlapping(tasks, j.X, j.Y, slots))
	}
	w.Fate = func(d *sched.Decision) policytest.Fate {
		return policytest.Fate{Lasts: w.Core.View().Stage(d.Stage).Mean}
	}
	w.Run()
	var done []float64
	for j := range jobs {
		done = append(done, w.Core.View().Job(sched.JobID(j)).Closed.Seconds())
	}
	return done
}

// TestOverlapPaperTasks compares jobs of a thousand tasks with what the fluid model says of them. Expected are the exact completions of package
// overlap, of Section 2.1 and, for MaxSRPT and SplitSRPT, worked out by hand below; tasks are at most 1 % of a job, and so is the tolerance.
func TestOverlapPaperTasks(t *testing.T) {
	for _, c := range []struct {
		name, spec string
		jobs       []tandem.Sizes
		want       []float64
	}{
		{"Section 2.1", "fifo/fifo", []tandem.Sizes{{X: 1, Y: 2}, {X: 3, Y: 1}, {X: 2, Y: 2}}, []float64{2, 4, 6}},
		// L = 2, 3, 2: the maps of the first and third, ties by arrival, then the second. Shuffle follows: 2, then 4, then the second's at rate 1/3 until 6.
		{"MaxSRPT", "maxsrpt", []tandem.Sizes{{X: 1, Y: 2}, {X: 3, Y: 1}, {X: 2, Y: 2}}, []float64{2, 6, 4}},
		// S1 = {(4, 1)}, S2 = {(1, 4)}, B = 4: mu1 = 1/5, mu2 = 4/5. The second gets 1/5 of the map station and 4/5 of the shuffle station, the first the other
		// shares: both maps are done at 5, and both shuffles with them.
		{"SplitSRPT", "splitsrpt", []tandem.Sizes{{X: 4, Y: 1}, {X: 1, Y: 4}}, []float64{5, 5}},
		// q = (1-1/4)/(17/4-1/4) = 3/16 of the map slots keep the shuffle slots busy: the first is mapped in 4/(13/16), and all shuffled in 5.25.
		{"FillSRPT", "fillsrpt", []tandem.Sizes{{X: 4, Y: 1}, {X: 1, Y: 4.25}}, []float64{64. / 13, 5.25}},
		// L is equal; the first goes first at both stations, in 4 and 1; the second begins its shuffle at 4.
		{"MaxSRPT on the same", "maxsrpt", []tandem.Sizes{{X: 4, Y: 1}, {X: 1, Y: 4}}, []float64{4, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := tandemOf(t, c.spec, c.jobs...)
			near := func(a, b float64) bool { return math.Abs(a-b) <= 0.02*b }
			if !slices.EqualFunc(got, c.want, near) {
				t.Errorf("completions %.3f, want %.3f", got, c.want)
			}
		})
	}
}

// TestStationsLine: with size=history a job is judged by the line through those before it; with first, by its own first tasks.
func TestStationsLine(t *testing.T) {
	var l tandem.Line
	if _, ok := l.At(1); ok {
		t.Error("no point determines a line")
	}
	l.Add(10, 25)
	if _, ok := l.At(1); ok {
		t.Error("one point determines a line")
	}
	l.Add(20, 45)
	l.Add(40, 85)
	if y, ok := l.At(100); !ok || math.Abs(y-205) > 1e-9 {
		t.Errorf("5 + 2x at 100 is %v", y)
	}
}

// TestPerClassSpec: one specification serves all classes, or there is one for each.
func TestPerClassSpec(t *testing.T) {
	for spec, ok := range map[string]bool{"fifo": true, "fifo/fair": true, "fifo/fair/srpt": false, "fifo/none": false, "/": false} {
		if _, err := NewPerClass(spec, 1, 2); (err == nil) != ok {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if _, err := NewPerClass("fifo/fair", 1, 0); err == nil {
		t.Error("two policies were accepted for one class")
	}
	if progress, err := ProgressPerClass("fifo/late", 2); err != nil || !progress {
		t.Errorf("fifo/late decides by progress: %v, %v", progress, err)
	}
}
