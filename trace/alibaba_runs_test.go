package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// A table of few rows tells of many instances that last equally long. Their durations are shared, so that the workload
// needs a few bytes a row, and still each stage has its own.
func TestEqualDurationsAreShared(t *testing.T) {
	const rows = 20_000
	var table strings.Builder
	instances := func(i int) int { return 1 + i%10*100 }
	for i := range rows {
		fmt.Fprintf(&table, "%d,%d,%d,0,%d,Terminated,50,0.01\n", i, i+1+i%97, i, instances(i))
	}
	w, err := Read(strings.NewReader(table.String()), "batch_task.csv", 0)
	if err != nil {
		t.Fatal(err)
	}
	tasks := 0
	for i := range w.Jobs {
		st := w.StagesOf(i)[0]
		number := int(w.Jobs[i].Number)
		want := slices.Repeat([]sched.Time{sched.Time(1+number%97) * sched.Second}, instances(number))
		if !slices.Equal(w.DurationsOf(&st), want) {
			t.Fatalf("job %d has %d tasks of %v", number, st.Tasks, w.DurationsOf(&st)[0])
		}
		tasks += int(st.Tasks)
	}
	if bytes := float64(8*cap(w.Durations)) / rows; w.Tasks() != tasks || bytes > 100 {
		t.Errorf("%d tasks of %d, %.0f bytes a row for durations", w.Tasks(), tasks, bytes)
	}
	var tr bytes.Buffer
	if err := WriteTR(&tr, w); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&tr, "jobs.tr", 0)
	if err != nil || again.Tasks() != tasks || again.WorkSeconds() != w.WorkSeconds() {
		t.Errorf("written and read: %v, %v", again, err)
	}
}

// Stages of a job that share durations with others are written with all of theirs.
func TestJobOfSharedDurations(t *testing.T) {
	w := &Workload{Durations: []sched.Time{1, 1, 2, 2, 2}, Stages: []StageRow{{FirstTask: 2, Tasks: 2}, {FirstTask: 0, Tasks: 1}, {FirstTask: 2, Tasks: 3}}}
	w.Jobs = []JobRow{{Stages: 3}, {FirstStage: 2, Stages: 1}}
	if d := w.durationsOfJob(0); !slices.Equal(d, []sched.Time{2, 2, 1, 2, 2, 2}) {
		t.Error(d)
	}
	if d := w.durationsOfJob(1); !slices.Equal(d, []sched.Time{2, 2, 2}) {
		t.Error(d)
	}
}
