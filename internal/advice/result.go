package advice

import (
	"encoding/json"
	"io"
	"math"
	"strconv"

	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/plan"
)

// Seconds is a number for programs, whose infinity is the string "+Inf".
type Seconds float64

// MarshalJSON writes a number, or the string.
func (s Seconds) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(s), 1) {
		return []byte(`"+Inf"`), nil
	}
	return json.Marshal(float64(s))
}

// String writes the number so that it reads back as the same.
func (s Seconds) String() string { return strconv.FormatFloat(float64(s), 'g', -1, 64) }

// between are bounds of a figure.
type between [2]Seconds

// columns are those of a CSV: the bounds of a figure, or what holds one that was played with a confidence of 95 %. nil
// stands for a figure that was not rounded.
func (b *between) columns(figure, standardError Seconds) []string {
	if b == nil {
		b = &between{figure - 1.96*standardError, figure + 1.96*standardError}
	}
	return []string{b[0].String(), b[1].String()}
}

// columns are the bounds of latency and machine time.
func (o Outcome) columns() []string {
	return append(o.LatencyBounds.columns(o.Latency, o.LatencyError), o.CostBounds.columns(o.Cost, o.CostError)...)
}

// Result is the advice for programs.
type Result struct {
	Schema           string            `json:"schema"`
	Tasks            int               `json:"tasks"`
	Samples          int               `json:"samples"`
	Censored         int               `json:"samples_censored,omitempty"` // of the samples: attempts that were cut off
	Beyond           *durations.Beyond `json:"beyond,omitempty"`           // if nobody saw the longest end
	Method           string            `json:"method"`
	Search           string            `json:"search"` // exhaustive, or rounded: then of rounded durations
	Off              *Off              `json:"error_bound,omitempty"`
	Baseline         Outcome           `json:"baseline"`
	Evaluated        *Choice           `json:"evaluated,omitempty"`
	LatencySensitive Choice            `json:"latency_sensitive"`
	CostSensitive    CostChoice        `json:"cost_sensitive"`
	Deadline         *TimedChoice      `json:"deadline_sensitive,omitempty"` // with a quantile
	Now              *Rule             `json:"now,omitempty"`                // unless that is no clones
	Compared         []Rule            `json:"compared"`
	// of what beats what is done now, the best by mean or with a quantile by that
	Recommended Choice      `json:"recommended"`
	TwoForks    *TwoForks   `json:"two_forks,omitempty"` // if they are searched, and there are some
	Confidence  *Confidence `json:"confidence,omitempty"`
	Frontier    []Choice    `json:"frontier"`
	Lemma1      string      `json:"lemma1"`
}

// Outcome is what a policy or a rule does to the job. A cost is machine time per task.
type Outcome struct {
	Latency      Seconds  `json:"latency_seconds"`
	Cost         Seconds  `json:"cost_seconds"`
	LatencyError Seconds  `json:"latency_standard_error_seconds,omitempty"`
	CostError    Seconds  `json:"cost_standard_error_seconds,omitempty"`
	Quantile     *Seconds `json:"latency_quantile_seconds,omitempty"`
	// What the figures of all durations lie between if these were rounded; of a rule that is simulated, what holds the
	// quantile with a confidence of 95 %.
	LatencyBounds  *between `json:"latency_bounds_seconds,omitempty"`
	CostBounds     *between `json:"cost_bounds_seconds,omitempty"`
	QuantileBounds *between `json:"latency_quantile_bounds_seconds,omitempty"`
	// Standard deviations, of the policy that was asked for and of compared rules.
	Deviation     *Seconds `json:"latency_deviation_seconds,omitempty"`
	CostDeviation *Seconds `json:"cost_deviation_seconds,omitempty"`
}

// Choice is a single-fork policy and what it does.
type Choice struct {
	Stragglers int     `json:"stragglers"`
	P          float64 `json:"p"`
	Clones     int     `json:"clones"`
	Original   string  `json:"original"`
	Outcome
	Policy string `json:"policy"` // as --policy of run and simulate takes it
}

// CostChoice is the policy of the least latency + λ machine time.
type CostChoice struct {
	Choice
	Lambda    float64 `json:"lambda"`
	Objective Seconds `json:"objective"`
}

// TimedChoice is the policy that makes the job done soonest with a probability.
type TimedChoice struct {
	Choice
	Probability float64 `json:"quantile"`
}

// Off bounds how far figures that were not simulated are from what all durations would give: the widest bounds.
type Off struct {
	Latency  float64 `json:"latency_ratio"`
	Cost     float64 `json:"cost_ratio"`
	Quantile float64 `json:"latency_quantile_ratio,omitempty"`
}

// Rule is what is done now, a rule to compare, or Spark's default.
type Rule struct {
	Rule string `json:"rule"`
	Outcome
	Exact bool `json:"exact"`
}

// TwoForks are the best two forks that were found, simulated.
type TwoForks struct {
	Policy string `json:"policy"` // as --policy of run and simulate takes it
	Outcome
	// What they save of what is recommended, on the same jobs.
	LatencySaved      Seconds `json:"latency_saved_seconds"`
	LatencySavedError Seconds `json:"latency_saved_standard_error_seconds"`
	CostSaved         Seconds `json:"cost_saved_seconds"`
	CostSavedError    Seconds `json:"cost_saved_standard_error_seconds"`
	Sooner            bool    `json:"sooner"` // by the whole interval of 95 %
}

// Confidence is the confidence of the recommendation.
type Confidence struct {
	Policy     string     `json:"policy"`
	Resamples  int        `json:"resamples"`
	Level      float64    `json:"level_ratio"`
	Latency    [2]float64 `json:"latency_saved_ratio"`
	Cost       [2]float64 `json:"cost_saved_ratio"`
	Faster     float64    `json:"faster_ratio"`
	NotCostier float64    `json:"not_costlier_ratio"`
}

func (a *Advice) outcome(c plan.Choice, withQuantile bool) Outcome {
	o := Outcome{Latency: Seconds(c.Latency), Cost: Seconds(c.Cost), LatencyError: Seconds(c.LatencyError), CostError: Seconds(c.CostError)}
	if b, ok := a.boundsOf(c.Policy); ok {
		o.LatencyBounds = &between{Seconds(b.low.Latency), Seconds(b.high.Latency)}
		o.CostBounds = &between{Seconds(b.low.Cost), Seconds(b.high.Cost)}
	}
	if withQuantile && a.Quantile > 0 {
		if b, ok := a.quantileOf(c.Policy); ok {
			q := Seconds(b.quantileLow + (b.quantileHigh-b.quantileLow)/2)
			o.Quantile, o.QuantileBounds = &q, &between{Seconds(b.quantileLow), Seconds(b.quantileHigh)}
		} else if q, err := a.exact.LatencyQuantile(c.Policy, a.Quantile); err == nil {
			o.Quantile = (*Seconds)(&q)
		}
	}
	return o
}

func (a *Advice) policy(c plan.Choice, withQuantile bool) Choice {
	return Choice{
		Stragglers: c.Stragglers, P: float64(c.Stragglers) / float64(a.Tasks), Clones: c.Clones, Original: c.Original.String(),
		Outcome: a.outcome(c, withQuantile), Policy: Spec(c.Policy, a.Tasks),
	}
}

// assessed is all about a rule for programs.
func (a *Advice) assessed(c comparison) Outcome {
	x := c.Assessment
	known := func(v float64) *Seconds {
		if math.IsNaN(v) {
			return nil
		}
		return (*Seconds)(&v)
	}
	o := Outcome{Latency: Seconds(x.Latency), Cost: Seconds(x.Cost), LatencyError: Seconds(x.LatencyError), CostError: Seconds(x.CostError),
		Deviation: known(x.LatencyDeviation), CostDeviation: known(x.CostDeviation), Quantile: known(x.Quantile)}
	if b, ok := a.boundsOf(c.rule); ok && x.Exact {
		o.LatencyBounds = &between{Seconds(b.low.Latency), Seconds(b.high.Latency)}
		o.CostBounds = &between{Seconds(b.low.Cost), Seconds(b.high.Cost)}
	}
	if x.QuantileLow < x.QuantileHigh {
		o.QuantileBounds = &between{Seconds(x.QuantileLow), Seconds(x.QuantileHigh)}
	}
	return o
}

// Result returns the figures of the advice. Each call evaluates quantiles anew.
func (a *Advice) Result() *Result {
	r := &Result{
		Schema: "tailcut.plan.fork/v1", Tasks: a.Tasks, Method: a.Method, Search: "exhaustive",
		Baseline:         a.outcome(a.optima.Baseline, true),
		LatencySensitive: a.policy(a.optima.LatencySensitive, true),
		CostSensitive: CostChoice{
			Choice: a.policy(a.optima.CostSensitive, true), Lambda: a.Lambda, Objective: Seconds(a.optima.Objective),
		},
		Lemma1: a.lemma.String(),
	}
	if s := a.Sample; s != nil {
		r.Samples, r.Censored, r.Beyond = s.Size(), len(s.Censored), s.Beyond
	}
	if a.bracket != nil {
		r.Search = "rounded"
	}
	if len(a.bounds) > 0 {
		off := a.off()
		r.Off = &off
	}
	if a.Quantile > 0 {
		r.Deadline = &TimedChoice{a.policy(a.best[0], true), a.Quantile}
	}
	if a.Now != "" {
		r.Now = &Rule{a.now.spec, a.assessed(a.now), a.now.Exact}
	}
	r.Recommended = a.policy(a.best[0], true)
	r.Compared = []Rule{}
	for _, c := range a.compared {
		r.Compared = append(r.Compared, Rule{c.spec, a.assessed(c), c.Exact})
	}
	if t := a.twice; t != nil {
		r.TwoForks = &TwoForks{SpecOfTwo(t.forks, a.Tasks), a.assessed(comparison{rule: t.forks, Assessment: t.Assessment}),
			Seconds(-t.than.Latency), Seconds(t.than.LatencyError), Seconds(-t.than.Cost), Seconds(t.than.CostError), t.sooner()}
	}
	if c := a.sure; c != nil {
		r.Confidence = &Confidence{Spec(a.best[0].Policy, a.Tasks), c.Resamples, c.Level,
			[2]float64{c.Low.Latency, c.High.Latency}, [2]float64{c.Low.Cost, c.High.Cost}, c.Faster, c.Cheaper}
	}
	if a.own != nil {
		p := a.policy(*a.own, true)
		if x, err := a.exact.Assess(a.own.Policy, 0); err == nil && a.bracket == nil {
			latency, cost := Seconds(x.LatencyDeviation), Seconds(x.CostDeviation)
			p.Deviation, p.CostDeviation = &latency, &cost
		}
		r.Evaluated = &p
	}
	for _, c := range a.optima.Frontier {
		r.Frontier = append(r.Frontier, a.policy(c, false))
	}
	return r
}

// WriteJSON writes the result for programs.
func (a *Advice) WriteJSON(out io.Writer) error { return json.NewEncoder(out).Encode(a.Result()) }

// WriteCSV writes a row for each policy of the answer; the first column says what it is.
func (a *Advice) WriteCSV(out io.Writer) error {
	w := show.NewCSV(out)
	_ = w.Write([]string{"what", "stragglers", "p", "clones", "original", "latency_seconds", "cost_seconds", "policy",
		"latency_low_seconds", "latency_high_seconds", "cost_low_seconds", "cost_high_seconds"})
	row := func(what string, c plan.Choice) {
		p := a.policy(c, false)
		_ = w.Write(append([]string{what, strconv.Itoa(p.Stragglers), Seconds(p.P).String(), strconv.Itoa(p.Clones), p.Original,
			p.Latency.String(), p.Cost.String(), p.Policy}, p.columns()...))
	}
	row("baseline", a.optima.Baseline)
	if a.own != nil {
		row("evaluated", *a.own)
	}
	row("latency_sensitive", a.optima.LatencySensitive)
	row("cost_sensitive", a.optima.CostSensitive)
	if a.Quantile > 0 {
		row("deadline_sensitive", a.best[0])
	}
	for _, c := range a.compared {
		o := a.assessed(c)
		_ = w.Write(append([]string{"compared", "", "", "", "", o.Latency.String(), o.Cost.String(), c.spec}, o.columns()...))
	}
	if t := a.twice; t != nil {
		o := a.assessed(comparison{rule: t.forks, Assessment: t.Assessment})
		_ = w.Write(append([]string{"two_forks", "", "", "", "", o.Latency.String(), o.Cost.String(), SpecOfTwo(t.forks, a.Tasks)}, o.columns()...))
	}
	for _, c := range a.optima.Frontier {
		row("frontier", c)
	}
	w.Flush()
	return w.Error()
}
