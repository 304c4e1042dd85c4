package policy

import (
	"math"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// TestFailures: clones that would have taken much longer than the winners speak for a task's size, those of usual length
// for nothing. Where next to nothing is known of the stage, one clone says little.
func TestFailures(t *testing.T) {
	usual := tally{0.4, 0.4, 0.2}
	for _, winners := range []int{1, 20} {
		var past sample
		past.reset()
		for i := range winners {
			past.add(70 + float64(i))
		}
		var f failures
		f.add(&past, 1, 60)
		if got := f.causes(1, &usual); got != usual || got.part(&usual) != 1 {
			t.Errorf("%d winners, a clone of usual length: %v", winners, got)
		}
		before := usual[bySize]
		for k := 1; k <= 8; k++ {
			f.add(&past, 1, 900)
			got := f.causes(1, &usual)
			least := math.Exp(-mostOfOne*float64(k)) * usual[byChance] / usual[bySize]
			if odds := got[byChance] / got[bySize]; odds < least-1e-6 || got[bySize] <= before {
				t.Errorf("%d winners, %d slow clones: %v", winners, k, got)
			}
			before = got[bySize]
		}
		if before < 0.5 {
			t.Errorf("%d winners, 8 slow clones: %.2f by size", winners, before)
		}
	}
}

// TestAutoLearnsOfFailures: one task in ten takes thirty times as long as others, whatever attempts it has, and reports say
// so, if not exactly. Two slots are all that there is, and tasks wait. A clone of a long task looks like a good idea
// until it has reported, and should not look like one again and again.
func TestAutoLearnsOfFailures(t *testing.T) {
	w := untold(t, "synth:jobs=60;tasks=4;law=twopoint:lo=30,hi=900,p=0.1;arrivals=poisson:rate=0.004")
	clones := uint32(0)
	for seed := range uint64(5) {
		res := resultOf(t, w, "auto", sim.Options{Machines: 2, Slots: 1, Limits: sched.DefaultLimits(), Model: sim.Intrinsic, Seed: seed, Progress: sim.Progress{Every: 10 * sched.Second, Noise: 0.2, Persists: true}})
		for i := range res.Jobs {
			clones += res.Jobs[i].Clones
		}
	}
	if clones > 220 || clones == 0 {
		t.Errorf("%d clones in 5 runs of 240 tasks, a tenth of them long", clones)
	}
}

// TestAutoIsNotFooledByLargeTasks: in some runs no clone of the first jobs wins, as the tasks that have them are large, and so are their clones.
// Of those that end for others only the first of each task counts against clones. So of 60 runs one gives them up, and takes half as long
// again: there none of the 190 clones of the first six jobs wins.
func TestAutoIsNotFooledByLargeTasks(t *testing.T) {
	slows, err := sim.ParseService("sx:slowdown=(twopoint:lo=1,hi=10,p=0.05)")
	if err != nil {
		t.Fatal(err)
	}
	w, err := trace.Synthesize("synth:jobs=10;tasks=uniform:lo=2,hi=40;law=lognormal:mean=10,sd=20;arrivals=poisson:rate=0.025397;known=false", 1)
	if err != nil {
		t.Fatal(err)
	}
	var sorted []float64
	for seed := range uint64(60) {
		res := resultOf(t, w, "auto", sim.Options{Machines: 40, Slots: 1, Limits: sched.DefaultLimits(), Model: slows, Seed: seed, Progress: sim.Progress{Every: sched.Second}})
		sorted = append(sorted, res.Stats().MeanFlow)
	}
	slices.Sort(sorted)
	usual := sorted[len(sorted)/2]
	if second := sorted[len(sorted)-2]; second > 1.4*usual {
		t.Errorf("the second longest of the mean flow times is %.1f s, usually it is %.1f s", second, usual)
	}
	if most := sorted[len(sorted)-1]; most > 1.6*usual {
		t.Errorf("the longest mean flow time is %.1f s, usually it is %.1f s", most, usual)
	}
}
