package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sim"
)

// srewRow is a policy as it is read for a row of Table 3.
type srewRow struct {
	policy, reading, spec string

	printed float64    // mean flow time in seconds, 0 if it is not the paper's
	shares  [2]float64 // of jobs done within 300 and 1,500 s, in per cent, as far as the paper prints them
}

func (r *srewRow) name() string {
	if r.printed > 0 {
		return r.policy
	}
	return r.policy + ", " + r.reading
}

// srewRows begins with SREW and the paper's baselines as Xu et al. seem to have run them, which the claims are about.
// What they do not state is as in the digest of the baselines' own papers; jobs go first come, first served. They say
// that their baselines do not preempt, so Mantri, which they describe by its rule with delta alone, must not kill the
// slowest of three attempts: it has two. Below are other readings.
var srewRows = []srewRow{
	{"SREW+C(0.7)", "without line 7", srewSpec, 742, [2]float64{63, 90}},
	{"SCA", "its own law, slots of 5 s", "sca:slot=5s", 811, [2]float64{56, 88}},
	{"Dolly", "FIFO, nothing underneath", "dolly:budget=0.05,threshold=0.8,order=fifo,under=none", 828, [2]float64{}},
	{"Grass", "FIFO, switch by size", "grass:order=fifo,switch=size", 838, [2]float64{}},
	{"Mantri", "FIFO, two attempts, no kills", "mantri-dup:delta=0.25,copies=2,order=fifo", 860, [2]float64{53, 87}},
	{policy: "SREW+C(1)", reading: "without line 7", spec: "srew:beta=1,lambda=1,slot=5s"},
	{policy: "SREW+C(0.7)", reading: "line 7 for clones only", spec: "srew:beta=0.7,lambda=1,slot=5s,preempt=clones"},
	{policy: "SREW+C(1)", reading: "line 7 for clones only", spec: "srew:beta=1,lambda=1,slot=5s,preempt=clones"},
	{policy: "SREW+C(0.7)", reading: "line 7 as printed, work is lost", spec: "srew:beta=0.7,lambda=1,slot=5s,preempt=true"},
	{policy: "SCA", reading: "a Pareto law", spec: "sca:slot=5s,law=pareto"},
	{policy: "SCA", reading: "its own law, no slots", spec: "sca:slot=0s"},
	{policy: "Dolly", reading: "Fair, nothing underneath", spec: "dolly:budget=0.05,threshold=0.8,order=fair,under=none"},
	{policy: "Dolly", reading: "FIFO, LATE underneath", spec: "dolly:budget=0.05,threshold=0.8,order=fifo"},
	{policy: "Dolly", reading: "Fair, Mantri underneath", spec: "dolly:budget=0.05,threshold=0.8,order=fair,under=mantri"},
	{policy: "Grass", reading: "FIFO, learned switch", spec: "grass:order=fifo"},
	{policy: "Grass", reading: "Fair, learned switch", spec: "grass:order=fair"},
	{policy: "Grass", reading: "Fair, switch by size", spec: "grass:order=fair,switch=size"},
	{policy: "Grass", reading: "Fair, switch by size, t_new known", spec: "grass:order=fair,switch=size,tnew=known"},
	{policy: "Mantri", reading: "Fair, two attempts, no kills", spec: "mantri-dup:delta=0.25,copies=2,order=fair"},
	{policy: "Mantri", reading: "FIFO, three attempts, kills", spec: "mantri:delta=0.25,order=fifo"},
	{policy: "Mantri", reading: "Fair, three attempts, kills", spec: "mantri:delta=0.25,order=fair"},
	{policy: "Mantri", reading: "FIFO, t_new of finished tasks", spec: "mantri-dup:delta=0.25,copies=2,order=fifo,tnew=finished"},
	{policy: "no clones", reading: "FIFO", spec: "fifo"},
	{policy: "no clones", reading: "Fair", spec: "fair"},
	{policy: "no clones", reading: "SRPT", spec: "srpt"},
}

// toldRows are SREW and what decides by reports, for the section on these.
var toldRows = []srewRow{
	srewRows[rowSREW],
	{policy: "Grass", reading: "FIFO, switch by size", spec: "grass:order=fifo,switch=size"},
	{policy: "Grass", reading: "Fair, learned switch", spec: "grass:order=fair"},
	{policy: "Mantri", reading: "FIFO, two attempts, no kills", spec: "mantri-dup:delta=0.25,copies=2,order=fifo"},
	{policy: "Mantri", reading: "FIFO, three attempts, kills", spec: "mantri:delta=0.25,order=fifo"},
	{policy: "SREW+C(1)", reading: "line 7 for clones only", spec: "srew:beta=1,lambda=1,slot=5s,preempt=clones"},
}

// Rows of SREW and the baselines.
const (
	rowSREW = iota
	rowSCA
	rowDolly
	rowGrass
	rowMantri
	printedRows // how many the paper has
)

// table3 is Table 3 and the distributions of Figures 4 and 5.
type table3 struct{ main *series }

func newTable3(sc *srewScale, o *Options) *table3 {
	return &table3{newSeries(o.Seed, sc.cluster, sc.table, 1, specsOfRows(srewRows), sc.surrogateOf(sc.jobs))}
}

func (t *table3) steps() []func(context.Context) error { return t.main.steps() }

func (t *table3) sections() []report.Section {
	return []report.Section{t.section(), t.best(), t.curves()}
}

// flowTable compares rows as Table 3 does. SREW is the first.
func flowTable(name, caption string, s *series, rows []srewRow) report.Table {
	t := report.Table{Name: name, Caption: caption, Columns: []string{
		"policy", "reading", "t_new", "published (s)", "mean flow (s)", "±", "published: SREW less", "SREW less by (%)", "±", "≤ 300 s (%)", "≤ 1500 s (%)", "p99 (s)", "fruitless (%)", "failed (%)",
	}}
	for i, r := range rows {
		flow := s.Mean(i, sim.MeanFlow)
		cells := []any{r.policy, r.reading, durationsOf(r.spec), nil, flow.Mean, flow.Half, nil, nil, nil}
		if r.printed > 0 {
			cells[3] = int(r.printed)
		}
		if i != rowSREW {
			less := s.reduction(i)
			if r.printed > 0 {
				cells[6] = fmt.Sprintf("%.1f %%", 100*(1-srewRows[rowSREW].printed/r.printed))
			}
			cells[7], cells[8] = 100*less.Mean, 100*less.Half
		}
		t.Add(append(cells, 100*s.share(i, 300).Mean, 100*s.share(i, 1500).Mean, s.Mean(i, func(c *sim.Cell) float64 { return c.P99Flow }).Mean,
			100*s.Mean(i, fruitlessShare).Mean, 100*s.Mean(i, func(c *sim.Cell) float64 { return failedShare(&c.Stats) }).Mean)...)
	}
	return t
}

// durationsOf says where a policy takes the durations of attempts from, nil if it needs none.
func durationsOf(spec string) any {
	if told, err := policy.Told(spec); err == nil && told != "" {
		return told
	}
	return nil
}

// fruitlessShare is the share of machine time that went into attempts that lost.
func fruitlessShare(c *sim.Cell) float64 { return c.Fruitless / max(c.Fruitful+c.Fruitless, 1e-9) }

func (t *table3) section() report.Section {
	s := t.main
	sec := report.Section{
		Title: "Table 3: mean flow times",
		Text: []string{
			"The paper's rows above, other readings below. It does not say in which order its baselines serve jobs: first come, first served, and Fair below. Of Mantri it " +
				"states the rule with δ = 0.25, and that no baseline preempts: so a task has two attempts, and none is killed before another has ended. Mantri itself starts a " +
				"third and after ten seconds kills the slowest; in this service model, in which a task has no size of its own, that amounts to drawing anew until a draw is short.",
			"The column t_new says where a policy takes the duration of a new attempt from: finished tasks of the job, all attempts with the running ones, or what the workload states (known).",
			"Grass gives a job more attempts of its running tasks before the next job gets its first. Under FIFO a job of thousands of tasks keeps all others waiting; the paper " +
				"on Grass has Fair between jobs.",
			"SREW+C(0.7) lets the 30 % of the active jobs with the most work wait while the others fill the cluster with clones, and does not preempt: many jobs are fast, a few take " +
				"as long as jobs keep arriving. SREW+C(1) lets none wait so.",
		},
		Tables: []report.Table{flowTable("table3", fmt.Sprintf("Means of %d workloads", s.Runs), s, srewRows)},
		Claims: reductionClaims(s, ""),
	}
	sec.Claims = append(sec.Claims, t.shareClaim())
	for i, r := range srewRows[:printedRows] {
		flow := s.Mean(i, sim.MeanFlow)
		sec.Claims = append(sec.Claims, report.Claim{
			What: "mean flow time under " + r.name() + " (of other jobs than the paper's)", Published: fmt.Sprintf("%.0f s", r.printed), Measured: wholeSeconds(flow), Verdict: report.Reported,
		})
	}
	for i := printedRows; i < len(srewRows); i++ {
		sec.Claims = append(sec.Claims, report.Claim{What: "reading: SREW+C(0.7) against " + srewRows[i].name(), Measured: lessOrMore(s.reduction(i)), Verdict: report.Reported})
	}
	return sec
}

// lessOrMore writes a reduction, which may be none.
func lessOrMore(e sim.Estimate) string {
	if e.Mean < 0 {
		return percent(sim.Estimate{Mean: -e.Mean, Half: e.Half}) + " more"
	}
	return percent(e) + " less"
}

// reductionClaims say that SREW is best, and by a size that the paper's numbers allow.
func reductionClaims(s *series, where string) (claims []report.Claim) {
	worst := sim.Estimate{Mean: math.Inf(1)}
	for i := rowSCA; i < printedRows; i++ {
		if less := s.reduction(i); less.Mean < worst.Mean {
			worst = less
		}
	}
	claims = append(claims, judge(worst, 0, math.Inf(1), where+"SREW has the smallest mean flow time; against the best of the others", "8.5 % less", lessOrMore(worst)))
	for i := rowSCA; i < printedRows; i++ {
		less := s.reduction(i)
		claims = append(claims, judge(less, 0.03, 0.30, fmt.Sprintf("%sSREW's mean is smaller than that of %s, by 3 to 30 %%", where, srewRows[i].name()),
			fmt.Sprintf("%.1f %% less", 100*(1-srewRows[rowSREW].printed/srewRows[i].printed)), lessOrMore(less)))
	}
	return claims
}

// shareClaim says that more jobs are done within 300 s than under any other, or as many as under Dolly.
func (t *table3) shareClaim() report.Claim {
	least, rival := sim.Estimate{Mean: math.Inf(1)}, 0
	for i := rowSCA; i < printedRows; i++ {
		if d := t.main.shareAbove(rowSREW, i, 300); d.Mean < least.Mean {
			least, rival = d, i
		}
	}
	return judge(least, 0, 1, "SREW has the largest share of jobs done within 300 s, or one as large as Dolly's", "63 %",
		fmt.Sprintf("%s, %.1f ± %.1f points above %s", percent(t.main.share(rowSREW, 300)), 100*least.Mean, 100*least.Half, srewRows[rival].name()))
}

// numbers turns a list of whole numbers into coordinates.
func numbers(list []int) (xs []float64) {
	for _, n := range list {
		xs = append(xs, float64(n))
	}
	return xs
}
