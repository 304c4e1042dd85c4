package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// geoWorld is a world of sites with links of 1 MB/s; the attempts at site k last as many seconds as lasts[k] says.
func geoWorld(t *testing.T, spec string, slots []int, lasts []float64) *policytest.World {
	t.Helper()
	w := on(t, spec, sched.NoLimits())
	n := len(slots)
	net := &sched.Network{Names: make([]string, n), Bandwidth: make([]float64, n*n)}
	for i := range net.Bandwidth {
		net.Bandwidth[i] = 1e6
	}
	if err := w.Core.Connect(net); err != nil {
		t.Fatal(err)
	}
	for k, most := range slots {
		for range most {
			m, err := w.Core.AddMachine(sched.SiteID(k), 1)
			if err != nil {
				t.Fatal(err)
			}
			w.Facts.Push(sched.Event{Kind: sched.MachineJoined, Machine: m})
		}
	}
	w.Fate = func(d *sched.Decision) policytest.Fate {
		return policytest.Fate{Lasts: sched.FromSeconds(lasts[w.Core.View().Machine(d.Machine).Site])}
	}
	return w
}

// startsAt returns how many attempts of each task were launched at an instant, and at which sites, as "task@site".
func startsAt(w *policytest.World, at sched.Time) (all []string) {
	for i := range w.Orders {
		if d := &w.Orders[i]; d.Kind == sched.Launch && d.At == at {
			all = append(all, fmt.Sprintf("%d@%d", d.Task, w.Core.View().Machine(d.Machine).Site))
		}
	}
	slices.Sort(all)
	return all
}

// tasks is a job of one stage of tasks of 10 s that read nothing.
func tasksOf(n int) *sched.JobSpec {
	return &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: n, Mean: 10 * sched.Second}}}
}

// TestQuota checks step 1 (Replica Number Estimation): N = 2 jobs, eps = 0.5, 12 slots: one job is chosen, that with fewer tasks, h = 12, so 4 attempts for each of 3 tasks; with
// slots all taken by it, the other job has none. The threshold is p(1+eps)u <= 1.5 p < e = 2 p, for site 0 is known to take 20 s.
func TestQuota(t *testing.T) {
	w := geoWorld(t, "geoclone:stop=best,epsilon=0.5,prior=(det:value=2)", []int{12}, []float64{20})
	w.Submit(0, tasksOf(5))
	w.Submit(0, tasksOf(3))
	w.Step()
	counts := map[string]int{}
	for _, x := range startsAt(w, 0) {
		counts[x]++
	}
	if len(counts) != 3 || counts["5@0"] != 4 || counts["6@0"] != 4 || counts["7@0"] != 4 {
		t.Errorf("attempts %v, want 4 of each task of the smaller job", counts)
	}
}

// TestQuotaBelowOne checks lines 6 and 7 of step 1: c < sigma gives one attempt to c tasks drawn at random. Two seeds draw different ones.
func TestQuotaBelowOne(t *testing.T) {
	drawn := map[string]bool{}
	for seed := range uint64(8) {
		p, err := New("geoclone:epsilon=1", seed)
		if err != nil {
			t.Fatal(err)
		}
		w := policytest.NewWorld(t, p, sched.NoLimits())
		w.Machine(0, 4)
		w.Submit(0, tasksOf(20))
		w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 100 * sched.Second} }
		w.Step()
		got := startsAt(w, 0)
		if len(slices.Compact(slices.Clone(got))) != 4 {
			t.Fatalf("launches %v, want four tasks, one attempt each", got)
		}
		drawn[fmt.Sprint(got)] = true
	}
	if len(drawn) < 4 {
		t.Errorf("eight seeds draw %d sets of tasks", len(drawn))
	}
}

// TestThreshold checks line 10 of step 2: no further attempt once e(x) <= p(1+eps)u. 10 slots, eps = 1, one task of p = 10 s that takes exactly p: after one attempt u = 0.1 and the threshold is 2 s; it is reached when
// 2u >= 1, with 5 slots.
func TestThreshold(t *testing.T) {
	w := geoWorld(t, "geoclone:stop=best,epsilon=1,prior=(det:value=1),weight=1e6", []int{10}, []float64{10})
	w.Submit(0, tasksOf(1))
	w.Step()
	if n := len(startsAt(w, 0)); n < 5 || n > 6 {
		t.Errorf("%d attempts, want 5 or, as the bin of 1 is 15 %% wide, 6", n)
	}
}

// TestAdvancedFirst checks the order of step 2, with slots=total and two jobs chosen that want all: the one whose first stage is done goes first, or last as printed.
func TestAdvancedFirst(t *testing.T) {
	for first, want := range map[string]sched.JobID{"advanced": 1, "printed": 0} {
		w := geoWorld(t, "geoclone:stop=best,epsilon=1,slot=5s,first="+first, []int{2}, []float64{7})
		two := &sched.JobSpec{
			Stages: []sched.StageSpec{{Tasks: 1, Mean: 10 * sched.Second}, {Tasks: 2, Mean: 10 * sched.Second}}, Edges: []sched.Edge{{From: 0, To: 1}},
		}
		w.Submit(sched.Second, tasksOf(3)) // both have three tasks, the second one stage behind it
		w.Submit(0, two)
		for w.Now < 10*sched.Second {
			w.Step()
		}
		served := w.Core.View().Rows().JobOf(0)
		for i := range w.Orders {
			if d := &w.Orders[i]; d.Kind == sched.Launch && d.At == 10*sched.Second {
				served = d.Job
				break
			}
		}
		if served != want {
			t.Errorf("first=%s: job %d is served first, want %d", first, served, want)
		}
	}
}

// TestBestSite checks line 13 of step 2: the free slot with the smallest E[e]. 8 MB at site 0 take 8 s to fetch; site 1 is known by now to be three times as slow as site 0 and 2.
func TestBestSite(t *testing.T) {
	w := geoWorld(t, "geoclone:epsilon=1,copies=1,weight=0.01,bandwidth=1e6,prior=(det:value=1)", []int{2, 2, 2}, []float64{10, 30, 10})
	w.Submit(0, tasksOf(6))
	spec := tasksOf(5)
	spec.Stages[0].Inputs = [][]sched.Source{{{Site: 0, Bytes: 8e6}}}
	w.Submit(100*sched.Second, spec)
	w.Run()
	got := startsAt(w, 100*sched.Second)
	at := map[byte]int{}
	for _, x := range got {
		at[x[len(x)-1]]++
	}
	if at['0'] != 2 || at['2'] != 2 || at['1'] != 1 {
		t.Errorf("launches %v, want two at site 0, two at site 2, and the last at site 1", got)
	}
}

// TestProfiler checks that censored attempts keep the law from being one of winners: slowdowns are 3 exp(0.8 Z), mean 4.13, and each attempt races two clones of the same law, so
// that winners have a mean of 1.9 or so; what is learned is the mean of attempts.
func TestProfiler(t *testing.T) {
	w := on(t, "geoclone:epsilon=1,copies=3,weight=1,memory=1000h", sched.NoLimits())
	w.Connect(1)
	for range 30 {
		w.Machine(0, 1)
	}
	for j := range 400 {
		w.Submit(sched.Time(j)*100*sched.Second, tasksOf(3))
	}
	won, n := 0.0, 0
	w.Fate = func(d *sched.Decision) policytest.Fate {
		z := rand.New(rand.NewPCG(uint64(d.Task), uint64(d.Number))).NormFloat64()
		return policytest.Fate{Lasts: sched.FromSeconds(10 * 3 * math.Exp(0.8*z))}
	}
	w.Run()
	v := w.Core.View()
	for i := range w.Orders {
		if d := &w.Orders[i]; d.Kind == sched.Commit {
			n++
		}
	}
	p := w.Policy.(*geoclone)
	p.watch.Refresh(v)
	for b := range p.watch.All.Ended {
		won += p.watch.All.Sum[b]
	}
	total := 0.0
	for _, x := range p.watch.All.Ended {
		total += x
	}
	if mean := won / total; mean > 2.1 {
		t.Errorf("winners' mean %v, want about 1.9: the world is not what this test thinks", mean)
	}
	if m := p.watch.Laws[0].Mean; m < 3.7 || m > 4.6 {
		t.Errorf("learned a mean of %v, want about 4.13", m)
	}
	if got := ReportBytes(w.Policy); got < int64(n)*geo.ReportBytes {
		t.Errorf("%d bytes reported of %d attempts", got, n)
	}
}

// TestTruth checks the channel: what is told is believed, and only with truth=true.
func TestTruth(t *testing.T) {
	for spec, want := range map[string]float64{"geoclone:truth=true": 7, "flutter:truth=true": 7, "geoclone:prior=(det:value=1)": 1} {
		w := on(t, spec, sched.NoLimits())
		w.Machine(0, 1)
		Tell(w.Policy, func(sched.SiteID) (values, chances []float64) { return []float64{4, 10}, []float64{0.5, 0.5} })
		watch := w.Policy.(interface{ watching() *geo.SiteWatch }).watching()
		watch.Refresh(w.Core.View())
		if got := watch.Laws[0].Mean; math.Abs(got-want) > 0.1*want {
			t.Errorf("%s: mean %v, want %v", spec, got, want)
		}
	}
}
