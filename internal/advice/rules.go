package advice

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy"
)

// comparable are the policies that the planner can evaluate, by their names in the registry.
const comparable = "spark, spark3, flink, hadoop2, backup, fork, timeout"

// parseRule reads a rule of --compare and --now: a policy as --policy of run and simulate takes it, several forks
// joined by +, or a time-out.
func parseRule(spec string, tasks int) (plan.Rule, error) {
	var rule plan.Rule
	var err error
	switch name, rest, _ := strings.Cut(spec, ":"); {
	case name == "timeout":
		rule, err = parseTimeout(rest)
	case strings.Contains(spec, "+"):
		rule, err = parseForks(spec, tasks)
	default:
		rule, err = parsePolicy(spec, tasks)
	}
	if err == nil {
		err = rule.Validate(tasks)
	}
	return rule, err
}

func parsePolicy(spec string, tasks int) (plan.Rule, error) {
	r, err := policy.Rule(spec, tasks)
	if r == nil && err == nil {
		err = fmt.Errorf("the planner supports only %s; evaluate others with: tailcut simulate WORKLOAD --policy NAME", comparable)
	}
	return r, err
}

// parseForks reads fork:p=0.2,r=1+fork:p=0.05,r=2.
func parseForks(spec string, tasks int) (plan.Rule, error) {
	var forks plan.Forks
	for part := range strings.SplitSeq(spec, "+") {
		r, err := parsePolicy(part, tasks)
		if err != nil {
			return nil, err
		}
		p, ok := r.(plan.Policy)
		if !ok {
			return nil, fmt.Errorf("only forks can be joined by +, got %s", part)
		}
		forks = append(forks, p)
	}
	return forks, nil
}

// parseTimeout reads after=30s,r=1,original=keep,times=1.
func parseTimeout(text string) (plan.Rule, error) {
	t := plan.Timeout{Clones: 1, Times: 1}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "after":
			var d time.Duration
			d, err = time.ParseDuration(value)
			t.After = d.Seconds()
		case "r":
			t.Clones, err = strconv.Atoi(value)
		case "times":
			t.Times, err = strconv.Atoi(value)
		case "original":
			switch value {
			case "keep":
			case "kill":
				t.Original = plan.Kill
			default:
				err = fmt.Errorf("not keep or kill")
			}
		default:
			return nil, fmt.Errorf("timeout has no parameter %q; valid: after=30s, r=1, original=keep, times=1", part)
		}
		if err != nil {
			return nil, fmt.Errorf("%s is not a parameter of timeout; expected one such as after=30s, r=1, original=keep or times=1", part)
		}
	}
	return t, nil
}

// comparison is another rule and what it does.
type comparison struct {
	spec, words string
	rule        plan.Rule
	plan.Assessment
}

// comparison reads a rule of a field of the request.
func (a *Advice) comparison(field, spec string) (comparison, error) {
	r, err := parseRule(spec, a.Tasks)
	if err != nil {
		return comparison{}, invalid("%s %s: %w", field, spec, err)
	}
	what := ruleWords(spec, r, a.Tasks)
	if spec == "spark" {
		what = "Spark 4's defaults"
	}
	return comparison{spec: spec, words: what, rule: r}, nil
}
