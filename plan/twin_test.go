package plan_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestPoliciesAndPlanner plays a stage whose tasks all start at once, with slots for whatever a rule starts: by the policy, in a core, and
// by the planner. Both have to clone the same tasks at the same nanosecond, and the tasks have to be done at the same.
//
// The planner's times are nanoseconds here, and durations milliseconds, so that its numbers are exact. Multipliers are sums of powers of
// two: a policy cuts a limit to whole nanoseconds, and of these there is nothing to cut. Clones last 1 µs more than milliseconds, so that
// none ends with an original; who wins then is another matter. With fewer slots than tasks there is nothing to compare: the planner has none.
func TestPoliciesAndPlanner(t *testing.T) {
	for _, system := range []struct {
		name string
		draw func(t *rapid.T, tasks int) (spec string, r plan.Rule)
	}{
		{"spark", func(t *rapid.T, tasks int) (string, plan.Rule) {
			return ruleOf[plan.Spark](t, tasks, "spark:quantile=%g,multiplier=%g,interval=%v,min_runtime=%v", share(t, "quantile"), multiple(t), step(t, "interval"), span(t, "min_runtime"))
		}},
		{"flink", func(t *rapid.T, tasks int) (string, plan.Rule) {
			return ruleOf[plan.Flink](t, tasks, "flink:block=0s,ratio=%g,multiplier=%g,interval=%v,lower_bound=%v", share(t, "ratio"), multiple(t), step(t, "interval"), span(t, "lower_bound"))
		}},
		{"hadoop", func(t *rapid.T, tasks int) (string, plan.Rule) {
			return ruleOf[plan.Hadoop](t, tasks, "hadoop2:retry=%v,rest=%v,min_allowed=%d,total_cap=%g,running_cap=%g", step(t, "retry"), step(t, "rest"),
				rapid.IntRange(0, 3).Draw(t, "min_allowed"), share(t, "total_cap"), share(t, "running_cap"))
		}},
		{"fork", func(t *rapid.T, tasks int) (string, plan.Rule) {
			original := rapid.SampledFrom([]string{"keep", "kill"}).Draw(t, "original")
			return ruleOf[plan.Policy](t, tasks, "fork:p=%g,r=%d,original=%s", share(t, "p"), rapid.IntRange(0, 3).Draw(t, "r"), original)
		}},
		{"backup", func(t *rapid.T, tasks int) (string, plan.Rule) { return ruleOf[plan.Policy](t, tasks, "backup") }},
	} {
		t.Run(system.name, func(tb *testing.T) {
			compared := 0
			rapid.Check(tb, func(t *rapid.T) {
				durations := rapid.SliceOfNDistinct(rapid.IntRange(1, 3000), rapid.SampledFrom([]int{1, 20}).Draw(t, "at least"), 40, rapid.ID).Draw(t, "milliseconds")
				if system.name != "hadoop" && rapid.Bool().Draw(t, "ties") { // which of two that would end together Hadoop takes is no rule
					durations = append(durations, durations[:len(durations)/2]...)
				}
				slices.Sort(durations)
				spec, r := system.draw(t, len(durations))
				if p, ok := r.(plan.Policy); ok && p.Stragglers == len(durations) && p.Original == plan.Kill {
					return // the policy does not kill what begins: it starts one attempt less
				}
				compared += compare(tb, t, spec, r, durations)
			})
			if compared < 40 {
				tb.Errorf("only %d clones were compared", compared)
			}
		})
	}
}

func share(t *rapid.T, name string) float64 {
	return rapid.SampledFrom([]float64{0, 0.05, 0.1, 0.3, 0.5, 0.55, 0.75, 0.9, 1}).Draw(t, name)
}

func multiple(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{0, 0.5, 1, 1.25, 1.5, 2, 3}).Draw(t, "multiplier")
}

func step(t *rapid.T, name string) sched.Time {
	return sched.Time(rapid.SampledFrom([]int{1, 7, 100, 250, 1000}).Draw(t, name)) * sched.Millisecond
}

func span(t *rapid.T, name string) sched.Time {
	return sched.Time(rapid.SampledFrom([]int{0, 1, 100, 700}).Draw(t, name)) * sched.Millisecond
}

// ruleOf returns the spec of a policy, and the rule that it follows in nanoseconds.
func ruleOf[R plan.Rule](t *rapid.T, tasks int, format string, args ...any) (string, plan.Rule) {
	spec := fmt.Sprintf(format, args...)
	r, err := policy.Rule(spec, tasks)
	if err != nil {
		t.Fatal(err)
	}
	ns := func(seconds *float64) { *seconds = float64(sched.FromSeconds(*seconds)) }
	switch r := any(r).(type) {
	case plan.Spark:
		ns(&r.Interval)
		ns(&r.MinRuntime)
		return spec, r
	case plan.Flink:
		ns(&r.Interval)
		ns(&r.LowerBound)
		return spec, r
	case plan.Hadoop:
		ns(&r.Retry)
		ns(&r.Rest)
		return spec, r
	}
	return spec, r.(R)
}

// launch is a clone of a task.
type launch struct {
	Task sched.TaskID
	At   sched.Time
}

// compare plays the stage in both ways and returns how many tasks got new attempts.
func compare(tb testing.TB, t *rapid.T, spec string, r plan.Rule, milliseconds []int) int {
	sorted := make([]float64, len(milliseconds))
	for i, d := range milliseconds {
		sorted[i] = float64(sched.Time(d) * sched.Millisecond)
	}
	fresh, err := laws.NewEmpirical([]float64{1e6 + 1e3, 40e6 + 1e3, 300e6 + 1e3, 301e6 + 1e3, 2e9 + 1e3})
	if err != nil {
		t.Fatal(err)
	}
	played, ends, lasts := plan.Played(r, fresh, sorted)
	each := 1 // new attempts of a task
	switch r := r.(type) {
	case plan.Policy:
		if each = r.Clones; r.Original == plan.Kill {
			each++
		}
	case plan.Flink:
		each = r.Executions - 1
	}
	var want []launch
	for _, c := range played {
		for range each {
			want = append(want, launch{sched.TaskID(c.Task), sched.Time(c.At)})
		}
	}
	p, err := policy.New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := policytest.NewWorld(tb, p, sched.NoLimits())
	w.Fate = func(d *sched.Decision) policytest.Fate {
		if d.Number == 0 {
			return policytest.Fate{Lasts: sched.Time(sorted[d.Task]), Rate: true}
		}
		return policytest.Fate{Lasts: sched.Time(lasts(int(d.Number), int(d.Task))), Rate: true}
	}
	for range 5 * len(sorted) {
		w.Machine(0, 1)
	}
	w.Submit(0, policytest.Tasks(len(sorted)))
	done := make([]sched.Time, len(sorted))
	for w.Step() {
	}
	var got []launch
	for _, d := range w.Orders {
		switch {
		case d.Kind == sched.Launch && d.Number > 0:
			got = append(got, launch{d.Task, d.At})
		case d.Kind == sched.Commit:
			done[d.Task] = d.At
		}
	}
	inOrder := func(a, b launch) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Task, b.Task)) }
	slices.SortFunc(want, inOrder)
	slices.SortFunc(got, inOrder)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("%s, %v ms: clones (-planner +policy):\n%s", spec, milliseconds, diff)
	}
	for i, end := range ends {
		if done[i] != sched.Time(end) {
			t.Fatalf("%s: task %d is done at %d, for the planner at %g", spec, i, done[i], end)
		}
	}
	return len(played)
}
