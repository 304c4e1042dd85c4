package trace

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

const overlapping = `{"arrival_seconds":0,"stages":[{"name":"m","class":"map","durations_seconds":[1,2]},` +
	`{"name":"s","class":"shuffle","after_each":["m"],"durations_seconds":[3,4]}]}` + "\n"

// TestClasses: classes are numbered in the order in which they appear, and as the cluster numbers them once it is known; writing keeps their names.
func TestClasses(t *testing.T) {
	var set Importer
	w, err := set.Read(strings.NewReader(overlapping), "x")
	if err != nil {
		t.Fatal(err)
	}
	check := func(want ...sched.Class) {
		t.Helper()
		var spec sched.JobSpec
		w.Spec(0, &spec)
		for i, class := range want {
			if spec.Stages[i].Class != class {
				t.Errorf("stage %d is of class %d, want %d", i, spec.Stages[i].Class, class)
			}
		}
	}
	check(0, 1)
	if err := w.SetClasses([]string{"shuffle", "map"}); err != nil {
		t.Fatal(err)
	}
	check(1, 0)
	if lost := w.Lost(CSV); !slices.Contains(lost, "classes of slots (1 of 1 jobs)") {
		t.Errorf("CSV loses %v", lost)
	}
	var out bytes.Buffer
	if err := WriteJSONLines(&out, w); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{`"class":"map"`, `"class":"shuffle"`} {
		if !strings.Contains(out.String(), field) {
			t.Errorf("%s is not in %s", field, out.String())
		}
	}
}

func TestWrongClasses(t *testing.T) {
	stage := func(class string) string {
		return `{"name":"` + class + `","class":"` + class + `","durations_seconds":[1]}`
	}
	job := func(stages ...string) string {
		return `{"arrival_seconds":0,"stages":[` + strings.Join(stages, ",") + `]}`
	}
	read := func(text string) *Workload {
		var set Importer
		w, err := set.Read(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	var set Importer
	_, err := set.Read(strings.NewReader(job(stage("a"), stage("b"), stage("c"), stage("d"), stage("e"))), "x")
	if want := `x:1: field stages[4].class: expected at most 4 classes of slots, "e" is one more`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	plain := `{"name":"p","durations_seconds":[1]}`
	for _, c := range []struct {
		name, text, want string
		classes          []string
	}{
		{"the cluster has none", job(stage("a"), stage("b")), "such as a=2,b=2", nil},
		{"the workload has none", job(plain), "the stages of x name no class", []string{"a"}},
		{"one is missing", job(stage("a"), stage("b")), `expected "b" among the classes`, []string{"a", "c"}},
		{"a stage names none", job(plain, stage("b")), `expected "" among the classes`, []string{"b"}},
		{"a later stage names none", job(stage("b"), plain), `expected "" among the classes`, []string{"b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := read(c.text).SetClasses(c.classes); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
