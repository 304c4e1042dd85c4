package sim

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// twoSites is a cluster for stories: a has one machine of speed 2, b one of speed 1; 100 bytes a second and 3 s of latency between them.
func twoSites() *Cluster {
	c := &Cluster{Name: "two", Sites: []Site{{Name: "a", Machines: 1, Slots: 1, Speed: Steady(2)}, {Name: "b", Machines: 1, Slots: 1, Speed: Steady(1)}}}
	c.Network = newNetwork(c.Sites)
	for i := range c.Network.Bandwidth {
		c.Network.Bandwidth[i], c.Network.Latency[i] = 100, 3*sched.Second
	}
	return c
}

func runGeo(t *testing.T, w *trace.Workload, o Options) *Result {
	t.Helper()
	o.Limits = sched.NoLimits()
	res, err := Run(context.Background(), w, greedy{}, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Two tasks side by side: the one at a works 10 s at speed 2 on data that is there; the one at b works 10 s and fetches 1000 bytes from a before, 13 s. Then a third
// task runs at a, which is free first, on 500 bytes of the first, at a, and 200 of the second, at b: 3 + 2 s to fetch, 2 s of work.
func TestAttemptsFetchAndWork(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[10,10],"inputs":[[{"site":"a","bytes":1000}]]},`+
		`{"durations_seconds":[4],"after":[{"stage":"0","bytes":[500,200]}]}]}`)
	res := runGeo(t, w, Options{Cluster: twoSites()})
	if got, want := res.Jobs[0].Completion, 30*sched.Second; got != want {
		t.Errorf("the job ended at %v, want %v", got, want)
	}
}

// Inputs whose site the workload does not name are all at one, which depends on the seed and the job: over many seeds each site as often.
func TestInputsAnywhere(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[0],"inputs":[[{"bytes":100}]]}]}`)
	at := 0
	const runs = 400
	for seed := range uint64(runs) {
		res := runGeo(t, w, Options{Cluster: twoSites(), Seed: seed}) // on machine 0, at a
		switch res.Jobs[0].Completion {
		case 0:
			at++
		case 4 * sched.Second:
		default:
			t.Fatalf("the job ended at %v", res.Jobs[0].Completion)
		}
	}
	if math.Abs(float64(at)-runs/2) > 4*math.Sqrt(runs)/2 {
		t.Errorf("input was at a in %d of %d runs", at, runs)
	}
}

// The mean of e = p s/v + d over many attempts at one site: p E s E[1/v] with E s = 4.691, speeds drawn for each machine.
func TestAttemptsMean(t *testing.T) {
	law, err := parseSlowdown("dolly")
	if err != nil {
		t.Fatal(err)
	}
	const n = 20000
	speed := Speed{Mean: 1, SD: 0.24, Min: 0.2, Max: 3}
	c := &Cluster{Name: "one", Sites: []Site{{Name: "a", Machines: n, Slots: 1, Speed: speed, Slowdown: law}}}
	c.Network = newNetwork(c.Sites)
	w := load(t, `{"stages":[{"durations_seconds":[10`+strings.Repeat(",10", n-1)+`]}]}`)
	res := runGeo(t, w, Options{Cluster: c, Seed: 7})
	inverse := 0.0 // E[1/v] by the quantiles
	for k := range n {
		inverse += 1 / speed.Quantile((float64(k)+0.5)/n) / n
	}
	got, want := res.Jobs[0].Fruitful.Seconds()/n, 10*4.691*inverse
	if math.Abs(got-want)/want > 5*0.75/math.Sqrt(n) { // the coefficient of variation of s/v is about 0.75
		t.Errorf("attempts take %v s on average, want %v", got, want)
	}
}

// Luck is common: an attempt is as slow whatever policy runs beside it, and what is not fetched costs no luck.
func TestClusterIsTheSameForTheSameSeed(t *testing.T) {
	c, err := LoadCluster("synth:waxman;sites=5;slots=20", 3)
	if err != nil {
		t.Fatal(err)
	}
	w := load(t, `{"stages":[{"tasks":50,"law":"exp:mu=1","inputs":[[{"bytes":1000}]]},{"tasks":3,"law":"exp:mu=1","after":[{"stage":"0","bytes":[10]}]}]}`)
	a, b := runGeo(t, w, Options{Cluster: c, Seed: 5}), runGeo(t, w, Options{Cluster: c, Seed: 5})
	if a.Jobs[0] != b.Jobs[0] {
		t.Errorf("%+v and %+v", a.Jobs[0], b.Jobs[0])
	}
}

func TestClusterOptionsThatMakeNoSense(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[1],"inputs":[[{"site":"c","bytes":1}]]}]}`)
	plain := load(t, `{"stages":[{"durations_seconds":[1]}]}`)
	bad := twoSites()
	bad.Sites[1].Machines = 0
	for _, c := range []struct {
		w    *trace.Workload
		o    Options
		want string
	}{
		{w, Options{Cluster: twoSites()}, `test: a job names site "c", which two does not have`},
		{plain, Options{Cluster: bad}, "site b: expected machines and slots, got 0 with 1 each"},
		{plain, Options{Cluster: twoSites(), More: []int{1}}, "a cluster of sites has slots of one class"},
		{plain, Options{Cluster: &Cluster{}}, "expected a cluster with a network of its sites"},
	} {
		if _, err := Run(context.Background(), c.w, greedy{}, c.o); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
