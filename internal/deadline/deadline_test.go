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
		`{"jobs":[{"name":"e","stages":[{"name":"m","tasks":9,"law":"exp:mean=3"},{"tasks":2,"law":"det:value=1","after":["m"]}],"deadline_seconds":20},` + job + `]}`,
		`{"jobs":[{"name":"f","tasks":2,"stages":[{"tasks":9,"law":"exp:mean=3","after":["x"]}],"deadline_seconds":20}]}`,
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

// What is wrong with stages is told in one line, at its place.
func TestStagesThatAreWrong(t *testing.T) {
	const law = `"law":"exp:mean=3"`
	for _, c := range []struct{ name, job, want string }{
		{"none", `"stages":[],"deadline_seconds":9`, "stages: expected at least one stage"},
		{"no tasks", `"stages":[{` + law + `}],"deadline_seconds":9`, "stages[0].tasks: missing in the stage that ends here"},
		{"no law", `"stages":[{"tasks":1}],"deadline_seconds":9`, "stages[0].law: missing in the stage that ends here"},
		{"after a later one", `"stages":[{"tasks":1,` + law + `,"after":["b"]},{"name":"b","tasks":1,` + law + `}],"deadline_seconds":9`, `stages[0].after[0]: expected the name of an earlier stage, each once, got "b"`},
		{"one name twice", `"stages":[{"name":"b","tasks":1,` + law + `},{"name":"b","tasks":1,` + law + `}],"deadline_seconds":9`, `stages[1].name: two stages are called "b"`},
		{"tasks beside them", `"tasks":3,"stages":[{"tasks":1,` + law + `}],"deadline_seconds":9`, "tasks: unexpected beside stages, of which each has its own tasks, those that are not done, and law"},
		{"progress beside them", `"progress":0.5,"stages":[{"tasks":1,` + law + `}],"deadline_seconds":9`, "progress: unexpected beside stages, of which each has its own tasks, those that are not done, and law"},
		{"no deadline", `"stages":[{"tasks":1,` + law + `}]`, "deadline_seconds: missing in the job that ends here"},
		{"too many", `"stages":[{"tasks":30000,` + law + `}],"deadline_seconds":9`, "stages: a job of several stages has up to 20000 tasks and 100 stages, got 30000 and 1"},
	} {
		_, err := Read("f", []byte(`{"jobs":[{"name":"a",`+c.job+`}]}`))
		if want := "f:1: jobs[0]." + c.want; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", c.name, err, want)
		}
	}
}
