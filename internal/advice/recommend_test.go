package advice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
)

// pareto draws a sample of a heavy tail.
func pareto(t *testing.T, n int, seed uint64) *durations.Sample {
	t.Helper()
	source := rand.New(rand.NewPCG(seed, 0))
	values := make([]float64, n)
	for i := range values {
		values[i] = 2 * math.Pow(1-source.Float64(), -1/1.7)
	}
	return sampleOf(t, values...)
}

func sampleOf(t *testing.T, values ...float64) *durations.Sample {
	t.Helper()
	s, err := durations.New(values, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func recommend(t *testing.T, r Request) *Advice {
	t.Helper()
	a, err := Recommend(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// What is recommended is what a search by hand finds: of all policies that need no more machine time the first of least latency.
func TestRecommendedIsTheBest(t *testing.T) {
	for name, s := range map[string]*durations.Sample{
		"one straggler": sampleOf(t, 1, 1, 1, 1, 1, 1, 1, 1, 1, 100), "two sizes": sampleOf(t, 1, 1, 1, 5, 5, 5, 40), "pareto": pareto(t, 60, 1),
		"constant": sampleOf(t, 3, 3, 3, 3),
	} {
		r := Defaults()
		r.Sample, r.Tasks, r.MaxClones = s, 12, 3
		got := recommend(t, r).Result()
		exact, err := plan.NewExact(s.Law, r.Tasks)
		if err != nil {
			t.Fatal(err)
		}
		base, err := exact.Evaluate(plan.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		least := base.Latency
		for p := range plan.Policies(r.Tasks, r.MaxClones) {
			if o, err := exact.Evaluate(p); err != nil {
				t.Fatal(err)
			} else if o.Cost <= base.Cost*(1+1e-9) {
				least = min(least, o.Latency)
			}
		}
		if math.Abs(float64(got.Recommended.Latency)-least) > 1e-6*least || float64(got.Recommended.Cost) > base.Cost*(1+1e-6) {
			t.Errorf("%s: %+v, expected a latency of %g for at most %g", name, got.Recommended, least, base.Cost)
		}
		if better := least < base.Latency*(1-1e-6); better != (got.Recommended.Stragglers > 0) {
			t.Errorf("%s: %+v, although without clones it is %+v", name, got.Recommended, base)
		}
	}
}

// A sample of many values is searched rounded. The figures of what is recommended lie between bounds, and so do those by all values.
func TestBoundsHold(t *testing.T) {
	s := pareto(t, exhaustive+500, 2)
	r := Defaults()
	r.Sample, r.Tasks, r.MaxClones, r.Quantile, r.Compare = s, 3, 1, 0.9, nil
	got := recommend(t, r).Result()
	exact, err := plan.NewExact(s.Law, r.Tasks)
	if err != nil {
		t.Fatal(err)
	}
	if got.Search != "rounded" || got.Off == nil || got.Off.Latency > 0.01 || got.Recommended.Stragglers == 0 {
		t.Errorf("%s, off by %+v: %+v", got.Search, got.Off, got.Recommended)
	}
	within := func(what string, x float64, b *between) {
		if b == nil || x < float64(b[0])*(1-1e-9) || x > float64(b[1])*(1+1e-9) {
			t.Errorf("%s: %g is not between %v", what, x, b)
		}
	}
	p := plan.Policy{Stragglers: got.Recommended.Stragglers, Clones: got.Recommended.Clones}
	if got.Recommended.Original == "kill" {
		p.Original = plan.Kill
	}
	x, err := exact.Evaluate(p)
	if err != nil {
		t.Fatal(err)
	}
	within("latency", x.Latency, got.Recommended.LatencyBounds)
	within("cost", x.Cost, got.Recommended.CostBounds)
	within("quantile", float64(*got.Recommended.Quantile), got.Recommended.QuantileBounds)
}

// What is recommended beats what is done now, by the mean or by the quantile, for no more machine time; or else nothing is.
func TestRecommendedBeatsNow(t *testing.T) {
	for _, c := range []struct {
		now  string
		u    float64
		none bool
	}{{"backup", 0, false}, {"hadoop2", 0, true}, {"spark3", 0, true}, {"timeout:after=20s,r=1", 0.9, false}} {
		r := Defaults()
		r.Sample, r.Tasks, r.Now, r.Quantile = pareto(t, 80, 3), 40, c.now, c.u
		a := recommend(t, r)
		got := a.Result()
		before, after := got.Now.Latency, got.Recommended.Latency
		if c.u > 0 {
			before, after = *got.Now.Quantile, *got.Recommended.Quantile
		}
		if none := got.Recommended.Stragglers == 0; none != c.none || !none && len(a.Settings()) < 3 {
			t.Errorf("%s: %+v, settings %q", c.now, got.Recommended, a.Settings())
		} else if !none && (after >= before || got.Recommended.Cost > got.Now.Cost*(1+1e-9)) {
			t.Errorf("%s: %+v, and now %+v", c.now, got.Recommended, got.Now)
		}
	}
}

// Control variates: what is done now is known better than from its own simulated jobs.
func TestSteady(t *testing.T) {
	s := pareto(t, 200, 4)
	var raw, steady []float64
	for seed := range uint64(12) {
		r := Defaults()
		r.Sample, r.Tasks, r.Now, r.Seed = s, 100, "spark", seed
		a := &Advice{Request: r, law: r.law()}
		if _, err := a.evaluators(); err != nil {
			t.Fatal(err)
		}
		var err error
		if a.simulate, err = plan.NewSimulate(a.law, a.Tasks, 200, seed); err != nil {
			t.Fatal(err)
		}
		if err := a.assessNow(); err != nil {
			t.Fatal(err)
		}
		o, err := a.simulate.Evaluate(a.now.rule)
		if err != nil {
			t.Fatal(err)
		}
		raw, steady = append(raw, o.Cost), append(steady, a.now.Cost)
	}
	if spread(steady) > 0.7*spread(raw) {
		t.Errorf("the machine time of Spark varies by %g, and by %g as it was simulated", spread(steady), spread(raw))
	}
}

// spread is the standard deviation.
func spread(x []float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += v * v
	}
	mean := sum / float64(len(x))
	return math.Sqrt(squares/float64(len(x)) - mean*mean)
}

// The answer is one of the request: the same twice, JSON whatever the law, and with how sure it is where that is asked.
func TestWriters(t *testing.T) {
	sure := Defaults()
	sure.Sample, sure.Tasks, sure.Confidence, sure.Quantile, sure.Own = pareto(t, 50, 5), 20, true, 0.9, &plan.Policy{Stragglers: 2, Clones: 1}
	endless := Defaults()
	endless.Law, endless.Tasks = laws.Pareto{Xm: 1, Alpha: 0.8}, 10
	for _, r := range []Request{sure, endless} {
		var first, again, csv bytes.Buffer
		a := recommend(t, r)
		for _, err := range []error{a.WriteJSON(&first), recommend(t, r).WriteJSON(&again), a.WriteCSV(&csv), a.WriteText(&csv)} {
			if err != nil {
				t.Error(err)
			}
		}
		if !json.Valid(first.Bytes()) || first.String() != again.String() || !strings.HasPrefix(csv.String(), "what,stragglers,") {
			t.Errorf("%s\n%s\n%s", &first, &again, &csv)
		}
		if got := a.Result(); r.Confidence != (got.Confidence != nil) || (r.Own != nil) != (got.Evaluated != nil) {
			t.Errorf("asked for %+v, got %+v", r, got)
		}
		if page := a.Page(); len(page.Sections) != 4 {
			t.Errorf("a page with %d sections", len(page.Sections))
		}
	}
}

func TestInvalidRequests(t *testing.T) {
	s := pareto(t, 10, 6)
	for want, change := range map[string]func(r *Request){
		"durations: ":          func(r *Request) { r.Sample = nil },
		"tasks: ":              func(r *Request) { r.Tasks = -1 },
		"stragglers: ":         func(r *Request) { r.Own = &plan.Policy{Stragglers: 11} },
		"clones: ":             func(r *Request) { r.Own = &plan.Policy{Clones: -1} },
		"max-clones: ":         func(r *Request) { r.MaxClones = MaxClones + 1 },
		"lambda: ":             func(r *Request) { r.Lambda = math.NaN() },
		"quantile: ":           func(r *Request) { r.Quantile = 1 },
		"rounds: ":             func(r *Request) { r.Rounds = 1 },
		"method: ":             func(r *Request) { r.Method = "" },
		"now spork: ":          func(r *Request) { r.Now = "spork" },
		"compare srew: ":       func(r *Request) { r.Compare = []string{"srew"} },
		"confidence: expected": func(r *Request) { r.Sample, r.Law, r.Confidence = nil, laws.Pareto{Xm: 1, Alpha: 2}, true },
		"method: bootstrap":    func(r *Request) { r.Sample, r.Law, r.Method = nil, laws.Pareto{Xm: 1, Alpha: 2}, "bootstrap" },
		"confidence: the rule": func(r *Request) { r.Now, r.Confidence = "spark", true },
	} {
		r := Defaults()
		r.Sample, r.Tasks = s, 10
		change(&r)
		_, err := Recommend(context.Background(), r)
		var invalid Invalid
		if !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, expected an error that begins with %q", err, want)
		}
	}
}

// A context that has ended ends the search.
func TestRecommendEnds(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	r := Defaults()
	r.Sample, r.Tasks = pareto(t, 100, 7), 1000
	if a, err := Recommend(ctx, r); !errors.Is(err, context.Canceled) || a != nil {
		t.Errorf("%v, %v", a, err)
	}
}

// Whatever the text, a rule that is read is one for the job, and an error is one line.
func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{
		"spark", "spark3", "flink:ratio=0.5", "hadoop2", "backup", "fork:p=0.2,r=1", "fork:p=0.2,r=1+fork:p=0.05,r=2", "timeout:after=30s,r=1,original=kill,times=3",
		"timeout:", "timeout:after=-1s", "hadoop2:estimator=late", "spark:task_threshold=3s", "srew", "+", "fork+fork", "",
	} {
		f.Add(seed, 10)
	}
	f.Fuzz(func(t *testing.T, spec string, tasks int) {
		tasks = 1 + int(uint(tasks)%1000)
		r, err := parseRule(spec, tasks)
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') && !strings.ContainsRune(spec, '\n') {
				t.Errorf("more than a line: %q", err)
			}
			return
		}
		if err := r.Validate(tasks); err != nil || ruleWords(spec, r, tasks) == "" {
			t.Errorf("%q is read as %+v: %v", spec, r, err)
		}
	})
}

// Two forks are found, simulated on jobs of their own, and printed as a policy that means the same forks. They do not go with a quantile.
func TestTwoForksAreFound(t *testing.T) {
	r := Defaults()
	r.Sample, r.Forks = pareto(t, 400, 3), 2
	a := recommend(t, r)
	got := a.Result().TwoForks
	if got == nil || !got.Sooner || got.LatencySaved < 1.96*got.LatencySavedError || float64(got.Cost) > a.optima.Baseline.Cost+5*float64(got.CostError) {
		t.Fatalf("%+v", got)
	}
	rule, err := parseRule(got.Policy, a.Tasks)
	if forks, ok := rule.(plan.Forks); err != nil || !ok || !slices.Equal(forks, a.twice.forks) {
		t.Errorf("%s means %+v, %v, not %+v", got.Policy, rule, err, a.twice.forks)
	}
	var text bytes.Buffer
	if err := a.WriteText(&text); err != nil || !strings.Contains(text.String(), "sooner than one, with") || !strings.Contains(text.String(), "--policy "+got.Policy) {
		t.Errorf("%v, %s", err, text.String())
	}
	r.Quantile = 0.9
	if _, err := Recommend(context.Background(), r); err == nil || !strings.Contains(err.Error(), "forks: ") {
		t.Errorf("with a quantile: %v", err)
	}
	r.Quantile, r.Sample = 0, sampleOf(t, 3, 3, 3, 3)
	text.Reset()
	if a := recommend(t, r); a.twice != nil {
		t.Errorf("of equal durations: %+v", a.twice)
	} else if err := a.WriteText(&text); err != nil || !strings.Contains(text.String(), "No two forks were found that are sooner and need no more machine time.") {
		t.Errorf("%v, %s", err, text.String())
	}
}
