package plan

import (
	"math"
	"slices"
	"testing"
)

// P(T <= t) at every value that T takes, against enumeration.
func TestWithinAgainstEnumeration(t *testing.T) {
	samples := []float64{1, 2.5, 2.5, 7}
	const n = 3
	e := exact(t, sample(t, samples...), n)
	for _, p := range []Policy{{}, {1, 1, Keep}, {2, 1, Keep}, {1, 0, Kill}, {2, 1, Kill}, {3, 1, Keep}} {
		latencies := outcomes(samples, n, p)
		for i, at := range latencies {
			if i+1 < len(latencies) && latencies[i+1] == at {
				continue
			}
			want := float64(i+1) / float64(len(latencies))
			if got, err := e.Within(p, at); err != nil || !near(got, want, 1e-12) {
				t.Errorf("%+v: P(T <= %v) = %v, want %v (%v)", p, at, got, want, err)
			}
			if want == 1 {
				continue
			}
			if got, err := e.LatencyQuantile(p, want-1e-9); err != nil || !near(got, at, 1e-12) {
				t.Errorf("%+v: quantile %v is %v, want %v (%v)", p, want, got, at, err)
			}
		}
	}
}

// outcomes returns the latency of every outcome, sorted: each as likely, since the clones of tasks that are done are drawn as well.
func outcomes(samples []float64, n int, p Policy) []float64 {
	fresh := p.Clones
	if p.Original == Kill {
		fresh++
	}
	var all []float64
	each(len(samples), n*(1+fresh), func(choice []int) {
		originals := make([]float64, n)
		for i := range originals {
			originals[i] = samples[choice[i]]
		}
		fork := 0.0
		if k := n - p.Stragglers; k > 0 {
			fork = slices.Sorted(slices.Values(originals))[k-1]
		}
		var latency float64
		for i, x := range originals {
			if p.Baseline() || p.Stragglers < n && x <= fork {
				latency = max(latency, x)
				continue
			}
			rest := x - fork
			if p.Original == Kill {
				rest = math.Inf(1)
			}
			for _, c := range choice[n+i*fresh : n+(i+1)*fresh] {
				rest = min(rest, samples[c])
			}
			latency = max(latency, fork+rest)
		}
		all = append(all, latency)
	})
	slices.Sort(all)
	return all
}

// Of a continuous law, against the literal play.
func TestWithinAgainstSimulation(t *testing.T) {
	l := law(t, "pareto:alpha=2,xm=2")
	e := exact(t, l, 50)
	m, err := NewSimulate(l, 50, 2, 9)
	if err != nil {
		t.Fatal(err)
	}
	const jobs = 20000
	for _, p := range []Policy{{5, 1, Keep}, {10, 1, Kill}, {1, 2, Keep}, {50, 1, Keep}, {}} {
		q, err := e.LatencyQuantile(p, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		within := 0
		for job := range jobs {
			original, sorted := make([]float64, 50), make([]float64, 50)
			if latency, _ := m.play(uint64(job), p, original, sorted); latency <= q {
				within++
			}
		}
		if z := (float64(within)/jobs - 0.9) / math.Sqrt(0.09/jobs); math.Abs(z) > 5 {
			t.Errorf("%+v: %d of %d jobs within the 90 %% quantile %v", p, within, jobs, q)
		}
	}
}

// The fork of Spark's rule, by hand: quantile 0.75 of 4, so 3 done; the median of 1 2 3 is 2, and 1.5 times that is 3.
func TestSparkFork(t *testing.T) {
	for _, c := range []struct {
		name   string
		rule   SparkRule
		sorted []float64
		want   float64
	}{
		{"at the quantile", SparkRule{0.75, 1.5}, []float64{1, 2, 3, 10}, 3},
		{"later, by the multiplier", SparkRule{0.75, 3}, []float64{1, 2, 3, 10}, 6},
		{"never", SparkRule{0.75, 6}, []float64{1, 2, 3, 10}, math.Inf(1)},
		// done = 2: the median is 2, th 8, but then 3 tasks are done: the median stays 2 of 1 2 7, th 8 < 20
		{"while others finish", SparkRule{0.5, 4}, []float64{1, 2, 7, 20}, 8},
	} {
		if got := c.rule.fork(c.sorted); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
