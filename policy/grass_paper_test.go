package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestGRASSDeadlines is the golden example of digest section 18: two slots; at 1 s T1 runs with t_rem = 5 and t_new = 2, T2 is done, T3 to T8 have t_new = 1
// and T9 has 3. Of nine tasks so many are done in time. grass goes by ras while more than two waves of (2 + 6 x 1 + 3)/8 = 1.375 s are left, then by gs.
func TestGRASSDeadlines(t *testing.T) {
	s := sched.Second
	cases := []struct {
		policy   string
		deadline sched.Time
		want     int
	}{
		{"grass:mode=gs", 6 * s, 7}, {"grass:mode=ras", 6 * s, 8}, {"grass:switch=waves", 6 * s, 8},
		{"grass:mode=gs", 3 * s, 3}, {"grass:mode=ras", 3 * s, 2}, {"grass:switch=waves", 3 * s, 3},
	}
	for _, c := range cases {
		w := on(t, c.policy+",tnew=known", sched.NoLimits())
		w.Machines(2)
		w.Submit(0, &sched.JobSpec{
			Deadline: c.deadline,
			Stages:   []sched.StageSpec{{Tasks: 1, Mean: 2 * s}, {Tasks: 1, Mean: s}, {Tasks: 6, Mean: s}, {Tasks: 1, Mean: 3 * s}},
			Edges:    []sched.Edge{{From: 1, To: 2}, {From: 1, To: 3}},
		})
		w.Fate = func(d *sched.Decision) policytest.Fate {
			f := policytest.Fate{Rate: true, Lasts: w.Core.View().Stage(d.Stage).Mean}
			if d.Task == 0 && d.Number == 0 {
				f.Lasts = 6 * s
			}
			return f
		}
		w.Run()
		got := 0
		for i := range w.Orders {
			if d := &w.Orders[i]; d.Kind == sched.Commit && d.At <= c.deadline {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s, deadline %v: %d of 9 in time, want %d", c.policy, c.deadline, got, c.want)
		}
	}
}

// TestGRASS has hand-worked examples of the rules for error-bound jobs, by rates. Tasks have a mean of 10 s.
func TestGRASS(t *testing.T) {
	s := sched.Second
	job := func(n, need int) []*sched.JobSpec {
		return []*sched.JobSpec{{Stages: []sched.StageSpec{{Tasks: n, Need: need, Mean: 10 * s}}}}
	}
	stories := []struct {
		policytest.Story
		want []string
	}{
		// at 10 s: t_rem of task 1 is 15 s, above t_new, so gs duplicates it before it starts task 2; 15 - 2 x 10 saves nothing
		{policytest.Story{Name: "gs", Policy: "grass:mode=gs,tnew=known", Machines: 2, Jobs: job(3, 0), Lasts: []sched.Time{10 * s, 25 * s, 10 * s}, Again: 10 * s},
			[]string{"0s t0 #0", "0s t1 #0", "10s t1 #1", "20s t2 #0"}},
		{policytest.Story{Name: "ras", Policy: "grass:mode=ras,tnew=known", Machines: 2, Jobs: job(3, 0), Lasts: []sched.Time{10 * s, 25 * s, 10 * s}, Again: 10 * s},
			[]string{"0s t0 #0", "0s t1 #0", "10s t2 #0"}},
		{policytest.Story{Name: "ras saves", Policy: "grass:mode=ras,tnew=known", Machines: 2, Jobs: job(3, 0), Lasts: []sched.Time{10 * s, 31 * s, 10 * s}, Again: 10 * s},
			[]string{"0s t0 #0", "0s t1 #0", "10s t1 #1", "20s t2 #0"}},
		// two tasks are left at 10 s, no more than 2 x 2: greedy. With waves = 0.9 they are more than 0.9 x 2
		{policytest.Story{Name: "last waves", Policy: "grass:switch=waves,tnew=known", Machines: 2, Jobs: job(3, 0), Lasts: []sched.Time{10 * s, 25 * s, 10 * s}, Again: 10 * s},
			[]string{"0s t0 #0", "0s t1 #0", "10s t1 #1", "20s t2 #0"}},
		{policytest.Story{Name: "before the last wave", Policy: "grass:switch=waves,waves=0.9,tnew=known", Machines: 2, Jobs: job(3, 0), Lasts: []sched.Time{10 * s, 25 * s, 10 * s}, Again: 10 * s},
			[]string{"0s t0 #0", "0s t1 #0", "10s t2 #0"}},
		// two tasks are left, as many as size: greedy; with one less not.
		{policytest.Story{Name: "few tasks left", Policy: "grass:switch=size,size=2,tnew=known", Machines: 2, Jobs: job(3, 0), Lasts: []sched.Time{10 * s, 25 * s, 10 * s}, Again: 10 * s},
			[]string{"0s t0 #0", "0s t1 #0", "10s t1 #1", "20s t2 #0"}},
		{policytest.Story{Name: "too many tasks left", Policy: "grass:switch=size,size=1,tnew=known", Machines: 2, Jobs: job(3, 0), Lasts: []sched.Time{10 * s, 25 * s, 10 * s}, Again: 10 * s},
			[]string{"0s t0 #0", "0s t1 #0", "10s t2 #0"}},
		// tnew=finished: at 0 s nothing is known; at 10 s 10 s is, and 15 s are left of task 1. tnew=all: (10 + 25)/2 s
		{policytest.Story{Name: "by what has finished", Policy: "grass:mode=gs", Machines: 2, Jobs: job(3, 0), Lasts: []sched.Time{10 * s, 25 * s, 10 * s}, Again: 10 * s},
			[]string{"0s t0 #0", "0s t1 #0", "10s t1 #1", "20s t2 #0"}},
		{policytest.Story{Name: "by all attempts", Policy: "grass:mode=gs,tnew=all", Machines: 2, Jobs: job(3, 0), Lasts: []sched.Time{10 * s, 25 * s, 10 * s}, Again: 10 * s},
			[]string{"0s t0 #0", "0s t1 #0", "10s t2 #0"}},
		// ends at 100 s; clones would end 60 s after their starts. Gs goes on to the third copy, as 60 > 10; ras asks for 2 x 60 > 3 x 10, which holds too
		{policytest.Story{Name: "three copies at most", Policy: "grass:mode=gs,tnew=known", Machines: 9, Jobs: job(1, 0), Lasts: []sched.Time{100 * s}, Again: 60 * s},
			[]string{"0s t0 #0", "0s t0 #1", "0s t0 #2"}},
		// one of three is needed: it starts alone, and is not late
		{policytest.Story{Name: "no more tasks than are needed", Policy: "grass:switch=waves,tnew=known", Machines: 3, Jobs: job(3, 1), Lasts: []sched.Time{10 * s}, Again: 10 * s},
			[]string{"0s t0 #0"}},
		{policytest.Story{Name: "but the needed ones are duplicated", Policy: "grass:switch=waves,tnew=known", Machines: 3, Jobs: job(3, 1), Lasts: []sched.Time{15 * s}, Again: 12 * s},
			[]string{"0s t0 #0", "0s t0 #1", "0s t0 #2"}},
		{policytest.Story{Name: "limits", Policy: "grass:switch=waves,tnew=known", Limits: &sched.Limits{Attempts: 2, Clones: sched.CloneBudget{Floor: 9}}, Machines: 9, Jobs: job(1, 0),
			Lasts: []sched.Time{100 * s}, Again: 60 * s}, []string{"0s t0 #0", "0s t0 #1"}},
	}
	for _, c := range stories {
		t.Run(c.Name, func(t *testing.T) {
			c.Rate = true
			if diff := cmp.Diff(c.want, startLines(played(t, &c.Story))); diff != "" {
				t.Errorf("launches (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGRASSShares: between jobs as in fair.go, whether a job has fresh tasks or only duplicates to start. Job 0 duplicates its only task, which is
// late, up to its share of four slots; job 1, which has more tasks than slots, has the other half.
func TestGRASSShares(t *testing.T) {
	s := sched.Second
	w := on(t, "grass:switch=waves,tnew=known", sched.NoLimits())
	w.Machines(4)
	w.Submit(0, known(1, 10*s))
	w.Submit(0, known(9, 10*s))
	w.Fate = func(d *sched.Decision) policytest.Fate {
		if d.Task == 0 {
			return policytest.Fate{Lasts: 100 * s, Rate: true}
		}
		return policytest.Fate{Lasts: 10 * s, Rate: true}
	}
	for w.Now < 10*s && w.Step() {
	}
	if diff := cmp.Diff([]uint32{2, 2}, livePerJob(w)); diff != "" {
		t.Errorf("running (-want +got):\n%s", diff)
	}
}
