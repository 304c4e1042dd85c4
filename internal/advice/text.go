package advice

import (
	"fmt"
	"io"
	"math"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/plan"
)

// WriteText writes the advice for people.
func (a *Advice) WriteText(out io.Writer) error {
	fmt.Fprintf(out, "%s, a machine for each, %s\nmethod: %s\n", show.Count(a.Tasks, "task"), a.source(), a.Method)
	for _, line := range a.rounding() {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out)
	header := []any{"policy", "latency", "saves", "machine time", "saves"}
	if a.Quantile > 0 {
		header = append(header, fmt.Sprintf("%g %% done by", 100*a.Quantile))
	}
	t := show.NewNumbers(header...)
	base := a.now.Outcome
	row := func(what string, o plan.Outcome, quantile string) {
		latency := show.Seconds(o.Latency)
		if o.LatencyError > 0 && !math.IsInf(o.Latency, 1) {
			latency = show.Margin(o.Latency, 1.96*o.LatencyError)
		}
		cells := []any{what, latency, saving(base.Latency, o.Latency),
			show.Seconds(o.Cost * float64(a.Tasks)), saving(base.Cost, o.Cost)}
		if a.Quantile > 0 {
			cells = append(cells, quantile)
		}
		t.Row(cells...)
	}
	choice := func(what string, c plan.Choice) {
		quantile := ""
		if q := a.outcome(c, true).Quantile; q != nil {
			quantile = show.Seconds(float64(*q))
		}
		row(what, c.Outcome, quantile)
	}
	compared := func(what string, c comparison) {
		if !c.Exact {
			what += ", simulated"
		}
		quantile := show.Seconds(c.Quantile)
		if !c.Exact && c.QuantileHigh > c.QuantileLow {
			quantile = show.Margin(c.Quantile, (c.QuantileHigh-c.QuantileLow)/2)
		}
		row(what, c.Outcome, quantile)
	}
	if a.Now == "" {
		choice("current setting: no clones", a.optima.Baseline)
	} else {
		compared("current setting: "+a.now.words, a.now)
		choice("no clones", a.optima.Baseline)
	}
	for _, c := range a.compared {
		compared(c.words, c)
	}
	if a.own != nil {
		choice("yours: "+Words(a.own.Policy, a.Tasks), *a.own)
	}
	for i, c := range a.best[:len(a.best)-1] {
		choice([]string{"best: ", "second: ", "third: "}[i]+Words(c.Policy, a.Tasks), c)
	}
	if t := a.twice; t != nil {
		row("two forks: "+WordsOfTwo(t.forks, a.Tasks)+", simulated", t.Outcome, "")
	}
	if c := a.optima.CostSensitive; !c.Baseline() {
		choice(fmt.Sprintf("least latency + %g machine time: ", a.Lambda)+Words(c.Policy, a.Tasks), c)
	}
	fmt.Fprintf(out, "%s\n\n", t)
	a.writeForks(out)
	a.writeSettings(out)
	return nil
}

// writeSettings says what to do.
func (a *Advice) writeSettings(out io.Writer) {
	best := a.best[0]
	if best.Baseline() {
		fmt.Fprintln(out, a.refusal())
	} else {
		if a.sure != nil {
			fmt.Fprintf(out, "%s\n\n", a.confidenceWords())
		}
		fmt.Fprintf(out, "tailcut --policy %s\n", Spec(best.Policy, a.Tasks))
	}
	for _, line := range a.Settings() {
		fmt.Fprintln(out, line)
	}
	if n := len(a.optima.Frontier); n > 1 {
		first, last := a.optima.Frontier[0], a.optima.Frontier[n-1]
		what := "%d policies trade latency for machine time"
		if a.bracket != nil {
			what = "%d of the policies that trade latency for machine time go"
		}
		fmt.Fprintf(out, what+", from %s at %s to %s at %s; --format csv lists them.\n", n,
			show.Seconds(first.Latency), show.Seconds(first.Cost*float64(a.Tasks)), show.Seconds(last.Latency), show.Seconds(last.Cost*float64(a.Tasks)))
	}
	if fork := a.tested(); !fork.Baseline() && fork.Stragglers < a.Tasks {
		fmt.Fprint(out, lemmaWords[a.lemma])
	}
}
