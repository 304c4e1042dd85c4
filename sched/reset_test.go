package sched

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestResetForgetsNothing: a core that has used all it has is after Reset what New returns, but for the memory of its
// lists, all of which it keeps. A field that Reset does not know fails here: it either still holds something, or has
// lost its memory.
func TestResetForgetsNothing(t *testing.T) {
	w := usedCore(t)
	before := capacities(t, reflect.ValueOf(w.Core).Elem(), "Core", map[string]int{})
	for path, n := range before {
		if n == 0 && !strings.HasSuffix(path, ".spare") && !strings.HasSuffix(path, ".blank") { // what is spare fills with Reset, and nobody writes to what is blank
			t.Errorf("%s was not used: let usedCore do so", path)
		}
	}
	w.Reset(greedy{}, NoLimits())
	after := capacities(t, reflect.ValueOf(w.Core).Elem(), "Core", map[string]int{})
	for path, n := range before {
		if after[path] < n {
			t.Errorf("%s had room for %d, now for %d", path, n, after[path])
		}
	}
	same(t, reflect.ValueOf(w.Core).Elem(), reflect.ValueOf(New(greedy{}, NoLimits())).Elem(), "Core")
}

// usedCore returns a core each of whose fields is in use.
func usedCore(t *testing.T) *world {
	w := &world{t: t}
	w.Core = New(PerClass(w, w, w, w), Limits{Attempts: 3, Clones: CloneBudget{Floor: 1, TaskShare: 1, RunningShare: 1}, MaxWait: 50})
	w.WaitToBegin()
	w.CountClones()
	w.KillAtOnce()
	if err := w.Connect(network(2)); err != nil {
		t.Fatal(err)
	}
	var joined []Event
	for i := range 80 {
		m, err := w.AddMachineOf(Class(i%Classes), SiteID(i%2), 2)
		if err != nil {
			t.Fatal(err)
		}
		joined = append(joined, Event{Kind: MachineJoined, Machine: m})
	}
	spec := &JobSpec{Deadline: 1 << 40, Late: Late{Kind: LateDrop}, Edges: []Edge{
		{From: 0, To: 1, Bytes: []int64{8}}, {From: 1, To: 2, Kind: Pointwise, Measured: true},
		{From: 2, To: 3, Kind: PerTask, Pairs: [][2]uint32{{0, 1}, {1, 0}}, Bytes: []int64{1, 2}},
	}}
	for k := range Classes {
		spec.Stages = append(spec.Stages, StageSpec{Tasks: 100, Class: Class(k), Resumable: true, Inputs: [][]Source{{{Site: 1, Bytes: 5}}}, Sample: []Time{7}})
	}
	arrived := joined
	for i := range 2 {
		spec.MaxLive = 150 * i
		j, err := w.Submit(spec)
		if err != nil {
			t.Fatal(err)
		}
		arrived = append(arrived, Event{Kind: JobArrived, Job: j})
	}
	w.view.confine(0, 0, &JobSpec{Datasets: []Dataset{{"d", []SiteID{0}}}, Stages: spec.Stages}) // Submit refuses it beside MaxWait; no task reads it
	arrived[0], arrived[len(arrived)-1] = arrived[len(arrived)-1], arrived[0]                    // out of order, which takes the sorter
	w.at(1, arrived...)
	a, b := w.launch(0, 0), w.launch(1, 4)
	w.launch(0, 8) // a clone
	w.at(2, Event{Kind: AttemptProgress, Attempt: b, Progress: 0.5}, failed(a))
	w.next = func(act *Actions) {
		act.WakeAt(100)
		_ = act.Cancel(1)
	}
	w.at(3)
	w.at(w.view.now, Event{Kind: JobRetired, Job: 1})
	for k := range Classes { // a job of each class waits for too long
		j := w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 2, Class: Class(k)}}})
		w.at(w.view.now, paused(j), continued(j))
	}
	w.at(60)
	return w
}

// capacities adds the capacity of each slice in v by its path. What a pointer or an interface leads to is not the
// core's.
func capacities(t *testing.T, v reflect.Value, path string, all map[string]int) map[string]int {
	switch v.Kind() {
	case reflect.Slice:
		all[path] = v.Cap()
	case reflect.Struct:
		for i := range v.NumField() {
			capacities(t, v.Field(i), path+"."+v.Type().Field(i).Name, all)
		}
	case reflect.Array:
		for i := range v.Len() {
			capacities(t, v.Index(i), fmt.Sprintf("%s[%d]", path, i), all)
		}
	case reflect.Map:
		t.Errorf("%s is a map: say here how Reset keeps its memory", path)
	}
	return all
}

// same reports where a core differs from another, memory of empty lists aside.
func same(t *testing.T, got, want reflect.Value, path string) {
	switch got.Kind() {
	case reflect.Slice:
		if strings.Contains(path, ".spare") { // memory for what comes
			for i := range got.Len() {
				if e := got.Index(i).Elem(); e.IsValid() && e.Type() == reflect.TypeFor[links]() {
					same(t, e, reflect.ValueOf(links{}), path)
				}
			}
			return
		}
		if got.Len() != 0 || want.Len() != 0 {
			t.Errorf("%s: %d elements after Reset, %d when new", path, got.Len(), want.Len())
		}
	case reflect.Struct:
		for i := range got.NumField() {
			same(t, got.Field(i), want.Field(i), path+"."+got.Type().Field(i).Name)
		}
	case reflect.Array:
		for i := range got.Len() {
			same(t, got.Index(i), want.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		if path != "Core.act.core" && !strings.HasSuffix(path, ".made") && !got.Equal(want) {
			t.Errorf("%s is %v after Reset, %v when new", path, got, want)
		}
	}
}
