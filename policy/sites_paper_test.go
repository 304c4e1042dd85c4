package policy

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestFlutterBottleneck checks that Flutter gives up the shortest time for one task where that lets the slowest end sooner (section 29 of the digest: lexicographic min-max). Task 0 reads 20 MB at site 0 and 18 MB at
// site 1, so it takes 18 s at site 0 and 20 s at site 1; task 1 reads 30 MB at site 0 alone. Each would rather have the one slot at site 0.
func TestFlutterBottleneck(t *testing.T) {
	w := geoWorld(t, "flutter:prior=(det:value=1)", []int{1, 1}, []float64{10, 10})
	spec := tasksOf(2)
	spec.Stages[0].Inputs = [][]sched.Source{{{Site: 0, Bytes: 20e6}, {Site: 1, Bytes: 18e6}}, {{Site: 0, Bytes: 30e6}}}
	w.Submit(0, spec)
	w.Step()
	if got := fmt.Sprint(startsAt(w, 0)); got != "[0@1 1@0]" {
		t.Errorf("starts %v, want task 1 at site 0", got)
	}
}

// TestFlutterWaits checks that where slots are few the tasks that read most go first.
func TestFlutterWaits(t *testing.T) {
	w := geoWorld(t, "flutter", []int{1, 1}, []float64{10, 10})
	spec := tasksOf(4)
	for _, mb := range []int64{1, 9, 3, 7} {
		spec.Stages[0].Inputs = append(spec.Stages[0].Inputs, []sched.Source{{Site: 0, Bytes: mb * 1e6}})
	}
	w.Submit(0, spec)
	w.Step()
	if got := fmt.Sprint(startsAt(w, 0)); got != "[1@0 3@1]" {
		t.Errorf("starts %v, want the tasks that read 9 and 7 MB", got)
	}
}

// TestIridiumShares checks the problem of Pu et al. where it can be solved by hand: sites 0 and 1 with 30 and 10 MB read by all tasks alike, links of 1 MB/s. (1-r) 30 = z and r 10 = z at site 0, and the same at site 1
// the other way round: r_0 = 3/4. Eight tasks: 6 and 2.
func TestIridiumShares(t *testing.T) {
	w := geoWorld(t, "iridium", []int{8, 8}, []float64{10, 10})
	spec := tasksOf(8)
	spec.Stages[0].Inputs = [][]sched.Source{{{Site: 0, Bytes: 30e6}, {Site: 1, Bytes: 10e6}}}
	w.Submit(0, spec)
	w.Step()
	at := map[byte]int{}
	for _, x := range startsAt(w, 0) {
		at[x[len(x)-1]]++
	}
	if at['0'] != 6 || at['1'] != 2 {
		t.Errorf("%d and %d tasks, want 6 and 2", at['0'], at['1'])
	}
}

// drawIridium draws a stage of up to 9 tasks and the sites that have room for it.
func drawIridium(t *rapid.T) (p *iridium, n, sites int) {
	n, sites = rapid.IntRange(1, 9).Draw(t, "tasks"), rapid.IntRange(1, 4).Draw(t, "sites")
	p = &iridium{}
	room := 0
	for k := range sites {
		p.up = append(p.up, float64(rapid.IntRange(1, 9).Draw(t, "up")))
		p.down = append(p.down, float64(rapid.IntRange(1, 9).Draw(t, "down")))
		p.data = append(p.data, float64(rapid.IntRange(0, 9).Draw(t, "data")))
		p.total += p.data[k]
		slots := rapid.IntRange(0, n).Draw(t, "slots")
		if room += slots; k == sites-1 {
			slots += max(0, n-room)
		}
		p.room = append(p.room, slots)
	}
	return p, n, sites
}

// TestIridiumOptimum checks the division against all ways to divide up to 9 tasks among sites with so much room: none has a smaller z, and none of those with that z moves less.
func TestIridiumOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n, sites := drawIridium(t)
		z := p.solve(n)
		p.divide(n)
		count := make([]int, sites)
		for _, x := range p.shares {
			count[x.site] += x.n
		}
		w := division{p.data, p.up, p.down, p.room, n}
		least, moved := w.best()
		if got, bytes := w.of(count); math.Abs(got-least) > 1e-12 || math.Abs(bytes-moved) > 1e-9 || math.Abs(z-least) > 1e-12 {
			t.Fatalf("%v has z = %v (said to be %v) and moves %v, but %v and %v can be had: %+v", count, got, z, bytes, least, moved, w)
		}
	})
}

// division is the problem of Pu et al. in whole tasks, for looking at all answers.
type division struct {
	data, up, down []float64
	room           []int
	n              int
}

// of returns the z of an answer and the bytes that it moves; +Inf if it is none.
func (w *division) of(count []int) (z, moved float64) {
	total, left := 0.0, w.n
	for k := range w.data {
		total += w.data[k]
		if left -= count[k]; count[k] < 0 || count[k] > w.room[k] {
			return math.Inf(1), 0
		}
	}
	if left != 0 {
		return math.Inf(1), 0
	}
	for k, m := range count {
		r := float64(m) / float64(w.n)
		z = max(z, (1-r)*w.data[k]/w.up[k], r*(total-w.data[k])/w.down[k])
		moved += r * (total - w.data[k])
	}
	return z, moved
}

// best returns the least z of all answers, and the least that is moved by those that have it.
func (w *division) best() (z, moved float64) {
	z = math.Inf(1)
	w.each(func(count []int) {
		if x, bytes := w.of(count); x < z*(1-1e-12) || x <= z*(1+1e-12) && bytes < moved {
			z, moved = min(x, z), bytes
		}
	})
	return z, moved
}

// TestIridiumWeighsMoney checks that no division of tasks has a smaller sum of z and what the moved bytes cost, in the same small problems with prices.
func TestIridiumWeighsMoney(t *testing.T) {
	dearer := 0
	rapid.Check(t, func(t *rapid.T) {
		p, n, sites := drawIridium(t)
		prices := make([]float64, sites*sites) // of a byte
		net := &sched.Network{Names: make([]string, sites), Price: make([]sched.Money, sites*sites)}
		for i := range prices {
			net.Price[i] = sched.Money(rapid.IntRange(0, 9).Draw(t, "price")) * 1e15
			prices[i] = float64(net.Price[i]) / 1e18
		}
		worth := rapid.SampledFrom([]float64{0.1, 1, 10, 100}).Draw(t, "worth") * 1000
		w := division{p.data, p.up, p.down, p.room, n}
		cost := func(count []int) float64 {
			z, _ := w.of(count)
			for i, m := range count {
				for k, bytes := range p.data {
					if k != i {
						z += worth * float64(m) / float64(n) * bytes * prices[k*sites+i]
					}
				}
			}
			return z
		}
		z := p.solve(n)
		p.weigh(net, z, worth, n)
		p.divide(n)
		count := make([]int, sites)
		for _, x := range p.shares {
			count[x.site] += x.n
		}
		least := math.Inf(1)
		w.each(func(count []int) { least = min(least, cost(count)) })
		if got := cost(count); math.Abs(got-least) > 1e-9*max(1, least) {
			t.Fatalf("%v costs %v, but %v can be had: %+v, prices %v worth %v", count, got, least, w, prices, worth)
		}
		if got, _ := w.of(count); got > z*(1+1e-9) {
			dearer++
		}
	})
	if dearer == 0 {
		t.Error("money never made a stage slower")
	}
}

// each calls with all ways to divide.
func (w *division) each(look func(count []int)) {
	count := make([]int, len(w.data))
	var try func(k, left int)
	try = func(k, left int) {
		if k == len(count) {
			look(count)
			return
		}
		for m := 0; m <= min(left, w.room[k]); m++ {
			count[k] = m
			try(k+1, left-m)
		}
		count[k] = 0
	}
	try(0, w.n)
}

// TestDelayWaits checks delay scheduling (Zaharia et al., EuroSys 2010): tasks at home at site 0 wait 3 s for its one slot before they go to site 1, each anew after a local start.
func TestDelayWaits(t *testing.T) {
	w := geoWorld(t, "spark-geo", []int{1, 3}, []float64{2, 20})
	spec := tasksOf(4)
	spec.Stages[0].Inputs = [][]sched.Source{{{Site: 0, Bytes: 1e6}}}
	w.Submit(0, spec)
	w.Run()
	if got := fmt.Sprint(startsAt(w, 0), startsAt(w, 2*sched.Second), startsAt(w, 4*sched.Second), startsAt(w, 6*sched.Second)); got != "[0@0] [1@0] [2@0] [3@0]" {
		t.Errorf("starts %v, want all at home, for the slot is free again within 3 s", got)
	}
	w = geoWorld(t, "spark-geo", []int{1, 3}, []float64{50, 20})
	w.Submit(0, spec)
	w.Run()
	if got := fmt.Sprint(startsAt(w, 0), startsAt(w, 3*sched.Second), startsAt(w, 6*sched.Second)); got != "[0@0] [1@1 2@1 3@1] []" {
		t.Errorf("starts %v, want the rest elsewhere after 3 s: the level stays ANY", got)
	}
}

// TestInsideSites checks that redundancy stays inside the site that Flutter chose: every clone of a task is at the site of its original, and no task of a job is left behind.
func TestInsideSites(t *testing.T) {
	for _, spec := range []string{"flutter+mantri:period=1s,rho=0", "flutter+dolly:budget=1,threshold=1,p=0.4"} {
		clones := 0
		for seed := range uint64(30) {
			p, err := New(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			w := policytest.MessySites(t, p, sched.NoLimits(), seed)
			v := w.Core.View()
			w.Seen = func(_ sched.Time, orders []sched.Decision) {
				for i := range orders {
					d := &orders[i]
					if d.Kind != sched.Launch || d.Reason == sched.Original {
						continue
					}
					for a, ok := v.FirstAttempt(d.Task); ok; a, ok = v.NextAttempt(a) {
						if clones++; v.Machine(v.Attempt(a).Machine).Site != v.Machine(d.Machine).Site {
							t.Fatalf("%s, seed %d: task %d runs at two sites", spec, seed, d.Task)
						}
					}
				}
			}
			w.Run()
		}
		if clones < 50 {
			t.Errorf("%s: only %d clones were looked at", spec, clones)
		}
	}
}
