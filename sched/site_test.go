package sched

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNetworkFetch(t *testing.T) {
	n := &Network{
		Names: []string{"a", "b"}, Bandwidth: []float64{1, 1000, math.Inf(1), 1},
		Latency: []Time{5 * Second, 2 * Second, 3 * Second, 5 * Second},
	}
	for _, c := range []struct {
		from, to SiteID
		bytes    int64
		want     Time
	}{
		{0, 0, 1 << 60, 0},
		{0, 1, 0, 0},
		{0, 1, 4000, 6 * Second},
		{1, 0, 1 << 60, 3 * Second},
		{0, 1, math.MaxInt64, Never}, // 292 million years are beyond the range
	} {
		if got := n.Fetch(c.from, c.to, c.bytes); got != c.want {
			t.Errorf("%d bytes from %d to %d take %v, want %v", c.bytes, c.from, c.to, got, c.want)
		}
	}
}

func TestNetworksThatMakeNoSense(t *testing.T) {
	two := []string{"a", "b"}
	for _, c := range []struct {
		n    Network
		want string
	}{
		{Network{}, "sites: 0 is not between"},
		{Network{Names: two, Bandwidth: []float64{1}}, "1 bandwidths and 0 latencies: 2 sites have 4 pairs"},
		{Network{Names: two, Bandwidth: []float64{0, 0, 1, 0}}, "bandwidth from a to b: 0 is not a positive number"},
		{Network{Names: two, Bandwidth: []float64{0, 1, math.NaN(), 0}}, "bandwidth from b to a: NaN"},
		{Network{Names: two, Bandwidth: []float64{0, 1, 1, 0}, Latency: []Time{0, -1, 0, 0}}, "latency from a to b: -1ns"},
		{Network{Names: two, Bandwidth: []float64{0, 1, 1, 0}, Up: []float64{1, 1}}, "expected one for each of 2 sites that share links"},
		{Network{Names: two, Bandwidth: []float64{0, 1, 1, 0}, Shared: true, Down: []float64{1}}, "0 bounds of what leaves sites and 1 of what enters them"},
		{Network{Names: two, Bandwidth: []float64{0, 1, 1, 0}, Shared: true, Up: []float64{1, -1}}, "site b: bounds of what leaves and enters it are at least 0"},
	} {
		if err := c.n.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v gives %v, want %q", c.n, err, c.want)
		}
	}
}

func TestConnectComesFirst(t *testing.T) {
	c := New(greedy{}, NoLimits())
	if err := c.Connect(network(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AddMachine(2, 1); err == nil {
		t.Error("a machine at a site that the network does not have was accepted")
	}
	if _, err := c.Submit(&JobSpec{Stages: []StageSpec{{Tasks: 1, Inputs: [][]Source{{{Site: 2, Bytes: 1}}}}}}); err == nil {
		t.Error("a job with input at a site that the network does not have was accepted")
	}
	if _, err := c.AddMachine(1, 1); err != nil {
		t.Fatal(err)
	}
	if err := c.Connect(network(3)); err == nil {
		t.Error("a core was connected after a machine was added")
	}
	if got := c.View().Sites().Len(); got != 2 {
		t.Errorf("%d sites, want 2", got)
	}
}

// A chain of three stages over two sites: task 2 reads what tasks 0 and 1 made, and an input of its own.
func TestResultsStayWhereTheyWereMade(t *testing.T) {
	w := &world{t: t}
	w.Core = New(w, NoLimits())
	for site := range SiteID(2) {
		if _, err := w.AddMachine(site, 2); err != nil {
			t.Fatal(err)
		}
	}
	w.at(0, joined(0), joined(1))
	w.arrive(JobSpec{
		Stages: []StageSpec{{Tasks: 2}, {Tasks: 1, Inputs: [][]Source{{{Site: 1, Bytes: 7}, {Site: 1, Bytes: 1}}}}, {Tasks: 3}},
		Edges: []Edge{
			{From: 0, To: 1, Kind: PerTask, Pairs: [][2]uint32{{1, 0}, {0, 0}}, Bytes: []int64{100, 20}},
			{From: 0, To: 2, Bytes: []int64{5}},
		},
	})
	sources := func(t TaskID) []Source { return w.View().Sites().AppendSources(nil, t) }
	same := func(task TaskID, want ...Source) {
		t.Helper()
		if d := cmp.Diff(want, sources(task)); d != "" {
			t.Errorf("task %d reads (-want +got):\n%s", task, d)
		}
	}
	same(2, Source{1, 8})
	a, clone := w.launch(0, 1), w.launch(0, 0)
	b := w.launch(1, 1)
	w.at(1, done(clone), done(a)) // the first in canonical order wins; rows are in order of launch
	if at, ok := w.View().Sites().Result(0); !ok || at != 1 {
		t.Errorf("the result of task 0 is at %d, %v; want 1, true", at, ok)
	}
	if _, ok := w.View().Sites().Result(1); ok {
		t.Error("task 1 has a result before it is done")
	}
	w.at(2, done(b))
	same(2, Source{1, 128})
	same(3, Source{1, 10})
	w.wantStates("DDPPPP")
}

func TestFreeMachineAtKnowsSitesThatAreMixed(t *testing.T) {
	w := &world{t: t}
	w.Core = New(w, NoLimits())
	for _, site := range []SiteID{0, 1, 0, 0, 1} {
		m, err := w.AddMachine(site, 1)
		if err != nil {
			t.Fatal(err)
		}
		w.at(0, joined(m))
	}
	w.arrive(tasks(2))
	w.launch(0, 1)
	if m, ok := w.View().Sites().FreeMachine(1, 0); !ok || m != 4 {
		t.Errorf("first free machine at site 1 is %d, %v; want 4", m, ok)
	}
	w.launch(1, 4)
	if m, ok := w.View().Sites().FreeMachine(1, 0); ok {
		t.Errorf("machine %d at site 1 is free, want none", m)
	}
	if m, ok := w.View().Sites().FreeMachine(0, 1); !ok || m != 2 {
		t.Errorf("first free machine from 1 at site 0 is %d, %v; want 2", m, ok)
	}
	if got := w.View().Sites().FreeSlots(0); got != 3 {
		t.Errorf("%d free slots at site 0, want 3", got)
	}
}

func TestSourcesAllocateNothing(t *testing.T) {
	c := New(greedy{}, NoLimits())
	inputs := [][]Source{{{Site: 3, Bytes: 1}, {Site: 1, Bytes: 1}}, nil}
	if _, err := c.Submit(&JobSpec{Stages: []StageSpec{{Tasks: 2, Inputs: inputs}}}); err != nil {
		t.Fatal(err)
	}
	buf := make([]Source, 0, 4)
	if n := testing.AllocsPerRun(100, func() { buf = c.View().Sites().AppendSources(buf[:0], 0) }); n > 0 || len(buf) != 2 {
		t.Errorf("%v allocations for sources %v", n, buf)
	}
}
