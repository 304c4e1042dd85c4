package past

import (
	"fmt"
	"testing"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// TestShuffled: a stage has read of each winner what each of its readers reads.
func TestShuffled(t *testing.T) {
	spec := &sched.JobSpec{
		Stages: []sched.StageSpec{{Tasks: 3}, {Tasks: 2}, {Tasks: 4}, {Tasks: 4}},
		Edges: []sched.Edge{
			{From: 0, To: 1, Kind: sched.PerTask, Pairs: [][2]uint32{{0, 0}, {1, 0}, {2, 1}}},
			{From: 1, To: 2},
			{From: 2, To: 3, Kind: sched.Pointwise},
		},
	}
	attempt := func(stage, index int, end live.End, bytes int64) live.Record {
		return live.Record{Attempt: live.Attempt{Stage: stage, Index: index}, End: end, Bytes: bytes}
	}
	got := Shuffled(spec, []live.Record{
		attempt(0, 0, live.Won, 1), attempt(0, 1, live.Lost, 1000), attempt(0, 1, live.Won, 10), attempt(0, 2, live.Won, 100),
		attempt(1, 0, live.Won, 5), attempt(1, 1, live.Won, 6), attempt(2, 3, live.Won, 9),
	})
	if want := "[0 111 44 9]"; fmt.Sprint(got) != want {
		t.Errorf("%v, expected %s", got, want)
	}
}

// TestRecordKeepsBytes: what is kept of a job says what its stages read, the first of the input, others of earlier stages.
func TestRecordKeepsBytes(t *testing.T) {
	c := &Course{
		Spec:   &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1}, {Tasks: 2}}, Edges: []sched.Edge{{From: 0, To: 1}}},
		Stages: []string{"map", "reduce"}, Input: 700, Summary: &live.Summary{}, Records: []live.Record{{End: live.Won, Bytes: 30, Stop: 5}},
	}
	if st := c.Record().Stages; st[0].Bytes != 700 || st[1].Bytes != 60 {
		t.Errorf("%d and %d bytes", st[0].Bytes, st[1].Bytes)
	}
}

// TestRecordKeepsReports: what is kept of a job says which stages have reported progress, of those that ran.
func TestRecordKeepsReports(t *testing.T) {
	c := &Course{
		Spec: &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1}, {Tasks: 1}, {}}}, Stages: []string{"a", "b", "c"}, Summary: &live.Summary{},
		Records: []live.Record{{Attempt: live.Attempt{Stage: 0}, End: live.Won}, {Attempt: live.Attempt{Stage: 1}, End: live.Won, Reported: true}},
	}
	if st := c.Record().Stages; *st[0].Reports || !*st[1].Reports || st[2].Reports != nil {
		t.Errorf("%+v", st)
	}
}
