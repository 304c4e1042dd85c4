package sched

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sited is a policy that says that it chooses sites.
type sited struct{}

func (sited) Observe(*View, *Event)  {}
func (sited) Decide(*View, *Actions) {}
func (sited) Confines() bool         { return true }

// TestWhereTasksMayRun: a stage reads eu in task 0 and nothing in task 1; what follows reads both, each, or what was released.
func TestWhereTasksMayRun(t *testing.T) {
	eu, us := Dataset{"eu", []SiteID{0, 2}}, Dataset{"us", []SiteID{1, 2}}
	source := StageSpec{Tasks: 2, Datasets: [][]uint32{{0}, nil}}
	after := func(kind EdgeKind) JobSpec {
		return JobSpec{Datasets: []Dataset{eu, us}, Stages: []StageSpec{source, {Tasks: 2}}, Edges: []Edge{{From: 0, To: 1, Kind: kind, Pairs: [][2]uint32{{0, 1}}}}}
	}
	released := after(Barrier)
	released.Stages = []StageSpec{{Tasks: 2, Datasets: source.Datasets, Releases: []uint32{0}}, {Tasks: 2}}
	both := after(Barrier)
	both.Stages = []StageSpec{source, {Tasks: 1, Datasets: [][]uint32{{1, 1}}}}
	backwards := after(Barrier)
	backwards.Stages = []StageSpec{{Tasks: 1}, source}
	backwards.Edges[0].From, backwards.Edges[0].To = 1, 0
	for _, c := range []struct {
		name string
		job  JobSpec
		want string // by task: the sites at which it may run
	}{
		{"an edge of a whole stage", after(Barrier), "02 012 02 02"},
		{"task by task", after(Pointwise), "02 012 02 012"},
		{"pairs", after(PerTask), "02 012 012 02"},
		{"released", released, "02 012 012 012"},
		{"two datasets", both, "02 012 2"},
		{"stages in another order", backwards, "02 02 012"},
	} {
		t.Run(c.name, func(t *testing.T) {
			core := New(sited{}, NoLimits())
			if err := core.Connect(network(3)); err != nil {
				t.Fatal(err)
			}
			if _, err := core.Submit(&JobSpec{Stages: []StageSpec{{Tasks: 1}}}); err != nil {
				t.Fatal(err)
			}
			id, err := core.Submit(&c.job)
			if err != nil {
				t.Fatal(err)
			}
			v := core.View()
			if !v.Sites().Confined(id) || v.Sites().Confined(0) {
				t.Error("the wrong jobs are confined")
			}
			if got := placesOf(v, 1); got != c.want {
				t.Errorf("tasks may run at %s, want %s", got, c.want)
			}
			other, err := restored(core, sited{})
			if err != nil {
				t.Fatal(err)
			}
			if got := placesOf(other.View(), 1); got != c.want {
				t.Errorf("after a restore tasks may run at %s, want %s", got, c.want)
			}
		})
	}
}

// placesOf lists the sites of tasks from one on.
func placesOf(v *View, first TaskID) string {
	var all []string
	for t := first; t < TaskID(v.Rows().Tasks()); t++ {
		places := ""
		for k := range SiteID(v.Sites().Len()) {
			if v.Sites().Allows(t, k) {
				places += fmt.Sprint(k)
			}
		}
		if (v.Sites().Zone(t) == 0) != (len(places) == v.Sites().Len()) {
			places += "?"
		}
		all = append(all, places)
	}
	return strings.Join(all, " ")
}

// TestConfinedJobsThatMakeNoSense: each error names the field.
func TestConfinedJobsThatMakeNoSense(t *testing.T) {
	here := []Dataset{{"d", []SiteID{0}}}
	one := []StageSpec{{Tasks: 1, Datasets: [][]uint32{{0}}}}
	for _, c := range []struct {
		name string
		job  JobSpec
		p    Policy
		l    Limits
		want string
	}{
		{"no site", JobSpec{Datasets: []Dataset{{Name: "d"}}, Stages: one}, sited{}, NoLimits(), "datasets[0].sites: 0 sites"},
		{"sites out of order", JobSpec{Datasets: []Dataset{{"d", []SiteID{1, 0}}}, Stages: one}, sited{}, NoLimits(), "datasets[0].sites[1]: expected numbers that ascend"},
		{"an unknown site", JobSpec{Datasets: []Dataset{{"d", []SiteID{0, 3}}}, Stages: one}, sited{}, NoLimits(), "datasets: d: there is no site 3"},
		{"an unknown dataset", JobSpec{Datasets: here, Stages: []StageSpec{{Tasks: 1, Datasets: [][]uint32{{1}}}}}, sited{}, NoLimits(), "stages[0].datasets[0]: there is no dataset 1"},
		{"no datasets", JobSpec{Stages: one}, sited{}, NoLimits(), "stages[0].datasets[0]: there is no dataset 0"},
		{"lists", JobSpec{Datasets: here, Stages: []StageSpec{{Tasks: 3, Datasets: [][]uint32{nil, nil}}}}, sited{}, NoLimits(), "stages[0].datasets: 2 lists are neither"},
		{"released", JobSpec{Datasets: here, Stages: []StageSpec{{Tasks: 1, Releases: []uint32{2}}}}, sited{}, NoLimits(), "stages[0].releases: there is no dataset 2"},
		{"nothing in common", JobSpec{Datasets: []Dataset{{"d", []SiteID{0}}, {"e", []SiteID{1}}}, Stages: []StageSpec{{}, {Tasks: 2, Datasets: [][]uint32{{0}, {1, 0}}}}}, sited{}, NoLimits(), "stages[1]: task 1: expected a site where all that it holds may be, d, e have none in common"},
		{"a policy without sites", JobSpec{Datasets: here, Stages: one}, greedy{}, NoLimits(), "the policy does not choose sites"},
		{"a bound on waiting", JobSpec{Datasets: here, Stages: one}, sited{}, Limits{Attempts: 1, MaxWait: 1}, "a bound on waiting (MaxWait) starts tasks anywhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			core := New(c.p, c.l)
			if err := core.Connect(network(3)); err != nil {
				t.Fatal(err)
			}
			if _, err := core.Submit(&c.job); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if got := core.View().Rows().Jobs(); got != 0 {
				t.Errorf("%d jobs were made known", got)
			}
		})
	}
}

// TestDataStays: the core refuses an attempt where the data may not be, whoever wants it, and hands confined jobs to no policy that chooses no sites.
func TestDataStays(t *testing.T) {
	core := New(sited{}, NoLimits())
	if err := core.Connect(network(2)); err != nil {
		t.Fatal(err)
	}
	var facts []Event
	for k := range SiteID(2) {
		m, err := core.AddMachine(k, 2)
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, Event{Kind: MachineJoined, Machine: m})
	}
	id, err := core.Submit(&JobSpec{Datasets: []Dataset{{"d", []SiteID{1}}}, Stages: []StageSpec{{Tasks: 1, Datasets: [][]uint32{{0}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := core.Advance(0, append(facts, Event{Kind: JobArrived, Job: id})); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first attempt, then a clone
		if _, err := core.act.Launch(0, 0, 0, Original); !errors.Is(err, ErrSite) {
			t.Fatalf("at the forbidden site: %v", err)
		}
		if _, err := core.act.Launch(0, 1, 0, Original); err != nil {
			t.Fatal(err)
		}
	}
	if err := core.Check(); err != nil {
		t.Fatal(err)
	}
	core.view.confined.Get(id).zones[0][0] = 1
	if err := core.Check(); err == nil || !strings.Contains(err.Error(), "task 0 runs at site 1, where its data may not be") {
		t.Errorf("the check says %v", err)
	}
	core.view.confined.Get(id).zones[0][0] = 2
	if _, err := core.Advance(1, []Event{{At: 1, Kind: MachineLost, Machine: 0}, {At: 1, Kind: MachineLost, Machine: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := core.HandOver(&HandOver{Policy: greedy{}, Limits: NoLimits()}); err == nil || !strings.Contains(err.Error(), "data of job 0 may not be everywhere") {
		t.Errorf("handed over to a policy without sites: %v", err)
	}
	if err := core.HandOver(&HandOver{Policy: sited{}, Limits: NoLimits()}); err != nil {
		t.Error(err)
	}
	if _, err := core.Advance(2, []Event{{At: 2, Kind: JobCancelled, Job: id}}); err != nil {
		t.Fatal(err)
	}
	if _, err := core.Advance(3, []Event{{At: 3, Kind: JobRetired, Job: id}}); err != nil {
		t.Fatal(err)
	}
	if core.View().Sites().Confined(id) || core.view.confined.Len() > 0 {
		t.Error("a retired job is still confined")
	}
}

// TestZonesAgainstAWalk compares zones with a walk from each task back to all it can read, in random jobs.
func TestZonesAgainstAWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const sites = 70 // more than a word
		spec := drawConfined(t, sites)
		of, zones, err := spec.zones()
		n := 0
		for i := range spec.Stages {
			for k := range spec.Stages[i].Tasks {
				seen := map[uint32]bool{}
				spec.walk(i, k, nil, seen)
				var may []SiteID
				for s := range SiteID(sites) {
					fits := true
					for d := range seen {
						fits = fits && slices.Contains(spec.Datasets[d].Sites, s)
					}
					if fits {
						may = append(may, s)
					}
				}
				if err != nil {
					if len(may) == 0 {
						return
					}
					continue
				}
				var got []SiteID
				for s := range SiteID(sites) {
					if of[n] == 0 || zones[of[n]-1].has(s) {
						got = append(got, s)
					}
				}
				if !slices.Equal(got, may) || (of[n] == 0) != (len(seen) == 0) {
					t.Fatalf("stage %d task %d holds %v and may run at %v, want %v: %+v", i, k, seen, got, may, spec)
				}
				n++
			}
		}
		if err != nil {
			t.Fatalf("%v, but every task has a site: %+v", err, spec)
		}
	})
}

// walk collects what a task holds that is not released on the way to it.
func (s *JobSpec) walk(stage, task int, released []uint32, seen map[uint32]bool) {
	st := &s.Stages[stage]
	for k, list := range st.Datasets {
		for _, d := range list {
			if (len(st.Datasets) == 1 || k == task) && !slices.Contains(released, d) {
				seen[d] = true
			}
		}
	}
	for _, e := range s.Edges {
		for from := range s.Stages[e.From].Tasks {
			reads := e.Kind == Barrier || e.Kind == Pointwise && from == task || e.Kind == PerTask && slices.Contains(e.Pairs, [2]uint32{uint32(from), uint32(task)})
			if e.To == stage && reads {
				s.walk(e.From, from, slices.Concat(released, s.Stages[e.From].Releases), seen)
			}
		}
	}
}

// drawConfined draws a job of up to five stages of two tasks whose data may be at most sites.
func drawConfined(t *rapid.T, sites int) *JobSpec {
	spec := &JobSpec{}
	for i := range rapid.IntRange(1, 4).Draw(t, "datasets") {
		d := Dataset{Name: fmt.Sprint("d", i)}
		for s := range SiteID(sites) {
			if s == SiteID(i) || rapid.IntRange(0, 9).Draw(t, "may") < 8 {
				d.Sites = append(d.Sites, s)
			}
		}
		spec.Datasets = append(spec.Datasets, d)
	}
	some := func(name string) (list []uint32) {
		for d := range spec.Datasets {
			if rapid.IntRange(0, 3).Draw(t, name) == 0 {
				list = append(list, uint32(d))
			}
		}
		return list
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "stages") {
		st := StageSpec{Tasks: 2, Releases: some("releases")}
		for range rapid.IntRange(0, 2).Draw(t, "lists") {
			st.Datasets = append(st.Datasets, some("reads"))
		}
		spec.Stages = append(spec.Stages, st)
		for from := range i {
			switch kind := rapid.IntRange(0, 5).Draw(t, "edge"); kind {
			case 0, 1:
				spec.Edges = append(spec.Edges, Edge{From: from, To: i, Kind: EdgeKind(kind)})
			case 2:
				spec.Edges = append(spec.Edges, Edge{From: from, To: i, Kind: PerTask, Pairs: [][2]uint32{{1, 0}, {0, 0}}})
			}
		}
	}
	return spec
}
