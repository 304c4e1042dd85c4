package overlap

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The paper's example in Section 2.1: completions 2, 4 and 6; the backlog is empty at 2.5, and the shuffle station then works at rate
// 1/3 until 4.
func TestWorkedExample(t *testing.T) {
	q := newQueue(byArrival, false)
	var p pool
	for i, j := range []Demand{{Map: 1, Shuffle: 2}, {Map: 3, Shuffle: 1}, {Map: 2, Shuffle: 2}} {
		q.admit(p.get(j, int64(i)))
	}
	type span struct{ Until, Rate float64 } // rate of the shuffle station
	var got []span
	var out done
	clock := 0.0
	for !q.class.empty() {
		at, _ := q.advance(clock, math.Inf(1), &out)
		dt := at - clock
		clock = at
		rate := q.class.drainRate // what the walk left to jobs with backlog when the span began
		if q.class.ready.len() == 0 && clock > 2.5 {
			rate = 1 - rate
		}
		if dt > 0 {
			got = append(got, span{clock, rate})
		}
	}
	want := []span{{1, 1}, {2, 1}, {2.5, 1}, {4, 1.0 / 3}, {6, 1}}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("rates of the shuffle station (-want +got):\n%s", diff)
	}
}

func TestCompletions(t *testing.T) {
	inf := []Demand{{Map: 0, Shuffle: 4}, {Map: 4, Shuffle: 0}, {Map: 0, Shuffle: 1}, {Map: 1, Shuffle: 0}}
	for _, c := range []struct {
		name, policy string
		jobs         []Demand
		want         []float64
	}{
		{"Section 2.1", "fcfs", []Demand{{Map: 1, Shuffle: 2}, {Map: 3, Shuffle: 1}, {Map: 2, Shuffle: 2}}, []float64{2, 4, 6}},
		// FIFO map and PS shuffle, by hand: J1 has 4 left at 7, gets what J2 leaves, 7/10, and ends at 7+40/7.
		{"Section 2.2", "klps:k=1", []Demand{{Map: 7, Shuffle: 11}, {Map: 10, Shuffle: 3}, {Map: 7, Shuffle: 11}}, []float64{89.0 / 7, 17, 28}},
		{"nothing to do", "maxsrpt", []Demand{{Arrival: 3}}, []float64{3}},
		{"no shuffle work", "fcfs", []Demand{{Map: 2}, {Arrival: 1, Map: 1}}, []float64{2, 3}},
		{"no map work", "fcfs", []Demand{{Shuffle: 2}, {Arrival: 1, Shuffle: 1}}, []float64{2, 3}},
		{"ratios all infinite", "splitsrpt", inf, []float64{5, 5, 1, 1}},
		{"ratios all infinite, literal", "splitsrpt:conserving=false", inf, []float64{5, 5, 1, 1}},
		{"equal jobs in order", "maxsrpt", []Demand{{Map: 1, Shuffle: 1}, {Map: 1, Shuffle: 1}}, []float64{1, 2}},
		// At 7.5 job 1 has 1 left, which rounding must not make less: it was served in two pieces, and came first.
		{"a tie with what is left", "maxsrpt", []Demand{{Arrival: 4, Map: 2, Shuffle: 3}, {Arrival: 6.5, Map: 2, Shuffle: 0.5}, {Arrival: 7.5, Map: 1, Shuffle: 1}}, []float64{7, 8.5, 9.5}},
		{"equal jobs share", "wps", []Demand{{Map: 1, Shuffle: 1}, {Map: 1, Shuffle: 1}}, []float64{2, 2}},
		{"weights", "wps", []Demand{{Map: 3, Shuffle: 3, Weight: 3}, {Map: 2, Shuffle: 2}}, []float64{4, 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := completions(mustParse(t, c.policy), c.jobs)
			if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("completions (-want +got):\n%s", diff)
			}
		})
	}
}

func total(times []float64) (sum float64) {
	for _, t := range times {
		sum += t
	}
	return sum
}

// Corollary 4: half the jobs are (a-e, 1), half (1, a). MaxSRPT serves the first half first, which takes
// (a-e)(h(h+1)/2+h^2) + a h(h+1)/2 in total; pairs take (1+a)h^2 + a h. The ratio goes to 2a/(1+a).
func TestCorollary4(t *testing.T) {
	const n, h = 100_000, 50_000
	for _, a := range []float64{1.5, 2, 4, 16} {
		e := 1e-4 * a
		jobs := slices.Repeat([]Demand{{Map: a - e, Shuffle: 1}}, h)
		jobs = append(jobs, slices.Repeat([]Demand{{Map: 1, Shuffle: a}}, h)...)
		got := total(completions(Discipline{Kind: MaxSRPT}, jobs))
		near(t, "total", got, (a-e)*(h*(h+1)/2+h*h)+a*h*(h+1)/2, 1e-9)
		near(t, "ratio", got/((1+a)*h*h+a*h), 2*a/(1+a), 2e-4)
	}
}

// Corollary 6: n-1 jobs (b, 1) and one of (n-1, (n-1)b). SplitSRPT serves the one beside the others, which takes (1+b)(n-1)(n/2+1) in
// total; one after the other they take b(n-1)(n/2+2). The ratio goes to 1+1/b.
func TestCorollary6(t *testing.T) {
	const n = 100_000
	for _, b := range []float64{1.5, 2, 4, 16} {
		jobs := slices.Repeat([]Demand{{Map: b, Shuffle: 1}}, n-1)
		jobs = append(jobs, Demand{Map: n - 1, Shuffle: (n - 1) * b})
		got := total(completions(Discipline{Kind: SplitSRPT}, jobs))
		near(t, "total", got, (1+b)*(n-1)*(n/2+1), 1e-9)
		near(t, "ratio", got/(b*(n-1)*(n/2+2)), 1+1/b, 1e-4)
	}
}

// near compares within a relative tolerance.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s: got %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestParse(t *testing.T) {
	for spec, want := range map[string]string{
		"fcfs": "fcfs", "maxsrpt:conserving=false": "maxsrpt:conserving=false", "splitsrpt:conserving=true": "splitsrpt",
		"klps": "klps:k=100", "klps:k=7": "klps:k=7", "wps": "wps", "fillsrpt": "fillsrpt",
		"srpt":                  `unknown policy "srpt"; valid: fcfs, maxsrpt, splitsrpt, klps, wps, fillsrpt`,
		"klps:k=0":              `policy klps: k: expected an integer of 1 or more, not "0"`,
		"fcfs:k=1":              `policy fcfs has no parameter "k"`,
		"maxsrpt:conserving=no": `policy maxsrpt: conserving: expected true or false, not "no"`,
	} {
		p, err := Parse(spec)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = p.String()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
}

// Quantiles are exact while they are few, and then within the error that is stated.
func TestQuantiles(t *testing.T) {
	for _, n := range []int{1, 2, 100, exactValues, exactValues + 1, 200_000} {
		var q Quantiles
		values := make([]float64, 0, n)
		for j := range Synthetic(int64(n), 1, 1) {
			q.Add(j.Map)
			values = append(values, j.Map)
		}
		slices.Sort(values)
		for _, p := range []float64{0, 0.001, 0.5, 0.99, 1} {
			want := values[max(0, int(math.Ceil(p*float64(n)))-1)]
			tolerance := 0.0
			if n > exactValues {
				tolerance = QuantileError
			}
			near(t, "quantile", q.At(p), want, tolerance)
		}
	}
}
