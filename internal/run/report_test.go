package run

import (
	"bytes"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// A result that travels as JSON is shown as one that does not, in every form.
func TestResultTravels(t *testing.T) {
	chance := 0.25
	for name, r := range map[string]*Result{
		"plain": {
			Summary: &live.Summary{State: "succeeded", Flow: 1500 * 1e6, Tasks: 2, Attempts: 2, Fruitful: 2e9, Stages: []live.StageSummary{{Name: "tasks", Tasks: 2, Attempts: 2, Seconds: 1.25}}},
			Header:  &trace.JournalHeader{Policy: "spark", Stages: []string{"tasks"}},
		},
		"all": {
			Summary: &live.Summary{
				State: "failed", Flow: 90 * sched.Second, Tasks: 5, Attempts: 9, Clones: 2, Resumed: 1, Retries: 1, Crashed: 1, Fruitful: 1e9, Fruitless: 2e9, Recovered: 2, Unfinished: 1,
				Stages:    []live.StageSummary{{Name: "map", Tasks: 4, Attempts: 8, Seconds: 60}, {Name: "reduce", Tasks: 1}},
				Sites:     []live.SiteSummary{{Name: "a", Slots: 2, Tasks: 3, Seconds: 20.5, Bytes: 1 << 20, Money: 0.25}},
				Straggler: &live.Record{Attempt: live.Attempt{Stage: 0, Index: 3, Number: 1}, Stop: 30 * sched.Second, End: live.Lost}, StragglerOver: 3.5,
			},
			Header:   &trace.JournalHeader{Policy: "srpt", Stages: []string{"map", "reduce"}},
			Deadline: &Deadline{Seconds: 60, Over: 30, PoCD: &chance},
			Failed:   []FailedTask{{Stage: "map", Task: 2, Command: "false", Attempts: 4, Exit: 1, Why: "exit status 1", Last: "no", Stderr: "/out/_tailcut/x"}},
			Error:    "the job failed: map task 2", mapped: &mapped{100, 150}, again: "tailcut run -f x.yaml", kept: true,
		},
		"dropped": {
			Summary: &live.Summary{State: "failed", Flow: 2 * sched.Second, Tasks: 1, Attempts: 1, Dropped: true, Stages: []live.StageSummary{{Name: "tasks", Tasks: 1, Attempts: 1}}},
			Header:  &trace.JournalHeader{Policy: "spark", Stages: []string{"tasks"}}, Deadline: &Deadline{Seconds: 2, Over: 0.0001, Dropped: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			if err := r.WriteJSON(&text); err != nil {
				t.Fatal(err)
			}
			got, err := ReadResult(text.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			for form, write := range map[string]func(*Result, io.Writer) error{"text": (*Result).WriteText, "json": (*Result).WriteJSON, "csv": (*Result).WriteCSV} {
				var a, b bytes.Buffer
				if err := write(r, &a); err != nil {
					t.Fatal(err)
				}
				if err := write(got, &b); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(a.String(), b.String()); diff != "" {
					t.Errorf("%s: %s", form, diff)
				}
			}
		})
	}
}
