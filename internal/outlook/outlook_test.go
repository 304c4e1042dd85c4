package outlook

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// The chance of a job by hand: P(exp(1) <= t) = 1-exp(-t) for each task that is alone on its slot.
func TestOutlook(t *testing.T) {
	second := sched.Time(1e9)
	for _, c := range []struct {
		name   string
		law    string
		tasks  []int
		slots  int
		now    sched.Time
		want   float64
		within float64
	}{
		{"one task", "exp:mean=1", []int{1}, 1, 0, 1 - math.Exp(-3), 1e-12},
		{"three tasks", "exp:mean=1", []int{3}, 3, 0, math.Pow(1-math.Exp(-3), 3), 1e-12},
		{"a second later", "exp:mean=1", []int{3}, 3, second, math.Pow(1-math.Exp(-2), 3), 1e-12},
		{"a stage after it", "exp:mean=1", []int{1, 1}, 1, 0, 1 - math.Exp(-3)*(1+3), 1e-3}, // Erlang's law of two stages
		{"three beyond two slots", "exp:mean=1", []int{5}, 2, 0, math.Pow(1-math.Exp(-1.5), 2), 1e-12},
		{"no report, so by its age: S(3)/S(1)", "pareto:alpha=1,xm=2", []int{2}, 2, second, 1. / 9, 1e-12},
		{"over", "exp:mean=1", []int{1}, 1, 3 * second, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := policy.New("fifo", 1)
			if err != nil {
				t.Fatal(err)
			}
			core := sched.New(p, sched.DefaultLimits())
			if _, err := core.AddMachine(0, c.slots); err != nil {
				t.Fatal(err)
			}
			spec := sched.JobSpec{Deadline: 3 * second}
			for i, n := range c.tasks {
				spec.Stages = append(spec.Stages, sched.StageSpec{Tasks: n})
				if i > 0 {
					spec.Edges = append(spec.Edges, sched.Edge{From: i - 1, To: i})
				}
			}
			if _, err := core.Submit(&spec); err != nil {
				t.Fatal(err)
			}
			if _, err := core.Advance(0, []sched.Event{{Kind: sched.MachineJoined}, {Kind: sched.JobArrived}}); err != nil {
				t.Fatal(err)
			}
			if _, err := core.Advance(c.now, nil); err != nil {
				t.Fatal(err)
			}
			law, err := laws.Parse(c.law)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := (&Outlook{Law: law}).PoCD(core.View(), 0); !ok || math.Abs(got-c.want) > c.within {
				t.Errorf("%v, %v; want %v", got, ok, c.want)
			}
			if _, ok := (&Outlook{}).PoCD(core.View(), 0); ok {
				t.Error("a chance although nothing is known of the durations")
			}
		})
	}
}

// What is fitted to mean and standard deviation has them.
func TestOutlookFits(t *testing.T) {
	law := (&Outlook{}).lawOf(&sched.Stage{Mean: 20e9, SD: 10e9})
	if mean, sd := law.Mean(), laws.StdDev(law); math.Abs(mean-20) > 1e-9 || math.Abs(sd-10) > 1e-9 {
		t.Errorf("mean %v, standard deviation %v", mean, sd)
	}
}
