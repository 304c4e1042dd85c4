package run

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/jobfile"
)

// Each mistake of a submission is named by the field that has it, all in one answer.
func TestSubmissionMistakes(t *testing.T) {
	s := Submission{
		Job: jobfile.Job{Retries: -1}, Name: "two\nlines", Output: "out", Dir: "here", Joblog: "s3://bucket/log", Env: []string{"A=1", "B", "=x"},
		Weight: -1, Memory: -1, MaxLine: 1 << 40, Stderr: "some", Notify: []string{""}, Run: "../../etc", After: make([]string, mostAfter+1),
	}
	var all Mistakes
	if !errors.As(s.check(), &all) {
		t.Fatal("no mistakes are found")
	}
	var fields []string
	for _, m := range all {
		fields = append(fields, m.Field)
	}
	want := []string{"after", "dir", "env[1]", "env[2]", "job", "job.retries", "joblog", "max_line", "memory", "name", "notify[0]", "output", "run", "stderr", "weight"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error(diff)
	}
}

// What a client asks for comes out of the JSON as it went in, and has nothing relative in it.
func TestSubmissionTravels(t *testing.T) {
	t.Chdir(t.TempDir())
	job := commands("echo {}")
	job.Array.Stages[0].Inputs, job.Array.Stages[0].Command = pack(t, "a", "b\xff", "c"), []string{"echo", "{}"}
	e, err := New(Options{
		Job: job, Output: "out", Joblog: "log", History: NoHistory, Deadline: "10m", Timeout: jobfile.Timeout{Percent: 300}, Priority: 3, Weight: 2.5, After: []string{"first"},
	})
	if err != nil {
		t.Fatal(err)
	}
	sent, left := e.Submission([]string{"A=1", "B=\xff", "C="})
	if !slices.Equal(left, []string{"B"}) {
		t.Errorf("%q are left out", left)
	}
	if err := sent.check(); err != nil {
		t.Error(err)
	}
	text, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	var got Submission
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&got)
	if err != nil || string(again) != string(text) {
		t.Errorf("%v\n%s\n%s", err, text, again)
	}
	if got.Timeout.Percent != 300 || !filepath.IsAbs(got.Output) || !filepath.IsAbs(got.Joblog) || !filepath.IsAbs(got.Dir) || got.History != NoHistory {
		t.Errorf("%+v", got)
	}
	if v := got.Job.Array.Stages[0].Inputs.Row(1); string(v[0]) != "b\xff" {
		t.Errorf("%q", v)
	}
}

// What only one run can have is for no server; a plain job is.
func TestAlone(t *testing.T) {
	for why, o := range map[string]Options{
		"":                                  {Output: "out"},
		"the tasks' output is printed":      {Output: Scratch},
		"attempts run on Kubernetes":        {On: "kubernetes"},
		"sites are emulated":                {Sites: []string{"a=1"}},
		"the results go to an object store": {Output: "s3://bucket/x"},
	} {
		if got := o.Alone(); got != why {
			t.Errorf("%+v: %q, want %q", o, got, why)
		}
	}
}
