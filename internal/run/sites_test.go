package run

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// FuzzParseSites: whatever is given, the answer is a cluster that the core takes, with slots and speeds in range, or one line.
func FuzzParseSites(f *testing.F) {
	for _, s := range []string{"edge=2,speed=0.5,bandwidth=20Mbit/s dc=4", "a=1", "a=0", "=1", "a=1,speed=NaN", "a=1,bandwidth=1e400MB/s", "a=1 a=2", ",", "a=99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseSites(strings.Split(s, " "))
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !strings.Contains(s, "\n") {
				t.Errorf("%q: %q is no line", s, err)
			}
			return
		}
		e := &Engine{sites: &runSites{Cluster: c}}
		if _, err := e.seat(sched.New(nil, sched.NoLimits())); err != nil {
			t.Errorf("%q: %v", s, err)
		}
		for i := range c.Sites {
			if v := c.Sites[i].Speed.Quantile(0.5); !(v >= leastSpeed && v <= 1) || c.Sites[i].Slots < 1 {
				t.Errorf("%q: site %+v", s, c.Sites[i])
			}
		}
	})
}

// Links carry what the narrower of their ends does.
func TestParseSites(t *testing.T) {
	c, err := parseSites([]string{"edge=2,speed=0.5,bandwidth=8Mbit/s", "dc=4", "far=1,bandwidth=1MB/s"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Slots() != 7 || c.Sites[0].Speed != sim.Steady(0.5) || c.Sites[1].Speed != sim.Steady(1) {
		t.Errorf("sites are %+v", c.Sites)
	}
	if got, _ := c.Network.Link(0, 1); got != 1e6 {
		t.Errorf("from edge to dc come %v bytes per second", got)
	}
	if got := c.Network.Fetch(0, 2, 1e6); got != sched.Second {
		t.Errorf("a megabyte from edge takes %v to far", got)
	}
}

// Files below a folder that is at a site are there, the longest path first; what nobody names is drawn by the seed, each site as often.
func TestPlace(t *testing.T) {
	c, err := parseSites([]string{"a=1", "b=1"})
	if err != nil {
		t.Fatal(err)
	}
	part := func(path string, n int64) mapreduce.Range {
		return mapreduce.Range{File: mapreduce.File{Path: mapreduce.Path(path)}, Length: n}
	}
	plan := func(splits ...mapreduce.Split) *jobfile.Plan {
		return &jobfile.Plan{
			Spec: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: len(splits)}, {Tasks: 1}}, Edges: []sched.Edge{{From: 0, To: 1}}},
			Work: &jobfile.Work{MapReduce: &mapreduce.Plan{Stages: []mapreduce.StagePlan{{Splits: splits}, {}}}},
		}
	}
	r := &runSites{Cluster: c, data: []siteData{{site: 0, path: "/in", dataset: -1}, {site: 1, path: "/in/b", dataset: -1}}}
	p := plan(mapreduce.Split{part("/in/x", 3), part("/in/b/y", 4)}, mapreduce.Split{part("/in/bb", 5)})
	if err := r.place(t.Context(), p, nil, 1); err != nil {
		t.Fatal(err)
	}
	want := [][]sched.Source{{{Site: 0, Bytes: 3}, {Site: 1, Bytes: 4}}, {{Site: 0, Bytes: 5}}}
	if d := cmp.Diff(want, p.Spec.Stages[0].Inputs); d != "" || !p.Spec.Edges[0].Measured {
		t.Errorf("inputs (-want +got):\n%s\nedges %+v", d, p.Spec.Edges)
	}
	if err := r.place(t.Context(), plan(mapreduce.Split{part("/in/x", 3)}), nil, 1); err == nil || err.Error() != "--data b=/in/b: no input of the job is there" {
		t.Errorf("the error is %v", err)
	}
	var many []mapreduce.Split
	for range 1000 {
		many = append(many, mapreduce.Split{part("/elsewhere", 1)})
	}
	p, atB := plan(many...), 0
	if err := (&runSites{Cluster: c}).place(t.Context(), p, nil, 7); err != nil {
		t.Fatal(err)
	}
	for _, in := range p.Spec.Stages[0].Inputs {
		atB += int(in[0].Site)
	}
	if math.Abs(float64(atB)-500) > 4*math.Sqrt(250) {
		t.Errorf("%d of 1000 splits are at b", atB)
	}
}

// Attempts compute as much longer as the site's law of slowdowns and the machine's speed say, the same at each start of the engine, and never quicker than they can.
func TestSlower(t *testing.T) {
	c, err := sim.ReadCluster("c", []byte("sites: [{name: a, machines: 2, speed: {mean: 0.8, cv: 0.3}, slowdown: 'uniform:lo=0,hi=4'}, {name: b, machines: 1, speed: 0.25}]\nlinks: {bandwidth: 1MB/s}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := &runSites{Cluster: c}
	h := &trace.JournalHeader{Seed: 5, Machines: r.machines(0), Job: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 10}, {Tasks: 2000}}}}
	slower, seen, sum := r.slower(h), map[float64]bool{}, 0.0
	for i := range 2000 {
		a := live.Attempt{Stage: 1, Index: i, Machine: sched.MachineID(i % 2)}
		x := slower(a)
		if x < 1 || x != r.slower(h)(a) {
			t.Fatalf("attempt %+v is %v times slower", a, x)
		}
		seen[x], sum = true, sum+x
	}
	if len(seen) < 1000 || sum < 2000*2 {
		t.Errorf("%d different factors, mean %v", len(seen), sum/2000)
	}
	if x := slower(live.Attempt{Machine: 2}); x != 4 {
		t.Errorf("at b attempts are %v times slower", x)
	}
}
