package main

import (
	"encoding/json"
	"io"
	"math"
	"strconv"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/plan"
)

// seconds is a number for programs, whose infinity is the string "+Inf".
type seconds float64

func (s seconds) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(s), 1) {
		return []byte(`"+Inf"`), nil
	}
	return json.Marshal(float64(s))
}

func (s seconds) String() string { return strconv.FormatFloat(float64(s), 'g', -1, 64) }

// between are bounds of a figure.
type between [2]seconds

// columns are those of a CSV: the bounds of a figure, or what holds one that was played with a confidence of 95 %. nil
// stands for a figure that was not rounded.
func (b *between) columns(figure, standardError seconds) []string {
	if b == nil {
		b = &between{figure - 1.96*standardError, figure + 1.96*standardError}
	}
	return []string{b[0].String(), b[1].String()}
}

// columns are the bounds of latency and machine time.
func (o forkOutcome) columns() []string {
	return append(o.LatencyBounds.columns(o.Latency, o.LatencyError), o.CostBounds.columns(o.Cost, o.CostError)...)
}

// forkResult is the answer for programs.
type forkResult struct {
	Schema           string       `json:"schema"`
	Tasks            int          `json:"tasks"`
	Samples          int          `json:"samples"`
	Censored         int          `json:"samples_censored,omitempty"` // of the samples: attempts that were cut off
	Beyond           *cutTail     `json:"beyond,omitempty"`           // if nobody saw the longest end
	Method           string       `json:"method"`
	Search           string       `json:"search"` // exhaustive, or rounded: then the frontier is of rounded durations
	Off              *forkOff     `json:"error_bound,omitempty"`
	Baseline         forkOutcome  `json:"baseline"`
	Evaluated        *forkPolicy  `json:"evaluated,omitempty"`
	LatencySensitive forkPolicy   `json:"latency_sensitive"`
	CostSensitive    costPolicy   `json:"cost_sensitive"`
	Deadline         *timedPolicy `json:"deadline_sensitive,omitempty"` // with --quantile
	Now              *forkRule    `json:"now,omitempty"`                // with --now
	Compared         []forkRule   `json:"compared"`
	// of what beats what is done now, the best by mean or with --quantile by that
	Recommended forkPolicy   `json:"recommended"`
	Confidence  *forkSure    `json:"confidence,omitempty"`
	Frontier    []forkPolicy `json:"frontier"`
	Lemma1      string       `json:"lemma1"`
}

type forkOutcome struct {
	Latency      seconds  `json:"latency_seconds"`
	Cost         seconds  `json:"cost_seconds"`
	LatencyError seconds  `json:"latency_standard_error_seconds,omitempty"`
	CostError    seconds  `json:"cost_standard_error_seconds,omitempty"`
	Quantile     *seconds `json:"latency_quantile_seconds,omitempty"`
	// What the figures of all durations lie between if these were rounded; of a rule that is simulated, what holds the
	// quantile with a confidence of 95 %.
	LatencyBounds  *between `json:"latency_bounds_seconds,omitempty"`
	CostBounds     *between `json:"cost_bounds_seconds,omitempty"`
	QuantileBounds *between `json:"latency_quantile_bounds_seconds,omitempty"`
	// Standard deviations, of the policy that was asked for and of compared rules.
	Deviation     *seconds `json:"latency_deviation_seconds,omitempty"`
	CostDeviation *seconds `json:"cost_deviation_seconds,omitempty"`
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

type timedPolicy struct {
	forkPolicy
	Probability float64 `json:"quantile"`
}

// forkOff bounds how far figures that were not simulated are from what all durations would give: the widest bounds.
type forkOff struct {
	Latency  float64 `json:"latency_ratio"`
	Cost     float64 `json:"cost_ratio"`
	Quantile float64 `json:"latency_quantile_ratio,omitempty"`
}

// forkRule is a rule of --compare, or Spark's default.
type forkRule struct {
	Rule string `json:"rule"`
	forkOutcome
	Exact bool `json:"exact"`
}

// forkSure is the confidence of the recommendation.
type forkSure struct {
	Policy     string     `json:"policy"`
	Resamples  int        `json:"resamples"`
	Level      float64    `json:"level_ratio"`
	Latency    [2]float64 `json:"latency_saved_ratio"`
	Cost       [2]float64 `json:"cost_saved_ratio"`
	Faster     float64    `json:"faster_ratio"`
	NotCostier float64    `json:"not_costlier_ratio"`
}

func (a *forkAnswer) outcome(c plan.Choice, withQuantile bool) forkOutcome {
	o := forkOutcome{Latency: seconds(c.Latency), Cost: seconds(c.Cost), LatencyError: seconds(c.LatencyError), CostError: seconds(c.CostError)}
	if b, ok := a.boundsOf(c.Policy); ok {
		o.LatencyBounds = &between{seconds(b.low.Latency), seconds(b.high.Latency)}
		o.CostBounds = &between{seconds(b.low.Cost), seconds(b.high.Cost)}
	}
	if withQuantile && a.flags.quantile > 0 {
		if b, ok := a.quantileOf(c.Policy); ok {
			q := seconds(b.quantileLow + (b.quantileHigh-b.quantileLow)/2)
			o.Quantile, o.QuantileBounds = &q, &between{seconds(b.quantileLow), seconds(b.quantileHigh)}
		} else if q, err := a.exact.LatencyQuantile(c.Policy, a.flags.quantile); err == nil {
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

// assessed is all about a rule for programs.
func (a *forkAnswer) assessed(c comparison) forkOutcome {
	x := c.Assessment
	known := func(v float64) *seconds {
		if math.IsNaN(v) {
			return nil
		}
		return (*seconds)(&v)
	}
	o := forkOutcome{Latency: seconds(x.Latency), Cost: seconds(x.Cost), LatencyError: seconds(x.LatencyError), CostError: seconds(x.CostError),
		Deviation: known(x.LatencyDeviation), CostDeviation: known(x.CostDeviation), Quantile: known(x.Quantile)}
	if b, ok := a.boundsOf(c.rule); ok && x.Exact {
		o.LatencyBounds = &between{seconds(b.low.Latency), seconds(b.high.Latency)}
		o.CostBounds = &between{seconds(b.low.Cost), seconds(b.high.Cost)}
	}
	if x.QuantileLow < x.QuantileHigh {
		o.QuantileBounds = &between{seconds(x.QuantileLow), seconds(x.QuantileHigh)}
	}
	return o
}

func (a *forkAnswer) printJSON(out io.Writer) error {
	r := forkResult{
		Schema: "tailcut.plan.fork/v1", Tasks: a.tasks, Samples: a.samples, Censored: a.censored, Beyond: a.cut, Method: a.flags.method.value, Search: "exhaustive",
		Baseline:         a.outcome(a.advice.Baseline, true),
		LatencySensitive: a.policy(a.advice.LatencySensitive, true),
		CostSensitive: costPolicy{
			forkPolicy: a.policy(a.advice.CostSensitive, true), Lambda: a.flags.lambda, Objective: seconds(a.advice.Objective),
		},
		Lemma1: a.lemma.String(),
	}
	if a.bracket != nil {
		r.Search = "rounded"
	}
	if len(a.bounds) > 0 {
		off := a.off()
		r.Off = &off
	}
	if a.flags.quantile > 0 {
		r.Deadline = &timedPolicy{a.policy(a.best[0], true), a.flags.quantile}
	}
	if a.flags.now != "" {
		r.Now = &forkRule{a.now.spec, a.assessed(a.now), a.now.Exact}
	}
	r.Recommended = a.policy(a.best[0], true)
	r.Compared = []forkRule{}
	for _, c := range a.compared {
		r.Compared = append(r.Compared, forkRule{c.spec, a.assessed(c), c.Exact})
	}
	if c := a.confidence; c != nil {
		r.Confidence = &forkSure{forkSpec(a.best[0].Policy, a.tasks), c.Resamples, c.Level,
			[2]float64{c.Low.Latency, c.High.Latency}, [2]float64{c.Low.Cost, c.High.Cost}, c.Faster, c.Cheaper}
	}
	if a.evaluated != nil {
		p := a.policy(*a.evaluated, true)
		if x, err := a.exact.Assess(a.evaluated.Policy, 0); err == nil && a.bracket == nil {
			latency, cost := seconds(x.LatencyDeviation), seconds(x.CostDeviation)
			p.Deviation, p.CostDeviation = &latency, &cost
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
	w := show.NewCSV(out)
	_ = w.Write([]string{"what", "stragglers", "p", "clones", "original", "latency_seconds", "cost_seconds", "policy",
		"latency_low_seconds", "latency_high_seconds", "cost_low_seconds", "cost_high_seconds"})
	row := func(what string, c plan.Choice) {
		p := a.policy(c, false)
		_ = w.Write(append([]string{what, strconv.Itoa(p.Stragglers), seconds(p.P).String(), strconv.Itoa(p.Clones), p.Original,
			p.Latency.String(), p.Cost.String(), p.Policy}, p.columns()...))
	}
	row("baseline", a.advice.Baseline)
	if a.evaluated != nil {
		row("evaluated", *a.evaluated)
	}
	row("latency_sensitive", a.advice.LatencySensitive)
	row("cost_sensitive", a.advice.CostSensitive)
	if a.flags.quantile > 0 {
		row("deadline_sensitive", a.best[0])
	}
	for _, c := range a.compared {
		o := a.assessed(c)
		_ = w.Write(append([]string{"compared", "", "", "", "", o.Latency.String(), o.Cost.String(), c.spec}, o.columns()...))
	}
	for _, c := range a.advice.Frontier {
		row("frontier", c)
	}
	w.Flush()
	return w.Error()
}
