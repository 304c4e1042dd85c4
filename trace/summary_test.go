package trace

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// Durations that are counted are as good as a list of them, and so are the quantiles of a list looked up one by one.
func TestSpreadOfEqualDurations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		whole := rapid.Map(rapid.IntRange(0, 9), func(n int) sched.Time { return sched.Time(n) * sched.Second })
		all := rapid.SliceOf(whole).Draw(rt, "single")
		equal := rapid.MapOf(whole, rapid.IntRange(1, 5)).Draw(rt, "equal")
		got := durationSpread(slices.Clone(all), equal)
		for d, n := range equal {
			all = append(all, slices.Repeat([]sched.Time{d}, n)...)
		}
		slices.Sort(all)
		n := len(all)
		want := Spread{N: n}
		if n > 0 {
			at := func(hundredths int) float64 { return all[(hundredths*n+99)/100-1].Seconds() }
			want = Spread{N: n, Min: all[0].Seconds(), P50: at(50), P90: at(90), P99: at(99), Max: all[n-1].Seconds()}
			for _, d := range all {
				want.Mean += d.Seconds() / float64(n)
			}
		}
		if d := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 1e-9)); d != "" {
			rt.Fatal(d)
		}
	})
}

func TestSummarize(t *testing.T) {
	// The second stage has ten tasks of median 2.5 s, the longest of 10 s. The stage of ten zeros has no ratio.
	w := mustRead(t, `{"arrival_seconds":10,"deadline_seconds":5,"stages":[{"name":"a","durations_seconds":[1,5],"input_bytes":7},`+
		`{"durations_seconds":[1,1,1,2,2,3,3,3,4,10],"after":["a"],"input_bytes":3}]}
{"arrival_seconds":12,"stages":[{"durations_seconds":[0,0,0,0,0,0,0,0,0,0]}]}
{"arrival_seconds":18,"stages":[{"durations_seconds":[4]}]}
`)
	want := Summary{
		Jobs: 3, Stages: 4, Tasks: 23, Edges: 1, Deadlines: 1, InputBytes: 10, WorkSeconds: 40, FirstArrivalSeconds: 10, LastArrivalSeconds: 18,
		TasksPerJob:  Spread{N: 3, Mean: 23.0 / 3, Min: 1, P50: 10, P90: 12, P99: 12, Max: 12},
		StagesPerJob: Spread{N: 3, Mean: 4.0 / 3, Min: 1, P50: 1, P90: 2, P99: 2, Max: 2},
		TaskSeconds:  Spread{N: 23, Mean: 40.0 / 23, Min: 0, P50: 1, P90: 4, P99: 10, Max: 10},
		GapSeconds:   Spread{N: 2, Mean: 4, Min: 2, P50: 2, P90: 6, P99: 6, Max: 6},
		Straggling:   Spread{N: 1, Mean: 4, Min: 4, P50: 4, P90: 4, P99: 4, Max: 4},
	}
	got := Summarize(w)
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Error(d)
	}
	if load := got.Load(2); load != 40.0/8/2 {
		t.Errorf("load on two slots %v, want 2.5", load)
	}
	alone := Summarize(mustRead(t, "5 1 2 2\n"))
	if d := cmp.Diff(Spread{}, alone.GapSeconds); d != "" || !math.IsInf(alone.Load(1), 1) {
		t.Errorf("one job: load %v, gaps\n%s", alone.Load(1), d)
	}
}
