package policy

import (
	"strconv"
	"testing"

	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/plan/rule"
	"github.com/tailcut/tailcut/policy/kit"
)

// What a policy does by default is what the planner says that the system does.
func TestRuleDefaults(t *testing.T) {
	for spec, want := range map[string]plan.Rule{
		"spark": plan.Spark4(), "spark3": plan.Spark3(), "flink": plan.FlinkDefaults(), "hadoop2": plan.HadoopDefaults(),
		"backup": plan.SingleFork(rule.Backup(), 30), "fork:original=kill": plan.Policy{Stragglers: 3, Clones: 1, Original: plan.Kill},
		"late": nil,
	} {
		if got, err := Rule(spec, 30); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", spec, got, err, want)
		}
	}
}

// The rules take whatever the policies take, to the ends of each range.
func TestRuleRanges(t *testing.T) {
	for _, e := range []*Entry{&forkEntry, &sparkEntry, &flinkEntry, &hadoop2Entry} {
		for _, p := range e.Params {
			unit := ""
			switch p.Kind {
			case kit.Span:
				unit = "s"
			case kit.Float, kit.Int:
			default:
				continue
			}
			for _, x := range []float64{p.Min, p.Max} {
				spec := e.Name + ":" + p.Name + "=" + strconv.FormatFloat(x, 'f', -1, 64) + unit
				if r, err := Rule(spec, 30); p.Name != "task_threshold" && (err != nil || r.Validate(30) != nil) {
					t.Errorf("%s: %v", spec, err)
				}
			}
		}
	}
}
