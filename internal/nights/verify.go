package nights

import (
	"context"
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/diagnosis"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/laws"
)

// VerifySchema names the JSON of [Verified].
const VerifySchema = "tailcut.plan.verify/v1"

// Verified says whether what other settings were to save came true.
type Verified struct {
	Schema      string  `json:"schema"`
	Application string  `json:"application"`
	Before      []Run   `json:"before"`
	After       []Run   `json:"after"`
	RuleBefore  string  `json:"policy_before"` // that attempts followed, in Tailcut's words
	RuleAfter   string  `json:"policy_after"`
	Seconds     float64 `json:"wall_before_seconds"` // medians
	Then        float64 `json:"wall_after_seconds"`
	Comparison
	Stages []StageComparison `json:"stages"` // those that took most time before first
}

// StageComparison is the comparison of a stage that ran before and after.
type StageComparison struct {
	Name    string  `json:"name"`
	Stage   string  `json:"stage"`
	Seconds float64 `json:"wall_before_seconds"`
	Then    float64 `json:"wall_after_seconds"`
	Comparison
}

// Comparison is a saving that was predicted beside the one that came, as shares of the time before.
type Comparison struct {
	Predicted Saving `json:"predicted"`
	Realised  Saving `json:"realised"` // corrected for what was read
	// Bytes that were read after, as a multiple of those before; nil if the logs do not say.
	Bytes   *float64 `json:"bytes_ratio,omitempty"`
	Outcome Outcome  `json:"outcome"`
}

// Saving is a share of the time, and its 95 % interval; nil where the runs are too few to show one.
type Saving struct {
	Ratio float64  `json:"ratio"`
	Low   *float64 `json:"low_ratio"`
	High  *float64 `json:"high_ratio"`
}

// Outcome says what became of a prediction.
type Outcome string

// The outcomes.
const (
	AsPredicted Outcome = "as-predicted" // the prediction is in the interval of what came
	Less        Outcome = "less"         // below it: less was saved
	More        Outcome = "more"
	Open        Outcome = "undecided" // there is no interval
)

// Verify predicts what the rule of the runs after gives on the runs before, and compares it with the runs after.
func Verify(ctx context.Context, before, after *Application) (*Verified, error) {
	v := &Verified{
		Schema: VerifySchema, Application: before.Runs[len(before.Runs)-1].Application, Before: before.runs(), After: after.runs(),
		RuleBefore: before.Runs[0].Again.Rule, RuleAfter: after.Runs[0].Again.Rule,
	}
	for _, side := range []*Application{before, after} {
		for i := range side.Runs {
			if a, b := side.Runs[0].Again.Rule, side.Runs[i].Again.Rule; a != b {
				return nil, fmt.Errorf("%s: expected runs under the same settings, found %s, and %s in %s", side.Runs[i].Log, b, a, side.Runs[0].Log)
			}
		}
	}
	compareAll(before.Runs, before.Began)
	whole, apart, err := predict(ctx, before.Runs, v.RuleAfter)
	if err != nil {
		return nil, err
	}
	all := append(append([]diagnosis.Request{}, before.Runs...), after.Runs...)
	first := len(before.Runs)
	weights, share, known := 0.0, 0.0, false // of what was read, over stages
	for _, s := range recognise(all) {
		var walls, read [2][]float64
		var saved []float64
		for _, m := range s.members {
			side := 0
			if m.night >= first {
				side = 1
			} else {
				saved = append(saved, apart[m.night][m.record.Job+"\x00"+m.record.Stage])
			}
			walls[side], read[side] = append(walls[side], m.wall), append(read[side], m.read())
		}
		if len(walls[0]) == 0 || len(walls[1]) == 0 {
			continue
		}
		c := StageComparison{Name: s.Name, Stage: s.Stage, Seconds: median(walls[0]), Then: median(walls[1])}
		c.Comparison = weigh(saved, walls, multiple(read))
		weights += c.Seconds
		if c.Bytes != nil {
			share, known = share+c.Seconds**c.Bytes, true
		} else {
			share += c.Seconds
		}
		v.Stages = append(v.Stages, c)
	}
	var walls [2][]float64
	for _, r := range v.Before {
		walls[0] = append(walls[0], r.Wall)
	}
	for _, r := range v.After {
		walls[1] = append(walls[1], r.Wall)
	}
	v.Seconds, v.Then = median(walls[0]), median(walls[1])
	var bytes *float64
	if x := share / weights; known {
		bytes = &x
	}
	v.Comparison = weigh(whole, walls, bytes)
	return v, nil
}

// runs describes the runs.
func (a *Application) runs() (all []Run) {
	for i := range a.Runs {
		all = append(all, Run{a.Runs[i].Log, a.Began[i], a.Runs[i].Again.Wall()})
	}
	return all
}

// verifyPlays is how often each night is played.
const verifyPlays = 30

// predict returns by night what a rule would save of the application, and of each stage by its job and id.
func predict(ctx context.Context, nights []diagnosis.Request, rule string) (whole []float64, apart []map[string]float64, err error) {
	for i := range nights {
		r := &nights[i]
		diagnosis.Keep(*r)
		rules := replay.Rules{System: r.Again.System(), Specs: []string{r.Again.Rule, rule}, Runs: verifyPlays, Seed: r.Seed}
		taken, err := r.Again.Whole(ctx, rules)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: replay: %w", r.Log, err)
		}
		stages, err := r.Again.Apart(ctx, rules)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: replay: %w", r.Log, err)
		}
		whole = append(whole, savedOf(taken))
		of := map[string]float64{}
		for st, taken := range stages {
			of[st.Job+"\x00"+st.Stage] = savedOf(taken)
		}
		apart = append(apart, of)
	}
	return whole, apart, nil
}

func savedOf(taken []replay.Taken) float64 { return taken[1].Saves(taken[0]) }

// multiple is by what the medians of what was read before and after differ; nil if the logs do not say.
func multiple(read [2][]float64) *float64 {
	was, is := median(read[0]), median(read[1])
	if !(was > 0) || !(is > 0) {
		return nil
	}
	x := is / was
	return &x
}

// weigh compares savings predicted by night with wall times before and after, both by the means of logarithms: a mean
// of ratios would be another figure. What took longer because it read more, in proportion, is not the settings' doing.
func weigh(predicted []float64, walls [2][]float64, bytes *float64) (c Comparison) {
	c.Bytes = bytes
	kept := make([]float64, len(predicted))
	for i, saved := range predicted {
		kept[i] = math.Log(max(1-saved, 1e-9))
	}
	d, margin := laws.MeanInterval(kept, 0.95)
	c.Predicted = saving(d, margin)
	mean := c.Predicted.Ratio
	scale := 1.0
	if bytes != nil {
		scale = *bytes
	}
	var logs [2][]float64
	for side, all := range walls {
		for _, w := range all {
			if side == 1 {
				w /= scale
			}
			logs[side] = append(logs[side], math.Log(max(w, 1e-9)))
		}
	}
	c.Realised, c.Outcome = saving(laws.DifferenceInterval(logs[0], logs[1], 0.95)), Open
	switch r := &c.Realised; {
	case r.Low == nil:
	case mean > *r.High:
		c.Outcome = Less
	case mean < *r.Low:
		c.Outcome = More
	default:
		c.Outcome = AsPredicted
	}
	return c
}

// saving is what a logarithm of times, after less before, comes to; margin is NaN if there is no interval.
func saving(d, margin float64) Saving {
	s := Saving{Ratio: 0 - math.Expm1(d)} // no saving is 0, not -0
	if !math.IsNaN(margin) {
		low, high := 0-math.Expm1(d+margin), 0-math.Expm1(d-margin)
		s.Low, s.High = &low, &high
	}
	return s
}
