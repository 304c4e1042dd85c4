package advice

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
)

// Advice is what [Recommend] found. Result returns its figures; the writers show it.
type Advice struct {
	Request
	law      laws.Law
	exact    *plan.Exact          // nearly, of the rounded durations, if these are searched
	bracket  *bracket             // then; it evaluates what is shown
	known    plan.Assessor        // the bracket if there is one, otherwise exact
	bounds   map[plan.Rule]bounds // then, of all rules that are shown and not simulated
	simulate *plan.Simulate
	choices  []plan.Choice
	optima   plan.Advice
	// within the budget, the recommended first, one for each number of clones and mode; the last is the baseline
	best          []plan.Choice
	single        *plan.Choice // the best with one clone beside the original, if any
	own           *plan.Choice
	now           comparison // what is done now; no clones unless Now says something else
	compared      []comparison
	spark         *sparkChoice // what Spark is told, if it can do better than what is done now
	hadoop        plan.Hadoop  // the settings that come near the recommendation, if there is one
	hadoopLatency float64
	sure          *plan.Confidence
	lemma         plan.Verdict
	twice         *twoForks // if two forks are searched and there are some
}

// Recommend finds the single-fork policy that beats what is done now and needs no more machine time. The error is
// [Invalid] if the request is, and the context's if that ends first. It takes some seconds at most for jobs of some
// hundred tasks.
//
// It evaluates the grid of policies on all cores and picks from it. Dice cannot find an optimum whose runners-up are
// within 1e-6 of it, so the methods that roll them evaluate the exact method's picks.
func Recommend(ctx context.Context, r Request) (*Advice, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	a := &Advice{Request: r, law: r.law()}
	found, err := a.evaluators()
	if err != nil {
		return nil, err
	}
	by, err := r.evaluator(a.exact.Law(), found)
	if err != nil {
		return nil, err
	}
	if a.simulate, err = plan.NewSimulate(a.law, a.Tasks, simulatedJobs(a.Tasks), r.Seed); err != nil {
		return nil, err
	}
	if err := a.assessNow(); err != nil {
		return nil, err
	}
	if err := a.search(ctx, by); err != nil {
		return nil, err
	}
	if r.Own != nil {
		o, err := by.Evaluate(*r.Own)
		if err != nil {
			return nil, err
		}
		a.own = &plan.Choice{Policy: *r.Own, Outcome: o}
	}
	a.lemma = a.lemma1()
	if err := a.assess(); err != nil {
		return nil, err
	}
	if err := a.bound(ctx); err != nil {
		return nil, err
	}
	if r.Forks == 2 {
		if err := a.searchForks(ctx); err != nil {
			return nil, err
		}
	}
	if r.Confidence && !a.best[0].Baseline() {
		if err := a.resample(ctx); err != nil {
			return nil, err
		}
	}
	return a, ctx.Err()
}

// A sample with more than exhaustive distinct values is searched rounded to so many as take a second or two, and what
// is found is evaluated between bounds, of values so near that these take as long. So are resamples of it, to fewer,
// since there are 200.
const (
	exhaustive  = 5000
	roundedTo   = 1000
	bracketTo   = 2000
	resampledTo = 300
)

// searchedTo is how many values are searched: fewer where many clones are considered, or of many tasks, since each
// costs.
func (r *Request) searchedTo() int {
	return int(roundedTo / math.Sqrt(max(1, float64(r.MaxClones)/4)) / math.Sqrt(max(1, float64(r.Tasks)/20_000)))
}

// evaluators sets what evaluates a policy nearly or exactly, and returns the one whose figures are shown.
func (a *Advice) evaluators() (found plan.Evaluator, err error) {
	sample, ok := a.law.(*laws.Empirical)
	if !ok || sample.Distinct() <= exhaustive {
		if a.exact, err = plan.NewExact(a.law, a.Tasks); err != nil {
			return nil, err
		}
		a.known = a.exact
		return a.exact, nil
	}
	of, err := plan.NewBracket(sample, a.Tasks, bracketTo)
	if err != nil {
		return nil, err
	}
	if a.exact, err = plan.NewNear(plan.Rounded(sample, a.searchedTo()), a.Tasks); err != nil {
		return nil, err
	}
	a.bracket = &bracket{Bracket: of, found: map[plan.Policy][2]plan.Outcome{}}
	a.known = a.bracket
	return a.bracket, nil
}

// search fills the optima, the frontier and the best policies.
func (a *Advice) search(ctx context.Context, by plan.Evaluator) (err error) {
	var onlyTradeOff []plan.Choice
	if a.Method == "exact" || a.rolls() {
		a.choices, onlyTradeOff, err = a.grid(ctx)
	} else {
		a.choices, err = evaluateAll(ctx, by, slices.Collect(plan.Policies(a.Tasks, a.MaxClones)), 256)
	}
	if err != nil {
		return err
	}
	a.optima = plan.Optimise(a.choices, a.Tasks, a.Lambda)
	if a.Now == "" {
		a.now.Outcome = a.optima.Baseline.Outcome
	}
	if err := a.pick(ctx, onlyTradeOff); err != nil {
		return err
	}
	if onlyTradeOff != nil {
		if err := a.tradeOff(ctx, onlyTradeOff); err != nil {
			return err
		}
	}
	if a.rolls() {
		return a.reevaluate(ctx, by)
	}
	return nil
}

// grid evaluates every policy exactly. Of a large sample it evaluates those of the sample rounded, and between bounds
// the few of which one is the optimum; then all are returned as well, for the trade-off.
func (a *Advice) grid(ctx context.Context) (choices, rounded []plan.Choice, err error) {
	rounded, err = sweep(ctx, a.exact, a.MaxClones)
	if err != nil || a.bracket == nil {
		return rounded, nil, err
	}
	var others []plan.Outcome
	if a.Now != "" {
		others = append(others, a.now.Outcome)
	}
	choices, err = evaluateAll(ctx, a.bracket, plan.Shortlist(rounded, a.Tasks, a.Lambda, others...), 1)
	return choices, rounded, err
}

// mostTraded is how many policies of the trade-off are listed of a large sample, of which it has thousands that differ
// by less than the rounding.
const mostTraded = 50

// tradeOff sets the frontier of a large sample: some of the policies that no other beats by the rounded durations, from
// end to end, with what is in the middle between their bounds.
func (a *Advice) tradeOff(ctx context.Context, rounded []plan.Choice) error {
	a.choices = rounded
	all := plan.Optimise(rounded, a.Tasks, a.Lambda).Frontier
	n := min(len(all), mostTraded)
	var policies []plan.Policy
	for i := range n {
		policies = append(policies, all[i*(len(all)-1)/max(1, n-1)].Policy)
	}
	choices, err := evaluateAll(ctx, a.bracket, policies, 1)
	if err == nil {
		a.optima.Frontier = plan.Frontier(choices)
	}
	return err
}

// pick fills the best three, and the best that systems can express which clone once and keep the original: by mean, or
// with a quantile by that.
func (a *Advice) pick(ctx context.Context, rounded []plan.Choice) error {
	ranked, err := a.rank(ctx, rounded)
	if err != nil {
		return err
	}
	a.best = append(slices.Clone(ranked[:min(3, len(ranked))]), a.optima.Baseline)
	if i := slices.IndexFunc(ranked, func(c plan.Choice) bool {
		return c.Clones == 1 && c.Original == plan.Keep && c.Stragglers < a.Tasks
	}); i >= 0 {
		a.single = &ranked[i]
	}
	return nil
}

// rank returns the policies that beat what is done now: the best of each kind, the best first.
func (a *Advice) rank(ctx context.Context, rounded []plan.Choice) (ranked []plan.Choice, err error) {
	bar, latest := a.bar()
	if a.Quantile == 0 {
		return plan.Best(a.choices, bar, len(a.choices)), nil
	}
	if a.Now == "" {
		now, err := a.known.Assess(a.now.rule, a.Quantile)
		if err != nil {
			return nil, err
		}
		a.now.Quantile, a.now.QuantileLow, a.now.QuantileHigh = now.Quantile, now.QuantileLow, now.QuantileHigh
		_, latest = a.bar()
	}
	var timed []plan.Timed
	if rounded == nil {
		timed, err = a.exact.Deadline(a.choices, a.now.Cost, a.Quantile)
	} else {
		timed, err = a.deadline(ctx, rounded)
	}
	for _, t := range timed {
		if !t.Baseline() && t.Quantile < latest*(1-1e-9) {
			ranked = append(ranked, t.Choice)
		}
	}
	return ranked, err
}

// deadline is [plan.Exact.Deadline] of a large sample: the best by the rounded durations, within the budget and a
// little less since the cost is rounded too, are ranked by what is in the middle between the bounds.
func (a *Advice) deadline(ctx context.Context, rounded []plan.Choice) ([]plan.Timed, error) {
	var policies []plan.Policy
	for _, share := range []float64{1, 1 - 3e-3} {
		some, err := a.exact.Deadline(rounded, a.now.Cost*share, a.Quantile)
		if err != nil {
			return nil, err
		}
		for _, t := range some {
			if !slices.Contains(policies, t.Policy) {
				policies = append(policies, t.Policy)
			}
		}
	}
	found := make([]plan.Timed, len(policies))
	err := each(ctx, len(policies), func(i int) error {
		x, err := a.known.Assess(policies[i], a.Quantile)
		found[i] = plan.Timed{Choice: plan.Choice{Policy: policies[i], Outcome: x.Outcome}, Quantile: x.Quantile}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b plan.Timed) int { return cmp.Compare(a.Quantile, b.Quantile) })
	type kind struct {
		clones   int
		original plan.Original
	}
	seen := map[kind]bool{}
	return slices.DeleteFunc(found, func(t plan.Timed) bool {
		k := kind{t.Clones, t.Original}
		if seen[k] || t.Cost > a.now.Cost*(1+1e-9) {
			return true
		}
		seen[k] = true
		return false
	}), nil
}

// reevaluate replaces the figures of the picks by those of a method that rolls dice.
func (a *Advice) reevaluate(ctx context.Context, by plan.Evaluator) error {
	picks := []*plan.Choice{&a.optima.Baseline, &a.optima.LatencySensitive, &a.optima.CostSensitive}
	for _, cs := range [][]plan.Choice{a.best, a.optima.Frontier} {
		for i := range cs {
			picks = append(picks, &cs[i])
		}
	}
	if a.single != nil {
		picks = append(picks, a.single)
	}
	err := evaluateEach(ctx, by.(dice), picks)
	a.optima.Objective = plan.Objective(a.optima.CostSensitive.Outcome, a.Tasks, a.Lambda)
	return err
}

// tested is the policy whose fork Lemma 1 is about: the one that was asked for, otherwise the recommended one.
func (a *Advice) tested() plan.Policy {
	if a.own != nil && a.own.Stragglers > 0 {
		return a.own.Policy
	}
	return a.best[0].Policy
}

// lemma1 tests a fork, and if there is none to test all forks: what they agree on.
func (a *Advice) lemma1() plan.Verdict {
	if s := a.tested().Stragglers; s > 0 {
		return plan.Lemma1(a.law, a.Tasks, s)
	}
	common := plan.Lemma1(a.law, a.Tasks, 1)
	for i := 1; i < 20 && common != plan.Inconclusive; i++ {
		if s := a.Tasks * i / 20; s > 1 && plan.Lemma1(a.law, a.Tasks, s) != common {
			return plan.Inconclusive
		}
	}
	return common
}
