package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
)

const (
	forkTasks  = 400    // n of Figures 4 and 6
	forkRounds = 20_000 // simulated jobs a point
)

// forkLaw is one of the two laws of Section 3: Figures 3 and 4, or 5 and 6.
type forkLaw struct {
	name, title, law string
	rounds           int
	byFormula        bool // the reference's latencies are the closed form's, not Theorem 1's
	seed             uint64
	latency, cost    float64 // what the paper prints of the baseline
	reference        []forkPoint
	// largest relative error of the closed form that its authors' claim of a good fit allows here
	formula     float64
	formulaNote string

	exact    *plan.Exact
	theorem  *plan.Theorem1
	closed   *plan.ClosedForm
	baseline plan.Outcome
	kinds    []forkKind
	measured []forkPoint // simulated, at the reference's places
}

// forkPoint is the latency and cost of one policy.
type forkPoint struct {
	p       float64
	clones  int
	keep    plan.Original
	outcome plan.Outcome
}

// forkKind is a curve of Figures 4 and 6.
type forkKind struct {
	clones   int
	original plan.Original
	points   []forkPoint // exact
	formula  []float64   // latency by (10) or (14), NaN where it says nothing
}

type forkLaws []*forkLaw

func newForkLaws(o *Options) forkLaws {
	rounds := forkRounds
	if o.Quick {
		rounds /= 20
	}
	reference := func(original plan.Original, clones int, numbers ...float64) (out []forkPoint) {
		for i, p := range []float64{.05, .1, .2, .5} {
			out = append(out, forkPoint{p, clones, original, plan.Outcome{Latency: numbers[2*i], Cost: numbers[2*i+1]}})
		}
		return out
	}
	join := func(lists ...[]forkPoint) (all []forkPoint) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	return forkLaws{
		{
			name: "shiftedexp", title: "Figures 3 and 4: shifted exponential", law: "shiftedexp:delta=1,mu=1", rounds: rounds, seed: o.Seed,
			byFormula: true,
			latency:   1 + math.Log(400) + 0.5772156649, cost: 2, formula: 0.01,
			reference: join(
				reference(plan.Keep, 1, 6.28, 2.032, 5.94, 2.063, 5.59, 2.126, 5.13, 2.316),
				reference(plan.Keep, 2, 5.85, 2.063, 5.39, 2.126, 4.93, 2.253, 4.32, 2.632),
				reference(plan.Kill, 1, 6.78, 2.100, 6.44, 2.200, 6.09, 2.400, 5.63, 3.000),
			),
		},
		{
			name: "pareto", title: "Figures 5 and 6: Pareto", law: "pareto:alpha=2,xm=2", rounds: rounds, seed: o.Seed,
			latency: 2 * 20 * math.Sqrt(math.Pi), cost: 4, formula: 0.05,
			formulaNote: " The limit for a kept original with r = 1 is a few percent low at any n of practice; r = 0 keep is the baseline, " +
				"of which (14) says nothing.",
			reference: join(
				reference(plan.Keep, 1, 16.44, 3.801, 14.64, 3.807, 13.46, 3.865, 12.48, 4.093),
				reference(plan.Keep, 2, 13.17, 3.856, 10.94, 3.920, 9.43, 4.088, 8.15, 4.604),
				reference(plan.Kill, 1, 14.15, 3.820, 12.50, 3.901, 11.81, 4.172, 12.05, 5.253),
				reference(plan.Kill, 2, 12.68, 3.913, 10.51, 4.088, 9.16, 4.546, 8.29, 6.186),
			),
		},
	}
}

func (ls forkLaws) steps() (steps []func(context.Context) error) {
	for _, l := range ls {
		steps = append(steps, l.evaluate, l.simulate)
	}
	return steps
}

// shares are the p of a curve: 0.05 to 0.95.
func shares() (ps []float64) {
	for i := 1; i < 20; i++ {
		ps = append(ps, float64(i)/20)
	}
	return ps
}

func (l *forkLaw) policy(p float64, clones int, o plan.Original) plan.Policy {
	return plan.Policy{Stragglers: int(math.Round(p * forkTasks)), Clones: clones, Original: o}
}

// evaluate computes the curves of Figures 4 and 6, and the reference's values by Theorem 1.
func (l *forkLaw) evaluate(context.Context) (err error) {
	law, err := laws.Parse(l.law)
	if err != nil {
		return err
	}
	if l.exact, err = plan.NewExact(law, forkTasks); err != nil {
		return err
	}
	if l.theorem, err = plan.NewTheorem1(law, forkTasks); err != nil {
		return err
	}
	if l.closed, err = plan.NewClosedForm(law, forkTasks); err != nil {
		return err
	}
	if l.baseline, err = l.exact.Evaluate(plan.Policy{}); err != nil {
		return err
	}
	for _, original := range []plan.Original{plan.Keep, plan.Kill} {
		for r := range 4 {
			if original == plan.Keep && r == 0 {
				continue // the baseline
			}
			k := forkKind{clones: r, original: original}
			for _, p := range shares() {
				o, err := l.exact.Evaluate(l.policy(p, r, original))
				if err != nil {
					return err
				}
				k.points = append(k.points, forkPoint{p, r, original, o})
				limit, err := l.closed.Evaluate(l.policy(p, r, original))
				if err != nil {
					limit.Latency = math.NaN()
				}
				k.formula = append(k.formula, limit.Latency)
			}
			l.kinds = append(l.kinds, k)
		}
	}
	return nil
}

// simulate plays the policies of the reference's table.
func (l *forkLaw) simulate(context.Context) error {
	law, err := laws.Parse(l.law)
	if err != nil {
		return err
	}
	dice, err := plan.NewSimulate(law, forkTasks, l.rounds, l.seed)
	if err != nil {
		return err
	}
	for _, r := range l.reference {
		o, err := dice.Evaluate(l.policy(r.p, r.clones, r.keep))
		if err != nil {
			return err
		}
		l.measured = append(l.measured, forkPoint{r.p, r.clones, r.keep, o})
	}
	return nil
}

func (l *forkLaw) section() report.Section {
	table, worstT, worstC, worstZ := l.compare()
	s := report.Section{
		Title: l.title,
		Text: []string{fmt.Sprintf("Attempts last %s seconds, n = %d, as p goes from 0.05 to 0.95. Lines are exact, dashes the closed form of the paper, "+
			"as corrected.", l.law, forkTasks)},
		Tables: []report.Table{table}, Plots: l.plots(),
	}
	s.Claims = append(s.Claims,
		report.Check(within(l.baseline.Latency, l.latency, 1e-3) && within(l.baseline.Cost, l.cost, 1e-3), "the baseline's E[T] and E[C]",
			fmt.Sprintf("%.2f, %.2f", l.latency, l.cost), fmt.Sprintf("%.2f, %.2f", l.baseline.Latency, l.baseline.Cost)),
		report.Check(worstT < 1e-3 && worstC < 1e-3, l.asymptote()+" gives the reference values",
			"", fmt.Sprintf("largest relative difference %.1e of E[T], %.1e of E[C]", worstT, worstC)),
		report.Check(worstZ < 5, "the exact E[T] is that of simulated jobs, within 5 standard errors", "", fmt.Sprintf("largest %.1f", worstZ)),
	)
	worst := l.worstFormula()
	s.Claims = append(s.Claims, report.Check(worst < l.formula,
		fmt.Sprintf("the closed form follows E[T] within %.0f %% for r >= 1.%s", 100*l.formula, l.formulaNote), "lines through the points",
		fmt.Sprintf("largest relative difference %.2f %%", 100*worst)))
	if l.name == "pareto" {
		o := l.kinds[0].points[1].outcome // keep, r = 1, p = 0.1
		s.Claims = append(s.Claims, report.Check(o.Latency < 16 && o.Cost < l.baseline.Cost, "a little replication (keep, r = 1, p = 0.1) lowers latency "+
			"and cost together", "E[T] from 70 to about 15", fmt.Sprintf("E[T] from %.1f to %.2f, E[C] from %.2f to %.3f", l.baseline.Latency, o.Latency,
			l.baseline.Cost, o.Cost)))
		return s
	}
	s.Claims = append(s.Claims, report.Check(l.keepIsBetter(), "keeping gives lower latency and lower cost than killing at every p and r (Lemma 1)", "keep",
		plan.Lemma1(l.exact.Law(), forkTasks, forkTasks/10).String()))
	return s
}

func (l *forkLaw) asymptote() string {
	if l.byFormula {
		return "Theorem 2"
	}
	return "Theorem 1, with the mean of the largest residual by quadrature,"
}

// compare is the table of reference values, with the largest relative differences from them by Theorem 1, and of exact
// from simulated.
func (l *forkLaw) compare() (t report.Table, latency, cost, z float64) {
	t = report.Table{
		Name: l.name, Caption: "E[T] (s) and E[C] (s per task). The reference values are of the asymptotic T and the exact C, computed independently.",
		Columns: []string{"policy", "p", "reference T", "Theorem 1 T", "exact T", "simulated T", "±", "closed form T", "reference C", "exact C"},
	}
	for i, want := range l.reference {
		policy := l.policy(want.p, want.clones, want.keep)
		limit, _ := l.theorem.Evaluate(policy) // the policies are valid, and all methods know them
		exact, _ := l.exact.Evaluate(policy)
		closed, _ := l.closed.Evaluate(policy)
		dice := l.measured[i].outcome
		asymptotic := limit.Latency
		if l.byFormula {
			asymptotic = closed.Latency
		}
		latency = max(latency, rounded(asymptotic, want.outcome.Latency, 0.005))
		cost = max(cost, rounded(exact.Cost, want.outcome.Cost, 0.0005))
		z = max(z, math.Abs(dice.Latency-exact.Latency)/dice.LatencyError)
		t.Add(kindName(want.clones, want.keep), want.p, want.outcome.Latency, limit.Latency, exact.Latency, dice.Latency, 1.96*dice.LatencyError,
			closed.Latency, want.outcome.Cost, exact.Cost)
	}
	return t, latency, cost, z
}

// rounded is the relative difference of a number from a printed one, beyond what was lost to rounding.
func rounded(got, printed, half float64) float64 { return max(0, math.Abs(got-printed)-half) / printed }

func within(a, b, relative float64) bool { return math.Abs(a-b) <= relative*math.Abs(b) }

// worstFormula is the largest relative error of the closed form's latency where a straggler gets clones.
func (l *forkLaw) worstFormula() (worst float64) {
	for _, k := range l.kinds {
		for i, f := range k.formula {
			if k.clones > 0 && !math.IsNaN(f) {
				worst = max(worst, math.Abs(f/k.points[i].outcome.Latency-1))
			}
		}
	}
	return worst
}

func (l *forkLaw) keepIsBetter() bool {
	for _, keep := range l.kinds {
		for _, kill := range l.kinds {
			if keep.original != plan.Keep || kill.original != plan.Kill || keep.clones != kill.clones {
				continue
			}
			for i := range keep.points {
				a, b := keep.points[i].outcome, kill.points[i].outcome
				if a.Latency > b.Latency || a.Cost > b.Cost {
					return false
				}
			}
		}
	}
	return true
}

func (l *forkLaw) plots() []report.Plot {
	latency := report.Plot{Name: l.name + "-latency", X: "p", Y: "E[T] (s)"}
	trade := report.Plot{Name: l.name + "-trade-off", X: "E[C] (s per task)", Y: "E[T] (s)"}
	for _, k := range l.kinds {
		if k.clones == 0 && l.name == "pareto" {
			continue // killing without clones only: far above all others
		}
		name := kindName(k.clones, k.original)
		var c, t []float64
		for _, x := range k.points {
			c, t = append(c, x.outcome.Cost), append(t, x.outcome.Latency)
		}
		latency.Series = append(latency.Series, report.Series{Name: name, Kind: report.Line, X: shares(), Y: t})
		trade.Series = append(trade.Series, report.Series{Name: name, Kind: report.Line, X: c, Y: t})
	}
	for _, k := range l.kinds {
		if k.clones == 1 {
			latency.Series = append(latency.Series, report.Series{
				Name: kindName(1, k.original) + ", formula", Kind: report.Line, Published: true, X: shares(), Y: k.formula,
			})
		}
	}
	if l.name != "pareto" { // its baseline is five times as high as anything else
		trade.Series = append(trade.Series, report.Series{Name: "baseline", Kind: report.Points, X: []float64{l.baseline.Cost}, Y: []float64{l.baseline.Latency}})
	}
	return []report.Plot{latency, trade}
}
