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
		latencies, _ := outcomes(samples, n, p)
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

// outcomes returns latency and cost of every outcome, both sorted: each as likely, since the clones of tasks that are done are drawn
// as well.
func outcomes(samples []float64, n int, p Policy) (latencies, costs []float64) {
	fresh := p.Clones
	if p.Original == Kill {
		fresh++
	}
	each(len(samples), n*(1+fresh), func(choice []int) {
		originals := make([]float64, n)
		for i := range originals {
			originals[i] = samples[choice[i]]
		}
		fork := 0.0
		if k := n - p.Stragglers; k > 0 {
			fork = slices.Sorted(slices.Values(originals))[k-1]
		}
		var latency, cost float64
		for i, x := range originals {
			if p.Baseline() || p.Stragglers < n && x <= fork {
				latency = max(latency, x)
				cost += x / float64(n)
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
			cost += (fork + float64(p.Clones+1)*rest) / float64(n)
		}
		latencies, costs = append(latencies, latency), append(costs, cost)
	})
	slices.Sort(latencies)
	slices.Sort(costs)
	return latencies, costs
}

// Of a continuous law, against the literal play.
func TestWithinAgainstSimulation(t *testing.T) {
	t.Parallel()
	l := law(t, "pareto:alpha=2,xm=2")
	e := exact(t, l, 50)
	const jobs = 20000
	for _, p := range []Policy{{5, 1, Keep}, {10, 1, Kill}, {1, 2, Keep}, {50, 1, Keep}, {}} {
		q, err := e.LatencyQuantile(p, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		within := 0
		j := newJob(l, 50)
		for number := range jobs {
			j.reset(9, uint64(number))
			j.start()
			p.play(j)
			if latency, _ := j.finish(); latency <= q {
				within++
			}
		}
		if z := (float64(within)/jobs - 0.9) / math.Sqrt(0.09/jobs); math.Abs(z) > 5 {
			t.Errorf("%+v: %d of %d jobs within the 90 %% quantile %v", p, within, jobs, q)
		}
	}
}
