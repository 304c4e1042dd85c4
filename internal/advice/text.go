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
	fmt.Fprintf(out, "%s, %s\nmethod: %s\n", show.Count(a.Tasks, "task"), a.source(), a.Method)
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
		choice("what you have now: no clones", a.optima.Baseline)
	} else {
		compared("what you have now: "+a.now.words, a.now)
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
	if c := a.optima.CostSensitive; !c.Baseline() {
		choice(fmt.Sprintf("least latency + %g machine time: ", a.Lambda)+Words(c.Policy, a.Tasks), c)
	}
	fmt.Fprintf(out, "%s\n\n", t)
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

// lemmaWords say what is shown of a fork; nothing if it is inconclusive.
var lemmaWords = map[plan.Verdict]string{
	plan.PreferKeep: "Keeping the original is better at this fork for any number of clones (Lemma 1 of Wang, Joshi and Wornell).\n",
	plan.PreferKill: "Killing the original is better at this fork for any number of clones (Lemma 1 of Wang, Joshi and Wornell).\n",
	plan.Equal:      "Keeping and killing the original are equal at this fork for any number of clones (Lemma 1 of Wang, Joshi and Wornell).\n",
}

// refusal says that there is no better policy.
func (a *Advice) refusal() string {
	if a.Now == "" {
		return "Do not replicate: no policy is faster than what you have" + a.judged() + " without costing more machine time."
	}
	return "Keep what you have: no fork at a number of tasks is faster" + a.judged() + " without costing more machine time."
}

// judged says by what policies are judged, if not by the mean.
func (a *Advice) judged() string {
	if a.Quantile == 0 {
		return ""
	}
	return fmt.Sprintf(", by the time when the job is done with probability %g %%,", 100*a.Quantile)
}

// confidenceWords says how sure the recommendation is.
func (a *Advice) confidenceWords() string {
	c := a.sure
	return fmt.Sprintf("On %g %% of %d resamples of your durations the best policy beats what you have now by %.1f to %.1f %% of the latency,\n"+
		"and saves %.1f to %.1f %% of the machine time. It is faster on %.3g %% of them, and needs no more machine time on %.3g %%.",
		100*c.Level, c.Resamples, 100*c.Low.Latency, 100*c.High.Latency, 100*c.Low.Cost, 100*c.High.Cost, 100*c.Faster, 100*c.Cheaper)
}

// Words says a policy in words.
func Words(p plan.Policy, tasks int) string {
	if p.Baseline() {
		return "no clones"
	}
	if p.Stragglers == tasks {
		return fmt.Sprintf("all from the start: +%s", show.Count(p.Clones, "clone"))
	}
	at := fmt.Sprintf("last %d (%.3g %%)", p.Stragglers, 100*float64(p.Stragglers)/float64(tasks))
	if p.Original == plan.Kill {
		return fmt.Sprintf("%s: restart, %s", at, show.Count(p.Clones+1, "attempt"))
	}
	return fmt.Sprintf("%s: +%s", at, show.Count(p.Clones, "clone"))
}

// saving is the share saved, in percent.
func saving(before, after float64) string {
	switch {
	case math.IsInf(before, 1) && !math.IsInf(after, 1):
		return "all"
	case !(before > 0) || math.IsInf(after, 1):
		return "-"
	case math.Abs(before-after) < 5e-4*before:
		return "0.0 %"
	}
	return show.Percent((before - after) / before)
}
