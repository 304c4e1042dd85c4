package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestWeights: keys that are multiples of each other are so as weights, whatever their size, and large ones do not
// overflow.
func TestWeights(t *testing.T) {
	for _, unit := range []float64{1, 5, 0x1p-1000, 0x3p800} {
		jobs := []kit.Part{{Key: unit}, {Key: 3 * unit}, {Key: 0}, {Key: 1024 * unit}}
		kit.Weights(jobs)
		if w := jobs[0].Weight; w == 0 || jobs[1].Weight != 3*w || jobs[2].Weight != 0 || jobs[3].Weight != 1024*w {
			t.Errorf("unit %v: %+v", unit, jobs)
		}
	}
	none := []kit.Part{{}, {}}
	if kit.Weights(none); none[0].Weight != 0 || none[1].Weight != 0 {
		t.Errorf("nothing weighs: %+v", none)
	}
}

// livePerJob returns the attempts that run, by job.
func livePerJob(w *policytest.World) (n []uint32) {
	v := w.Core.View()
	for j := range v.Rows().Jobs() {
		n = append(n, v.Job(sched.JobID(j)).Live)
	}
	return n
}

// TestLAPS has hand-worked shares of digest sections 5 and 6. Jobs arrive together or 1 s after each other; what runs is seen after the decision at 10 s.
func TestLAPS(t *testing.T) {
	cases := []struct {
		name, policy string
		slots        int
		jobs         []int // tasks
		every        sched.Time
		want         []uint32
	}{
		{"equipartition, remainders in order", "laps:beta=1,slot=10s", 11, []int{9, 9, 9}, 1, []uint32{3, 4, 4}},
		{"the later half", "laps:beta=0.5,slot=10s", 12, []int{9, 9, 9, 9}, 1, []uint32{0, 0, 6, 6}},
		{"half of three is two", "laps:beta=0.5,slot=10s", 12, []int{9, 9, 9}, 1, []uint32{0, 6, 6}},
		{"a tenth of thirty is three, not four", "laps:beta=0.1,slot=10s", 12, []int{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, 1,
			append(make([]uint32, 27), 4, 4, 4)},
		{"no more than it has tasks", "laps:beta=1,slot=10s", 12, []int{9, 1, 9}, 1, []uint32{5, 1, 6}},
		{"what nobody of them can use", "laps:beta=0.1,slot=10s", 12, []int{9, 9, 2}, 1, []uint32{1, 9, 2}},
		// ages 10, 8, 2 s: W = 2 x 20; beta W = 20 is 2 x 2 of job 2 and 16 of job 1's 16: shares 12 x 4/20 and 12 x 16/20
		{"by age", "wlaps:beta=0.5,slot=10s", 12, []int{20, 20, 20}, 0, []uint32{0, 10, 2}},
		// beta W = 40: 4, 16 and 20: 12 x (4, 16, 20)/40 = 1.2, 4.8, 6
		{"by age, all", "wlaps:beta=1,slot=10s", 12, []int{20, 20, 20}, 0, []uint32{6, 5, 1}},
		// beta W = 10: 4 of job 2 and 6 of job 1's 16
		{"the boundary job in part", "wlaps:beta=0.25,slot=10s", 10, []int{20, 20, 20}, 0, []uint32{0, 6, 4}},
		{"fewer jobs than slots", "intermediate-srpt:slot=10s", 9, []int{9, 7, 8}, 1, []uint32{3, 3, 3}},
		{"more jobs than slots: the least work", "intermediate-srpt:slot=10s", 2, []int{9, 7, 8}, 1, []uint32{0, 1, 1}},
	}
	ages := []sched.Time{0, 2 * sched.Second, 8 * sched.Second}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, c.policy, sched.NoLimits())
			for range c.slots {
				w.Machine(10*sched.Second, 1)
			}
			for i, n := range c.jobs {
				at := sched.Time(i) * c.every
				if c.every == 0 {
					at = ages[i]
				}
				w.Submit(at, policytest.Tasks(n))
			}
			w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 10 * sched.Second} }
			for w.Now < 10*sched.Second && w.Step() {
			}
			if diff := cmp.Diff(c.want, livePerJob(w)); diff != "" {
				t.Errorf("running (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDivide: shares sum to the slots or to the demand, whichever is less, none is above its demand, and each is within 1 of the level that fills jobs
// in proportion to their weights.
func TestDivide(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	for range 5000 {
		p, demand := kit.Splitter{}, 0
		for range 1 + r.IntN(12) {
			x := kit.Part{Weight: []uint64{0, 10, 10, 30, 3 + r.Uint64N(10)}[r.IntN(5)], Demand: r.IntN(20)}
			if x.Weight > 0 {
				demand += x.Demand
			}
			p.Jobs = append(p.Jobs, x)
		}
		slots := r.IntN(60)
		p.Divide(slots)
		sum, low, high := 0, 0.0, 1e6
		for range 100 { // the level by bisection
			level, fill := (low+high)/2, 0.0
			for _, x := range p.Jobs {
				fill += math.Min(float64(x.Weight)*level, float64(x.Demand))
			}
			if fill < float64(slots) {
				low = level
			} else {
				high = level
			}
		}
		for _, x := range p.Jobs {
			sum += x.Share
			if x.Share > x.Demand || math.Abs(float64(x.Share)-math.Min(float64(x.Weight)*low, float64(x.Demand))) >= 1+1e-9 {
				t.Fatalf("%d slots: %+v", slots, p.Jobs)
			}
		}
		if sum != min(slots, demand) {
			t.Fatalf("%d slots: shares sum to %d of a demand of %d: %+v", slots, sum, demand, p.Jobs)
		}
	}
}
