package policy

import (
	"reflect"
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
		"late": nil, "fork:p2=0.01": plan.Policy{Stragglers: 3, Clones: 1}, "fork:p=0.1,p2=0.2,r2=2": plan.Policy{Stragglers: 3, Clones: 3},
		"fork:p=0.1,p2=0.1,r2=2,original2=kill": plan.Policy{Stragglers: 3, Clones: 2, Original: plan.Kill},
		"fork:p=0.5,r=2,original=kill,p2=0.1":   plan.Forks{{Stragglers: 15, Clones: 2, Original: plan.Kill}, {Stragglers: 3, Clones: 1}},
	} {
		if got, err := Rule(spec, 30); err != nil || !reflect.DeepEqual(got, want) {
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
