package policy

import (
	"fmt"
	"math"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// words are what attempts may say of themselves: fate changes one that is to stand still for 1,000 s after a third of its time.
var words = []struct {
	name string
	fate func(f *fate)
}{
	{"the truth", func(*fate) {}},
	{"reports stop", func(f *fate) { f.hang() }},
	{"no report ever", func(f *fate) { f.hang(); f.stops = 0 }},
	{"the same again", func(f *fate) { f.hang(); f.nags = true }},
	{"0.99 for ever", func(f *fate) {
		f.hang()
		f.nags, f.tells = true, func(done float64) float64 { return min(0.99, 4*done) }
	}},
	{"1 for ever", func(f *fate) { f.hang(); f.nags, f.tells = true, func(done float64) float64 { return min(1, 4*done) } }},
	{"more than is so", func(f *fate) { f.hang(); f.tells = func(done float64) float64 { return -math.Expm1(-5 * done) } }},
	{"back to the beginning", func(f *fate) {
		f.hang()
		f.tells = func(done float64) float64 { return done - 0.25*math.Floor(4*done) + 0.1*math.Floor(4*done) }
	}},
	{"late", func(f *fate) {
		f.hang()
		f.late = func(at sched.Time) sched.Time { return f.reports * (1 + at/f.reports%3) }
	}},
	{"an end that does not come", func(f *fate) {
		f.hang()
		f.rate, f.reports = true, 0
	}},
}

func (f *fate) hang() { f.stops, f.rests = f.lasts/3, 1000*sched.Second }

// TestHung: one of ten tasks hangs, whatever it says, nine are done after 20 s, ten slots are idle. Every policy that judges by progress has cloned or
// replaced it within 100 s, five times the mean, and no other task more than once.
func TestHung(t *testing.T) {
	s := sched.Second
	law := "law=(pareto:alpha=3,xm=13.3)"
	for _, spec := range []string{
		"laxity", "laxity:judge=0s," + law, "chronos-clone:" + law, "chronos-restart:" + law, "chronos-resume:" + law, "chronos-restart", "chronos-resume", "shed:when=reports,interval=10s," + law,
		"late", "mantri", "mantri-dup", "grass", "grass:mode=gs", "grass:mode=ras", "ese", "hadoop", "hadoop2", "hadoop2:estimator=simple-exponential", "hopper",
	} {
		for _, word := range words[1:] {
			for _, resumable := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, %v", spec, word.name, resumable), func(t *testing.T) {
					w := on(t, spec, sched.NoLimits())
					w.machines(20)
					w.submit(0, &sched.JobSpec{Deadline: 45 * s, Retries: 3, Stages: []sched.StageSpec{{Tasks: 10, Resumable: resumable}}})
					w.fate = func(d *sched.Decision) fate {
						f := fate{lasts: 20 * s, reports: 2 * s}
						if word.fate(&f); d.Task != 3 || d.Number > 0 {
							f.rests = 0
						}
						if d.Task == 3 && d.Number == 0 {
							return f
						}
						f.rate = false
						return f
					}
					w.run()
					if done := w.core.View().Job(0).Closed; done > 140*s {
						t.Errorf("the job was over at %v: %v", done, w.orderLines(0))
					}
					attempts := map[sched.TaskID]int{}
					for i := range w.orders {
						if d := &w.orders[i]; d.Kind == sched.Launch {
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
