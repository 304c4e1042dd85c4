package diagnosis

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/sched"
)

// A log of 20 tasks of 10 s in which a clone ended one of 100 s after 30 s: one clone, which won, 30 s lost, and what
// it saved by the replay without clones.
func TestRecordedClones(t *testing.T) {
	st := &history.StageRecord{Job: "0", Stage: "0", Tasks: 20}
	add := func(task int32, from, to sched.Time, outcome history.Outcome, clone bool) {
		st.Attempts = append(st.Attempts, history.TaskAttempt{
			Start: 1e12 + from*sched.Second, Duration: (to - from) * sched.Second, Task: task, Outcome: outcome, Speculative: clone,
		})
		if outcome == history.Succeeded {
			st.Succeeded = append(st.Succeeded, history.Observation{Seconds: float64(to - from)})
		} else {
			st.Censored = append(st.Censored, float64(to-from))
		}
	}
	for task := range int32(19) {
		add(task, 0, 10, history.Succeeded, false)
	}
	add(19, 0, 30, history.Killed, false)
	add(19, 20, 30, history.Succeeded, true)
	r := Defaults()
	r.Log, r.Stages = "log", []*history.StageRecord{st}
	r.Again = replay.New(r.Log, r.Stages, &history.Course{System: "spark", Version: "3.5.0", Settings: map[string]string{"spark.speculation": "true"}}, 30)
	d, err := Explain(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	c := d.Clones
	if c == nil || c.Clones != 1 || c.Won != 1 || c.Lost != 30 || !(c.Saved > 0) || c.Without <= *d.Replay || c.Saved != c.Without-*d.Replay {
		t.Errorf("%+v, replay %v", c, *d.Replay)
	}
	var text bytes.Buffer
	if err := d.WriteText(&text, 0); err != nil || !strings.Contains(text.String(), "\nThe log has 1 clone; 1 of them won. Attempts that another one beat took 30.00s of machine time. Without") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// The tries of a stage are planned together: two of six tasks say what each alone is too small for.
func TestRetriesTogether(t *testing.T) {
	r := waves()
	st := r.Stages[0]
	retry := *st
	retry.Stage, retry.Tasks = "0.1", 6
	retry.Attempts, retry.Succeeded = st.Attempts[:6], st.Succeeded[:6]
	other := retry
	other.Stage = "0"
	r.Stages = []*history.StageRecord{&other, &retry}
	for system, want := range map[string]bool{"spark": false, "hadoop": true} {
		r.Again = replay.New(r.Log, r.Stages, &history.Course{System: system}, 0)
		d, err := Explain(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Stages {
			if few := s.Verdict == FewTasks; few != want {
				t.Errorf("%s: stage %s: %s (%s)", system, s.Stage, s.Verdict, s.Reason)
			}
		}
	}
}
