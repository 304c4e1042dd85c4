package diagnosis

import (
	"bytes"
	"context"
	"math"
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
	of := d.Stages[0].Clones
	if of == nil || of.Clones != 1 || of.Killed != 0 || of.Lost != 30 || of.Saved != of.Without-*d.Stages[0].Replay || len(of.Attempts) != 1 {
		t.Fatalf("of the stage: %+v", of)
	}
	// the median of an exponential tail whose mean is what the original ran beyond the longest success, in the steps of a learned law
	beyond := 20 * math.Ln2
	if a := of.Attempts[0]; a.Task != 19 || a.Began != 20 || a.Seconds != 10 || a.Outcome != "succeeded" || math.Abs(a.Saved-beyond) > 0.1*beyond || a.Lost != 30 {
		t.Errorf("%+v, expected to have saved %v s", a, beyond)
	}
	for _, cause := range d.Stages[0].Causes {
		if cause.Cause == Failure {
			t.Errorf("%+v: the original that was beaten did not fail", cause)
		}
	}
	if math.Abs(*d.Replay-25.1) > 0.01 { // Spark's next check after one and a half medians, and a clone of 10 s as in the log
		t.Errorf("the replay takes %v s, expected 25.1", *d.Replay)
	}
	var text bytes.Buffer
	if err := d.WriteText(&text, 0); err != nil || !strings.Contains(text.String(), "\nThe log has 1 clone; 1 of them won. Attempts that another one beat took 30.00s of machine time. Without") ||
		!strings.Contains(text.String(), "\nWhat the clones of the log did:\n") {
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
