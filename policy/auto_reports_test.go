package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestFilter: an attempt that takes 100 s reports every second. What each report has wrong by itself averages out, what
// all have in common stays, and what is right is believed as it is.
func TestFilter(t *testing.T) {
	for name, c := range map[string]struct {
		own, common, change float64 // deviations of the logarithm
		most                float64 // error by that of the latest report
	}{
		"right":           {0, 0, 0, 1},
		"each by itself":  {0.5, 0, 0, 0.55},
		"all in common":   {0, 0.5, 0, 1.001},
		"both":            {0.3, 0.3, 0, 0.85},
		"pace that moves": {0, 0, 0.2, 1.02},
	} {
		r := rand.New(rand.NewPCG(119, 1))
		var f filter
		off, alone := 0.0, 0.0
		for attempt := range 300 {
			id := sched.AttemptID(1+attempt)<<32 | sched.AttemptID(attempt%7) // rows are used again
			common, pace := c.common*r.NormFloat64(), 0.0
			for s := 1.0; s < 90; s++ {
				if r.Float64() < 0.05 {
					pace += c.change * r.NormFloat64()
				}
				left := (100 - s) * math.Exp(pace)
				says := left * math.Exp(common+c.own*r.NormFloat64())
				f.hears(id, sched.FromSeconds(s), says, sq(c.common)+sq(c.own))
				if attempt > 50 && s > 10 {
					off += sq(math.Log(f.rows[id.Row()].left / left))
					alone += sq(math.Log(says / left))
				}
			}
		}
		own, change := f.errors()
		t.Logf("%s: error %.4f, of the latest report alone %.4f; own %.3f, change %.3f", name, math.Sqrt(off), math.Sqrt(alone), own, change)
		if off > sq(c.most)*alone+1e-3 {
			t.Errorf("%s: error %.4f, of the latest report alone %.4f", name, math.Sqrt(off), math.Sqrt(alone))
		}
		if math.Abs(own-c.own*c.own) > 0.1*c.own*c.own+0.005 {
			t.Errorf("%s: reports have a variance of %.3f of their own, not %.3f", name, own, c.own*c.own)
		}
	}
}

// TestOutlives: the clones of a stage, judged by few winners, do not say more than they can: by the chance that so many
// outlive all winners, of which there are taken to be a few more.
func TestOutlives(t *testing.T) {
	for winners := 1; winners <= 64; winners *= 4 {
		for clones := 1; clones <= 64; clones *= 4 {
			var r redraws
			var st autoStage
			st.past.reset()
			for range winners {
				st.past.add(7)
			}
			for k := range clones {
				r.outlives(&st, sched.AttemptID(1)<<32|sched.AttemptID(k), 1, true)
				r.outlives(&st, sched.AttemptID(1)<<32|sched.AttemptID(k), mostHazard, true)
			}
			n := winners + moreWinners
			all, _ := math.Lgamma(float64(n + clones + 1))
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(clones + 1))
			if most := min(all-a-b, mostHazard*float64(clones)); r.hazard > most+1e-9 || r.hazard < most/2 {
				t.Errorf("%d clones outlive %d winners: %.2f, expected at most %.2f", clones, winners, r.hazard, most)
			}
		}
	}
}

// TestTold: where a mean is stated and no deviation, durations differ as they do in other stages.
func TestTold(t *testing.T) {
	stage := sched.Stage{Mean: 10 * sched.Second}
	var law timeLeft
	told(&stage, 0.3, 0, &law)
	var s sample
	s.sorted = law.x
	g, _ := s.gini()
	if m := law.mean(); math.Abs(m-10) > 0.5 || math.Abs(g-0.3) > 0.05 {
		t.Errorf("mean %.2f s, Gini's coefficient %.2f", m, g)
	}
	stage.SD = 2 * sched.Second
	if told(&stage, 0.3, 0, &law); law.x[len(law.x)-1] > 14 {
		t.Errorf("mean 10 s, deviation 2 s: %v", law.x)
	}
}

// TestOlderThanAll: all winners took 100 s. An attempt that has run for longer may last as long again, the longer it has
// run, although the clone of its task is young and no other attempt is old.
func TestOlderThanAll(t *testing.T) {
	p := autoOn(t, "auto")
	var past sample
	past.reset()
	for range 80 {
		past.add(100)
	}
	p.eye.past, p.eye.tail = &past, tailOf(past.index())
	var law timeLeft
	for _, x := range []struct{ age, least, most float64 }{{0, 100, 110}, {90, 10, 20}, {130, 20, 130}, {200, 100, 400}, {1000, 500, 2000}} {
		if p.byAge(nil, x.age, &law); law.mean() < x.least || law.mean() > x.most {
			t.Errorf("after %v s: %.1f s, expected %v to %v", x.age, law.mean(), x.least, x.most)
		}
	}
}

// TestAutoHears: a report that says that an attempt is slow does not wait for the next look, here one after 100 medians.
func TestAutoHears(t *testing.T) {
	const s = sched.Second
	w := on(t, "auto:look=100", sched.DefaultLimits())
	w.Machines(40)
	w.Submit(0, policytest.Tasks(40))
	w.Fate = func(d *sched.Decision) policytest.Fate {
		if d.Task == 7 && d.Number == 0 {
			return policytest.Fate{Lasts: 1000 * s, Reports: s}
		}
		return policytest.Fate{Lasts: 100 * s, Reports: s}
	}
	w.Run()
	v := w.Core.View()
	if len(w.Clones()) == 0 || v.Now() > 210*s {
		t.Errorf("clones %v, the job ends at %v; want one at the first report after the others have won, at 101 s", w.Clones(), v.Now())
	}
}

// TestAutoHearsSeldom: the more tasks run, the more reports there are between two looks that they ask for, and more
// while tasks of the stage wait.
func TestAutoHearsSeldom(t *testing.T) {
	const s, slots = sched.Second, 640
	for tasks, want := range map[int]int{slots: slots / 64, slots + 100: slots / 16} {
		p := autoOn(t, "auto:look=100")
		w := policytest.NewWorld(t, p, sched.DefaultLimits())
		w.Machines(slots)
		w.Submit(0, policytest.Tasks(tasks))
		w.Fate = func(d *sched.Decision) policytest.Fate {
			if d.Task < 10 {
				return policytest.Fate{Lasts: 100 * s, Reports: s}
			}
			return policytest.Fate{Lasts: 1000 * s, Reports: s}
		}
		for w.Core.View().Now() < 102*s && w.Step() {
		}
		v, st := w.Core.View(), p.stages.Of(0)
		st.heard, st.asked = 0, false
		p.due.Set(0, kit.Rising[sched.Time]{X: sched.Never})
		slow, _ := v.RunningTask(0, 0)
		a, _ := v.FirstAttempt(slow)
		x, _ := p.trust.filter.of(a)
		x.asked = 0
		reports := 0
		for ; p.due.TopKey().X > v.Now() && reports < tasks; reports++ {
			p.hears(v, st, a)
		}
		if reports != want {
			t.Errorf("a look after %d reports of %d tasks, want %d", reports, tasks, want)
		}
	}
}
