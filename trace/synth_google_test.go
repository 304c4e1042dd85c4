package trace

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// TestGoogleJobsStatistics compares a sample of 40,000 jobs with the expectations, and with the figures that are quoted of the model: 121 tasks per job of
// mean 1,268 s, flow time on infinitely many machines of mean 873 s, 57 % at most 300 s, 87 % at most 1,500 s. Those are themselves of a sample, of
// about 4,000 jobs, and get its error.
func TestGoogleJobsStatistics(t *testing.T) {
	w, err := Synthesize("synth:google;jobs=40000", 1)
	if err != nil {
		t.Fatal(err)
	}
	var path PathFinder
	var flow, tasks, work, short, medium moment
	for j := range w.Jobs {
		alone := path.Alone(w, j).Seconds()
		flow.add(alone)
		tasks.add(float64(w.TasksOf(j)))
		work.add(w.Stages[j].Mean.Seconds() * float64(w.TasksOf(j)))
		short.add(indicator(alone <= 300))
		medium.add(indicator(alone <= 1500))
	}
	expectedTasks, expectedWork := googleExpectations()
	const samples = 4000
	for _, c := range []struct {
		name    string
		got     moment
		want    float64
		samples float64 // behind want, 0 if it is exact
	}{
		{"tasks per job", tasks, expectedTasks, 0}, {"work per job", work, expectedWork, 0},
		{"tasks per job, quoted", tasks, 121, samples}, {"work per job, quoted", work, 121 * 1268, samples},
		{"flow time", flow, 873, samples}, {"jobs of at most 300 s", short, 0.57, samples}, {"jobs of at most 1500 s", medium, 0.87, samples},
	} {
		deviation := c.got.error() * math.Sqrt(c.got.n)
		sigma := c.got.error()
		if c.samples > 0 {
			sigma = deviation * math.Sqrt(1/c.got.n+1/c.samples)
		}
		t.Logf("%s: %.5g, want %.5g ± %.2g", c.name, c.got.mean(), c.want, sigma)
		if math.Abs(c.got.mean()-c.want) > 3*sigma {
			t.Errorf("%s: %v, want %v within %v", c.name, c.got.mean(), c.want, 3*sigma)
		}
	}
	least, most := slices.Min(w.Durations), slices.Max(w.Durations)
	if least != sched.FromSeconds(13.5) || most != sched.FromSeconds(22919.3) {
		t.Errorf("durations between %v and %v s, want both bounds reached", least.Seconds(), most.Seconds())
	}
}

// googleExpectations integrates the model by the trapezoidal rule: mean tasks, and mean work in seconds, of a job.
func googleExpectations() (tasks, work float64) {
	const step = 0.02
	below := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	clipped := func(mean float64) float64 { // mean of a lognormal of that mean and log-deviation 0.4, clipped to [13.5, 22919.3]
		lo, hi := (math.Log(13.5/mean)+0.08)/0.4, (math.Log(22919.3/mean)+0.08)/0.4
		return 13.5*below(lo) + 22919.3*below(-hi) + mean*(below(hi-0.4)-below(lo-0.4))
	}
	for a := -8.0; a <= 8; a += step {
		m, p := math.Ceil(min(math.Exp(2.93+2*a), 5000)), density(a)*step
		tasks += p * m
		for b := -8.0; b <= 8; b += step {
			e := math.Exp(4.75 + 1.5*(0.56*a+math.Sqrt(1-0.56*0.56)*b))
			work += p * density(b) * step * m * clipped(min(max(e, 15), 8000))
		}
	}
	return tasks, work
}

// moment is a sum of observations and of their squares.
type moment struct{ n, sum, squares float64 }

func (m *moment) add(x float64)  { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }
func (m *moment) mean() float64  { return m.sum / m.n }
func (m *moment) error() float64 { return math.Sqrt((m.squares/m.n - m.mean()*m.mean()) / m.n) }

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func TestGoogleJobsArrivals(t *testing.T) {
	w, err := Synthesize("synth:google;seed=3", 99)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Jobs) != 4000 || w.Jobs[0].Arrival == 0 || w.Jobs[3999].Arrival >= 102_767*sched.Second {
		t.Errorf("%d jobs between %v and %v", len(w.Jobs), w.Jobs[0].Arrival, w.Jobs[3999].Arrival)
	}
	// Gaps of a Poisson process have mean and deviation window/(n+1), within four standard errors.
	var gap moment
	for j := range w.Jobs[1:] {
		gap.add((w.Jobs[j+1].Arrival - w.Jobs[j].Arrival).Seconds())
	}
	want := 102_767.0 / 4001
	if sd := gap.error() * math.Sqrt(gap.n); math.Abs(gap.mean()-want) > 0.1 || math.Abs(sd-want) > 4*want*math.Sqrt(2/gap.n) {
		t.Errorf("gaps of mean %v and deviation %v s, want %v for both", gap.mean(), sd, want)
	}
	half, err := Synthesize("synth:google;jobs=40;window=1h;seed=3", 99)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(half.Durations, w.Durations[:len(half.Durations)]); d != "" {
		t.Errorf("the durations of the first jobs differ:\n%s", d)
	}
}

// TestGoogleJobsReduce: the last 20 % of each job's tasks as reduce stage, as one reading of the evaluation has it.
func TestGoogleJobsReduce(t *testing.T) {
	whole, err := Synthesize("synth:google;jobs=200", 1)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Synthesize("synth:google;jobs=200;reduce=0.2", 1)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(whole.Durations, w.Durations); d != "" {
		t.Errorf("the durations are others:\n%s", d)
	}
	var spec sched.JobSpec
	for j := range w.Jobs {
		w.Spec(j, &spec)
		if err := spec.Validate(); err != nil {
			t.Fatal(err)
		}
		reduces := w.TasksOf(j) / 5
		if want := 1 + min(reduces, 1); len(spec.Stages) != want || len(spec.Edges) != want-1 {
			t.Fatalf("job %d of %d tasks: %d stages, %d edges", j, w.TasksOf(j), len(spec.Stages), len(spec.Edges))
		}
		if reduces > 0 && spec.Stages[1].Tasks != reduces {
			t.Errorf("job %d: %d reduces of %d tasks", j, spec.Stages[1].Tasks, w.TasksOf(j))
		}
	}
}

// TestGoogleJobsSpread: with a spread jobs have deviations of their own, 0.4 on average; without, the workload is what it was.
func TestGoogleJobsSpread(t *testing.T) {
	var mean, same moment
	for k := range uint32(20_000) {
		mean.add(GoogleJobs{Spread: 1, Seed: 3}.deviation(k))
		same.add(GoogleJobs{Seed: 3}.deviation(k))
	}
	if math.Abs(mean.mean()-0.4) > 3*mean.error() || mean.error() < 0.001 || math.Abs(same.mean()-0.4) > 1e-9 {
		t.Errorf("%v ± %v and %v, want 0.4", mean.mean(), mean.error(), same.mean())
	}
	if _, err := Synthesize("synth:google;jobs=2;spread=4", 1); err == nil {
		t.Error("a spread of 4 is accepted")
	}
}
