package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/sched"
)

// linkWorld is a core of sites with a machine each, to which fetches are reported. The network that it tells has links of 1 GB/s, which nobody is to believe, and latencies of 50 ms.
type linkWorld struct {
	*testing.T
	core  *sched.Core
	watch *geo.LinkWatch
	now   sched.Time
	rand  *rand.Rand
}

func newLinkWorld(t *testing.T, spec string, sites int) *linkWorld {
	t.Helper()
	p, err := New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := &linkWorld{T: t, core: sched.New(p, sched.NoLimits()), rand: rand.New(rand.NewPCG(1, 2))}
	n := &sched.Network{Names: make([]string, sites), Bandwidth: make([]float64, sites*sites), Latency: make([]sched.Time, sites*sites)}
	for i := range n.Bandwidth {
		n.Bandwidth[i], n.Latency[i] = 1e9, 50*sched.Millisecond
	}
	if err := w.core.Connect(n); err != nil {
		t.Fatal(err)
	}
	for k := range sites {
		if _, err := w.core.AddMachine(sched.SiteID(k), 1); err != nil {
			t.Fatal(err)
		}
	}
	switch p := p.(type) {
	case *geoclone:
		w.watch = &p.watch.Links
	case *plain:
		switch by := p.order.Placing().(type) {
		case *flutter:
			w.watch = &by.watch.Links
		case *iridium:
			w.watch = &by.watch
		}
	}
	return w
}

// fetch reports a fetch over a link of a mean pace, in seconds per byte: each has one of its own, exponential around that, beside the latency.
func (w *linkWorld) fetch(from, to int, bytes int64, pace float64) {
	w.Helper()
	w.now += sched.Second
	span := 50*sched.Millisecond + sched.FromSeconds(float64(bytes)*pace*w.rand.ExpFloat64())
	_, err := w.core.Advance(w.now, []sched.Event{{
		At: w.now, Kind: sched.DataFetched, Site: sched.SiteID(from), Machine: sched.MachineID(to), Bytes: bytes, Span: span,
	}})
	if err != nil {
		w.Fatal(err)
	}
}

// expects checks what is thought of a link.
func (w *linkWorld) expects(from, to int, pace, within float64) {
	w.Helper()
	v := w.core.View()
	got := w.watch.FetchTo(v, []sched.Source{{Site: sched.SiteID(from), Bytes: 1e9}}, sched.SiteID(to)) - 0.05
	if want := pace * 1e9; math.Abs(got/want-1) > within {
		w.Errorf("1 GB from %d to %d is expected to take %.4g s and the latency, want %.4g s within %v", from, to, got, want, within)
	}
	row := w.watch.Fetch(&geo.FetchTimes{}, v, []sched.Source{{Site: sched.SiteID(from), Bytes: 1e9}})
	if row[to]-0.05 != got || row[from] != 0 {
		w.Errorf("for all sites the answer is %v, for site %d it is %v", row, to, got)
	}
}

// TestLinksAreLearned checks that the pace of each link converges to the truth, which differs from link to link by up to forty, whatever the network says, for each policy that uses
// links. A mean of 2,000 exponential spans is within 10 % of theirs with probability 1 - 1e-5.
func TestLinksAreLearned(t *testing.T) {
	for _, spec := range []string{"geoclone:memory=1000h", "flutter:memory=1000h", "iridium:memory=1000h"} {
		t.Run(spec, func(t *testing.T) {
			const sites = 3
			w := newLinkWorld(t, spec, sites)
			pace := func(k, l int) float64 { return 1e-8 * float64(1+k*k*6+l*8) }
			for range 2000 {
				for k := range sites {
					for l := range sites {
						if k != l {
							w.fetch(k, l, 1+w.rand.Int64N(1e7), pace(k, l))
						}
					}
				}
			}
			for k := range sites {
				for l := range sites {
					if k != l {
						w.expects(k, l, pace(k, l), 0.1)
					}
				}
			}
		})
	}
}

// TestLinksFollow checks that a link that becomes ten times slower is known as that: after eight memories 1/256 of the old observations and of the prior is left, which is 4 % of
// all that is known if the new ones are as many per memory. The mean of the last 100 or so has a standard error of 10 %.
func TestLinksFollow(t *testing.T) {
	w := newLinkWorld(t, "geoclone:memory=100s,weight=1", 2)
	for range 800 {
		w.fetch(0, 1, 1e6, 1e-7)
	}
	w.expects(0, 1, 1e-7, 0.3)
	for range 800 {
		w.fetch(0, 1, 1e6, 1e-6)
	}
	w.expects(0, 1, 1e-6, 0.3)
	for range 10000 { // weights have to be scaled down several times on the way
		w.fetch(0, 1, 1e6, 1e-7)
	}
	w.expects(0, 1, 1e-7, 0.3)
}

// TestLinkPriors checks what is thought of links that nothing was fetched over: at first the parameter, then what their ends are like. Site 2 fetches a hundred times as slowly as
// others, so site 3, which it has never fetched from, will be slow, too; and the way back is not known to be.
func TestLinkPriors(t *testing.T) {
	w := newLinkWorld(t, "iridium:bandwidth=1e6,weight=0.01", 4)
	w.expects(3, 2, 1e-6, 1e-9)
	for range 1000 {
		for _, to := range []int{1, 2} {
			w.fetch(0, to, 1e6, []float64{0, 1e-8, 1e-6}[to])
		}
		w.fetch(3, 1, 1e6, 1e-8)
	}
	w.expects(3, 2, 1e-6, 0.3)
	w.expects(2, 1, 1e-8, 1.5) // how quickly things leave site 2, nobody knows
	up, down := w.watch.Ends(w.core.View(), 2)
	if slow := 1 / down; math.Abs(slow/1e-6-1) > 0.2 {
		t.Errorf("site 2 takes in a byte in %v s, want 1e-6", slow)
	}
	if up < 1e6 {
		t.Errorf("nothing has left site 2, but it is expected to send %v bytes per second", up)
	}
}

// TestTrueLinks checks that with truth=true the network is believed.
func TestTrueLinks(t *testing.T) {
	for _, spec := range []string{"geoclone:truth=true", "flutter:truth=true", "iridium:truth=true"} {
		w := newLinkWorld(t, spec, 3)
		for range 100 {
			w.fetch(0, 1, 1e6, 1e-6)
		}
		w.expects(0, 1, 1e-9, 1e-9)
		if up, down := w.watch.Ends(w.core.View(), 0); up != 1e9 || down != 1e9 {
			t.Errorf("%s: the ends of site 0 are known as %v and %v", spec, up, down)
		}
	}
}

// TestFetchIsTakenOff checks that an attempt's own fetch is taken off its duration, not what was to be expected: 20 s of which 10 s were spent fetching are a slowdown of 1.
func TestFetchIsTakenOff(t *testing.T) {
	w := geoWorld(t, "geoclone:copies=1,bandwidth=1e9,prior=(det:value=1)", []int{1, 0}, []float64{20, 20})
	spec := tasksOf(1)
	spec.Stages[0].Inputs = [][]sched.Source{{{Site: 1, Bytes: 1e6}}}
	w.Submit(0, spec)
	w.Step()
	d := w.Orders[0]
	w.Facts.Push(sched.Event{At: 10 * sched.Second, Kind: sched.DataFetched, Attempt: d.Attempt, Machine: d.Machine, Site: 1, Bytes: 1e6, Span: 10 * sched.Second})
	w.Run()
	p := w.Policy.(*geoclone)
	if b := geo.BinOf(1); p.watch.All.Ended[b] == 0 {
		t.Errorf("observations are %v, want one in bin %d", p.watch.All.Ended, b)
	}
}

// TestStatedLinks: where nobody will report fetches, the bandwidths of the network are believed without truth=true, and
// so is that a link has no bound.
func TestStatedLinks(t *testing.T) {
	for _, spec := range []string{"geoclone", "flutter", "iridium"} {
		w := newLinkWorld(t, spec, 3)
		n := w.core.View().Sites().Network()
		reads := []sched.Source{{Site: 0, Bytes: 1e9}}
		if got := w.watch.FetchTo(w.core.View(), reads, 1); math.Abs(got-80.05) > 1e-9 {
			t.Errorf("%s: fetching 1 GB takes %v s, want that of 12.5 MB/s", spec, got)
		}
		n.Stated, n.Bandwidth[2] = true, math.Inf(1)
		for to, want := range []float64{0, 1.05, 0.05} {
			if got := w.watch.FetchTo(w.core.View(), reads, sched.SiteID(to)); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: fetching 1 GB from site 0 to %d takes %v s, want %v", spec, to, got, want)
			}
		}
	}
}
