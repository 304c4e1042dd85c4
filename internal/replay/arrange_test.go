package replay

import (
	"context"
	"testing"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/sched"
)

// Tasks of 3, 1, 1 and 5 s on two slots, then a second stage: each takes the slot that gets free first, and the replay
// does what the list says. A log that says when tasks started is left as it is.
func TestArrange(t *testing.T) {
	seconds := func(all ...float64) *history.StageRecord {
		st := &history.StageRecord{Tasks: len(all)}
		for _, s := range all {
			st.Succeeded = append(st.Succeeded, history.Observation{Seconds: s})
		}
		return st
	}
	stages := []*history.StageRecord{seconds(3, 1, 1, 5), seconds(2)}
	stages[1].Stage, stages[1].Censored = "second", []float64{4}
	if !Arrange(stages, 2) {
		t.Fatal("nothing was arranged")
	}
	for i, want := range []sched.Time{0, 0, 1, 2} {
		if got := stages[0].Attempts[i].Start - sched.Second; got != want*sched.Second {
			t.Errorf("task %d starts after %v s, expected %d", i, got.Seconds(), want)
		}
	}
	for i, a := range stages[1].Attempts {
		if a.Start != 8*sched.Second || (a.Outcome == history.Running) != (i == 1) {
			t.Errorf("task %d of the second stage: %+v", i, a)
		}
	}
	r := New("list", stages, &history.Course{}, 2)
	whole, err := r.Whole(context.Background(), Rules{System: r.System(), Specs: []string{Without}, Runs: 1, Seed: 1})
	if err != nil || whole[0].Mean != 11 || r.Wall() != 11 {
		t.Errorf("%+v, %v; wall %v, expected 11", whole, err, r.Wall())
	}
	if Arrange(stages, 2) || len(stages[0].Attempts) != 4 {
		t.Error("arranged again")
	}
	if Arrange([]*history.StageRecord{{}}, 2) {
		t.Error("arranged nothing")
	}
}
