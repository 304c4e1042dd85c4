package sim

import (
	"errors"
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// busySite is a cluster of one site of which a part is busy.
func busySite(machines int, level laws.Law, keep sched.Time) *Cluster {
	c := &Cluster{Name: "busy", Sites: []Site{{Name: "a", Machines: machines, Slots: 1, Speed: Steady(1), Busy: Busy{level, keep}}}}
	c.Network = newNetwork(c.Sites)
	return c
}

// Of machines of which a constant half is busy the other half does all the work: 1000 tasks of 1 s on about 50 of 100 machines take about 20 s, and nothing is lost.
func TestHalfOfASiteIsBusy(t *testing.T) {
	w := load(t, `{"stages":[{"tasks":1000,"law":"det:value=1"}]}`)
	res := runGeo(t, w, Options{Cluster: busySite(100, laws.Deterministic{Value: 0.5}, sched.Second), Check: true})
	job := &res.Jobs[0]
	if got := job.Completion.Seconds(); got < 14 || got > 30 { // 50 +- 3*5 machines, each at most one task late
		t.Errorf("the job took %v s, want about 20", got)
	}
	if job.Fruitless != 0 || job.Attempts != 1000 {
		t.Errorf("%d attempts, %v fruitless: other work disturbs ours", job.Attempts, job.Fruitless)
	}
}

// The level changes: with uniform levels the mean part that is busy is a half, as often as one looks.
func TestBusyLevels(t *testing.T) {
	const n = 1000
	c := busySite(n, laws.Uniform{Lo: 0, Hi: 1}, 10*sched.Second)
	core := sched.New(greedy{}, sched.NoLimits())
	if _, err := core.AddMachine(0, 1); err != nil {
		t.Fatal(err)
	}
	for range n - 1 {
		if _, err := core.AddMachine(0, 1); err != nil {
			t.Fatal(err)
		}
	}
	o := newOccupancy(c.Sites, 1, 0)
	sum, spans, last, changes := 0.0, 0.0, sched.Time(0), 0
	for range 2000 {
		count := 0.0
		for _, s := range o.state {
			if s == taken {
				count++
			}
		}
		now := o.next.next()
		sum += count / n
		spans += (now - last).Seconds()
		last = now
		back, gone := o.due(now, core.View(), nil, nil)
		changes += len(back) + len(gone)
		if len(back) > 0 && len(gone) > 0 {
			t.Fatalf("at %v %d machines come back and %d go: a higher level takes those of a lower one and more", now, len(back), len(gone))
		}
	}
	if got := sum / 2000; math.Abs(got-0.5) > 4*0.29/math.Sqrt(2000)+0.02 {
		t.Errorf("%v of the machines are busy on average, want a half", got)
	}
	if got := spans / 2000; math.Abs(got-10) > 4*10/math.Sqrt(2000) {
		t.Errorf("a level is kept for %v s on average, want 10", got)
	}
	if changes == 0 {
		t.Error("nothing ever changed")
	}
}

// A cluster whose only machine is never free is found out.
func TestBusyForEver(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[1]}]}`)
	c := busySite(1, laws.Deterministic{Value: 0.999999}, sched.Millisecond)
	_, err := Run(t.Context(), w, greedy{}, Options{Cluster: c, Limits: sched.NoLimits()})
	if !errors.Is(err, ErrStuck) {
		t.Errorf("got %v, want ErrStuck", err)
	}
	if _, err := Run(t.Context(), w, greedy{}, Options{Cluster: c, Limits: sched.NoLimits(), Faults: Faults{MTBF: 1, MTTR: 1}}); err == nil {
		t.Error("faults and other work were accepted together")
	}
}
