package policy

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestLate has hand-worked examples of section 4 of the paper (digest section 13). Eight tasks start at 0 on machines 0 to 7 of 12; tasks 4, 5 and 6 last
// 300, 400 and 350 s, the others 100 s, a clone 50 s.
func TestLate(t *testing.T) {
	s := sched.Second
	times := []sched.Time{100 * s, 100 * s, 100 * s, 100 * s, 300 * s, 400 * s, 350 * s, 100 * s}
	every10 := policytest.Fate{Reports: 10 * s}
	cases := []struct {
		name, policy string
		how          policytest.Fate
		want         []string
	}{
		// cap 1. At 60 s the slowest floor(8/4) = 2 are tasks 5 and 6; 340 s are left of task 5. At 110 s its clone has won, and of 6 and 4, now the slowest,
		// 240 s and 190 s are left; and so on
		{"longest time left first", "late", every10, []string{"1m0s t5 #1 m8", "1m50s t6 #1 m0", "2m40s t4 #1 m0"}},
		{"the driver knows the rate and tells it once", "late", policytest.Fate{Rate: true}, []string{"1m0s t5 #1 m8", "1m50s t6 #1 m0", "2m40s t4 #1 m0"}},
		// cap floor(0.25 x 12) = 3. While both attempts of tasks 5 and 6 run, task 4 is the third of ten, and not below sorted[floor(10/4)]
		{"cap", "late:cap=0.25", every10, []string{"1m0s t5 #1 m8", "1m0s t6 #1 m9", "1m50s t4 #1 m0"}},
		{"cap of 0", "late:cap=0", every10, nil},
		{"min_age", "late:min_age=120s", every10, []string{"2m0s t5 #1 m0", "2m50s t6 #1 m0", "3m40s t4 #1 m0"}},
		{"nobody is below the lowest rate", "late:slow_task=0.1", every10, nil},
		// without reports: five tasks done at 100 s, rates and mean say 100 s, so older attempts are slow, equally old ones by id
		{"silent, judged by age", "late", policytest.Fate{}, []string{"1m40.000000001s t4 #1 m0", "2m30.000000001s t5 #1 m0", "3m20.000000001s t6 #1 m0"}},
		{"silent, judged by progress", "late:estimate=progress", policytest.Fate{}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, c.policy, sched.NoLimits())
			w.Machines(12)
			w.Submit(0, policytest.Tasks(8))
			length := policytest.Lasts(50*s, times...)
			w.Fate = func(d *sched.Decision) policytest.Fate {
				f := c.how
				f.Lasts = length(d).Lasts
				return f
			}
			w.Run()
			if diff := gocmp.Diff(c.want, w.Clones()); diff != "" {
				t.Errorf("clones (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLateOnOneMachine is the live engine's case: two slots of one machine, plain commands that report nothing, one of them disturbed.
func TestLateOnOneMachine(t *testing.T) {
	s := sched.Second
	w := on(t, "late-short", sched.DefaultLimits())
	w.Machine(0, 2)
	w.Submit(0, policytest.Tasks(10))
	w.Fate = policytest.Lasts(s, s, s, s, 20*s, s)
	w.Run()
	if diff := gocmp.Diff([]string{"8s t3 #1 m0"}, w.Clones()); diff != "" || w.Now != 9*s {
		t.Errorf("ended at %v, want 9s; clones (-want +got):\n%s", w.Now, diff)
	}
}

// TestLateNodeFilter: machine 3 has done nothing and so counts as slow; the clone waits for machine 1.
func TestLateNodeFilter(t *testing.T) {
	for policy, want := range map[string][]string{
		"late:slow_task=0.5":                  {"1m0s t0 #1 m3"},
		"late:slow_task=0.5,node_filter=true": {"1m40s t0 #1 m1"},
	} {
		w := on(t, policy, sched.NoLimits())
		w.Machines(4)
		w.Submit(0, policytest.Tasks(3))
		s := sched.Second
		w.Fate = func(d *sched.Decision) policytest.Fate {
			return policytest.Fate{Lasts: []sched.Time{400 * s, 100 * s, 100 * s}[d.Task], Reports: 10 * s}
		}
		w.Run()
		if diff := gocmp.Diff(want, w.Clones()); diff != "" {
			t.Errorf("%s: clones (-want +got):\n%s", policy, diff)
		}
	}
}
