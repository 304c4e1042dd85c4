package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// Stages that stand in another order than they run in are put in order, and the edges are between the same.
func TestAddJob(t *testing.T) {
	spec := sched.JobSpec{
		Deadline: 12 * sched.Second, Weight: 2, Priority: -1, Retries: 3,
		Stages: []sched.StageSpec{{Tasks: 1}, {Tasks: 2, Resumable: true}, {Tasks: 2}},
		Edges: []sched.Edge{
			{From: 2, To: 0}, {From: 1, To: 2, Kind: sched.PerTask, Pairs: [][2]uint32{{0, 1}}}, {From: 1, To: 0},
		},
	}
	w := &Workload{Names: []string{""}}
	w.AddJob("etl", 2*sched.Second, &spec, []string{"end", "first", "middle"}, [][]sched.Time{{5}, {1, 2}, {3, 4}})
	var again sched.JobSpec
	if w.Spec(0, &again); again.Validate() != nil {
		t.Error(again.Validate())
	}
	want := JobRow{Arrival: 2 * sched.Second, Deadline: 10 * sched.Second, Weight: 2, Priority: -1, Retries: 3, Name: 1, Stages: 3, Edges: 3}
	if d := cmp.Diff(want, w.Jobs[0]); d != "" {
		t.Error(d)
	}
	var names []string
	for _, st := range w.Stages {
		names = append(names, w.Names[st.Name])
	}
	if d := cmp.Diff([]string{"first", "middle", "end"}, names); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]sched.Time{1, 2, 3, 4, 5}, w.Durations); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Edge{{From: 0, To: 1, Kind: sched.PerTask, Pairs: 1}, {From: 1, To: 2}, {From: 0, To: 2, FirstPair: 1}}, w.Edges); d != "" {
		t.Error(d)
	}
	if !w.Stages[0].Resumable || w.Stages[1].Resumable {
		t.Errorf("stages are %+v", w.Stages)
	}
}
