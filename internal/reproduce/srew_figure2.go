package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// srewFigure2 is Figure 2: what beta and lambda change.
type srewFigure2 struct {
	scale    *srewScale
	extracts []*series // Figure 2a: by hour, then beta
	lambda   *series   // Figure 2b: one workload, other random draws each
}

// extractHours are how long an extract of Figure 2a is, and how many there are.
const (
	extractLength = 3600 * sched.Second
	extracts      = 3
)

func newSREWFigure2(sc *srewScale, o *Options) *srewFigure2 {
	s := &srewFigure2{scale: sc}
	all := sc.surrogateOf(sc.jobs)
	var betas, lambdas []string
	for _, b := range sc.betas {
		betas = append(betas, fmt.Sprintf("srew:beta=%g,lambda=0,slot=5s", b))
	}
	for _, l := range sc.lambdas {
		lambdas = append(lambdas, fmt.Sprintf("srew:beta=0.7,lambda=%g,slot=5s", l))
	}
	for k := range sched.Time(extracts) {
		from := sc.window * (k + 1) / (extracts + 1)
		s.extracts = append(s.extracts, newSeries(o.Seed, sc.cluster, 1, sc.luck, betas, func(seed uint64) (*trace.Workload, error) {
			w, err := all(seed)
			if err != nil {
				return nil, err
			}
			return (&trace.Filter{From: from, To: from + extractLength}).Apply(w)
		}))
	}
	s.lambda = newSeries(o.Seed, sc.cluster, 1, sc.luck, lambdas, sc.scatteredOf(sc.jobs))
	return s
}

func (s *srewFigure2) steps() (steps []func(context.Context) error) {
	for _, x := range append(s.extracts, s.lambda) {
		steps = append(steps, x.steps()...)
	}
	return steps
}

func (s *srewFigure2) sections() []report.Section {
	return []report.Section{s.betaSection(), s.lambdaSection()}
}

// flows returns the means of a series' policies.
func (s *series) flows() (means []float64) {
	for p := range s.policies {
		means = append(means, s.Mean(p, sim.MeanFlow).Mean)
	}
	return means
}

// plateau is the share by which a mean may be above the least and still lie on its plateau.
const plateau = 0.05

func (s *srewFigure2) betaSection() report.Section {
	sec := report.Section{
		Title: "Figure 2(a): the share β",
		Text: []string{fmt.Sprintf("λ = 0, three extracts of an hour from one workload, %d runs of each with different random seeds. The smaller β is, the longer the jobs with the most "+
			"work wait, and their flow times weigh most in the mean. The paper's minimum is at 0.7 in all three. A plateau counts as one: 0.7 must be within %.0f %% of the least mean, in the extract "+
			"where it is farthest from it. How it falls up to there and beyond is a weaker reading, which is reported.",
			s.scale.luck, 100*plateau)},
	}
	plot := report.Plot{Name: "figure2a", X: "β", Y: "mean flow time (s)"}
	table := report.Table{Name: "figure2a", Caption: "Mean flow time (s)", Columns: []string{"β"}}
	for _, b := range s.scale.betas {
		table.Add(fmt.Sprint(b))
	}
	var each []report.Claim
	for k, x := range s.extracts {
		name := fmt.Sprintf("extract %d", k+1)
		table.Columns = append(table.Columns, name, "±")
		for i := range s.scale.betas {
			e := x.Mean(i, sim.MeanFlow)
			table.Rows[i] = append(table.Rows[i], e.Mean, e.Half)
		}
		plot.Series = append(plot.Series, errorBars(name, s.scale.betas, func(i int) sim.Estimate { return x.Mean(i, sim.MeanFlow) }))
		least := leastBeta(name, s.scale.betas, x).claim(name + ": the mean is least at β = 0.7, or within 5 % of the least")
		least.Verdict = report.Reported                              // all three are one claim
		each = append(each, least, betaFall(name, s.scale.betas, x)) // that is a weaker claim than the paper's
	}
	sec.Claims = append([]report.Claim{s.leastBetas()}, each...)
	sec.Plots, sec.Tables = []report.Plot{plot}, []report.Table{table}
	return sec
}

// betaFall reports how the mean flow time falls up to beta = 0.7 and beyond.
func betaFall(name string, betas []float64, x *series) report.Claim {
	last, knee := len(betas)-1, nearest(betas, 0.7)
	slope := func(from, to, run int) float64 {
		return (x.Of(from)[run].MeanFlow - x.Of(to)[run].MeanFlow) / (betas[to] - betas[from])
	}
	var before, beyond []float64
	for run := range x.Runs {
		before, beyond = append(before, slope(0, knee, run)/10), append(beyond, slope(knee, last, run)/10)
	}
	return report.Claim{What: name + ": the mean falls up to β = 0.7 and flattens there", Published: "flat above 0.6", Verdict: report.Reported,
		Measured: fmt.Sprintf("falls by %s for each 0.1 up to 0.7, by %s beyond", wholeSeconds(sim.EstimateOf(before)), wholeSeconds(sim.EstimateOf(beyond)))}
}

// betaExcess is by what part the mean at beta = 0.7 is above the least in an extract.
type betaExcess struct {
	sim.Estimate
	said string
}

func leastBeta(name string, betas []float64, x *series) betaExcess {
	flows := x.flows()
	best, ours := slices.Index(flows, slices.Min(flows)), nearest(betas, 0.7)
	d := x.Difference(ours, best, sim.MeanFlow)
	more := sim.Estimate{Mean: d.Mean / flows[best], Half: d.Half / flows[best], N: d.N}
	return betaExcess{more, fmt.Sprintf("%s: minimum at %g, %.0f s; at %g %s more", name, betas[best], flows[best], betas[ours], percent(more))}
}

// claim says that the minimum is at 0.7, or that this is on its plateau.
func (e betaExcess) claim(what string) report.Claim {
	return judge(e.Estimate, math.Inf(-1), plateau, what, "minimum at 0.7", e.said)
}

// leastBetas is the claim in all extracts: in the one that is farthest from it.
func (s *srewFigure2) leastBetas() report.Claim {
	far := betaExcess{Estimate: sim.Estimate{Mean: math.Inf(-1)}}
	for k, x := range s.extracts {
		if e := leastBeta(fmt.Sprintf("extract %d", k+1), s.scale.betas, x); e.Mean > far.Mean {
			far = e
		}
	}
	return far.claim("in every extract the mean is least at β = 0.7, or within 5 % of the least")
}

// nearest returns the index of the value next to x.
func nearest(xs []float64, x float64) (at int) {
	for i := range xs {
		if math.Abs(xs[i]-x) < math.Abs(xs[at]-x) {
			at = i
		}
	}
	return at
}

func (s *srewFigure2) lambdaSection() report.Section {
	x := s.lambda
	table := report.Table{
		Name: "figure2b", Caption: fmt.Sprintf("Mean flow time (s) in %d runs on one workload", x.Runs),
		Columns: []string{"λ", "mean", "±", "standard deviation of the runs", "least", "greatest", "more than λ = 0", "±"},
	}
	for p, l := range s.scale.lambdas {
		e, d := x.Mean(p, sim.MeanFlow), x.Difference(p, 0, sim.MeanFlow)
		runs := x.meanFlows(p)
		row := []any{fmt.Sprint(l), e.Mean, e.Half, deviation(runs), slices.Min(runs), slices.Max(runs), nil, nil}
		if p > 0 {
			row[6], row[7] = d.Mean, d.Half
		}
		table.Add(row...)
	}
	return report.Section{
		Title: "Figure 2(b): the weight λ of the standard deviation",
		Text: []string{fmt.Sprintf("β = 0.7. The runs share one workload and differ in the random draws of clones. The jobs of this workload have relative deviations of their own (spread=%g): "+
			"in the other sections all have about the same, and λ changes the order of hardly two of them. The intervals of ratios of standard deviations are jackknifed.", lambdaSpread)},
		Tables: []report.Table{table},
		Plots: []report.Plot{{
			Name: "figure2b", X: "λ", Y: "mean flow time (s)",
			Series: []report.Series{errorBars("95 % interval", s.scale.lambdas, func(i int) sim.Estimate { return x.Mean(i, sim.MeanFlow) })},
		}},
		Claims: lambdaClaims(s.scale.lambdas, x),
	}
}

// lambdaClaims say that the mean is least at the first lambda, 0, and that runs differ most there: against the other
// lambda of which that is least true.
func lambdaClaims(lambdas []float64, x *series) []report.Claim {
	least, steadier := sim.Estimate{Mean: math.Inf(1)}, sim.Estimate{Mean: math.Inf(1)}
	var saidMean, saidDeviation string
	for p := 1; p < len(x.policies); p++ {
		if d := x.Difference(p, 0, sim.MeanFlow); d.Mean < least.Mean {
			least, saidMean = d, fmt.Sprintf("λ = %g has %s more than λ = 0", lambdas[p], wholeSeconds(d))
		}
		if r := deviationRatio(x.meanFlows(0), x.meanFlows(p)); r.Mean < steadier.Mean {
			steadier = r
			saidDeviation = fmt.Sprintf("the deviation at λ = 0 is %.2f times that at λ = %g (%.2f to %.2f)",
				math.Exp(r.Mean), lambdas[p], math.Exp(r.Mean-r.Half), math.Exp(r.Mean+r.Half))
		}
	}
	return []report.Claim{
		judge(least, 0, math.Inf(1), "λ = 0 has the smallest mean", "yes", saidMean),
		judge(steadier, 0, math.Inf(1), "λ = 0 fluctuates most between runs", "yes", saidDeviation),
	}
}

// meanFlows returns the mean flow times of a policy's runs.
func (s *series) meanFlows(policy int) (flows []float64) {
	for i := range s.Of(policy) {
		flows = append(flows, s.Of(policy)[i].MeanFlow)
	}
	return flows
}

// deviationRatio estimates the logarithm of the ratio of two standard deviations from paired samples, by the jackknife
// (Miller 1968): its pseudo-values are treated as independent measurements.
func deviationRatio(a, b []float64) sim.Estimate {
	all := math.Log(deviation(a) / deviation(b))
	n, pseudo := float64(len(a)), make([]float64, len(a))
	for i := range a {
		without := math.Log(deviation(slices.Delete(slices.Clone(a), i, i+1)) / deviation(slices.Delete(slices.Clone(b), i, i+1)))
		pseudo[i] = n*all - (n-1)*without
	}
	return sim.EstimateOf(pseudo)
}

// deviation is the standard deviation of a sample, NaN of less than two.
func deviation(x []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(x)-1))
}
