package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestCapacity has hand-worked shares of digest section 3 on eight slots. Jobs are {queue, tasks} and arrive one after the other; what runs is seen when all have.
func TestCapacity(t *testing.T) {
	cases := []struct {
		name, policy string
		jobs         [][2]int
		want         []uint32
	}{
		{"guarantees", "capacity:first=0.75,user_limit=0", [][2]int{{0, 9}, {1, 9}}, []uint32{6, 2}},
		{"elastic", "capacity:first=0.75,user_limit=0", [][2]int{{1, 9}}, []uint32{8}},
		{"up to the cap", "capacity:first=0.75,user_limit=0,cap=0.5", [][2]int{{1, 9}}, []uint32{4}},
		{"a job has one more than the guarantee of its queue", "capacity:first=0.75", [][2]int{{1, 9}}, []uint32{3}},
		{"no more than the guarantee", "capacity:first=0.75,user_check=reached", [][2]int{{1, 9}}, []uint32{2}},
		{"or so many times as much", "capacity:first=0.75,user_limit=1.5,user_check=reached", [][2]int{{1, 9}}, []uint32{3}},
		{"and one", "capacity:first=0.75,user_limit=1.5", [][2]int{{1, 9}}, []uint32{4}},
		{"of the guarantee in whole slots", "capacity:first=0.2,user_limit=1.5,user_check=reached", [][2]int{{0, 9}}, []uint32{3}}, // 1.6 are 2, and not 2.4
		{"several jobs have", "capacity:first=0.75,user_check=reached", [][2]int{{1, 9}, {1, 9}, {1, 1}, {1, 9}}, []uint32{2, 2, 1, 2}},
		{"in order of arrival", "capacity:first=0.75,user_limit=0", [][2]int{{0, 4}, {0, 9}, {0, 9}}, []uint32{4, 4, 0}},
		{"three queues", "capacity:queues=3,user_limit=0", [][2]int{{0, 9}, {1, 9}, {2, 9}}, []uint32{4, 2, 2}},
		{"queues that do not exist", "capacity:first=0.75,user_limit=0", [][2]int{{-7, 9}, {9, 9}}, []uint32{6, 2}},
		{"no guarantee: what the others leave", "capacity:first=1,user_limit=0", [][2]int{{0, 5}, {1, 9}}, []uint32{5, 3}},
		{"a queue that is too small for a slot", "capacity:first=0.01,user_check=reached", [][2]int{{0, 9}}, []uint32{1}},
		{"one queue", "capacity:queues=1,first=1", [][2]int{{0, 9}, {3, 9}}, []uint32{8, 0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, c.policy, sched.NoLimits())
			for range 8 {
				w.Machine(sched.Second, 1)
			}
			for i, job := range c.jobs {
				w.Submit(sched.Time(i), &sched.JobSpec{Priority: int32(job[0]), Stages: []sched.StageSpec{{Tasks: job[1]}}})
			}
			w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 10 * sched.Second} }
			for w.Now < sched.Second && w.Step() {
			}
			if diff := cmp.Diff(c.want, livePerJob(w)); diff != "" {
				t.Errorf("running (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCapacityTakesTurns: queue 1 has had all slots; what becomes free goes to queue 0 until both have what is guaranteed.
func TestCapacityTakesTurns(t *testing.T) {
	w := on(t, "capacity:user_limit=0", sched.NoLimits())
	w.Machines(4)
	w.Submit(0, &sched.JobSpec{Priority: 1, Stages: []sched.StageSpec{{Tasks: 8}}})
	w.Submit(1, policytest.Tasks(4))
	s := sched.Second
	w.Fate = policytest.Lasts(s, 1*s, 2*s, 3*s, 4*s, 10*s)
	for w.Now < 4*s && w.Step() {
	}
	want := []string{"0s t0 #0", "0s t1 #0", "0s t2 #0", "0s t3 #0", "1s t8 #0", "2s t9 #0", "3s t4 #0", "4s t5 #0"}
	if diff := cmp.Diff(want, startLines(w)); diff != "" {
		t.Errorf("launches (-want +got):\n%s", diff)
	}
}
