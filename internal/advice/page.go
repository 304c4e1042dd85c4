package advice

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
)

// Page is the advice with its pictures.
func (a *Advice) Page() *report.Page {
	p := &report.Page{Name: "plan-fork", Title: "When to clone the last tasks of a job"}
	p.Intro = []string{fmt.Sprintf("%s, %s. Method: %s.", show.Count(a.Tasks, "task"), a.source(), a.Method)}
	if lines := a.rounding(); lines != nil {
		p.Intro = append(p.Intro, "S"+strings.TrimPrefix(strings.Join(lines, " "), "s")+". The curves come from the search and have no error bound.")
	}
	if best := a.best[0]; best.Baseline() {
		p.Intro = append(p.Intro, a.refusal())
	} else {
		base := a.now
		p.Intro = append(p.Intro, fmt.Sprintf("Recommended: %s. Latency %s instead of %s, machine time %s instead of %s.", Words(best.Policy, a.Tasks),
			show.Seconds(best.Latency), show.Seconds(base.Latency), show.Seconds(best.Cost*float64(a.Tasks)), show.Seconds(base.Cost*float64(a.Tasks))))
	}
	p.Sections = append(p.Sections, a.answerSection(), a.durationSection(), a.curveSection(), a.frontierSection())
	return p
}

// source says what durations are drawn from.
func (a *Advice) source() string {
	if a.Sample == nil {
		if math.IsInf(a.law.Mean(), 1) {
			return "drawn from " + a.law.String() + ", whose mean is infinite"
		}
		return "drawn from " + a.law.String()
	}
	what, longest := show.Count(len(a.Sample.Ended), "duration"), "longest"
	if n := len(a.Sample.Censored); n > 0 {
		what += fmt.Sprintf(" and %d cut off", n)
	}
	if a.Sample.Beyond != nil {
		longest = "longest seen"
	}
	return fmt.Sprintf("resampled from %s: median %s, mean %s, %s %s", what, show.Seconds(a.law.Quantile(0.5)), show.Seconds(a.law.Mean()),
		longest, show.Seconds(a.Sample.Longest()))
}

// answerSection is the table of the terminal, its settings and its confidence.
func (a *Advice) answerSection() report.Section {
	s := report.Section{Title: "Recommendation"}
	t := report.Table{Name: "policies", Columns: []string{"what", "latency (s)", "± (s)", "machine time (s)", "policy"}}
	add := func(what string, o plan.Outcome, spec string) {
		var margin any
		if o.LatencyError > 0 {
			margin = 1.96 * o.LatencyError
		}
		t.Add(what, o.Latency, margin, o.Cost*float64(a.Tasks), spec)
	}
	add("current setting: "+a.now.words, a.now.Outcome, a.now.spec)
	for _, c := range a.compared {
		add(c.words, c.Outcome, c.spec)
	}
	for i, c := range a.best[:len(a.best)-1] {
		add([]string{"best", "second", "third"}[i]+": "+Words(c.Policy, a.Tasks), c.Outcome, Spec(c.Policy, a.Tasks))
	}
	if t := a.twice; t != nil {
		add("two forks: "+WordsOfTwo(t.forks, a.Tasks), t.Outcome, SpecOfTwo(t.forks, a.Tasks))
	}
	if c := a.optima.CostSensitive; !c.Baseline() {
		add(fmt.Sprintf("least latency + %g machine time: %s", a.Lambda, Words(c.Policy, a.Tasks)), c.Outcome, Spec(c.Policy, a.Tasks))
	}
	s.Tables = append(s.Tables, t)
	s.Text = a.Settings()
	if c := a.sure; c != nil {
		s.Text = append(s.Text, a.confidenceWords())
	}
	return s
}

// durationSection draws the histogram and the tail.
func (a *Advice) durationSection() report.Section {
	s := report.Section{Title: "The durations"}
	tail := report.Plot{Name: "tail", Title: "Tail: a straight line is a power law", X: "duration (s)", Y: "share that is longer", LogX: true, LogY: true}
	sample, ok := a.law.(*laws.Empirical)
	if !ok {
		var x, y []float64
		for q := 1.0; q > 1e-6; q /= 1.3 {
			x, y = append(x, a.law.InvSurvival(q)), append(y, q)
		}
		tail.Series = []report.Series{{Name: a.law.String(), Kind: report.Line, X: x, Y: y}}
		s.Plots = append(s.Plots, tail)
		return s
	}
	edges, shares := histogram(sample)
	s.Plots = append(s.Plots, report.Plot{Name: "histogram", Title: "Histogram", X: "duration (s)", Y: "share of the tasks",
		Series: []report.Series{{Name: "durations", Kind: report.Bars, X: edges, Y: shares}}})
	x, y := tailSteps(sample)
	if !slices.ContainsFunc(x, func(x float64) bool { return x > 0 }) {
		return s // equal durations have no tail, and 0 has no logarithm
	}
	tail.Series = []report.Series{{Name: "durations", Kind: report.Steps, X: x, Y: y}}
	if a.Sample == nil || len(a.Sample.Censored) > 0 { // an estimate of which some attempts did not end is no sample
		s.Plots = append(s.Plots, tail)
		return s
	}
	values := slices.Sorted(slices.Values(a.Sample.Ended))
	if fits := laws.FitAll(laws.Complete(values)); len(fits) > 0 {
		s.Tables = append(s.Tables, a.fitTable(fits, values))
		var fx, fy []float64
		for q := 1.0; q > 0.5/float64(len(values)); q /= 1.2 {
			fx, fy = append(fx, fits[0].Law.InvSurvival(q)), append(fy, q)
		}
		family, _, _ := strings.Cut(fits[0].Law.String(), ":")
		tail.Series = append(tail.Series, report.Series{Name: family + ", fitted", Kind: report.Line, X: fx, Y: fy})
	}
	s.Plots = append(s.Plots, tail)
	if hill, ok := hillPlot(values); ok {
		s.Plots = append(s.Plots, hill)
	}
	return s
}

// fitTable lists fitted laws, with probabilities where the sample is small enough to fit it some hundred times.
func (a *Advice) fitTable(fits []laws.Fitted, values []float64) report.Table {
	t := report.Table{Name: "fits", Caption: "Laws fitted by maximum likelihood, best first. P is the probability that a sample of the fitted law " +
		"is as far from its own fit, by the Kolmogorov-Smirnov (D) and Anderson-Darling (A²) distances. Below 0.05 the law is rejected. " +
		"The plan does not use them: it resamples the durations.",
		Columns: []string{"law", "AIC", "D", "P of D", "A²", "P of A²"}}
	const rounds, smallEnough = 59, 2000
	source := rand.New(rand.NewPCG(a.Seed, 1))
	for _, f := range fits {
		if len(values) > smallEnough {
			t.Add(f.Law.String(), f.AIC, laws.KolmogorovSmirnov(values, f.Law), nil, nil, nil)
			continue
		}
		g := f.Test(values, rounds, func() float64 { return (float64(source.Uint64()>>12) + 0.5) / (1 << 52) })
		t.Add(f.Law.String(), f.AIC, g.KolmogorovSmirnov, g.KolmogorovSmirnovP, g.AndersonDarling, g.AndersonDarlingP)
	}
	return t
}

// hillPlot is the estimate of the tail index for every size of the tail.
func hillPlot(values []float64) (report.Plot, bool) {
	var s report.Series
	points := laws.Hill(values)
	next := 5
	for _, h := range points {
		if h.Tail >= next && h.Tail <= len(values)/2 {
			s.X, s.Y = append(s.X, float64(h.Tail)), append(s.Y, h.Alpha)
			s.Low, s.High = append(s.Low, h.Low), append(s.High, h.High)
			next = h.Tail + 1 + h.Tail/15
		}
	}
	s.Name, s.Kind = "tail index α", report.Points
	p := report.Plot{Name: "hill", Title: "Hill plot: level where the tail is a power law", X: "values in the tail", Y: "tail index α", LogX: true,
		Series: []report.Series{s}}
	if best, _, err := laws.TailIndex(values); err == nil {
		p.Series = append(p.Series, report.Series{Name: fmt.Sprintf("nearest power law: %.2f", best.Alpha), Kind: report.Line,
			X: []float64{5, float64(best.Tail)}, Y: []float64{best.Alpha, best.Alpha}})
	}
	return p, len(s.X) > 0
}

// mostPoints is how many points of a curve are drawn.
const mostPoints = 400

// tailSteps are the steps of the survival, thinned out but for the last.
func tailSteps(l *laws.Empirical) (x, y []float64) {
	every := max(1, l.Distinct()/mostPoints)
	for i := range l.Distinct() {
		v, _, upTo := l.Value(i)
		if left := l.Size() - upTo; left > 0 && (i%every == 0 || left <= 50) {
			x, y = append(x, v), append(y, float64(left)/float64(l.Size()))
		}
	}
	return x, y
}

// histogram returns edges and shares of bins of equal width (Freedman and Diaconis 1981), at most 80. The share of the
// last edge is 0.
func histogram(l *laws.Empirical) (edges, shares []float64) {
	lo, hi := l.Quantile(0), l.Quantile(1)
	width := 2 * (l.Quantile(0.75) - l.Quantile(0.25)) / math.Cbrt(float64(l.Size()))
	bins := 80
	switch {
	case hi == lo:
		return []float64{lo, math.Nextafter(lo, math.Inf(1)) + 1}, []float64{1, 0}
	case width > 0:
		bins = int(min(max(math.Ceil((hi-lo)/width), 5), 80))
	}
	shares = make([]float64, bins+1)
	for i := range bins + 1 {
		edges = append(edges, lo+(hi-lo)*float64(i)/float64(bins))
	}
	for i := range l.Distinct() {
		v, n, _ := l.Value(i)
		bin := min(int(float64(bins)*(v-lo)/(hi-lo)), bins-1)
		shares[bin] += float64(n) / float64(l.Size())
	}
	return edges, shares
}

// curveSection draws latency and machine time against the share of stragglers, as Figures 3 to 10 of the paper do.
func (a *Advice) curveSection() report.Section {
	s := report.Section{Title: "Latency and machine time", Text: []string{
		"For each number of clones r, against the share p of tasks still running at the fork. The dashed line is without clones."}}
	for _, mode := range []plan.Original{plan.Keep, plan.Kill} {
		latency := report.Plot{Name: "latency_" + mode.String(), Title: "Latency, " + mode.String(), X: "p", Y: "latency (s)"}
		cost := report.Plot{Name: "cost_" + mode.String(), Title: "Machine time per task, " + mode.String(), X: "p", Y: "machine time per task (s)"}
		both := report.Plot{Name: "tradeoff_" + mode.String(), Title: "Trade-off, " + mode.String(), X: "machine time per task (s)", Y: "latency (s)"}
		base := a.optima.Baseline
		flat := func(name string, y float64) report.Series {
			return report.Series{Name: name, Kind: report.Line, Published: true, X: []float64{0, 1}, Y: []float64{y, y}}
		}
		latency.Series = append(latency.Series, flat("no clones", base.Latency))
		cost.Series = append(cost.Series, flat("no clones", base.Cost))
		both.Series = append(both.Series, report.Series{Name: "no clones", Kind: report.Points, X: []float64{base.Cost}, Y: []float64{base.Latency}})
		for r := range a.MaxClones + 1 {
			if r == 0 && mode == plan.Keep {
				continue
			}
			p, t, c := a.curve(r, mode)
			name := "r = " + strconv.Itoa(r)
			latency.Series = append(latency.Series, report.Series{Name: name, Kind: report.Line, X: p, Y: t})
			cost.Series = append(cost.Series, report.Series{Name: name, Kind: report.Line, X: p, Y: c})
			both.Series = append(both.Series, report.Series{Name: name, Kind: report.Line, X: c, Y: t})
		}
		s.Plots = append(s.Plots, latency, cost, both)
	}
	return s
}

// curve returns p, latency and cost of the policies of a kind that have finite figures, thinned out.
func (a *Advice) curve(clones int, mode plan.Original) (p, latency, cost []float64) {
	every := max(1, a.Tasks/mostPoints)
	for _, c := range a.choices {
		if c.Clones == clones && c.Original == mode && c.Stragglers > 0 && !math.IsInf(c.Latency, 1) &&
			(c.Stragglers%every == 0 || c.Stragglers <= 20) {
			p = append(p, float64(c.Stragglers)/float64(a.Tasks))
			latency, cost = append(latency, c.Latency), append(cost, c.Cost)
		}
	}
	return p, latency, cost
}

// frontierSection draws the policies that no other beats in both.
func (a *Advice) frontierSection() report.Section {
	s := report.Section{Title: "The trade-off", Text: []string{"Policies that no other beats in both latency and machine time, and the recommended choices."}}
	var x, y []float64
	every := max(1, len(a.optima.Frontier)/mostPoints)
	for i, c := range a.optima.Frontier {
		if i%every == 0 || i == len(a.optima.Frontier)-1 {
			x, y = append(x, c.Cost*float64(a.Tasks)), append(y, c.Latency)
		}
	}
	plot := report.Plot{Name: "frontier", Title: "Frontier", X: "machine time (s)", Y: "latency (s)",
		Series: []report.Series{{Name: "frontier", Kind: report.Line, X: x, Y: y}}}
	point := func(name string, o plan.Outcome) {
		if !math.IsInf(o.Latency, 1) {
			plot.Series = append(plot.Series, report.Series{Name: name, Kind: report.Points,
				X: []float64{o.Cost * float64(a.Tasks)}, Y: []float64{o.Latency}})
		}
	}
	point("now", a.now.Outcome)
	for _, c := range a.compared {
		point(c.words, c.Outcome)
	}
	if !a.best[0].Baseline() {
		point("recommended", a.best[0].Outcome)
	}
	s.Plots = append(s.Plots, plot)
	return s
}
