package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestScenarios plays the stories in testdata. Commands:
//
//	world policy=SPEC machines=N slots=N     a new world; all machines join at 0
//	job at=DUR lasts=(DUR,...) clones=DUR    a job with a task per duration; later attempts last as long as clones says
//	lose machine=N at=DUR                    the machine and what runs there is lost
//	report every=DUR                         attempts report progress so often
//	run                                      to the end: every fact that changes something and every order
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		var s *scenario
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "world":
				s = newScenario(t, d)
			case "job":
				s.job(t, d)
			case "lose":
				m := 0
				d.ScanArgs(t, "machine", &m)
				s.w.Facts.Push(sched.Event{At: duration(t, d, "at"), Kind: sched.MachineLost, Machine: sched.MachineID(m)})
			case "report":
				s.reports = duration(t, d, "every")
			case "run":
				s.w.Run()
				return s.out.String()
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			return ""
		})
	})
}

type scenario struct {
	w         *policytest.World
	out       strings.Builder
	originals []sched.Time // by task
	clones    []sched.Time
	reports   sched.Time
}

func newScenario(t *testing.T, d *datadriven.TestData) *scenario {
	var spec string
	machines, slots := 1, 1
	d.ScanArgs(t, "policy", &spec)
	d.ScanArgs(t, "machines", &machines)
	d.MaybeScanArgs(t, "slots", &slots)
	s := &scenario{w: on(t, spec, sched.DefaultLimits())}
	for range machines {
		s.w.Machine(0, slots)
	}
	s.w.Fate = func(d *sched.Decision) policytest.Fate {
		lasts := s.originals[d.Task]
		if d.Number > 0 {
			lasts = s.clones[d.Task]
		}
		return policytest.Fate{Lasts: lasts, Reports: s.reports}
	}
	s.w.Seen = func(_ sched.Time, orders []sched.Decision) {
		for i := range orders {
			fmt.Fprintln(&s.out, policytest.OrderLine(&orders[i]))
		}
	}
	return s
}

func (s *scenario) job(t *testing.T, d *datadriven.TestData) {
	n := 0
	for _, arg := range d.CmdArgs {
		if arg.Key != "lasts" {
			continue
		}
		for _, text := range arg.Vals {
			s.originals = append(s.originals, parse1(t, d, text))
			s.clones = append(s.clones, duration(t, d, "clones"))
			n++
		}
	}
	s.w.Submit(duration(t, d, "at"), policytest.Tasks(n))
}

func duration(t *testing.T, d *datadriven.TestData, key string) sched.Time {
	var text string
	d.ScanArgs(t, key, &text)
	return parse1(t, d, text)
}

func parse1(t *testing.T, d *datadriven.TestData, text string) sched.Time {
	x, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return sched.Time(x)
}
