package advice

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
)

// assessNow sets what is done now, and reads the rules to compare.
func (a *Advice) assessNow() (err error) {
	a.now = comparison{words: "no clones", rule: plan.Policy{}}
	if a.Now != "" {
		if a.now, err = a.comparison("now", a.Now); err != nil {
			return err
		}
		if a.now.Assessment, err = plan.Assess(a.known, a.simulate, a.now.rule, a.Quantile); err != nil {
			return err
		}
		if err := a.steady(); err != nil {
			return err
		}
	}
	specs := a.Compare
	if a.Now != "spark" {
		specs = append([]string{"spark"}, specs...)
	}
	for _, spec := range specs {
		c, err := a.comparison("compare", spec)
		if err != nil {
			return err
		}
		a.compared = append(a.compared, c)
	}
	return nil
}

// worthwhile is the least share of the latency that a recommendation saves of what is only known from simulation.
const worthwhile = 0.005

// steady takes most of the dice out of what is done now, if that was simulated: it adds by how much a single fork,
// which meets the same luck and is known exactly, came out too low (the method of control variates).
func (a *Advice) steady() error {
	if a.now.Exact {
		return nil
	}
	control := plan.Policy{Stragglers: max(1, a.Tasks/10), Clones: 1}
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
func (a *Advice) bar() (o plan.Outcome, quantile float64) {
	o, quantile = a.now.Outcome, a.now.Quantile
	if a.Now != "" && !a.now.Exact {
		o.Latency *= 1 - worthwhile
		quantile *= 1 - worthwhile
	}
	if a.Sample != nil {
		o.Latency -= a.Sample.Resolution // less cannot be seen in the log
		quantile -= a.Sample.Resolution
	}
	return o, quantile
}

// assess evaluates the rules of systems and those to compare: exactly where that is possible, the others on the same
// simulated jobs.
func (a *Advice) assess() error {
	// All that is simulated meets the same luck, so that small differences show.
	var rules []plan.Rule
	var into []*plan.Assessment
	play := func(r plan.Rule, to *plan.Assessment) { rules, into = append(rules, r), append(into, to) }
	for i := range a.compared {
		c := &a.compared[i]
		var err error
		if c.Assessment, err = a.known.Assess(c.rule, a.Quantile); errors.Is(err, plan.ErrMethod) {
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
	all, err := a.simulate.AssessAll(rules, a.Quantile)
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
// on average or with a quantile by that. They are the best single fork, which was found exactly, or clone by age.
func (a *Advice) pickSpark(now, single plan.Assessment, thresholds []plan.Spark, played []plan.Assessment) {
	figure := func(x plan.Assessment) float64 {
		if a.Quantile > 0 {
			return x.Quantile
		}
		return x.Latency
	}
	lowest := figure(now) * (1 - worthwhile)
	if a.single != nil {
		lowest = figure(single)
		a.spark = &sparkChoice{a.single.Latency, QuantileFor(a.Tasks-a.single.Stragglers, a.Tasks), 1}
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

// simulatedJobs is how often a rule is played that is not exact: enough for two digits, of large jobs as often as some
// two seconds allow.
func simulatedJobs(tasks int) int {
	return min(2000, max(200_000/tasks, min(100, 4_000_000/tasks)))
}

// Settings says how other systems are told to do what is recommended, or the nearest that they can. There are none if
// nothing is better than what is done now.
func (a *Advice) Settings() []string {
	best, tasks := a.best[0], a.Tasks
	if best.Baseline() && a.spark == nil {
		return nil
	}
	var lines []string
	switch {
	case a.spark == nil:
		lines = append(lines, "Spark starts one clone, keeps the original, and waits for a finished task: it cannot improve on your current setting"+
			strings.TrimSuffix(a.judged(), ",")+".")
	case a.single != nil && best.Policy == a.single.Policy && a.spark.multiplier == 1:
		lines = append(lines, a.spark.settings())
	default:
		lines = append(lines, fmt.Sprintf("Spark starts one clone, keeps the original, and waits for a finished task. The best such setting (latency %s):",
			show.Seconds(a.spark.latency)), a.spark.settings())
	}
	if best.Baseline() {
		return lines
	}
	if best.Original == plan.Keep && best.Stragglers < tasks {
		lines = append(lines, fmt.Sprintf("Flink: execution.batch.speculative.enabled=true, execution.batch.speculative.max-concurrent-executions=%d,\n"+
			"  slow-task-detector.execution-time.baseline-ratio=%s, slow-task-detector.execution-time.baseline-multiplier=1,\n"+
			"  slow-task-detector.execution-time.baseline-lower-bound=0s",
			best.Clones+1, QuantileFor(tasks-best.Stragglers, tasks)))
	} else {
		lines = append(lines, "Flink keeps the original and waits for a finished task: it cannot do this.")
	}
	return append(lines, fmt.Sprintf("Hadoop starts one clone at a time, chosen by estimated progress. The nearest setting (latency %s, simulated):\n"+
		"  mapreduce.job.speculative.minimum-allowed-tasks=%d, mapreduce.job.speculative.retry-after-speculate=1000",
		show.Seconds(a.hadoopLatency), a.hadoop.MinAllowed))
}

func (s *sparkChoice) settings() string {
	return fmt.Sprintf("Spark: spark.speculation=true, spark.speculation.quantile=%s, spark.speculation.multiplier=%g,\n"+
		"  spark.speculation.efficiency.enabled=false", s.quantile, s.multiplier)
}
