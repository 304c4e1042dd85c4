package policy

import (
	"fmt"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestAutoBudget: on 300 slots a job of 100 tasks, 40 of which hang, gets clones for a tenth of the slots at once. Other
// budgets count where they allow more than the usual limits, and limits that are given always.
func TestAutoBudget(t *testing.T) {
	given := sched.DefaultLimits()
	given.Clones = sched.CloneBudget{Floor: 25}
	for _, c := range []struct {
		spec   string
		limits sched.Limits
		most   int
	}{
		{"auto", sched.DefaultLimits(), 30},
		{"auto:budget=0.05", sched.DefaultLimits(), 15},
		{"auto:budget=0", sched.DefaultLimits(), 10},
		{"auto", given, 25},
	} {
		t.Run(fmt.Sprintf("%s at most %d", c.spec, c.most), func(t *testing.T) {
			w := on(t, c.spec, c.limits)
			w.Machines(300)
			w.Submit(0, policytest.Tasks(100))
			w.Fate = func(d *sched.Decision) policytest.Fate {
				if d.Number == 0 && d.Task%5 < 2 {
					return policytest.Fate{Lasts: 1000 * sched.Second}
				}
				return policytest.Fate{Lasts: 10*sched.Second + sched.Time(d.Task)*sched.Millisecond}
			}
			most := 0
			for w.Step() {
				most = max(most, w.Core.View().Cluster().Clones())
			}
			if most != c.most {
				t.Errorf("%d clones at once, want %d", most, c.most)
			}
		})
	}
}

// TestAutoSpendsTheBudgetOnTheWorst: a task is long by its size, so its clone takes as long. Once a task of another job is
// slow for which the budget of one clone has no room, that clone ends and makes room. Where nothing reports, ages alone
// say too little for that.
func TestAutoSpendsTheBudgetOnTheWorst(t *testing.T) {
	const s, slow, large = sched.Second, 500 * sched.Second, 1000 * sched.Second
	for _, c := range []struct {
		reports sched.Time
		most    sched.Time
	}{{s, 100 * s}, {0, slow}} {
		limits := sched.DefaultLimits()
		limits.Clones = sched.CloneBudget{Floor: 1}
		w := on(t, "auto", limits)
		w.Machines(40)
		w.Submit(0, policytest.Tasks(10))
		w.Submit(30*s, policytest.Tasks(10))
		w.Fate = func(d *sched.Decision) policytest.Fate {
			f := policytest.Fate{Lasts: 10 * s, Reports: c.reports}
			switch {
			case d.Task == 0:
				f.Lasts = large
			case d.Task == 10 && d.Number == 0:
				f.Lasts = slow
			}
			return f
		}
		for w.Step() {
		}
		second := w.Core.View().Job(1)
		if took := second.Closed - second.Arrived; took > c.most {
			t.Errorf("reports each %v: the second job takes %v, want at most %v", c.reports, took, c.most)
		}
		if first := w.Core.View().Job(0); c.reports > 0 && first.Closed > large {
			t.Errorf("the first job takes %v: its task began anew", first.Closed)
		}
	}
}

// TestFutileCrowd: that as many clones lose as may begin at once, up to 20, is not enough for all to end. Twice as many
// is, and one that has won speaks against it.
func TestFutileCrowd(t *testing.T) {
	for _, crowd := range []float64{0, 10, 20, 1000} {
		r := redraws{crowd: crowd}
		atOnce := min(max(usualCrowd, crowd), mostCrowds*usualCrowd)
		r.hazard = atOnce * mostHazard
		if r.weigh(); r.futile {
			t.Errorf("%v clones at once are futile together", atOnce)
		}
		r.hazard *= 2.2
		if r.weigh(); !r.futile {
			t.Errorf("%v clones at once are not futile though twice as many have lost", atOnce)
		}
		r.wins, r.futile = 1, false
		if r.weigh(); r.futile {
			t.Errorf("%v clones at once are futile though one has won", atOnce)
		}
	}
}
