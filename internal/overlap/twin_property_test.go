package overlap

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// battery has every policy, with the parameters that change what it does.
var battery = []string{
	"fcfs", "maxsrpt", "maxsrpt:conserving=false", "splitsrpt", "splitsrpt:conserving=false",
	"klps", "klps:k=1", "klps:k=2", "klps:k=3", "wps", "fillsrpt",
}

func completions(p Discipline, jobs []Demand) []float64 {
	out := make([]float64, len(jobs))
	Run(p, slices.Values(jobs), func(c Completion) { out[c.Index] = c.Time })
	return out
}

// dyadic draws jobs of few sizes and arrival times, so that ties of every sort abound.
func dyadic(t *rapid.T) []Demand {
	sizes := rapid.SampledFrom([]float64{0, 0, 0.125, 0.25, 0.5, 0.75, 1, 1, 1.5, 2, 3, 4, 7, 1.0 / 64})
	times := rapid.SampledFrom([]float64{0, 0, 0, 0.25, 0.5, 1, 1, 1.5, 2, 4, 8})
	weights := rapid.SampledFrom([]float64{0, 0, 0.001, 0.3, 0.5, 1, 2, 3, 8, 1000})
	jobs := make([]Demand, rapid.IntRange(1, 9).Draw(t, "jobs"))
	clock := 0.0
	for i := range jobs {
		clock += times.Draw(t, "gap")
		jobs[i] = Demand{Arrival: clock, Map: sizes.Draw(t, "map"), Shuffle: sizes.Draw(t, "shuffle"), Weight: weights.Draw(t, "weight")}
	}
	return jobs
}

// realJobs draws jobs without ties whose sizes and ratios go over many orders of magnitude. rapid likes numbers such as 1, which tie but for
// rounding; a little of the sine goes round that.
func realJobs(t *rapid.T) []Demand {
	jobs := make([]Demand, rapid.IntRange(1, 14).Draw(t, "jobs"))
	clock := 0.0
	for i := range jobs {
		off := func(k int) float64 { return 1 + 1e-3*math.Sin(float64(10*i+k)) }
		clock += rapid.Float64Range(0, 2).Draw(t, "gap") + 1e-3*off(1)
		x := math.Exp(rapid.Float64Range(-3, 3).Draw(t, "log map")) * off(2)
		jobs[i] = Demand{Arrival: clock, Map: x, Shuffle: x * math.Exp(rapid.Float64Range(-4, 4).Draw(t, "log ratio")) * off(3)}
	}
	return jobs
}

func TestTwin(t *testing.T) {
	for _, spec := range battery {
		p := mustParse(t, spec)
		t.Run(spec, rapid.MakeCheck(func(t *rapid.T) {
			jobs := realJobs(t)
			compare(t, jobs, completions(p, jobs), runTwin(&twin{policy: p}, jobs), 1e-9)
		}))
	}
}

// Long queues under the workload of Section 5.3, at rest and overloaded: what short worlds meet rarely.
func TestTwinOnLongRuns(t *testing.T) {
	for _, load := range []float64{0.6, 0.9, 1.2} {
		compareLongRun(t, load, 4)
	}
}

func compareLongRun(t *testing.T, load float64, seed uint64) {
	jobs := slices.Collect(Synthetic(1500, load, seed))
	for _, spec := range battery {
		p := mustParse(t, spec)
		got, want := completions(p, jobs), runTwin(&twin{policy: p}, jobs)
		for i, j := range jobs {
			if math.Abs(got[i]-want[i]) > 1e-9*want[i] {
				t.Errorf("%s at %v, seed %d: job %d, %v: got %v, want %v", spec, load, seed, i, j, got[i], want[i])
				break
			}
		}
	}
}

func compare(t *rapid.T, jobs []Demand, got, want []float64, within float64) {
	for i := range jobs {
		if !(math.Abs(got[i]-want[i]) <= within*max(1, want[i])) {
			t.Fatalf("job %d of %v:\n got %v\nwant %v", i, jobs, got, want)
		}
	}
}

func mustParse(t testing.TB, spec string) Discipline {
	t.Helper()
	p, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// No valid input is too much: whatever the sizes, every job is done, and not before it could be.
func TestExtremes(t *testing.T) {
	sizes := rapid.SampledFrom([]float64{0, 1e-100, 1e-30, 1e-9, 0.1, 1, 3, 1e9, 1e30, 1e100})
	times := rapid.SampledFrom([]float64{0, 0, 1e-9, 0.3, 1, 1e9})
	weights := rapid.SampledFrom([]float64{0, 1e-3, 0.1, 1, 1e3})
	for _, spec := range battery {
		p := mustParse(t, spec)
		t.Run(spec, rapid.MakeCheck(func(t *rapid.T) {
			jobs := make([]Demand, rapid.IntRange(1, 12).Draw(t, "jobs"))
			clock := -1e6
			for i := range jobs {
				clock += times.Draw(t, "gap")
				jobs[i] = Demand{Arrival: clock, Map: sizes.Draw(t, "map"), Shuffle: sizes.Draw(t, "shuffle"), Weight: weights.Draw(t, "weight")}
				if err := jobs[i].Validate(); err != nil {
					t.Fatal(err)
				}
			}
			done := make([]bool, len(jobs))
			Run(p, slices.Values(jobs), func(c Completion) {
				if done[c.Index] {
					t.Fatalf("job %d is done twice", c.Index)
				}
				done[c.Index] = true
				if early := c.Job.Arrival + c.Job.Alone() - c.Time; !(early <= 1e-9*max(1e6, math.Abs(c.Time))) {
					t.Fatalf("job %d of %v is done at %v", c.Index, jobs, c.Time)
				}
			})
			if slices.Contains(done, false) {
				t.Fatalf("jobs are left over: %v", done)
			}
		}))
	}
}
