package plan

import (
	"errors"
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan/rule"
)

// checkAssessment compares exact figures with simulated ones within five standard errors: means by their own, deviations by those of a
// sample's, and the quantile with its interval, widened.
func checkAssessment(t *testing.T, what string, x, y Assessment) {
	t.Helper()
	if z := (x.Latency - y.Latency) / y.LatencyError; !(math.Abs(z) < 5) {
		t.Errorf("%s: latency %v, simulated %v ± %v", what, x.Latency, y.Latency, y.LatencyError)
	}
	if z := (x.Cost - y.Cost) / y.CostError; !(math.Abs(z) < 5) {
		t.Errorf("%s: cost %v, simulated %v ± %v", what, x.Cost, y.Cost, y.CostError)
	}
	if !near(x.LatencyDeviation, y.LatencyDeviation, 0.12) || !near(x.CostDeviation, y.CostDeviation, 0.12) {
		t.Errorf("%s: deviations %v, %v, simulated %v, %v", what, x.LatencyDeviation, x.CostDeviation, y.LatencyDeviation, y.CostDeviation)
	}
	wide := 1.5 * (y.QuantileHigh - y.QuantileLow)
	if !(x.Quantile > y.QuantileLow-wide-1e-9 && x.Quantile < y.QuantileHigh+wide+1e-9) {
		t.Errorf("%s: quantile %v, simulated %v..%v", what, x.Quantile, y.QuantileLow, y.QuantileHigh)
	}
}

// Every law and every rule that is exact, against the play.
func TestAssess(t *testing.T) {
	t.Parallel()
	const n = 25
	for _, spec := range []string{
		"pareto:alpha=5,xm=2", "weibull:shape=0.6,scale=2", "lognormal:mu=1,sigma=0.7", "uniform:lo=1,hi=3", "exp:mu=1", "shiftedexp:delta=1,mu=1",
		"twopoint:lo=1,hi=10,p=0.1", "empirical:values=(1 2x5 3 4x2 20 21.5)",
	} {
		l := law(t, spec)
		e := exact(t, l, n)
		m, err := NewSimulate(l, n, 4000, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []Rule{
			Policy{}, Policy{5, 1, Keep}, Policy{10, 1, Kill}, Policy{n, 1, Keep}, SingleFork(rule.Fork{P: 0.2, R: 1}, n),
			Timeout{After: 2.5, Clones: 1, Times: 1}, Timeout{After: 2.5, Clones: 2, Original: Kill, Times: 1},
			Timeout{After: 2.2, Original: Kill, Times: 4}, Timeout{After: 1.1, Clones: 1, Times: 3},
		} {
			x, err := Assess(e, m, r, 0.9)
			if err != nil || !x.Exact {
				t.Fatalf("%s %+v: %v, exact %v", spec, r, err, x.Exact)
			}
			y, err := m.Assess(r, 0.9)
			if err != nil {
				t.Fatal(err)
			}
			checkAssessment(t, spec+" "+describe(r), x, y)
		}
	}
}

func describe(r Rule) string {
	switch r := r.(type) {
	case Timeout:
		return "timeout " + r.Original.String()
	case Policy:
		return "policy " + r.Original.String()
	}
	return ""
}

// A time-out by going over every outcome.
func TestTimeoutAgainstEnumeration(t *testing.T) {
	samples := []float64{1, 2.5, 2.5, 7}
	for _, r := range []Timeout{
		{After: 1, Clones: 1, Times: 1}, {After: 2, Clones: 1, Times: 2}, {After: 2.5, Clones: 1, Original: Kill, Times: 1},
		{After: 1.5, Original: Kill, Times: 3}, {After: 8, Clones: 2, Times: 1}, {After: 0.5, Clones: 0, Original: Kill, Times: 2},
	} {
		fresh := r.Clones
		if r.Original == Kill {
			fresh++
		}
		each1 := 1 + r.Times*fresh // attempts of a task
		const n = 2
		var latencies, costs []float64
		each(len(samples), n*each1, func(choice []int) {
			var latency, cost float64
			for i := range n {
				t, c := timedTask(samples, choice[i*each1:(i+1)*each1], r, fresh)
				latency = max(latency, t)
				cost += c / n
			}
			latencies, costs = append(latencies, latency), append(costs, cost)
		})
		a, err := exact(t, sample(t, samples...), n).Assess(r, 0.75)
		if err != nil {
			t.Fatal(err)
		}
		var latency, cost float64
		for i := range latencies {
			latency += latencies[i] / float64(len(latencies))
			cost += costs[i] / float64(len(costs))
		}
		if !near(a.Latency, latency, 1e-8) || !near(a.Cost, cost, 1e-8) ||
			!near(a.LatencyDeviation, math.Sqrt(variance(latencies)), 1e-7) || !near(a.CostDeviation, math.Sqrt(variance(costs)), 1e-7) {
			t.Errorf("%+v: %+v, want %v ± %v, %v ± %v", r, a, latency, math.Sqrt(variance(latencies)), cost, math.Sqrt(variance(costs)))
		}
	}
}

// timedTask plays one task by the definition: every After the attempts are added to, or replaced.
func timedTask(samples []float64, choice []int, r Timeout, fresh int) (done, cost float64) {
	starts, lasts := []float64{0}, []float64{samples[choice[0]]}
	end := func() float64 {
		e := math.Inf(1)
		for i := range starts {
			e = min(e, starts[i]+lasts[i])
		}
		return e
	}
	used := 1
	for i := 1; i <= r.Times; i++ {
		at := float64(i) * r.After
		if end() <= at {
			break
		}
		if r.Original == Kill {
			for _, s := range starts {
				cost += at - s
			}
			starts, lasts = nil, nil
		}
		for range fresh {
			starts, lasts = append(starts, at), append(lasts, samples[choice[used]])
			used++
		}
	}
	for _, s := range starts {
		cost += end() - s
	}
	return end(), cost
}

// policies.md has no closed form, but a golden: Pareto(2,2), n = 400, keep (0.2,1), (0.05,2): limit T 9.93, C 3.934; played 9.90, 3.935.
func TestForks(t *testing.T) {
	l := laws.Pareto{Alpha: 2, Xm: 2}
	f := Forks{{80, 1, Keep}, {20, 2, Keep}}
	limit, err := NewTheorem1(l, 400)
	if err != nil {
		t.Fatal(err)
	}
	if o := evaluate(t, limit, f); math.Abs(o.Latency-9.93) > 0.005 || math.Abs(o.Cost-3.934) > 0.0005 {
		t.Errorf("limit %+v, want 9.93, 3.934", o)
	}
	m, err := NewSimulate(l, 400, 3000, 5)
	if err != nil {
		t.Fatal(err)
	}
	// the printed 9.90 and 3.935 have rounding and dice of their own
	if o := evaluate(t, m, f); math.Abs(o.Latency-9.90) > 0.01+5*o.LatencyError || math.Abs(o.Cost-3.935) > 0.001+5*o.CostError {
		t.Errorf("played %+v, want 9.90, 3.935", o)
	}
}

// One fork is a single-fork policy, in the limit and in play; a second that changes nothing is nothing.
func TestForksOfOne(t *testing.T) {
	for _, spec := range []string{"pareto:alpha=2,xm=2", "shiftedexp:delta=1,mu=1", "uniform:lo=1,hi=2", "empirical:values=(1 2x5 3 4x2 20 21.5)"} {
		l := law(t, spec)
		limit, err := NewTheorem1(l, 40)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewSimulate(l, 40, 50, 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []Policy{{4, 1, Keep}, {20, 2, Kill}, {40, 1, Keep}, {0, 3, Keep}, {8, 0, Kill}} {
			for _, f := range []Forks{{p}, {p, {0, 2, Kill}}} {
				if p.Stragglers == 0 && len(f) > 1 {
					continue
				}
				a, b := evaluate(t, limit, f), evaluate(t, limit, p)
				if !near(a.Latency, b.Latency, 1e-7) || !near(a.Cost, b.Cost, 1e-7) {
					t.Errorf("%s %v: limit %+v, of one fork %+v", spec, f, a, b)
				}
				if a, b := evaluate(t, m, f), evaluate(t, m, p); a != b {
					t.Errorf("%s %v: played %+v, of one fork %+v", spec, f, a, b)
				}
			}
		}
	}
}

func TestRulesRefuse(t *testing.T) {
	e := exact(t, sample(t, 1, 2, 3), 3)
	for _, r := range []Rule{
		Policy{4, 1, Keep}, Forks{}, Forks{{1, 1, Keep}, {2, 1, Keep}}, Forks{{3, 1, Keep}, {2, 1, Keep}, {1, 1, Keep}, {0, 1, Keep}},
		Timeout{After: 0, Clones: 1, Times: 1}, Timeout{After: 1, Clones: -1, Times: 1}, Timeout{After: 1, Clones: 1},
		Timeout{After: math.NaN(), Clones: 1, Times: 1}, Spark{Quantile: 2}, Spark{Multiplier: math.NaN()}, Flink{Ratio: -1}, Flink{},
		Hadoop{},
	} {
		if err := r.Validate(3); err == nil {
			t.Errorf("%T %+v is accepted", r, r)
		}
		if _, err := e.Evaluate(r); err == nil {
			t.Errorf("%T %+v is evaluated", r, r)
		}
	}
	for _, r := range []Rule{Spark4(), Spark3(), FlinkDefaults(), HadoopDefaults(), Forks{{1, 1, Keep}}} {
		if _, err := e.Evaluate(r); !errors.Is(err, ErrMethod) {
			t.Errorf("%T: %v, want ErrMethod", r, err)
		}
	}
}
