package deadline

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Whatever the text, an error is one line with the file, and what is read can be planned with.
func FuzzReadDeadlineJobs(f *testing.F) {
	job := `{"name":"a","tasks":3,"law":{"name":"pareto","xm_seconds":120,"alpha":1.5},"deadline_seconds":500,"elapsed_seconds":60,"progress":0.5}`
	for _, seed := range []string{
		`{"jobs":[` + job + `]}`, `{"jobs":[` + job + `,` + job + `]}`, `{"jobs":[{"name":"b","tasks":1,"law":{"samples_seconds":[1,2,2]},"deadline_seconds":2}]}`,
		`{"jobs":[{"name":"c","tasks":1,"law":"exp:mean=3","deadline_seconds":2}]}`, `{"jobs":[]}`, `{"jobs":[{}]}`, `[]`, `{`, `null`, ``, `{"jobs":null}`,
		`{"jobs":[{"law":{"name":"pareto","name":"pareto"}}]}`, `{"jobs":[{"tasks":-1}]}`, `{"jobs":[{"tasks":1e999}]}`, "{\"jobs\":[\n{\"x\\n\":1}]}",
		`{"jobs":[{"law":{"name":"det","value_seconds":-1}}]}`, `{"jobs":[{"name":"d","tasks":9,"law":"det:value=0","deadline_seconds":1e-300}]} {}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := Read("stdin", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "stdin:") || strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("not a line with the file: %q", err)
			}
			return
		}
		q := Request{Jobs: jobs, Slots: 50, Lambda: 1, MaxAttempts: 5, Utility: 0}
		if err := q.Check(); err != nil {
			t.Fatal(err)
		}
		r := Divide(q)
		var out bytes.Buffer
		if err := r.WriteJSON(&out); err != nil || len(r.Jobs) == 0 || r.Used > 50 || !json.Valid(out.Bytes()) {
			t.Errorf("%v: %s", err, &out)
		}
		for _, j := range r.Jobs {
			if !(j.PoCD >= 0 && j.PoCD <= 1 && j.Without >= 0 && j.Without <= 1) || !j.Queued && j.Attempts != j.Clones+1 {
				t.Errorf("%+v", j)
			}
		}
	})
}
