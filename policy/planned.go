package policy

import (
	"errors"

	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/plan/rule"
)

// Rule returns the rule that a policy follows, for the planner to evaluate on a job of so many tasks; nil if the
// planner does not know it. The spec is that of [New]. It is an error if the planner does not evaluate one of the
// settings.
func Rule(spec string, tasks int) (plan.Rule, error) {
	entry, args, err := Parse(spec)
	if err != nil {
		return nil, err
	}
	switch entry.Name {
	case "fork":
		if args.Bool("learn") {
			return nil, errors.New("the planner does not evaluate learn; try it with 'tailcut simulate'")
		}
		return planned(forkRules(args), tasks), nil
	case "spark":
		if args.Span("task_threshold") > 0 {
			return nil, errors.New("the planner does not evaluate task_threshold; try it with 'tailcut simulate'")
		}
		return plan.Spark(sparkRule(args).Seconds()), nil
	case "flink":
		return plan.Flink(flinkRule(args).Seconds()), nil
	case "hadoop2":
		if args.Choice("estimator") != "legacy" {
			return nil, errors.New("the planner evaluates the estimator legacy only; try others with 'tailcut simulate'")
		}
		return plan.Hadoop(hadoopRule(args).Seconds()), nil
	}
	return nil, nil
}

// planned returns one fork or two. Two at the same task are one.
func planned(rules []rule.Fork, tasks int) plan.Rule {
	first := plan.SingleFork(rules[0], tasks)
	if len(rules) == 1 {
		return first
	}
	second := plan.SingleFork(rules[1], tasks)
	switch {
	case second.Stragglers == 0:
		return first
	case second.Stragglers < first.Stragglers:
		return plan.Forks{first, second}
	case second.Original == plan.Kill:
		return second
	}
	first.Clones += second.Clones
	return first
}
