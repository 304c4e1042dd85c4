package policy

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// TestFlink has hand-worked examples of the rule that flink.go quotes. The first nine of ten tasks last 1 s to 9 s; k = round(7.5) = 8, and T is the
// fifth smallest of the winners' durations, 5 s.
func TestFlink(t *testing.T) {
	s := sched.Second
	ten := []*sched.JobSpec{tasks(10)}
	steps := []sched.Time{1 * s, 2 * s, 3 * s, 4 * s, 5 * s, 6 * s, 7 * s, 8 * s, 9 * s, 100 * s}
	tellAll(t, []story{
		// eight of ten are 75 % at 8 s: then tasks 8 and 9 are of 8 s, at least 7.5 s
		{name: "without lower bound", policy: "flink:lower_bound=0s", machines: 10, jobs: ten, lasts: steps, again: s, want: []string{"8s t8 #1 m0", "8s t9 #1 m1"}},
		{name: "multiplier", policy: "flink:lower_bound=0s,multiplier=4", machines: 10, jobs: ten, lasts: steps, again: s, want: []string{"20s t9 #1 m0"}},
		{name: "at least, not more than", policy: "flink:lower_bound=0s,multiplier=1.8", machines: 10, jobs: ten, lasts: append(steps[:8:8], 9*s+1, 100*s), again: s,
			want: []string{"9s t8 #1 m0", "9s t9 #1 m1"}},
		{name: "lower bound", policy: "flink", machines: 10, jobs: ten, lasts: steps, again: s, want: []string{"1m0s t9 #1 m0"}},
		{name: "interval", policy: "flink:lower_bound=0s,interval=30s", machines: 10, jobs: ten, lasts: steps, again: s, want: []string{"30s t9 #1 m0"}},
		{name: "ratio 0: everything that is old enough", policy: "flink:ratio=0,lower_bound=6s", machines: 10, jobs: ten, lasts: steps, again: 50 * s,
			want: []string{"6s t6 #1 m0", "6s t7 #1 m1", "6s t8 #1 m2", "6s t9 #1 m3"}},
		{name: "ratio 1: nobody is left", policy: "flink:ratio=1,lower_bound=0s", machines: 10, jobs: ten, lasts: steps, again: s},
		// k = round(2.25) = 2 of three; T is the second smallest, 4 s
		{name: "rank", policy: "flink:lower_bound=0s,multiplier=3,ratio=0.6", machines: 3, jobs: []*sched.JobSpec{tasks(3)}, lasts: []sched.Time{2 * s, 4 * s, 100 * s},
			again: s, want: []string{"12s t2 #1 m0"}},
	})
}

// TestFlinkBlocks: a machine of two slots with a slow task takes no clone, its own or others', for as long as block says.
func TestFlinkBlocks(t *testing.T) {
	s := sched.Second
	for policy, want := range map[string]string{
		"flink:ratio=0,lower_bound=3s,block=10s": "13s t0 #1 m0",
		"flink:ratio=0,lower_bound=3s,block=0s":  "3s t0 #1 m0",
	} {
		w := on(t, policy, sched.NoLimits())
		w.machine(0, 2)
		w.submit(0, tasks(1))
		w.fate = lasts(s, 20*s)
		w.run()
		if got := w.clones(); len(got) != 1 || got[0] != want {
			t.Errorf("%s: clones %v, want %s", policy, got, want)
		}
	}
}

// TestFlinkBaseline: T is the (k/2+1)th smallest of all winners, so that it falls when short tasks end late.
func TestFlinkBaseline(t *testing.T) {
	st := &flinkStage{first: 4} // the third smallest
	for i, c := range []struct{ d, want sched.Time }{{9, 9}, {5, 9}, {7, 9}, {8, 8}, {6, 7}, {1, 6}, {9, 6}} {
		if st.add(c.d); -st.lowest[0] != c.want {
			t.Errorf("after %d: T = %d, want %d", i, -st.lowest[0], c.want)
		}
	}
}
