package policy

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestWLAPSEnergy: Fox, Im and Moseley, SODA 2013: at all times at which jobs are there, the power of the total speed, M machines at the factor View.Pace,
// is the weight of the jobs, whatever happens to jobs and machines.
func TestWLAPSEnergy(t *testing.T) {
	for _, energy := range []int{1, 2, 3, 7} {
		speeds := 0
		for seed := range uint64(40) {
			w := policytest.MessyWorld(t, mustNew(t, fmt.Sprintf("wlaps:power=1,slot=0s,energy=%d", energy)), sched.DefaultLimits(), seed)
			v := w.Core.View()
			w.Seen = func(_ sched.Time, orders []sched.Decision) {
				weight := 0.0
				for j := range v.Rows().Jobs() {
					if job := v.Job(sched.JobID(j)); job.State == sched.JobActive {
						weight += job.Weight
					}
				}
				power := math.Pow(float64(v.Slots())*v.Cluster().Pace(), float64(energy))
				if weight > 0 && v.Slots() > 0 && math.Abs(power/weight-1) > 1e-12 {
					t.Fatalf("seed %d at %v: power %v, weight %v", seed, w.Now, power, weight)
				}
				for i := range orders {
					if orders[i].Kind == sched.Pace {
						speeds++
					}
				}
			}
			w.Run()
		}
		if speeds < 100 {
			t.Errorf("energy %d: only %d speeds", energy, speeds)
		}
	}
}

// TestWLAPSEnergyOfAges: with ages the weight is that at the beginning of the slot of time, also when no slot is free. By hand: two jobs, at 0 s and 4 s;
// at 10 s the weights are 2 x 10 and 2 x 6, and three machines run at the total speed sqrt(32).
func TestWLAPSEnergyOfAges(t *testing.T) {
	w := on(t, "wlaps:energy=2,slot=10s", sched.NoLimits())
	w.Machine(0, 3)
	w.Submit(0, policytest.Tasks(3))
	w.Submit(4*sched.Second, policytest.Tasks(3))
	w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 100 * sched.Second} }
	for w.Now < 10*sched.Second && w.Step() {
	}
	if got, want := w.Core.View().Cluster().Pace(), math.Sqrt(32)/3; math.Abs(got-want) > 1e-15 {
		t.Errorf("speed %v, want %v", got, want)
	}
}

// TestPacesServesNoClass: the speed is one for all classes of slots.
func TestPacesServesNoClass(t *testing.T) {
	_, err := NewPerClass("fifo/wlaps:energy=2", 1, 2)
	if err == nil || !strings.Contains(err.Error(), "wlaps:energy=2 sets the speed of all machines") {
		t.Errorf("got %v", err)
	}
	if p, err := NewPerClass("wlaps:energy=2", 1, 1); err != nil || !sched.Paces(p) {
		t.Errorf("one class: %v, %v", p, err)
	}
	if p, err := NewPerClass("wlaps", 1, 1); err != nil || sched.Paces(p) {
		t.Errorf("without energy: %v, %v", p, err)
	}
}

func mustNew(t *testing.T, spec string) sched.Policy {
	t.Helper()
	p, err := New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
