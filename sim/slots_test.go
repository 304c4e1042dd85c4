package sim

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// Four tasks of 10 s begin at once on machines of one slot and of three. The machine that is down from 4 s to 7.5 s loses
// as many attempts as it has slots, and nothing fits on the other, so the job takes 17.5 s either way.
func TestSizes(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[10,10,10,10]}]}`)
	for machine, lost := range []uint32{1, 3} {
		r := simulate(t, w, greedy{}, Options{
			Machines: 2, Sizes: []int{1, 3}, Check: true, Outages: []Outage{{Machine: machine, Down: 4 * sched.Second, Up: 7500 * sched.Second / 1000}},
		})
		j := r.Jobs[0]
		if j.Attempts != 4+lost || j.Fruitless != sched.Time(4*lost)*sched.Second || r.End != 17500*sched.Second/1000 || r.Slots != 4 {
			t.Errorf("machine %d: %+v, over at %v, %d slots", machine, j, r.End, r.Slots)
		}
	}
	for _, sizes := range [][]int{{1}, {1, 0}, {}} {
		if _, err := Run(t.Context(), w, greedy{}, Options{Machines: 2, Sizes: sizes, Limits: sched.NoLimits()}); err == nil {
			t.Errorf("%v: accepted", sizes)
		}
	}
}
