package sim

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// naiveShare raises the rates of all fetches one by one: each round finds the tightest of all links and sites by looking at every one, and settles the fetches there. It
// works on single fetches and knows nothing of streams.
func naiveShare(sites *sched.Network, streams []*stream) []float64 {
	type user struct{ stream, from, to int }
	var users []user
	for i, s := range streams {
		for range s.fetches {
			users = append(users, user{i, int(s.from), int(s.to)})
		}
	}
	rate := make([]float64, len(users))
	for i := range rate {
		rate[i] = -1
	}
	type resource struct {
		carries float64
		uses    func(user) bool
	}
	var all []resource
	for i, s := range streams {
		all = append(all, resource{s.most, func(u user) bool { return u.stream == i }})
	}
	for k := range sites.Up {
		if sites.Up[k] > 0 {
			all = append(all, resource{sites.Up[k], func(u user) bool { return u.from == k }})
		}
		if sites.Down[k] > 0 {
			all = append(all, resource{sites.Down[k], func(u user) bool { return u.to == k }})
		}
	}
	for {
		tightest, least := -1, math.Inf(1)
		for i, r := range all {
			left, open := r.carries, 0
			for k, u := range users {
				if r.uses(u) && rate[k] >= 0 {
					left -= rate[k]
				} else if r.uses(u) {
					open++
				}
			}
			if open > 0 && left/float64(open) < least {
				tightest, least = i, left/float64(open)
			}
		}
		if tightest < 0 {
			break
		}
		for k, u := range users {
			if all[tightest].uses(u) && rate[k] < 0 {
				rate[k] = max(0, least)
			}
		}
	}
	of := make([]float64, len(streams))
	for k, u := range users {
		of[u.stream] = rate[k]
	}
	return of
}

func TestMaxMinAgainstNaive(t *testing.T) {
	var m maxMin
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.SampledFrom([]float64{1, 2, 3, 5, 10, 100})
		sites := &sched.Network{Names: make([]string, 5), Up: make([]float64, 5), Down: make([]float64, 5)}
		for i := range sites.Up {
			if rapid.Bool().Draw(t, "bounded") {
				sites.Up[i], sites.Down[i] = capacity.Draw(t, "up"), capacity.Draw(t, "down")
			}
		}
		var streams []*stream
		for from := range sched.SiteID(5) {
			for to := range sched.SiteID(5) {
				if n := rapid.IntRange(-3, 4).Draw(t, "fetches"); from != to && n > 0 {
					streams = append(streams, &stream{from: from, to: to, most: capacity.Draw(t, "most"), fetches: make([]fetch, n)})
				}
			}
		}
		m.share(sites, streams)
		want := naiveShare(sites, streams)
		for i, s := range streams {
			if math.Abs(s.rate-want[i]) > 1e-9*want[i] {
				t.Fatalf("stream %d to %d with %d fetches has rate %v, want %v", s.from, s.to, len(s.fetches), s.rate, want[i])
			}
		}
	})
}

// Three fetches of 1000 bytes over one link of 100 bytes a second, from a to b, where the machines are slow to be told apart: together they take 30 s, then 3 s of
// latency. One that is alone takes 13 s, shared or not.
func TestFetchesShareALink(t *testing.T) {
	c := twoSites()
	c.Network.Shared = true
	c.Sites[0].Machines, c.Sites[1].Machines = 1, 3
	one := load(t, `{"stages":[{"durations_seconds":[100,2],"inputs":[[{"site":"a","bytes":1000}]]}]}`)
	three := load(t, `{"stages":[{"durations_seconds":[100,2,2,2],"inputs":[[{"site":"a","bytes":1000}]]}]}`)
	for _, c2 := range []struct {
		name string
		got  sched.Time
		want sched.Time
	}{
		// Machine 0 at a works 50 s on the first task; the others fetch: 10 or 30 s, 3 s of latency, 2 s of work.
		{"one", runGeo(t, one, Options{Cluster: c}).Jobs[0].Fruitful, (50 + 10 + 3 + 2) * sched.Second},
		{"three", runGeo(t, three, Options{Cluster: c}).Jobs[0].Fruitful, (50 + 3*(30+3+2)) * sched.Second},
	} {
		if math.Abs(float64(c2.got-c2.want)) > 10 {
			t.Errorf("%s: machines worked %v, want %v", c2.name, c2.got, c2.want)
		}
	}
	c.Network.Up = []float64{50, 0} // and so twice as long
	got, want := runGeo(t, three, Options{Cluster: c}).Jobs[0].Fruitful, (50+3*(60+3+2))*sched.Second
	if math.Abs(float64(got-want)) > 10 {
		t.Errorf("with a bound on what leaves a: machines worked %v, want %v", got, want)
	}
}

// Where nobody shares a link, sharing changes nothing; with clones that are killed while they fetch, everything still ends. Progress reports go on.
func TestSharedLinksInAWorldOfJobs(t *testing.T) {
	c, err := LoadCluster("synth:waxman;sites=6;slots=40", 3)
	if err != nil {
		t.Fatal(err)
	}
	shared, network := *c, *c.Network
	shared.Network, network.Shared = &network, true
	w := load(t, `{"stages":[{"tasks":30,"law":"exp:mu=0.1","inputs":[[{"bytes":100000000}]]},{"tasks":5,"law":"exp:mu=1","after":[{"stage":"0","bytes":[3000000]}]}]}
{"arrival_seconds":3,"stages":[{"tasks":30,"law":"exp:mu=0.1","inputs":[[{"bytes":100000000}]]},{"tasks":5,"law":"exp:mu=1","after":[{"stage":"0","bytes":[3000000]}]}]}`)
	lonely := load(t, `{"stages":[{"durations_seconds":[4],"inputs":[[{"site":"site3","bytes":100000000}]]},{"durations_seconds":[2],"after":[{"stage":"0","bytes":[3000000]}]}]}
{"arrival_seconds":1000,"stages":[{"durations_seconds":[5],"inputs":[[{"site":"site1","bytes":100000000},{"site":"site2","bytes":70000000}]]}]}`)
	for _, progress := range []Progress{{}, {Exact: true}, {Every: sched.Second}} {
		alone, together := Options{Cluster: c, Seed: 5, Progress: progress}, Options{Cluster: &shared, Seed: 5, Progress: progress}
		a, b := runGeo(t, lonely, alone), runGeo(t, lonely, together)
		for j := range a.Jobs {
			if d := a.Jobs[j].Completion - b.Jobs[j].Completion; d < -10 || d > 10 {
				t.Errorf("job %d ended at %v, at %v where links are shared", j, a.Jobs[j].Completion, b.Jobs[j].Completion)
			}
		}
		clones := Options{Cluster: &shared, Seed: 5, Progress: progress, Limits: sched.NoLimits(), Check: true, LaunchDelay: sched.Second}
		if _, err := Run(t.Context(), w, greedy{clones: true}, clones); err != nil {
			t.Error(err)
		}
	}
}
