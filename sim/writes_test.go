package sim

import (
	"context"
	"math"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// TestWrites: whoever is done tells what each reader reads of the result, as the workload has it, with and without sites;
// and when all are done, what the core foretells is what is read.
func TestWrites(t *testing.T) {
	w := load(t, `{"arrival_seconds":0,"stages":[{"name":"map","durations_seconds":[3,1,2]},{"name":"shuffle","durations_seconds":[1,1,1],"after_each":[{"stage":"map","bytes":[50,70,90]}]}]}
{"arrival_seconds":1,"stages":[{"name":"map","durations_seconds":[3,1,2]},{"name":"each","durations_seconds":[1,1,1],"after_each":["map"]},{"name":"reduce","durations_seconds":[1,1],"after":[{"stage":"map","bytes":[5,7,0]}]}]}
{"arrival_seconds":2,"stages":[{"name":"map","durations_seconds":[3,1,2]},{"name":"a","durations_seconds":[1,1],"after_tasks":[{"stage":"map","pairs":[[0,0],[1,0],[0,1]],"bytes":[10,4,21]}]},{"name":"b","durations_seconds":[4],"after":[{"stage":"map","bytes":[8]}]}]}
`)
	want := [][]int64{{50, 70, 90}, {0, 0, 0}, {5, 7, 0}, {0, 0, 0}, {0, 0}, {13, 6, 8}, {0, 0}, {0}} // (10 + 21 + 8) / 3, (4 + 8) / 2
	totals := map[[2]sched.StageID]float64{
		{0, 1}: 50 + 70 + 90, {2, 4}: 2 * (5 + 7),
		{2, 3}: 5 + 7, // nobody knows who reads nothing
		{5, 6}: 3 * 9, {5, 7}: 3 * 9,
	}
	cluster := &Cluster{Sites: []Site{{Name: "here", Machines: 1, Slots: 4, Speed: Steady(1)}}, Network: &sched.Network{Names: []string{"here"}, Bandwidth: []float64{math.Inf(1)}}}
	for name, o := range map[string]Options{"slots": {Machines: 1, Slots: 4}, "sites": {Cluster: cluster}} {
		told := 0
		o.Limits = sched.NoLimits()
		o.Watch = func(v *sched.View, facts []sched.Event, _ []sched.Decision) {
			for _, f := range facts {
				if f.Kind != sched.AttemptDone {
					continue
				}
				task := v.Attempt(f.Attempt).Task
				s := v.Task(task).Stage
				if got, want := f.Bytes, want[s][task-v.Stage(s).First]; got != want {
					t.Errorf("%s: task %d of stage %d is told to write %d bytes, want %d", name, task, s, got, want)
				}
				told++
				st := v.Stage(s)
				for to := s + 1; st.Done == st.Tasks && to < sched.StageID(len(want)); to++ {
					if got, _ := v.Sites().Foretold(s, to); got != totals[[2]sched.StageID{s, to}] {
						t.Errorf("%s: %v bytes are foretold from stage %d to %d, want %v", name, got, s, to, totals[[2]sched.StageID{s, to}])
					}
				}
			}
		}
		if _, err := Run(context.Background(), w, greedy{}, o); err != nil {
			t.Fatal(err)
		}
		if told != len(w.Durations) {
			t.Errorf("%s: %d of %d tasks were told to be done", name, told, len(w.Durations))
		}
	}
	if got := (&trace.Workload{}).Writes(0, 0); got != nil {
		t.Errorf("a workload without bytes writes %v", got)
	}
}
