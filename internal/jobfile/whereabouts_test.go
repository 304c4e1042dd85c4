package jobfile

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestWhereabouts(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want *Whereabouts
	}{
		"none": {"operator: sort\ninput: x\ncluster: c.yaml\n", nil},
		"input": {
			"operator: sort\ninput: x\ndatasets: [{name: d, allow: [a, b], deny: c}]\ndata:\n- {site: a, path: x/1, dataset: d}\n- {site: c, path: /y}\nreleases: d\n",
			&Whereabouts{
				Datasets: []Dataset{{"d", []string{"a", "b"}, []string{"c"}}},
				Data:     []Source{{Site: "a", Path: "/jobs/x/1", Dataset: "d"}, {Site: "c", Path: "/y"}},
				Stages:   []StageData{{Releases: []string{"d"}}},
			},
		},
		"stages": {
			"datasets: [{name: d, deny: [c]}]\nstages:\n- {name: one, command: x, data: [{site: a, bytes: 2KiB, dataset: d}, {site: c, bytes: 0}]}\n- {name: two, command: y, releases: [d]}\n",
			&Whereabouts{
				Datasets: []Dataset{{"d", nil, []string{"c"}}},
				Stages:   []StageData{{Data: []Source{{Site: "a", Bytes: 2048, Dataset: "d"}, {Site: "c"}}}, {Releases: []string{"d"}}},
			},
		},
		"places alone": {
			"stages:\n- {name: one, command: x, data: [{site: a, bytes: 7}]}\n",
			&Whereabouts{Stages: []StageData{{Data: []Source{{Site: "a", Bytes: 7}}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, parseJob(t, c.text).Whereabouts, cmpopts.IgnoreUnexported(Whereabouts{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWhereaboutsMistakes(t *testing.T) {
	const sort, one, d = "operator: sort\ninput: x\n", "stages:\n- {name: one, command: x, ", "datasets: [{name: d, allow: [a]}]\n"
	for name, c := range map[string]struct{ text, want string }{
		"no rule":             {sort + "datasets: [{name: d}]\ndata: [{site: a, path: x, dataset: d}]\n", `3: field datasets[0]: expected allow, deny or both: lists of sites where "d" may be, and may not be`},
		"no name":             {sort + "datasets: [{allow: a}]\n", "3: field datasets[0]: expected a field name"},
		"odd field":           {sort + "datasets: [{nam: d, allow: a}]\ndata: [{site: a, path: x, dataset: d}]\n", "3: field datasets[0].nam: unknown field; did you mean name?"},
		"no mapping":          {sort + "datasets: [d]\n", `3: field datasets[0]: expected a mapping, as in name: value, not "d"`},
		"no list":             {sort + "datasets: {name: d}\n", "3: field datasets: expected a list of datasets, not a mapping"},
		"twice":               {sort + "datasets:\n- {name: d, allow: a}\n- {name: d, deny: b}\ndata: [{site: a, path: x, dataset: d}]\n", `5: field datasets[1].name: expected a name of its own: the dataset at line 4 is called "d" too`},
		"unused":              {sort + d, `3: field datasets[0]: expected data that names it: none is of dataset "d"`},
		"unknown":             {sort + d + "data: [{site: a, path: x, dataset: d}, {site: a, path: x, dataset: e}]\n", `4: field data[1].dataset: expected the name of one of the job's datasets, not "e"`},
		"away":                {sort + d + "data: [{site: b, path: x, dataset: d}]\n", `4: field data[0].site: expected a site where dataset "d" may be, not "b"`},
		"no site":             {sort + "data: [{path: x}]\n", "3: field data[0]: expected a field site"},
		"no path":             {sort + "data: [{site: a}]\n", `3: field data[0]: expected a field path: the file, folder or pattern that is at "a"`},
		"bytes of input":      {sort + "data: [{site: a, bytes: 5}]\n", "3: field data[0].bytes: unknown field; data has the fields site, path, dataset"},
		"path of a stage":     {one + "data: [{site: a, path: x}]}\n", "2: field stages[0].data[0].path: unknown field; data has the fields site, bytes, dataset"},
		"bytes":               {one + "data: [{site: a, bytes: many}]}\n", `2: field stages[0].data[0].bytes: expected a size such as 512MiB or 2GiB, not "many"`},
		"released, unknown":   {one + "releases: [d]}\n", `2: field stages[0].releases[0]: expected the name of one of the job's datasets, not "d"`},
		"data beside stages":  {"data: [{site: a, path: x}]\nstages:\n- {name: one, command: x}\n", "1: field data: expected only beside operator or mapper, not beside stages"},
		"site that is number": {sort + "data: [{site: [a], path: x}]\n", "3: field data[0].site: expected text, not a list"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("job.yaml", "/jobs", []byte(c.text), nil)
			if err == nil {
				t.Fatal("no error")
			}
			if got, want := err.Error(), "job.yaml:"+c.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// What only a cluster can tell is wrong has a place in the file, also where a single value stands for a list.
func TestPlaceOfMistakes(t *testing.T) {
	f := parseJob(t, "operator: sort\ninput: x\ndatasets:\n- name: d\n  allow: a\n  deny:\n  - b\n  - c\ndata:\n- site: a\n  path: x\n  dataset: d\n")
	for field, want := range map[string]string{
		"datasets":             "job.yaml:3: field datasets: x",
		"datasets[0].allow[0]": "job.yaml:5: field datasets[0].allow: x",
		"datasets[0].deny[1]":  "job.yaml:8: field datasets[0].deny[1]: x",
		"data[0].site":         "job.yaml:10: field data[0].site: x",
		"data[0].path":         "job.yaml:11: field data[0].path: x",
	} {
		if err := f.Place(field, errors.New("x")); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := f.Place("policy", errors.New("x")); err != nil {
		t.Errorf("got %v", err)
	}
	if err := (*File)(nil).Place("data", errors.New("x")); err != nil {
		t.Errorf("got %v", err)
	}
}
