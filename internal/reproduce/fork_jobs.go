package reproduce

import (
	"context"
	"fmt"
	"os"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/trace"
)

// forkJob is a job of Section 4: Figures 7 to 10 and a row of Table 1.
type forkJob struct {
	name, title, about string
	seconds            []float64   // durations
	printed            *forkAdvice // nil if the paper has no such job

	exact   *plan.Exact
	grid    *plan.Grid
	advice  plan.Advice
	literal forkAdvice // what Algorithm 1 says of the same policies
}

// forkAdvice is a row of Table 1.
type forkAdvice struct {
	baseline, latency, cost plan.Outcome
	policies                [2]string // of latency-sensitive, cost-sensitive
}

// lambda is λ of the cost-sensitive column of Table 1.
const lambda = 0.1

// forkJobs returns stand-ins for the paper's jobs, and what there is to say of those that are missing. The original
// rows of the trace are not public in a usable form; the stand-ins have the quantiles that can be read off Figure 7 and
// Table 1.
func forkJobs(o *Options) (jobs []*forkJob, notes []string, err error) {
	row := func(t0, c0, t1, c1, t2, c2 float64, policies ...string) *forkAdvice {
		return &forkAdvice{plan.Outcome{Latency: t0, Cost: c0}, plan.Outcome{Latency: t1, Cost: c1}, plan.Outcome{Latency: t2, Cost: c2}, [2]string(policies)}
	}
	third := quantiles(485, [][2]float64{{0, 30}, {.25, 30}, {.25, 372}, {.99, 372}, {1, 528}})
	jobs = []*forkJob{
		{
			name: "job1", title: "Job 1 (stand-in)", printed: row(5068, 882, 1676, 881, 2213, 806, "keep, p = 0.343, r = 4", "keep, p = 0.234, r = 1"),
			about: "1,026 durations on a curve through quantiles of job 6252284914.",
			seconds: quantiles(1026, [][2]float64{
				{0, 228}, {.01, 303}, {.03, 337}, {.06, 415}, {.1, 656}, {.2, 818}, {.35, 845}, {.5, 852}, {.75, 866}, {.9, 872}, {.975, 873}, {.985, 1405},
				{.992, 4880}, {1, 5124},
			}),
		},
		{
			name: "job2", title: "Job 2 (stand-in)", printed: row(1418, 296, 463, 291, 542, 286, "keep, p = 0.038, r = 4", "keep, p = 0.181, r = 4"),
			about:   "Job 3 and three durations of 1,440, 1,450 and 1,460 s. The baseline fits; the rest of Table 1's row cannot be had without the trace.",
			seconds: append([]float64{1440, 1450, 1460}, third...),
		},
		{
			name: "job3", title: "Job 3 (stand-in)", printed: row(520, 290, 432, 290, 480, 285, "keep, p = 0.044, r = 4", "keep, p = 0.173, r = 1"),
			about: "485 durations: a quarter of 30 s, 74 % of 372 s, the last per cent rising to 528 s.", seconds: third,
		},
	}
	path, ok := o.Trace("google-2011", "GOOG_job_6390035868.tr")
	if !ok {
		return jobs, append(notes, "Skipped, because the folder of traces lacks it: google-2011/GOOG_job_6390035868.tr, a real job of 1,024 tasks."), nil
	}
	real, err := realJob(path)
	return append(jobs, real), notes, err
}

// realJob is another day's run of the program that was job 1.
func realJob(path string) (*forkJob, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w, err := new(trace.Importer).Read(f, path)
	if err != nil {
		return nil, err
	}
	j := &forkJob{
		name: "job6390035868", title: "A real job",
		about: "Google's job 6390035868, another day's run of the program that was job 1. The job was killed when its longest task ended. Its durations spread more evenly: " +
			"to clone its stragglers saves much time, but costs about a per cent of machine time more than nothing.",
	}
	for _, d := range w.Durations {
		j.seconds = append(j.seconds, d.Seconds())
	}
	return j, nil
}

// quantiles returns n values at u = (i - 1/2)/n of the curve through the points (u, value), u rising from 0 to 1.
func quantiles(n int, points [][2]float64) []float64 {
	values := make([]float64, n)
	at := 1
	for i := range values {
		u := (float64(i) + 0.5) / float64(n)
		for points[at][0] < u {
			at++
		}
		a, b := points[at-1], points[at]
		values[i] = a[1] + (b[1]-a[1])*(u-a[0])/(b[0]-a[0])
	}
	return values
}

// evaluate computes the grid, the optima, and what Algorithm 1 says of them.
func (j *forkJob) evaluate(ctx context.Context) error {
	law, err := laws.NewEmpirical(j.seconds)
	if err != nil {
		return err
	}
	n := len(j.seconds)
	if j.exact, err = plan.NewExact(law, n); err != nil {
		return err
	}
	sweep := j.exact.Sweep(mostClones)
	for i := range sweep.Blocks() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		sweep.Add(sweep.Block(i))
	}
	j.grid = sweep.Grid()
	j.advice = plan.Optimise(plan.EvaluateAll(j.grid, plan.Policies(n, mostClones)), n, lambda)
	dice, err := plan.NewBootstrap(law, n, 1000, 1)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		of  plan.Policy
		out *plan.Outcome
	}{
		{plan.Policy{}, &j.literal.baseline}, {j.advice.LatencySensitive.Policy, &j.literal.latency}, {j.advice.CostSensitive.Policy, &j.literal.cost},
	} {
		if *x.out, err = dice.Evaluate(x.of); err != nil {
			return err
		}
	}
	return nil
}

func (j *forkJob) words(p plan.Policy) string {
	if p.Baseline() {
		return "no replication"
	}
	return fmt.Sprintf("%s, p = %.3f, r = %d", p.Original, float64(p.Stragglers)/float64(len(j.seconds)), p.Clones)
}

// tableSection is Table 1.
func tableSection(jobs []*forkJob, notes []string) report.Section {
	t := report.Table{Name: "table1", Columns: []string{
		"job", "choice", "published policy", "T", "C", "our policy", "exact T", "exact C", "Algorithm 1 T", "C",
	}}
	for _, j := range jobs {
		printed := forkAdvice{}
		if j.printed != nil {
			printed = *j.printed
		}
		ours := j.advice
		for i, row := range []struct {
			choice, policy   string
			printed, literal plan.Outcome
			ours             plan.Choice
		}{
			{"baseline", "", printed.baseline, j.literal.baseline, ours.Baseline},
			{"latency-sensitive", printed.policies[0], printed.latency, j.literal.latency, ours.LatencySensitive},
			{"cost-sensitive", printed.policies[1], printed.cost, j.literal.cost, ours.CostSensitive},
		} {
			name := ""
			if i == 0 {
				name = j.name
			}
			t.Add(name, row.choice, row.policy, absent(row.printed.Latency), absent(row.printed.Cost), j.words(row.ours.Policy), row.ours.Latency,
				row.ours.Cost, row.literal.Latency, row.literal.Cost)
		}
	}
	return report.Section{
		Title: "Table 1: the policies chosen",
		Text: append([]string{fmt.Sprintf("Latency-sensitive: least E[T] at no more cost than the baseline (19). Cost-sensitive: least E[T] + λ n E[C], λ = %.1f "+
			"(20). At most %d clones. The durations of jobs 1 to 3 are not public, and stand-ins cannot have their optima; neighbouring policies are within a fraction "+
			"of a per cent of each other in the objective, so compare T and C, not p.", lambda, mostClones)}, notes...),
		Tables: []report.Table{t},
	}
}

// absent is nil where the paper prints nothing.
func absent(x float64) any {
	if x == 0 {
		return nil
	}
	return x
}

// at is the outcome of a policy that stops waiting for the share p of the tasks.
func (j *forkJob) at(p float64, clones int, o plan.Original) plan.Outcome {
	s := int(p*float64(len(j.seconds)) + 0.5)
	out, _ := j.grid.Evaluate(plan.Policy{Stragglers: s, Clones: clones, Original: o}) // 0 <= s <= n
	return out
}

func (j *forkJob) section() report.Section {
	return report.Section{
		Title: "Figures 7 to 10: " + j.title, Text: []string{j.about},
		Plots: []report.Plot{j.histogram(), j.tradeOff(plan.Keep), j.tradeOff(plan.Kill)}, Claims: j.claims(),
	}
}

// claims are what Section 4.2 says of the jobs. They are enforced of the stand-ins; of the real job the paper says
// nothing, so what it shows is reported.
func (j *forkJob) claims() []report.Claim {
	b := j.advice.Baseline
	if j.name == "job3" {
		few := j.at(0.044, 4, plan.Keep) // the policy that the paper prints
		return []report.Claim{
			report.Check(few.Latency < b.Latency && few.Cost < 1.01*b.Cost, j.name+": clones of a few tasks (p = 0.044, keep, r = 4) lower latency at the same cost, "+
				"within 1 %", "T 520 -> 432, C 290 -> 290", fmt.Sprintf("T %.0f -> %.0f, C %.1f -> %.1f", b.Latency, few.Latency, b.Cost, few.Cost)),
			j.killingIsWorse(),
		}
	}
	l, small := j.advice.LatencySensitive, j.at(0.04, 1, plan.Keep)
	claims := []report.Claim{
		report.Check(l.Latency < b.Latency && l.Cost <= b.Cost && l.Original == plan.Keep, j.name+": the latency-sensitive choice keeps originals and is faster "+
			"at no more cost", j.published(func(a *forkAdvice) string {
			return fmt.Sprintf("T %.0f -> %.0f, C %.0f -> %.0f", a.baseline.Latency, a.latency.Latency, a.baseline.Cost, a.latency.Cost)
		}), fmt.Sprintf("T %.0f -> %.0f, C %.0f -> %.0f, %s", b.Latency, l.Latency, b.Cost, l.Cost, j.words(l.Policy))),
		report.Check(small.Latency < b.Latency && small.Cost < b.Cost, j.name+": a small p (0.04, keep, r = 1) lowers latency and cost",
			j.published(func(*forkAdvice) string { return "both lower" }),
			fmt.Sprintf("T %.0f -> %.0f, C %.1f -> %.1f", b.Latency, small.Latency, b.Cost, small.Cost)),
		j.diminishing(),
	}
	if j.printed == nil {
		for i := range claims {
			claims[i].Verdict = report.Reported
		}
	}
	return claims
}

func (j *forkJob) published(say func(*forkAdvice) string) string {
	if j.printed == nil {
		return ""
	}
	return say(j.printed)
}

// diminishing claims that each further clone gains less latency than the one before, at the best p of each up to a
// half.
func (j *forkJob) diminishing() report.Claim {
	best := make([]float64, 4)
	best[0] = j.advice.Baseline.Latency
	for r := 1; r <= 3; r++ {
		best[r] = best[r-1]
		for p := 0.01; p < 0.505; p += 0.01 {
			best[r] = min(best[r], j.at(p, r, plan.Keep).Latency)
		}
	}
	g1, g2, g3 := best[0]-best[1], best[1]-best[2], best[2]-best[3]
	return report.Check(g1 >= g2 && g2 >= g3, j.name+": a higher r has diminishing returns",
		j.published(func(*forkAdvice) string { return "diminishing" }),
		fmt.Sprintf("best T for r = 0 to 3: %.0f, %.0f, %.0f, %.0f s", best[0], best[1], best[2], best[3]))
}

// killingIsWorse claims what Figure 10 shows: killing never gives the latency that keeping gives at the same p and r.
func (j *forkJob) killingIsWorse() report.Claim {
	worse, all := 0, 0
	for r := 1; r <= 3; r++ {
		for p := 0.02; p < 0.505; p += 0.01 {
			keep, kill := j.at(p, r, plan.Keep), j.at(p, r, plan.Kill)
			all++
			if kill.Latency > keep.Latency && kill.Cost > keep.Cost {
				worse++
			}
		}
	}
	return report.Check(worse == all, j.name+": killing is slower and costs more than keeping, at the same p and r", "worse", fmt.Sprintf("at %d of %d", worse, all))
}

func (j *forkJob) histogram() report.Plot {
	low, high := j.seconds[0], j.seconds[0]
	for _, x := range j.seconds {
		low, high = min(low, x), max(high, x)
	}
	const bins = 60
	s := report.Series{Name: "tasks", Kind: report.Bars, X: make([]float64, bins+1), Y: make([]float64, bins+1)}
	for i := range s.X {
		s.X[i] = low + (high-low)*float64(i)/bins
	}
	for _, x := range j.seconds {
		s.Y[min(bins-1, int(bins*(x-low)/(high-low)))] += 1 / float64(len(j.seconds))
	}
	return report.Plot{Name: j.name + "-histogram", Title: "Durations", X: "duration (s)", Y: "share of tasks", Series: []report.Series{s}}
}

func (j *forkJob) tradeOff(o plan.Original) report.Plot {
	pl := report.Plot{Name: j.name + "-" + o.String(), Title: fmt.Sprintf("%s, p from 0 to 0.5 in steps of 0.01", o), X: "E[C] (s per task)", Y: "E[T] (s)"}
	for r := 1; r <= 3; r++ {
		s := report.Series{Name: fmt.Sprintf("r = %d", r), Kind: report.Line}
		for p := 0.0; p < 0.505; p += 0.01 {
			x := j.at(p, r, o)
			s.X, s.Y = append(s.X, x.Cost), append(s.Y, x.Latency)
		}
		pl.Series = append(pl.Series, s)
	}
	return pl
}
