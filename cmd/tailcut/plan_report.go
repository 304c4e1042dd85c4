package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tailcut/tailcut/dist"
	"github.com/tailcut/tailcut/plan"
)

// forkAnswer is what 'tailcut plan fork' found.
type forkAnswer struct {
	flags     *forkFlags
	law       dist.Law
	samples   int // 0 of a law
	tasks     int
	exact     *plan.Exact
	advice    plan.Advice
	best      []plan.Choice // within the budget, one for each number of clones and mode
	single    []plan.Choice // the best with one clone beside the original, if any
	evaluated *plan.Choice
	rounded   bool // whether the search, and the trade-off, is of rounded durations
	lemma     plan.Verdict
}

// seconds is a number for programs, whose infinity is the string "+Inf".
type seconds float64

func (s seconds) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(s), 1) {
		return []byte(`"+Inf"`), nil
	}
	return json.Marshal(float64(s))
}

func (s seconds) String() string { return strconv.FormatFloat(float64(s), 'g', -1, 64) }

// forkResult is the answer for programs.
type forkResult struct {
	Schema           string       `json:"schema"`
	Tasks            int          `json:"tasks"`
	Samples          int          `json:"samples"`
	Method           string       `json:"method"`
	Search           string       `json:"search"` // exhaustive, or rounded: then the frontier is of rounded durations
	Baseline         forkOutcome  `json:"baseline"`
	Evaluated        *forkPolicy  `json:"evaluated,omitempty"`
	LatencySensitive forkPolicy   `json:"latency_sensitive"`
	CostSensitive    costPolicy   `json:"cost_sensitive"`
	Frontier         []forkPolicy `json:"frontier"`
	Lemma1           string       `json:"lemma1"`
}

type forkOutcome struct {
	Latency      seconds  `json:"latency_seconds"`
	Cost         seconds  `json:"cost_seconds"`
	LatencyError seconds  `json:"latency_standard_error_seconds,omitempty"`
	CostError    seconds  `json:"cost_standard_error_seconds,omitempty"`
	Quantile     *seconds `json:"latency_quantile_seconds,omitempty"`
	Deviation    *seconds `json:"latency_deviation_seconds,omitempty"` // standard deviation; of the policy that was asked for
}

type forkPolicy struct {
	Stragglers int     `json:"stragglers"`
	P          float64 `json:"p"`
	Clones     int     `json:"clones"`
	Original   string  `json:"original"`
	forkOutcome
	Policy string `json:"policy"`
}

type costPolicy struct {
	forkPolicy
	Lambda    float64 `json:"lambda"`
	Objective seconds `json:"objective"`
}

func (a *forkAnswer) outcome(c plan.Choice, withQuantile bool) forkOutcome {
	o := forkOutcome{Latency: seconds(c.Latency), Cost: seconds(c.Cost), LatencyError: seconds(c.LatencyError), CostError: seconds(c.CostError)}
	if withQuantile && a.flags.quantile > 0 {
		if q, err := a.exact.LatencyQuantile(c.Policy, a.flags.quantile); err == nil {
			o.Quantile = (*seconds)(&q)
		}
	}
	return o
}

func (a *forkAnswer) policy(c plan.Choice, withQuantile bool) forkPolicy {
	return forkPolicy{
		Stragglers: c.Stragglers, P: float64(c.Stragglers) / float64(a.tasks), Clones: c.Clones, Original: c.Original.String(),
		forkOutcome: a.outcome(c, withQuantile), Policy: forkSpec(c.Policy, a.tasks),
	}
}

func (a *forkAnswer) printJSON(out io.Writer) error {
	r := forkResult{
		Schema: "tailcut.plan.fork/v1", Tasks: a.tasks, Samples: a.samples, Method: a.flags.method.value, Search: "exhaustive",
		Baseline:         a.outcome(a.advice.Baseline, true),
		LatencySensitive: a.policy(a.advice.LatencySensitive, true),
		CostSensitive: costPolicy{
			forkPolicy: a.policy(a.advice.CostSensitive, true), Lambda: a.flags.lambda, Objective: seconds(a.advice.Objective),
		},
		Lemma1: a.lemma.String(),
	}
	if a.rounded {
		r.Search = "rounded"
	}
	if a.evaluated != nil {
		p := a.policy(*a.evaluated, true)
		if v, err := a.exact.LatencyVariance(a.evaluated.Policy); err == nil {
			d := seconds(math.Sqrt(v))
			p.Deviation = &d
		}
		r.Evaluated = &p
	}
	for _, c := range a.advice.Frontier {
		r.Frontier = append(r.Frontier, a.policy(c, false))
	}
	return json.NewEncoder(out).Encode(&r)
}

// printCSV prints a row for each policy of the answer; the first column says what it is.
func (a *forkAnswer) printCSV(out io.Writer) error {
	w := csv.NewWriter(out)
	_ = w.Write([]string{"what", "stragglers", "p", "clones", "original", "latency_seconds", "cost_seconds", "policy"})
	row := func(what string, c plan.Choice) {
		p := a.policy(c, false)
		_ = w.Write([]string{what, strconv.Itoa(p.Stragglers), seconds(p.P).String(), strconv.Itoa(p.Clones), p.Original,
			p.Latency.String(), p.Cost.String(), p.Policy})
	}
	row("baseline", a.advice.Baseline)
	if a.evaluated != nil {
		row("evaluated", *a.evaluated)
	}
	row("latency_sensitive", a.advice.LatencySensitive)
	row("cost_sensitive", a.advice.CostSensitive)
	for _, c := range a.advice.Frontier {
		row("frontier", c)
	}
	w.Flush()
	return w.Error()
}

// printTable prints the answer for people.
func (a *forkAnswer) printTable(out io.Writer) error {
	from := "drawn from " + a.law.String()
	if a.samples > 0 {
		from = fmt.Sprintf("resampled from %s: median %s, mean %s, longest %s", count(a.samples, "duration"),
			span(a.law.Quantile(0.5)), span(a.law.Mean()), span(a.law.Quantile(1)))
	}
	fmt.Fprintf(out, "%s, %s\nmethod: %s\n", count(a.tasks, "task"), from, a.flags.method.value)
	if a.rounded {
		fmt.Fprintf(out, "searched with the durations rounded to %d values; the figures are of all of them\n", roundedTo)
	}
	fmt.Fprintln(out)
	header := []any{"policy", "latency", "saves", "machine time", "saves"}
	if a.flags.quantile > 0 {
		header = append(header, fmt.Sprintf("%g%% done by", 100*a.flags.quantile))
	}
	t := newTable(header...)
	var right []table.ColumnConfig
	for n := 2; n <= len(header); n++ {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	row := func(what string, o plan.Outcome, quantile string) {
		base := a.advice.Baseline
		cells := table.Row{what, span(o.Latency), saving(base.Latency, o.Latency),
			span(o.Cost * float64(a.tasks)), saving(base.Cost, o.Cost)}
		if a.flags.quantile > 0 {
			cells = append(cells, quantile)
		}
		t.AppendRow(cells)
	}
	choice := func(what string, c plan.Choice) {
		quantile := ""
		if q := a.outcome(c, true).Quantile; q != nil {
			quantile = span(float64(*q))
		}
		row(what, c.Outcome, quantile)
	}
	choice("what you have now: no clones", a.advice.Baseline)
	if m, err := plan.NewSimulate(a.law, a.tasks, sparkRounds(a.tasks), a.flags.seed); err == nil {
		if spark, err := m.Evaluate(plan.Spark4()); err == nil {
			row("Spark 4's defaults, simulated", spark, "")
		}
	}
	if a.evaluated != nil {
		choice("yours: "+words(a.evaluated.Policy, a.tasks), *a.evaluated)
	}
	for i, c := range a.best {
		choice([]string{"best: ", "second: ", "third: "}[i]+words(c.Policy, a.tasks), c)
	}
	if c := a.advice.CostSensitive; !c.Baseline() {
		choice(fmt.Sprintf("least latency + %g machine time: ", a.flags.lambda)+words(c.Policy, a.tasks), c)
	}
	fmt.Fprintf(out, "%s\n\n", t.Render())
	a.printAdvice(out)
	return nil
}

// sparkRounds is how often Spark's rule is played: enough for two digits.
func sparkRounds(tasks int) int { return min(2000, max(100, 200_000/tasks)) }

// printAdvice says what to do.
func (a *forkAnswer) printAdvice(out io.Writer) {
	best := a.advice.LatencySensitive
	if best.Baseline() {
		fmt.Fprintln(out, "Do not replicate: no policy is faster than what you have without costing more machine time.")
	} else {
		fmt.Fprintf(out, "tailcut --policy %s\n", forkSpec(best.Policy, a.tasks))
		for _, line := range settings(best, a.single, a.tasks) {
			fmt.Fprintln(out, line)
		}
	}
	if n := len(a.advice.Frontier); n > 1 {
		first, last := a.advice.Frontier[0], a.advice.Frontier[n-1]
		fmt.Fprintf(out, "%d policies trade latency for machine time, from %s at %s to %s at %s; --format csv lists them.\n", n,
			span(first.Latency), span(first.Cost*float64(a.tasks)), span(last.Latency), span(last.Cost*float64(a.tasks)))
	}
	if a.lemma != plan.Inconclusive && best.Stragglers < a.tasks {
		fmt.Fprintf(out, "Keep or kill at this fork, by Lemma 1: %s.\n", a.lemma)
	}
}

// words says a policy in words.
func words(p plan.Policy, tasks int) string {
	if p.Baseline() {
		return "no clones"
	}
	if p.Stragglers == tasks {
		return fmt.Sprintf("all from the start: +%s", count(p.Clones, "clone"))
	}
	at := fmt.Sprintf("last %d (%.3g%%)", p.Stragglers, 100*float64(p.Stragglers)/float64(tasks))
	if p.Original == plan.Kill {
		return fmt.Sprintf("%s: restart, %s", at, count(p.Clones+1, "attempt"))
	}
	return fmt.Sprintf("%s: +%s", at, count(p.Clones, "clone"))
}

// saving is the share saved, in percent.
func saving(before, after float64) string {
	switch {
	case math.IsInf(before, 1) && !math.IsInf(after, 1):
		return "all"
	case !(before > 0) || math.IsInf(after, 1):
		return "-"
	case math.Abs(before-after) < 5e-4*before:
		return "0%"
	}
	return fmt.Sprintf("%.1f%%", 100*(before-after)/before)
}

// span formats seconds for people.
func span(s float64) string {
	switch {
	case math.IsInf(s, 1):
		return "unbounded"
	case s >= 1e5:
		return fmt.Sprintf("%.4gh", s/3600)
	case s >= 1000:
		return fmt.Sprintf("%.0fs", s)
	}
	return fmt.Sprintf("%.4gs", s)
}
