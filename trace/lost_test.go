package trace

import (
	"bytes"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLost(t *testing.T) {
	for _, c := range []struct {
		name, text string
		tr, csv    []string
	}{
		{"bag", "0 2 2 1 3\n", nil, nil},
		{"another mean", "0 2 5 1 3\n", nil, []string{"the mean duration that schedulers know (1 of 1 jobs)"}},
		{"one of two", "0 1 1 1\n# x\n3 1 2 1", nil, []string{"the mean duration that schedulers know (1 of 2 jobs)"}},
		{"everything", mapReduce, []string{
			"the stages (1 of 1 jobs)", "dependencies (1 of 1 jobs)", "deadlines (1 of 1 jobs)",
			"priorities, weights, shares or retries (1 of 1 jobs)", "stages that need only some of their tasks, that can resume, or that report nothing (1 of 1 jobs)",
			"names of jobs (1 of 1 jobs)", "input sizes (1 of 1 jobs)", "laws of durations (1 of 1 jobs)",
			"the durations or deviations that schedulers do not know (1 of 1 jobs)",
		}, []string{
			"dependencies (1 of 1 jobs)", "deadlines (1 of 1 jobs)",
			"priorities, weights, shares or retries (1 of 1 jobs)", "stages that need only some of their tasks, that can resume, or that report nothing (1 of 1 jobs)",
			"input sizes (1 of 1 jobs)", "laws of durations (1 of 1 jobs)", "the mean duration that schedulers know (1 of 1 jobs)",
			"the durations or deviations that schedulers do not know (1 of 1 jobs)",
		}},
		{"nothing in it", `{"stages":[{"durations_seconds":[]}]}`, []string{"jobs or stages without tasks (1 of 1 jobs)"}, []string{"jobs or stages without tasks (1 of 1 jobs)"}},
	} {
		w := mustRead(t, c.text)
		if d := cmp.Diff(c.tr, w.Lost(TR)); d != "" {
			t.Errorf("%s as .tr:\n%s", c.name, d)
		}
		if d := cmp.Diff(c.csv, w.Lost(CSV)); d != "" {
			t.Errorf("%s as CSV:\n%s", c.name, d)
		}
		if lost := w.Lost(JSONLines); lost != nil {
			t.Errorf("%s as JSON lines: %v", c.name, lost)
		}
	}
}

// TestNothingElseIsLost: what a format is said to keep comes back.
func TestNothingElseIsLost(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		write            func(io.Writer, *Workload) error
	}{
		{"stages as a bag", mapReduce, "0@5: 0[1 2.5 4 1 1 1 3 3]\n", WriteTR},
		{"rows", mapReduce, "etl@5: map[1 2.5 4] copy[1 1 1] reduce[3 3]\n", WriteCSV},
		{"rows of jobs of one name", `{"name":"1","stages":[{"durations_seconds":[1]}]}` + "\n" + `{"stages":[{"durations_seconds":[2]}]}` + "\n" +
			`{"name":"1","stages":[{"durations_seconds":[3]}]}`, "1@0: 0[1]\n1#1@0: 0[2]\n1#2@0: 0[3]\n", WriteCSV},
		{"rows of jobs without names", "0.5 2 2 1 3\n7 1 1 1\n", "0@0.5: 0[1 3]\n1@7: 0[1]\n", WriteCSV},
	} {
		var out bytes.Buffer
		if err := c.write(&out, mustRead(t, c.text)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, outline(mustRead(t, out.String()))); d != "" {
			t.Errorf("%s:\n%s\n%s", c.name, d, out.String())
		}
	}
}
