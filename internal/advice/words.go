package advice

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/plan"
)

// Spec is the policy for --policy of run and simulate: p with as few digits as give the same fork of n tasks.
func Spec(p plan.Policy, tasks int) string {
	return fmt.Sprintf("fork:p=%s,r=%d,original=%s", share(p.Stragglers, tasks), p.Clones, p.Original)
}

// SpecOfTwo is a policy of two forks for --policy of run and simulate.
func SpecOfTwo(f plan.Forks, tasks int) string {
	second := f[1]
	return fmt.Sprintf("%s,p2=%s,r2=%d,original2=%s", Spec(f[0], tasks), share(second.Stragglers, tasks), second.Clones, second.Original)
}

// WordsOfTwo says a policy of two forks in words.
func WordsOfTwo(f plan.Forks, tasks int) string {
	return Words(f[0], tasks) + ", then " + Words(f[1], tasks)
}

// share writes a number of stragglers as a fraction of n tasks.
func share(stragglers, tasks int) string {
	n, done := float64(tasks), float64(tasks-stragglers)
	return shortest(float64(stragglers)/n, func(x float64) bool { return math.Round(n*(1-x)) == done })
}

// WordsElsewhere says in words what a policy that is planned for n tasks does in a stage of others.
func WordsElsewhere(p plan.Policy, n, others int) string {
	x, _ := strconv.ParseFloat(share(p.Stragglers, n), 64) // as Spec writes it, and the policy fork understands it
	p.Stragglers = others - int(math.Round(float64(others)*(1-x)))
	return Words(p, others)
}

// QuantileFor is the least number of digits of a share x of n tasks with floor(x n) = k, as Spark and Flink compute it.
func QuantileFor(k, tasks int) string {
	n := float64(tasks)
	return shortest((float64(k)+0.25)/n, func(x float64) bool { return x <= 1 && math.Floor(x*n) == float64(k) })
}

// shortest writes x with the fewest digits that are good enough.
func shortest(x float64, good func(float64) bool) string {
	for digits := 0; digits < 17; digits++ {
		s := strconv.FormatFloat(x, 'f', digits, 64)
		if v, err := strconv.ParseFloat(s, 64); err == nil && good(v) {
			return s
		}
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
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

// ruleWords names a rule for people.
func ruleWords(spec string, r plan.Rule, tasks int) string {
	switch r := r.(type) {
	case plan.Policy:
		return Words(r, tasks)
	case plan.Timeout:
		after := time.Duration(r.After * 1e9)
		what := fmt.Sprintf("+%s", show.Count(r.Clones, "clone"))
		if r.Original == plan.Kill {
			what = "restart"
			if r.Clones > 0 {
				what = fmt.Sprintf("restart, %s", show.Count(r.Clones+1, "attempt"))
			}
		}
		if r.Times > 1 {
			return fmt.Sprintf("every %v, %d times: %s", after, r.Times, what)
		}
		return fmt.Sprintf("after %v: %s", after, what)
	}
	return spec
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

// lemmaWords say what is shown of a fork; nothing if it is inconclusive.
var lemmaWords = map[plan.Verdict]string{
	plan.PreferKeep: "Keeping the original is better at this fork for any number of clones (Lemma 1 of Wang, Joshi and Wornell).\n",
	plan.PreferKill: "Killing the original is better at this fork for any number of clones (Lemma 1 of Wang, Joshi and Wornell).\n",
	plan.Equal:      "Keeping and killing the original are equal at this fork for any number of clones (Lemma 1 of Wang, Joshi and Wornell).\n",
}

// refusal says that there is no better policy.
func (a *Advice) refusal() string {
	if a.Now == "" {
		return "Do not clone: no policy is faster than your current setting" + a.judged() + " without costing more machine time."
	}
	return "Keep your current setting: no single fork is faster" + a.judged() + " without costing more machine time."
}

// judged says by what policies are judged, if not by the mean.
func (a *Advice) judged() string {
	if a.Quantile == 0 {
		return ""
	}
	return fmt.Sprintf(", at the %g %% quantile of the job's latency,", 100*a.Quantile)
}

// confidenceWords says how sure the recommendation is.
func (a *Advice) confidenceWords() string {
	c := a.sure
	return fmt.Sprintf("In %g %% of %d resamples of your durations, the best policy beats your current setting by %.1f to %.1f %% in latency,\n"+
		"and saves %.1f to %.1f %% of the machine time. It is faster in %.3g %% of them, and needs no more machine time in %.3g %%.",
		100*c.Level, c.Resamples, 100*c.Low.Latency, 100*c.High.Latency, 100*c.Low.Cost, 100*c.High.Cost, 100*c.Faster, 100*c.Cheaper)
}
