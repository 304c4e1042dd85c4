package policy

import (
	"math"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/policy/internal/tandem"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// sized compares, whenever it is asked, the sizes of all active jobs as the policies know them with those that
// slowTandem reckons anew, while fifo decides.
type sized struct {
	sched.Policy // decides
	t            *testing.T
	stations     tandem.Stations
	slow         slowTandem
	byBytes      *int // sizes that the bytes of maps have decided
}

func (p *sized) Observe(v *sched.View, ev *sched.Event) {
	p.Policy.Observe(v, ev)
	p.Overhear(v, ev)
}

func (p *sized) Overhear(v *sched.View, ev *sched.Event) {
	p.slow.Overhear(v, ev)
	p.stations.Observe(v, ev)
}

func (p *sized) Decide(v *sched.View, act *sched.Actions) {
	p.Policy.Decide(v, act)
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		job := v.Job(j)
		left, all := p.stations.Of(v, &job)
		slowLeft, slowAll := p.slow.sizes(v, j)
		if got, want := [4]float64{left.X, left.Y, all.X, all.Y}, [4]float64{slowLeft[0], slowLeft[1], slowAll[0], slowAll[1]}; got != want {
			p.t.Errorf("at %v job %d is %v, want %v", v.Now(), j, got, want)
		}
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			if v.Stage(s).Class == 1 && v.Stage(s).Done == 0 && p.slow.reads(v, s)*p.slow.perByte[s] > 0 {
				*p.byBytes++
			}
		}
	}
}

func fifoOf(t *testing.T) sched.Policy {
	p, err := New("fifo", 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSizesByBytes compares the estimator of Section 4.3 with one that keeps every result and reckons anew (oracle_tandem_test.go).
func TestSizesByBytes(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"maxsrpt:size=bytes", "maxsrpt:size=bytes,bandwidth=3e5"} {
		byBytes := 0
		_, args, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(10) {
			var both [2]sched.Policy
			for i := range both {
				both[i] = &sized{Policy: fifoOf(t), t: t, stations: tandem.NewStations(args), slow: newSlowTandem(args), byBytes: &byBytes}
			}
			w := policytest.MessyClasses(t, 2, sched.PerClass(both[0], both[1]), sched.DefaultLimits(), seed)
			for i := range sched.Time(6) {
				w.Submit((50+7*i)*sched.Second, overlapping(3+int(i)*2, 10, 10, 4))
			}
			w.Run()
		}
		if t.Logf("%s: %d sizes by bytes", spec, byBytes); byBytes < 2000 {
			t.Errorf("%s: only %d sizes are by bytes", spec, byBytes)
		}
	}
}

// TestBytesByHand is Section 4.3 by hand: one job teaches the bandwidth, the next is judged by its first map.
func TestBytesByHand(t *testing.T) {
	_, args, err := Parse("maxsrpt:size=bytes")
	if err != nil {
		t.Fatal(err)
	}
	stations := tandem.NewStations(args)
	w := policytest.NewWorld(t, sched.PerClass(&watcher{Policy: fifoOf(t), hear: stations.Observe, both: true}, &watcher{Policy: fifoOf(t)}), sched.DefaultLimits())
	w.Classes = 2
	w.Machine(0, 2)
	w.Machine(0, 2)
	jobs := []sched.JobID{w.Submit(0, overlapping(4, 1, 1, 2)), w.Submit(100*sched.Second, overlapping(10, 1, 1, 2))}
	// tasks 0 to 3, 4 to 7: the world has task t write 7t mod 5 MB, and a shuffle task takes 3 s
	w.Fate = func(d *sched.Decision) policytest.Fate {
		return policytest.Fate{Lasts: []sched.Time{10, 3}[w.Core.View().Stage(d.Stage).Class] * sched.Second}
	}
	at := func(until sched.Time, job sched.JobID, want tandem.Sizes) {
		t.Helper()
		for w.Now < until && w.Step() {
		}
		row := w.Core.View().Job(job)
		if _, got := stations.Of(w.Core.View(), &row); math.Abs(got.X-want.X)+math.Abs(got.Y-want.Y) > 1e-9 {
			t.Errorf("at %v job %d is %v, want %v", w.Now, job, got, want)
		}
	}
	// nobody has shuffled before: after the first two maps it is as with size=first, 10 s for a map and 1 s for a shuffle task
	at(10*sched.Second, jobs[0], tandem.Sizes{X: 4 * 10 / 2., Y: 4 * 1 / 2.})
	// 0, 2, 4 and 1 MB were written by the maps and read by four shuffle tasks in 12 s; two were done when 1 MB on average was known, two when 7/4 MB was:
	// 12 s for 5.5 MB. Maps 8 and 9 of the next job write 1 and 3 MB.
	at(100*sched.Second, jobs[1], tandem.Sizes{X: 10 * 10 / 2., Y: 10 * 3 / 2.})
	at(110*sched.Second, jobs[1], tandem.Sizes{X: 10 * 10 / 2., Y: 10 * 2 * (12 / 5.5) / 2})
}

// watcher is fifo that tells somebody what it hears.
type watcher struct {
	sched.Policy // decides
	hear         func(v *sched.View, ev *sched.Event)
	both         bool
}

func (p *watcher) Observe(v *sched.View, ev *sched.Event) {
	p.Policy.Observe(v, ev)
	p.Overhear(v, ev)
}

func (p *watcher) Overhear(v *sched.View, ev *sched.Event) {
	if p.both {
		p.hear(v, ev)
	}
}

// TestBytesNotTold: where no result says what was written, as in journals of before, size=bytes decides as size=first does.
func TestBytesNotTold(t *testing.T) {
	for seed := range uint64(40) {
		var orders [2][]sched.Decision
		for i, spec := range []string{"maxsrpt:size=first", "maxsrpt:size=bytes"} {
			p, err := NewPerClass(spec, 1, 2)
			if err != nil {
				t.Fatal(err)
			}
			w := policytest.MessyClasses(t, 2, p, sched.DefaultLimits(), seed)
			w.Writes = func(sched.TaskID) int64 { return 0 }
			w.Run()
			orders[i] = w.Orders
		}
		if !slices.Equal(orders[0], orders[1]) {
			t.Errorf("world %d differs", seed)
		}
	}
}
