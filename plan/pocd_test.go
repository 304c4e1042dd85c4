package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
)

// The table of PoCD without clones, and of one and two extra attempts, of the published setting: tmin = 120 s.
func TestPoCDTable(t *testing.T) {
	settings := []struct {
		tasks    int
		deadline float64
	}{{5, 460}, {10, 500}, {20, 560}, {10, 620}}
	for _, c := range []struct {
		beta   float64
		clones int
		want   [4]string
	}{
		{1.3, 0, [4]string{".384", ".183", ".055", ".284"}},
		{1.5, 0, [4]string{".489", ".286", ".124", ".411"}},
		{1.8, 0, [4]string{".627", ".451", ".275", ".586"}},
		{2.0, 0, [4]string{".703", ".553", ".391", ".683"}},
		{1.5, 1, [4]string{".914", ".870", ".821", ".930"}},
		{1.5, 2, [4]string{".988", ".984", ".981", ".994"}},
	} {
		for i, s := range settings {
			w := Work{Tasks: s.tasks, Law: laws.Pareto{Alpha: c.beta, Xm: 120}, Deadline: s.deadline}
			if got := strings.TrimPrefix(fmt.Sprintf("%.3f", w.PoCD(c.clones)), "0"); got != c.want[i] {
				t.Errorf("β=%g, N=%d, D=%g, r=%d: PoCD %s, want %s", c.beta, s.tasks, s.deadline, c.clones, got, c.want[i])
			}
		}
	}
}

// Equations 3 and 6 as they are printed, where they are probabilities.
func TestPoCDIsTheoremsOneAndTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		beta := rapid.Float64Range(0.5, 4).Draw(t, "beta")
		tmin := rapid.Float64Range(1, 200).Draw(t, "tmin")
		tau := rapid.Float64Range(0, 500).Draw(t, "tau")
		phi := rapid.Float64Range(0, 0.99).Draw(t, "phi")
		left := rapid.Float64Range(1, 1000).Draw(t, "left")
		n, r := rapid.IntRange(1, 50).Draw(t, "n"), rapid.IntRange(0, 6).Draw(t, "r")
		w := Work{Tasks: n, Law: laws.Pareto{Alpha: beta, Xm: tmin}, Deadline: tau + left, Elapsed: tau, Progress: phi}
		base := math.Min(1, (1-phi)*tmin/(w.Deadline-w.Elapsed))
		want := math.Pow(1-math.Pow(base, beta*float64(r+1)), float64(n))
		if got := w.PoCD(r); math.Abs(got-want) > 1e-9 {
			t.Fatalf("PoCD %g, want %g", got, want)
		}
		if sum := w.PoCD(r) + w.Miss(r); math.Abs(sum-1) > 1e-12 {
			t.Fatalf("PoCD and Miss add up to %g", sum)
		}
		if w.PoCD(r+1) < w.PoCD(r) {
			t.Fatalf("a clone lowers PoCD from %g to %g", w.PoCD(r), w.PoCD(r+1))
		}
	})
}

func TestPoCDAtTheEnds(t *testing.T) {
	law := laws.Pareto{Alpha: 1.5, Xm: 10}
	for _, c := range []struct {
		name   string
		work   Work
		clones int
		want   float64
	}{
		{"no time left", Work{Tasks: 3, Law: law, Deadline: 50, Elapsed: 50}, 4, 0},
		{"past the deadline", Work{Tasks: 3, Law: law, Deadline: 50, Elapsed: 80, Progress: 0.9}, 4, 0},
		// Unclamped this is 1.5e6 as a "probability".
		{"base above 1", Work{Tasks: 10, Law: laws.Pareto{Alpha: 1.5, Xm: 120}, Deadline: 300, Elapsed: 250, Progress: 0.5}, 5, 0},
		{"base 1", Work{Tasks: 1, Law: law, Deadline: 10}, 9, 0},
		{"no tasks left", Work{Law: law, Deadline: 50, Elapsed: 10}, 0, 1},
		{"all processed", Work{Tasks: 3, Law: law, Deadline: 50, Elapsed: 10, Progress: 1}, 0, 1},
		{"a law that ends before", Work{Tasks: 3, Law: laws.Uniform{Lo: 1, Hi: 2}, Deadline: 3}, 0, 1},
		{"a law that ends before, with clones", Work{Tasks: 3, Law: laws.Uniform{Lo: 1, Hi: 2}, Deadline: 3, Launch: 2.5}, 2, 1},
	} {
		if got := c.work.PoCD(c.clones); got != c.want {
			t.Errorf("%s: PoCD %g, want %g", c.name, got, c.want)
		}
	}
	if (Work{Tasks: 10, Law: law, Deadline: 11}).Hopeless() || !(Work{Tasks: 10, Law: law, Deadline: 10}).Hopeless() {
		t.Error("a job is hopeless where no attempt can make it, and only there")
	}
	// Far out in the tail: N S^(r+1) = 1e6 (1e-3)^(1.5·20) = 1e-84.
	far := Work{Tasks: 1_000_000, Law: law, Deadline: 10_000}
	if got := far.Miss(19); !near(got, 1e-84, 1e-12) {
		t.Errorf("a miss of 1e-84 is %g", got)
	}
}

func TestLaunchTime(t *testing.T) {
	law := laws.Pareto{Alpha: 2, Xm: 10}
	w := Work{Tasks: 1, Law: law, Deadline: 100, Elapsed: 40, Progress: 0.5, Launch: 8}
	// The clone starts at 48 s with 0.6 done, and has 52 s for the other 0.4.
	late := law.Survival(60/0.5) * math.Pow(law.Survival(52/0.4), 2)
	if got := w.Miss(2); !near(got, late, 1e-12) {
		t.Errorf("two clones miss with %g, want %g", got, late)
	}
	for name, w := range map[string]Work{
		"the original ends before":   {Tasks: 1, Law: law, Deadline: 100, Elapsed: 40, Progress: 0.5, Launch: 40},
		"the deadline is before":     {Tasks: 1, Law: law, Deadline: 45, Elapsed: 40, Progress: 0.8, Launch: 5},
		"a new job's deadline is so": {Tasks: 1, Law: law, Deadline: 12, Launch: 20},
	} {
		if w.PoCD(3) != w.PoCD(0) {
			t.Errorf("%s: clones that come too late change PoCD from %g to %g", name, w.PoCD(0), w.PoCD(3))
		}
	}
}

// Attempts of which only the age is known: of 100,000 tasks with an original and two clones that have run for an age, and
// one clone that begins then, those that are all late among those of which none was done.
func TestPoCDOfAges(t *testing.T) {
	law := laws.Pareto{Alpha: 1.5, Xm: 10}
	rng := rand.New(rand.NewPCG(4, 4))
	for _, age := range []float64{5, 12, 20} {
		w := Work{Tasks: 1, Law: law, Deadline: 50, Elapsed: 25, Age: age, Held: 2}
		silent, late := 0, 0
		for range 100_000 {
			first := math.Inf(1)
			for range 3 {
				first = min(first, law.Quantile(rng.Float64()))
			}
			if first <= age {
				continue
			}
			if silent++; min(first-age, law.Quantile(rng.Float64())) > 25 {
				late++
			}
		}
		if got, want := w.Miss(3), float64(late)/float64(silent); math.Abs(got-want) > 0.02 {
			t.Errorf("at age %g three clones miss with %g, want %g", age, got, want)
		}
		if got, want := w.LogLate(age)*3, w.LogPoCD(2); !near(math.Log1p(-math.Exp(got)), want, 1e-9) {
			t.Errorf("at age %g: three attempts are late with exp(%g), PoCD exp(%g)", age, got, want)
		}
	}
	// (a/(a+d))^b > (x/d)^b where a > x d/(d-x) = 250/15.
	w := Work{Tasks: 1, Law: law, Deadline: 25}
	if w.Renew(0) || w.Renew(16) || !w.Renew(17) {
		t.Error("an attempt is renewed when a new one is likelier to be in time")
	}
	// The paper's formula leaves such a job no hope when less is left than the least duration.
	w = Work{Tasks: 2, Law: law, Deadline: 12, Elapsed: 8, Age: 8, Held: 1}
	if p := 1 - math.Pow(10.0/12, 1.5*2); w.Hopeless() || !near(w.PoCD(1), p*p, 1e-9) || w.PoCD(2) != w.PoCD(1) {
		t.Errorf("PoCD %g, want %g, and no more with a clone that comes too late", w.PoCD(1), p*p)
	}
	if w.Age = 1e9; w.Law.Survival(w.Age) == 0 || w.PoCD(0) > 1e-6 {
		t.Errorf("PoCD %g of what seems to hang", w.PoCD(0))
	}
	if ends := (Work{Tasks: 1, Law: laws.Deterministic{Value: 5}, Deadline: 30, Elapsed: 9, Age: 9}); ends.PoCD(0) != 0 || ends.PoCD(1) != 1 {
		t.Error("an attempt that lasts longer than the law allows is late, and a new one is not")
	}
}

// Isolated jobs, 100,000 of each kind: the published tolerance is 0.01.
func TestPoCDAgainstSimulation(t *testing.T) {
	sample, err := laws.NewEmpirical([]float64{100, 120, 130, 150, 200, 300, 480, 900})
	if err != nil {
		t.Fatal(err)
	}
	pareto := laws.Pareto{Alpha: 1.5, Xm: 120}
	for i, c := range []struct {
		work   Work
		clones int
	}{
		{Work{Tasks: 5, Law: pareto, Deadline: 460}, 0},
		{Work{Tasks: 10, Law: pareto, Deadline: 500}, 1},
		{Work{Tasks: 20, Law: pareto, Deadline: 560}, 2},
		{Work{Tasks: 10, Law: pareto, Deadline: 300, Elapsed: 150, Progress: 0.4}, 1},
		{Work{Tasks: 10, Law: pareto, Deadline: 300, Elapsed: 150, Progress: 0.4, Launch: 10}, 2},
		{Work{Tasks: 8, Law: sample, Deadline: 400}, 1},
		{Work{Tasks: 8, Law: laws.Lognormal{Mu: 4, Sigma: 1}, Deadline: 200, Elapsed: 30, Progress: 0.2, Launch: 5}, 1},
	} {
		const jobs = 100_000
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		met := 0
		for range jobs {
			if isolated(c.work, c.clones, rng) <= c.work.Deadline {
				met++
			}
		}
		if got, want := c.work.PoCD(c.clones), float64(met)/jobs; math.Abs(got-want) > 0.01 {
			t.Errorf("case %d: PoCD %.4f, simulated %.4f", i, got, want)
		}
	}
}

// isolated runs one job on as many slots as it likes and returns when it is done.
func isolated(w Work, clones int, rng *rand.Rand) float64 {
	end := w.Elapsed
	for range w.Tasks {
		done := w.Elapsed + (1-w.Progress)*laws.Sample(w.Law, rng.Float64())
		start, progress := w.Elapsed+w.Launch, w.Progress
		if w.Elapsed > 0 {
			progress *= start / w.Elapsed
		}
		for range clones {
			done = min(done, start+(1-progress)*laws.Sample(w.Law, rng.Float64()))
		}
		end = max(end, done)
	}
	return end
}

func TestWorkRefuses(t *testing.T) {
	good := Work{Tasks: 1, Law: laws.Exponential{Mu: 1}, Deadline: 1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Work){
		"tasks":        func(w *Work) { w.Tasks = -1 },
		"law":          func(w *Work) { w.Law = nil },
		"deadline":     func(w *Work) { w.Deadline = 0 },
		"elapsed time": func(w *Work) { w.Elapsed = math.NaN() },
		"progress":     func(w *Work) { w.Progress = 1.5 },
		"launch time":  func(w *Work) { w.Launch = math.Inf(1) },
	} {
		w := good
		change(&w)
		if err := w.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about the %s", err, want)
		}
	}
}

func TestPoCDAllocatesNothing(t *testing.T) {
	w := Work{Tasks: 10, Law: laws.Pareto{Alpha: 1.5, Xm: 120}, Deadline: 500, Elapsed: 100, Progress: 0.3, Launch: 5}
	var sum float64
	if n := testing.AllocsPerRun(100, func() { sum += w.PoCD(2) }); n != 0 || !(sum > 0) {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkPoCD(b *testing.B) {
	w := Work{Tasks: 10, Law: laws.Pareto{Alpha: 1.5, Xm: 120}, Deadline: 500, Elapsed: 100, Progress: 0.3}
	var sum float64
	for b.Loop() {
		sum += w.PoCD(2)
	}
	if !(sum > 0) {
		b.Fatal("no probability")
	}
}
