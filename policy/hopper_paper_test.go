package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestHopperShares has hand-worked divisions of digest section 19. With a tail index of 1.5, jobs of 3, 6 and 9 tasks have V = 4, 8 and 12, 24 in all.
func TestHopperShares(t *testing.T) {
	s := sched.Second
	three := []*sched.JobSpec{policytest.Tasks(9), policytest.Tasks(3), policytest.Tasks(6)}
	phases := func(maps, reduces int, mean sched.Time) *sched.JobSpec {
		return &sched.JobSpec{
			Stages: []sched.StageSpec{{Tasks: maps, Mean: 10 * s}, {Tasks: reduces, Mean: mean}}, Edges: []sched.Edge{{From: 0, To: 1}},
		}
	}
	shuffles := func(maps, reduces int, bytes int64) *sched.JobSpec {
		x := phases(maps, reduces, s)
		x.Edges[0].Bytes = []int64{bytes}
		return x
	}
	cases := []struct {
		name, policy string
		slots        int
		jobs         []*sched.JobSpec
		want         []int
	}{
		{"too few slots: small jobs first", "hopper:beta=1.5,epsilon=1", 10, three, []int{0, 4, 6}},
		{"too few slots, and 0.9 x 10/3 for everyone", "hopper:beta=1.5", 10, three, []int{3, 4, 3}},
		{"no more than V for the sake of fairness", "hopper:beta=1.5,epsilon=0", 18, three, []int{6, 4, 8}}, // 6 each but for the 4
		{"just enough", "hopper:beta=1.5", 24, three, []int{12, 4, 8}},
		{"more than enough: in proportion", "hopper:beta=1.5", 30, three, []int{15, 5, 10}},
		{"by largest remainder", "hopper:beta=1.5", 31, three, []int{16, 5, 10}}, // 15.5, 5.17, 10.33
		{"V is rounded up", "hopper:beta=1.6,epsilon=1", 10, three, []int{0, 4, 6}},
		{"no clones for light tails", "hopper:beta=2,epsilon=1", 10, three, []int{1, 3, 6}},
		{"the prior", "hopper:prior=1,epsilon=1", 20, three, []int{2, 6, 12}},
		// V = 4/3 x 4 x sqrt(90/40) = 8 and 4/3 x 6 = 8
		{"much to shuffle", "hopper:beta=1.5,epsilon=1,alpha=work", 10, []*sched.JobSpec{phases(4, 3, 30*s), policytest.Tasks(6)}, []int{8, 2}},
		// V = 4/3 x 6 x sqrt(15/60) = 4; the next phase has 4/3 x 5 and decides over the order: 6.67 is less than 8
		{"little to shuffle", "hopper:beta=1.5,epsilon=1,alpha=work", 10, []*sched.JobSpec{policytest.Tasks(6), phases(6, 5, 3*s)}, []int{6, 4}},
		{"the next phase puts a job behind", "hopper:beta=1.5,epsilon=1,alpha=work", 10, []*sched.JobSpec{policytest.Tasks(6), phases(6, 7, 15*s/7)}, []int{8, 2}},
		// 4 x 3 x 75 MB at 10 MB/s are 90 s beside 40 s of maps: V = 4/3 x 4 x 1.5 = 8 and 4/3 x 6 = 8
		{"many bytes to shuffle", "hopper:beta=1.5,epsilon=1,bandwidth=1e7", 10, []*sched.JobSpec{shuffles(4, 3, 75e6), policytest.Tasks(6)}, []int{8, 2}},
		// 15 s beside 60: V = 4/3 x 6 / 2 = 4, and the next phase has 4/3 x 5
		{"few bytes to shuffle", "hopper:beta=1.5,epsilon=1,bandwidth=1e7", 10, []*sched.JobSpec{policytest.Tasks(6), shuffles(6, 5, 5e6)}, []int{6, 4}},
		{"nothing known of bytes", "hopper:beta=1.5,epsilon=1", 10, []*sched.JobSpec{policytest.Tasks(6), phases(6, 5, 3*s)}, []int{8, 2}},
		// 10 slots for 1, 1, 2 and 3 tasks: 1 3/7, 1 3/7, 2 6/7 and 4 2/7
		{"ties go to who is served first", "hopper:beta=2", 10, []*sched.JobSpec{policytest.Tasks(1), policytest.Tasks(3), policytest.Tasks(1), policytest.Tasks(2)}, []int{2, 4, 1, 3}},
		// V = 2/1.9 x 19 = 20, not a crumb more
		{"V is exact", "hopper:beta=1.9,epsilon=0.9", 30, []*sched.JobSpec{policytest.Tasks(19), policytest.Tasks(38)}, []int{20, 10}},
		{"alpha=one", "hopper:beta=1.5,epsilon=1,alpha=one", 10, []*sched.JobSpec{policytest.Tasks(6), phases(6, 5, 3*s)}, []int{8, 2}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, hopperShares(t, c.policy, c.slots, c.jobs)); diff != "" {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHopperWithoutWork: of jobs of which no phase has a task for slots of this class nobody gets any, and the division is one all the same.
func TestHopperWithoutWork(t *testing.T) {
	for _, slots := range []int{0, 3} {
		jobs := []hopperShare{{job: 0}, {job: 1}}
		if hopperInProportion(jobs, slots, 0); jobs[0].share != 0 || jobs[1].share != 0 {
			t.Errorf("%d slots: shares %d and %d, want none", slots, jobs[0].share, jobs[1].share)
		}
	}
}

// hopperShares returns the slots of jobs that arrive together.
func hopperShares(t *testing.T, spec string, slots int, jobs []*sched.JobSpec) (shares []int) {
	p, err := New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := policytest.NewWorld(t, p, sched.NoLimits())
	w.Machines(slots)
	for _, spec := range jobs {
		w.Submit(0, spec)
	}
	w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: sched.Second} }
	w.Step()
	for j := range jobs {
		shares = append(shares, p.(*hopper).jobs.Of(sched.JobID(j)).share)
	}
	return shares
}

// TestHopperClones: slots beyond the unfinished tasks are for stragglers, and for nothing else.
func TestHopperClones(t *testing.T) {
	s := sched.Second
	slow := []sched.Time{10 * s, 10 * s, 100 * s}
	tellAll(t, []policytest.Story{
		// V = 4. At 10 s the mean is 10 s and task 2 has 90 s left
		{Name: "a straggler", Policy: "hopper:beta=1.5", Machines: 4, Jobs: []*sched.JobSpec{policytest.Tasks(3)}, Lasts: slow, Again: 10 * s, Rate: true,
			Want: []string{"10s t2 #1 m0"}},
		{Name: "by reports", Policy: "hopper:beta=1.5", Machines: 4, Jobs: []*sched.JobSpec{policytest.Tasks(3)}, Lasts: slow, Again: 10 * s, Reports: 3 * s,
			Want: []string{"10s t2 #1 m0"}},
		{Name: "as much left as a new attempt takes", Policy: "hopper:beta=1.5", Machines: 4, Jobs: []*sched.JobSpec{policytest.Tasks(3)},
			Lasts: []sched.Time{10 * s, 10 * s, 20 * s}, Again: 10 * s, Rate: true},
		{Name: "silence: t_rem is the age, looked at a mean after the first end", Policy: "hopper:beta=1.5", Machines: 4, Jobs: []*sched.JobSpec{policytest.Tasks(3)},
			Lasts: slow, Again: 10 * s, Want: []string{"20s t2 #1 m0"}},
		{Name: "three attempts", Policy: "hopper:beta=1.5,copies=3", Machines: 4, Jobs: []*sched.JobSpec{policytest.Tasks(3)}, Lasts: slow, Again: 80 * s, Rate: true,
			Want: []string{"10s t2 #1 m0", "10s t2 #2 m1"}},
	})
	// Jobs of 2 and 6 tasks have V = 2.67 and 8 on 6 slots: 3 each. The third slot of the first stays free while four tasks wait.
	w := on(t, "hopper:beta=1.5,epsilon=1", sched.NoLimits())
	w.Machines(6)
	w.Submit(0, policytest.Tasks(2))
	w.Submit(0, policytest.Tasks(6))
	w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: s} }
	w.Step()
	if v := w.Core.View(); v.FreeSlots() != 1 || v.Pending() != 3 {
		t.Errorf("%d slots are free and %d tasks wait, want 1 and 3", v.FreeSlots(), v.Pending())
	}
}

// TestTailIndex: the estimate of a Pareto law's index is within four standard errors, whatever the scales of the stages; it is index/sqrt(n) for n durations.
func TestTailIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, want := range []float64{1.1, 1.5, 1.9} {
		x := tailIndex{prior: 1}
		for range 300 {
			var l logs
			scale := math.Exp(5 * r.NormFloat64())
			for range 100 {
				l.add(scale * math.Pow(1-r.Float64(), -1/want))
			}
			x.add(&l)
		}
		if got := x.index(); math.Abs(got-want) > 4*want/math.Sqrt(29_700*0.86) { // stages that fade count 86 % on average
			t.Errorf("index %v, want %v", got, want)
		}
	}
	x := tailIndex{prior: 1.3}
	x.add(&logs{n: 1, sum: 2, least: math.Exp(2)})
	if got := x.index(); got != 1.3 {
		t.Errorf("one duration says nothing, got %v", got)
	}
	var same logs
	same.add(3)
	same.add(3)
	x.add(&same)
	if got := x.index(); got != 2 {
		t.Errorf("durations without spread have the lightest tail, got %v", got)
	}
}
