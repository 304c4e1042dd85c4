package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tailcut/tailcut/sched"
)

func TestPast(t *testing.T) {
	const head = `{"schema":"tailcut.history/v1","job":"report","runs":[`
	format, got, err := readAll(head+`{"id":"a","stages":[{"name":"tasks","durations_seconds":[1,2.5]}]},{"stages":[{"name":"tasks","durations_seconds":[3]}]}]}`, "")
	want := []Record{
		{Job: "report", Stage: "tasks", Duration: sched.Second},
		{Job: "report", Stage: "tasks", Task: 1, Duration: 5 * sched.Second / 2},
		{Job: "report", Stage: "tasks", Number: 1, Duration: 3 * sched.Second},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Record{})); err != nil || format != "history of Tailcut" || diff != "" {
		t.Errorf("%s, %v: %s", format, err, diff)
	}
	for text, want := range map[string]string{
		head + `{"stages":[{"name":"tasks","durations_seconds":[-1]}]}]}`: `stdin:1: field runs[0].stages[0].durations_seconds[0]: expected seconds, got "-1"`,
		head + `{"stages":7}]}`: "",
		head:                    "",
	} {
		if _, _, err := readAll(text, ""); err == nil || want != "" && err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
