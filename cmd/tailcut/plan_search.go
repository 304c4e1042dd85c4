package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy"
)

// forkAnswer is what 'tailcut plan fork' found.
type forkAnswer struct {
	flags    *forkFlags
	law      laws.Law
	stage    *history.Stage // nil of a law
	samples  int            // 0 of a law
	censored int            // of them, attempts that were cut off
	cut      *cutTail       // what is assumed of the longest, if nobody saw it end
	tasks    int
	exact    *plan.Exact              // nearly, of the rounded durations, if these are searched
	bracket  *plan.Bracket            // then; it evaluates what is printed
	known    plan.Assessor            // the bracket if there is one, otherwise exact
	bounds   map[plan.Rule]forkBounds // then, of all rules that are printed and not simulated
	simulate *plan.Simulate
	choices  []plan.Choice
	advice   plan.Advice
	// within the budget, the recommended first, one for each number of clones and mode; the last is the baseline
	best          []plan.Choice
	single        *plan.Choice // the best with one clone beside the original, if any
	evaluated     *plan.Choice
	now           comparison // what is done now; no clones unless --now says something else
	compared      []comparison
	spark         *sparkChoice // what Spark is told, if it can do better than what is done now
	hadoop        plan.Hadoop  // the settings that come near the recommendation, if there is one
	hadoopLatency float64
	confidence    *plan.Confidence
	lemma         plan.Verdict
}

// comparison is another rule and what it does.
type comparison struct {
	spec, words string
	rule        plan.Rule
	plan.Assessment
}

// search fills the answer: it evaluates the grid of policies on all cores and picks from it. Dice cannot find an
// optimum whose runners-up are within 1e-6 of it, so the methods that roll them evaluate the exact method's picks.
func (a *forkAnswer) search() error {
	f := a.flags
	var err error
	found, err := a.evaluators()
	if err != nil {
		return err
	}
	by, err := f.evaluator(a.exact.Law(), a.tasks, found)
	if err != nil {
		return err
	}
	if a.simulate, err = plan.NewSimulate(a.law, a.tasks, simulatedJobs(a.tasks), f.seed); err != nil {
		return err
	}
	a.now = comparison{words: "no clones", rule: plan.Policy{}}
	if f.now != "" {
		if a.now, err = a.comparison("--now", f.now); err != nil {
			return err
		}
		if a.now.Assessment, err = plan.Assess(a.known, a.simulate, a.now.rule, f.quantile); err != nil {
			return err
		}
		if err := a.steady(); err != nil {
			return err
		}
	}
	rolls := f.method.value == "bootstrap" || f.method.value == "simulate"
	var choices, onlyTradeOff []plan.Choice
	if f.method.value == "exact" || rolls {
		if choices, onlyTradeOff, err = a.grid(); err != nil {
			return err
		}
	} else {
		choices = evaluateAll(by, slices.Collect(plan.Policies(a.tasks, f.maxClones)), 256)
	}
	a.advice = plan.Optimise(choices, a.tasks, f.lambda)
	if f.now == "" {
		a.now.Outcome = a.advice.Baseline.Outcome
	}
	a.choices = choices
	if onlyTradeOff != nil {
		a.tradeOff(onlyTradeOff)
	}
	if err := a.pick(choices, onlyTradeOff); err != nil {
		return err
	}
	if rolls {
		if err := a.reevaluate(by); err != nil {
			return err
		}
	}
	if f.given {
		p := plan.Policy{Stragglers: f.stragglers, Clones: f.clones}
		if f.original.value == "kill" {
			p.Original = plan.Kill
		}
		o, err := by.Evaluate(p)
		if err != nil {
			return err
		}
		a.evaluated = &plan.Choice{Policy: p, Outcome: o}
	}
	a.lemma = a.lemma1()
	if err := a.assess(); err != nil {
		return err
	}
	a.bound()
	if f.confidence && !a.best[0].Baseline() {
		return a.resample()
	}
	return nil
}

// evaluators sets what evaluates a policy nearly or exactly, and returns the one whose figures are printed.
func (a *forkAnswer) evaluators() (found plan.Evaluator, err error) {
	sample, ok := a.law.(*laws.Empirical)
	if !ok || sample.Distinct() <= exhaustive {
		if a.exact, err = plan.NewExact(a.law, a.tasks); err != nil {
			return nil, err
		}
		a.known = a.exact
		return a.exact, nil
	}
	if a.bracket, err = plan.NewBracket(sample, a.tasks, bracketTo); err != nil {
		return nil, err
	}
	if a.exact, err = plan.NewNear(plan.Rounded(sample, searchedTo(a.flags.maxClones, a.tasks)), a.tasks); err != nil {
		return nil, err
	}
	a.known = a.bracket
	return a.bracket, nil
}

// worthwhile is the least share of the latency that a recommendation saves of what is only known from simulation.
const worthwhile = 0.005

// steady takes most of the dice out of what is done now, if that was simulated: it adds by how much a single fork,
// which meets the same luck and is known exactly, came out too low (the method of control variates).
func (a *forkAnswer) steady() error {
	if a.now.Exact {
		return nil
	}
	control := plan.Policy{Stragglers: max(1, a.tasks/10), Clones: 1}
	truth, err := a.known.Assess(control, 0)
	if err != nil || math.IsInf(truth.Latency, 1) {
		return err
	}
	played, err := a.simulate.Evaluate(control)
	if err != nil {
		return err
	}
	a.now.Latency += truth.Latency - played.Latency
	a.now.Cost += truth.Cost - played.Cost
	return nil
}

// bar is what a recommendation has to beat.
func (a *forkAnswer) bar() (o plan.Outcome, quantile float64) {
	o, quantile = a.now.Outcome, a.now.Quantile
	if a.flags.now != "" && !a.now.Exact {
		o.Latency *= 1 - worthwhile
		quantile *= 1 - worthwhile
	}
	o.Latency -= a.flags.resolution // less cannot be seen in the log
	quantile -= a.flags.resolution
	return o, quantile
}

// pick fills the best three, and the best that systems can express which clone once and keep the original: by mean, or
// with --quantile by the quantile.
func (a *forkAnswer) pick(choices, rounded []plan.Choice) error {
	ranked, err := a.rank(choices, rounded)
	if err != nil {
		return err
	}
	a.best = append(slices.Clone(ranked[:min(3, len(ranked))]), a.advice.Baseline)
	if i := slices.IndexFunc(ranked, func(c plan.Choice) bool {
		return c.Clones == 1 && c.Original == plan.Keep && c.Stragglers < a.tasks
	}); i >= 0 {
		a.single = &ranked[i]
	}
	return nil
}

// rank returns the policies that beat what is done now: the best of each kind, the best first.
func (a *forkAnswer) rank(choices, rounded []plan.Choice) (ranked []plan.Choice, err error) {
	u := a.flags.quantile
	bar, latest := a.bar()
	if u == 0 {
		return plan.Best(choices, bar, len(choices)), nil
	}
	if a.now.rule == plan.Rule(plan.Policy{}) {
		now, err := a.known.Assess(a.now.rule, u)
		if err != nil {
			return nil, err
		}
		a.now.Quantile, a.now.QuantileLow, a.now.QuantileHigh = now.Quantile, now.QuantileLow, now.QuantileHigh
		_, latest = a.bar()
	}
	var timed []plan.Timed
	if rounded == nil {
		timed, err = a.exact.Deadline(choices, a.now.Cost, u)
	} else {
		timed, err = a.deadline(rounded)
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
func (a *forkAnswer) deadline(rounded []plan.Choice) ([]plan.Timed, error) {
	var policies []plan.Policy
	for _, share := range []float64{1, 1 - 3e-3} {
		some, err := a.exact.Deadline(rounded, a.now.Cost*share, a.flags.quantile)
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
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range policies {
		group.Go(func() error {
			x, err := a.known.Assess(p, a.flags.quantile)
			found[i] = plan.Timed{Choice: plan.Choice{Policy: p, Outcome: x.Outcome}, Quantile: x.Quantile}
			return err
		})
	}
	if err := group.Wait(); err != nil {
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

// assess evaluates the rules of systems and those of --compare: exactly where that is possible, the others on the same
// simulated jobs.
func (a *forkAnswer) assess() error {
	f := a.flags
	specs := []string{"spark"}
	if f.now == "spark" {
		specs = nil
	}
	if f.compare != "" {
		specs = append(specs, policy.SplitList(f.compare)...)
	}
	for _, spec := range specs {
		c, err := a.comparison("--compare", spec)
		if err != nil {
			return err
		}
		a.compared = append(a.compared, c)
	}
	// All that is simulated meets the same luck, so that small differences show.
	var rules []plan.Rule
	var into []*plan.Assessment
	play := func(r plan.Rule, to *plan.Assessment) { rules, into = append(rules, r), append(into, to) }
	for i := range a.compared {
		c := &a.compared[i]
		var err error
		if c.Assessment, err = a.known.Assess(c.rule, f.quantile); errors.Is(err, plan.ErrMethod) {
			play(c.rule, &c.Assessment)
		} else if err != nil {
			return err
		}
	}
	var hadoop, now, single plan.Assessment
	thresholds := plan.SparkThresholds()
	sparks := make([]plan.Assessment, len(thresholds))
	if s := a.best[0].Stragglers; s > 0 {
		a.hadoop = plan.HadoopDefaults()
		a.hadoop.Rest, a.hadoop.MinAllowed = 1, s
		play(a.hadoop, &hadoop)
	}
	play(a.now.rule, &now)
	if a.single != nil {
		play(a.single.Policy, &single)
	}
	for i, r := range thresholds {
		play(r, &sparks[i])
	}
	all, err := a.simulate.AssessAll(rules, f.quantile)
	if err != nil {
		return err
	}
	for i, x := range all {
		if endless(rules[i], a.law) {
			x.Latency, x.Cost, x.LatencyError, x.CostError = math.Inf(1), math.Inf(1), 0, 0
		}
		*into[i] = x
	}
	a.hadoopLatency = hadoop.Latency
	a.pickSpark(now, single, thresholds, sparks)
	return nil
}

// endless tells whether the means under a rule are infinite, so that no number of simulated jobs comes near them: of
// two attempts of a task, which are the most that Spark and Hadoop make, even the shorter one has no mean.
func endless(r plan.Rule, l laws.Law) bool {
	if _, ok := l.(*laws.Empirical); ok {
		return false
	}
	switch r.(type) {
	case plan.Spark, plan.Hadoop:
		return math.IsInf(laws.Min(l, 2).Mean(), 1)
	}
	return false
}

// pickSpark chooses the settings for Spark: of those that need no more machine time than what is done now the soonest,
// on average or with --quantile by that. They are the best single fork, which was found exactly, or clone by age.
func (a *forkAnswer) pickSpark(now, single plan.Assessment, thresholds []plan.Spark, played []plan.Assessment) {
	figure := func(x plan.Assessment) float64 {
		if a.flags.quantile > 0 {
			return x.Quantile
		}
		return x.Latency
	}
	lowest := figure(now) * (1 - worthwhile)
	if a.single != nil {
		lowest = figure(single)
		a.spark = &sparkChoice{a.single.Latency, quantileFor(a.tasks-a.single.Stragglers, a.tasks), 1}
	}
	for i, x := range played {
		if x.Cost <= now.Cost && figure(x) < lowest*(1-1e-9) {
			lowest = figure(x)
			a.spark = &sparkChoice{x.Latency, fmt.Sprint(thresholds[i].Quantile), thresholds[i].Multiplier}
		}
	}
}

// sparkChoice is what Spark is told.
type sparkChoice struct {
	latency    float64
	quantile   string
	multiplier float64
}

// comparison reads a rule of a flag.
func (a *forkAnswer) comparison(flag, spec string) (comparison, error) {
	r, err := parseRule(spec, a.tasks)
	if err != nil {
		return comparison{}, fmt.Errorf("%s %s: %w", flag, spec, err)
	}
	what := ruleWords(spec, r, a.tasks)
	if spec == "spark" {
		what = "Spark 4's defaults"
	}
	return comparison{spec: spec, words: what, rule: r}, nil
}

// simulatedJobs is how often a rule is played that is not exact: enough for two digits, of large jobs as often as some
// two seconds allow.
func simulatedJobs(tasks int) int {
	return min(2000, max(200_000/tasks, min(100, 4_000_000/tasks)))
}

// resamples is how often --confidence resamples the durations.
const resamples = 200

// resample fills the confidence of the recommendation.
func (a *forkAnswer) resample() error {
	most, evaluator := exhaustive, plan.NewExact
	if a.bracket != nil {
		most, evaluator = resampledTo, plan.NewNear
	}
	seen, err := plan.NewObserved(a.stage.Seconds(), a.stage.Censored, most)
	if err != nil {
		return err
	}
	gains := make([]plan.Gain, resamples)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range gains {
		group.Go(func() error {
			e, err := evaluator(seen.Resample(a.flags.seed, uint64(i)), a.tasks)
			if err != nil {
				return err
			}
			gains[i], err = plan.GainOf(e, a.now.rule, a.best[0].Policy)
			return err
		})
	}
	if err := group.Wait(); errors.Is(err, plan.ErrMethod) {
		return fmt.Errorf("--confidence with --now %s: that rule has to be simulated, which is too slow to do for each resample", a.flags.now)
	} else if err != nil {
		return err
	}
	c := plan.NewConfidence(gains, 0.95)
	a.confidence = &c
	return nil
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
func searchedTo(maxClones, tasks int) int {
	return int(roundedTo / math.Sqrt(max(1, float64(maxClones)/4)) / math.Sqrt(max(1, float64(tasks)/20_000)))
}

// mostTraded is how many policies of the trade-off are listed of a large sample, of which it has thousands that differ
// by less than the rounding.
const mostTraded = 50

// tradeOff sets the frontier of a large sample: some of the policies that no other beats by the rounded durations, from
// end to end, with what is in the middle between their bounds.
func (a *forkAnswer) tradeOff(rounded []plan.Choice) {
	a.choices = rounded
	all := plan.Optimise(rounded, a.tasks, a.flags.lambda).Frontier
	n := min(len(all), mostTraded)
	var policies []plan.Policy
	for i := range n {
		policies = append(policies, all[i*(len(all)-1)/max(1, n-1)].Policy)
	}
	a.advice.Frontier = plan.Frontier(evaluateAll(a.bracket, policies, 1))
}

// grid evaluates every policy exactly. Of a large sample it evaluates those of the sample rounded, and between bounds
// the few of which one is the optimum; then all are returned as well, for the trade-off.
func (a *forkAnswer) grid() (choices, rounded []plan.Choice, err error) {
	rounded = sweep(a.exact, a.flags.maxClones)
	if a.bracket == nil {
		return rounded, nil, nil
	}
	var others []plan.Outcome
	if a.flags.now != "" {
		others = append(others, a.now.Outcome)
	}
	return evaluateAll(a.bracket, plan.Shortlist(rounded, a.tasks, a.flags.lambda, others...), 1), rounded, nil
}

// reevaluate replaces the figures of the picks by those of a method that rolls dice.
func (a *forkAnswer) reevaluate(by plan.Evaluator) error {
	picks := []*plan.Choice{&a.advice.Baseline, &a.advice.LatencySensitive, &a.advice.CostSensitive}
	for _, cs := range [][]plan.Choice{a.best, a.advice.Frontier} {
		for i := range cs {
			picks = append(picks, &cs[i])
		}
	}
	if a.single != nil {
		picks = append(picks, a.single)
	}
	var group errgroup.Group
	parts := runtime.GOMAXPROCS(0)
	for part := range parts {
		group.Go(func() error {
			some := picks[part*len(picks)/parts : (part+1)*len(picks)/parts]
			policies := make([]plan.Policy, len(some))
			for i, c := range some {
				policies[i] = c.Policy
			}
			outcomes, err := by.(dice).EvaluateEach(policies)
			for i, o := range outcomes {
				some[i].Outcome = o
			}
			return err
		})
	}
	err := group.Wait()
	a.advice.Objective = plan.Objective(a.advice.CostSensitive.Outcome, a.tasks, a.flags.lambda)
	return err
}

// dice is a method whose policies meet the same luck, so that many are less work than one after the other.
type dice interface {
	EvaluateEach(policies []plan.Policy) ([]plan.Outcome, error)
}

// sweep evaluates the exact grid on all cores. A block of many tasks is large, so no more than one per core is held.
func sweep(e *plan.Exact, maxClones int) []plan.Choice {
	s := e.Sweep(maxClones)
	parts := make([]plan.Block, min(s.Blocks(), runtime.GOMAXPROCS(0)))
	for first := 0; first < s.Blocks(); first += len(parts) {
		some := parts[:min(len(parts), s.Blocks()-first)]
		var group errgroup.Group
		for i := range some {
			group.Go(func() error { some[i] = s.Block(first + i); return nil })
		}
		_ = group.Wait()
		for _, b := range some {
			s.Add(b)
		}
	}
	return plan.EvaluateAll(s.Grid(), plan.Policies(e.Tasks(), maxClones))
}

// evaluateAll evaluates policies one by one, so many at a time.
func evaluateAll(by plan.Evaluator, policies []plan.Policy, part int) []plan.Choice {
	parts := make([][]plan.Choice, (len(policies)+part-1)/part)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range parts {
		group.Go(func() error {
			some := policies[i*part : min(len(policies), (i+1)*part)]
			parts[i] = plan.EvaluateAll(by, slices.Values(some))
			return nil
		})
	}
	_ = group.Wait()
	return slices.Concat(parts...)
}

// tested is the policy whose fork Lemma 1 is about: the one that was asked for, otherwise the recommended one.
func (a *forkAnswer) tested() plan.Policy {
	if a.evaluated != nil && a.evaluated.Stragglers > 0 {
		return a.evaluated.Policy
	}
	return a.best[0].Policy
}

// lemma1 tests a fork, and if there is none to test all forks: what they agree on.
func (a *forkAnswer) lemma1() plan.Verdict {
	if s := a.tested().Stragglers; s > 0 {
		return plan.Lemma1(a.law, a.tasks, s)
	}
	common := plan.Lemma1(a.law, a.tasks, 1)
	for i := 1; i < 20 && common != plan.Inconclusive; i++ {
		if s := a.tasks * i / 20; s > 1 && plan.Lemma1(a.law, a.tasks, s) != common {
			return plan.Inconclusive
		}
	}
	return common
}
