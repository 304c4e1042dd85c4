package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestFlink has hand-worked examples of the rule that flink.go quotes. The first nine of ten tasks last 1 s to 9 s; k = round(7.5) = 8, and T is the
// fifth smallest of the winners' durations, 5 s.
func TestFlink(t *testing.T) {
	s := sched.Second
	ten := []*sched.JobSpec{policytest.Tasks(10)}
	steps := []sched.Time{1 * s, 2 * s, 3 * s, 4 * s, 5 * s, 6 * s, 7 * s, 8 * s, 9 * s, 100 * s}
	tellAll(t, []policytest.Story{
		// eight of ten are 75 % at 8 s: then tasks 8 and 9 are of 8 s, at least 7.5 s
		{Name: "without lower bound", Policy: "flink:lower_bound=0s", Machines: 10, Jobs: ten, Lasts: steps, Again: s, Want: []string{"8s t8 #1 m0", "8s t9 #1 m1"}},
		{Name: "multiplier", Policy: "flink:lower_bound=0s,multiplier=4", Machines: 10, Jobs: ten, Lasts: steps, Again: s, Want: []string{"20s t9 #1 m0"}},
		{Name: "at least, not more than", Policy: "flink:lower_bound=0s,multiplier=1.8", Machines: 10, Jobs: ten, Lasts: append(steps[:8:8], 9*s+1, 100*s), Again: s,
			Want: []string{"9s t8 #1 m0", "9s t9 #1 m1"}},
		{Name: "lower bound", Policy: "flink", Machines: 10, Jobs: ten, Lasts: steps, Again: s, Want: []string{"1m0s t9 #1 m0"}},
		{Name: "interval", Policy: "flink:lower_bound=0s,interval=30s", Machines: 10, Jobs: ten, Lasts: steps, Again: s, Want: []string{"30s t9 #1 m0"}},
		{Name: "ratio 0: everything that is old enough", Policy: "flink:ratio=0,lower_bound=6s", Machines: 10, Jobs: ten, Lasts: steps, Again: 50 * s,
			Want: []string{"6s t6 #1 m0", "6s t7 #1 m1", "6s t8 #1 m2", "6s t9 #1 m3"}},
		{Name: "ratio 1: nobody is left", Policy: "flink:ratio=1,lower_bound=0s", Machines: 10, Jobs: ten, Lasts: steps, Again: s},
		// k = round(2.25) = 2 of three; T is the second smallest, 4 s
		{Name: "rank", Policy: "flink:lower_bound=0s,multiplier=3,ratio=0.6", Machines: 3, Jobs: []*sched.JobSpec{policytest.Tasks(3)}, Lasts: []sched.Time{2 * s, 4 * s, 100 * s},
			Again: s, Want: []string{"12s t2 #1 m0"}},
	})
}

// TestFlinkBlocks: a machine with a slow attempt takes no attempts, fresh ones neither, while that runs and for as long
// as block says after the last check before its end; unless it is the only machine.
func TestFlinkBlocks(t *testing.T) {
	s := sched.Second
	// Task 0 runs on machine 0 for 20 s, task 1 on machine 1 for 10.5 s; both are slow at 3 s. At 4 s task 2 comes.
	for _, c := range []struct {
		policy   string
		machines []int
		want     []string
	}{
		{"flink:ratio=0,lower_bound=3s,block=10s", []int{2}, []string{"3s t0 #1 m0"}},
		{"flink:ratio=0,lower_bound=3s,block=0s", []int{1, 1}, []string{"10.5s t0 #1 m1"}},
		// the check of 10 s has blocked machine 1 until 15 s
		{"flink:ratio=0,lower_bound=3s,block=5s", []int{1, 1}, []string{"15s t0 #1 m1"}},
		{"flink:ratio=0,lower_bound=3s,block=5s,clones=cluster", []int{1, 1}, []string{"16s t0 #1 m1"}},
	} {
		w := on(t, c.policy, sched.NoLimits())
		for _, slots := range c.machines {
			w.Machine(0, slots)
		}
		w.Submit(0, policytest.Tasks(len(c.machines)))
		lasts := []sched.Time{20 * s, 10*s + s/2}
		if len(c.machines) > 1 {
			lasts = append(lasts, s)
			w.Submit(4*s, policytest.Tasks(1))
		}
		w.Fate = policytest.Lasts(s, lasts...)
		w.Run()
		if diff := cmp.Diff(c.want, w.Clones()); diff != "" {
			t.Errorf("%s on %v: clones (-want +got):\n%s", c.policy, c.machines, diff)
		}
	}
}

// TestFlinkBaseline: T is the (k/2+1)th smallest of all winners, so that it falls when short tasks end late.
func TestFlinkBaseline(t *testing.T) {
	var lowest kit.Lowest // the third smallest
	lowest.Reset(3)
	for i, c := range []struct{ d, want sched.Time }{{9, 9}, {5, 9}, {7, 9}, {8, 8}, {6, 7}, {1, 6}, {9, 6}} {
		if lowest.Add(c.d); lowest.Value() != c.want {
			t.Errorf("after %d: T = %d, want %d", i, lowest.Value(), c.want)
		}
	}
}
