package policy

import (
	"fmt"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestHung: one of ten tasks hangs, whatever it says, nine are done after 20 s, ten slots are idle. Every policy that judges by progress has cloned or
// replaced it within 100 s, five times the mean, and no other task more than once.
func TestHung(t *testing.T) {
	s := sched.Second
	law := "law=(pareto:alpha=3,xm=13.3)"
	for _, spec := range []string{
		"laxity", "laxity:judge=10s," + law, "chronos-clone:" + law, "chronos-restart:" + law, "chronos-resume:" + law, "chronos-restart", "chronos-resume", "shed:when=reports,interval=10s," + law,
		"late", "mantri", "mantri-dup", "grass", "grass:mode=gs", "grass:mode=ras", "ese", "hadoop", "hadoop2", "hadoop2:estimator=simple-exponential", "hopper",
	} {
		for _, word := range policytest.Words[1:] {
			for _, resumable := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, %v", spec, word.Name, resumable), func(t *testing.T) {
					w := on(t, spec, sched.NoLimits())
					w.Machines(20)
					w.Submit(0, &sched.JobSpec{Deadline: 45 * s, Retries: 3, Stages: []sched.StageSpec{{Tasks: 10, Resumable: resumable}}})
					w.Fate = func(d *sched.Decision) policytest.Fate {
						f := policytest.Fate{Lasts: 20 * s, Reports: 2 * s}
						if word.Fate(&f); d.Task != 3 || d.Number > 0 {
							f.Rests = 0
						}
						if d.Task == 3 && d.Number == 0 {
							return f
						}
						f.Rate = false
						return f
					}
					w.Run()
					if done := w.Core.View().Job(0).Closed; done > 140*s {
						t.Errorf("the job was over at %v: %v", done, orderLines(w, 0))
					}
					attempts := map[sched.TaskID]int{}
					for i := range w.Orders {
						if d := &w.Orders[i]; d.Kind == sched.Launch {
							attempts[d.Task]++
							if d.Task == 3 && d.Number == 1 && d.At > 100*s {
								t.Errorf("the second attempt came at %v", d.At)
							}
						}
					}
				})
			}
		}
	}
}
