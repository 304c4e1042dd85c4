package run

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/sched"
)

// A file is of all datasets that it lies in, wherever it is, and two files with different ones are apart.
func TestDatasetsOf(t *testing.T) {
	data := []siteData{{path: "/in", dataset: 1}, {path: "/in/eu", dataset: 0}, {path: "/in/eu/x", dataset: -1}, {path: "/in", dataset: 1}}
	for file, want := range map[string][]uint32{"/in/a": {1}, "/in/eu/a": {0, 1}, "/in/eu/x": {0, 1}, "/inn": nil} {
		if d := cmp.Diff(want, datasetsOf(data, file)); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
	c, err := parseSites([]string{"a=1", "b=1"})
	if err != nil {
		t.Fatal(err)
	}
	r := &runSites{Cluster: c, data: data, datasets: make([]sched.Dataset, 2)}
	apart, err := r.apart(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := func(path string) mapreduce.File { return mapreduce.File{Path: mapreduce.Path(path)} }
	if apart(file("/in/eu/a"), file("/in/eu/x")) || !apart(file("/in/a"), file("/in/eu/a")) {
		t.Error("files are apart that have the same datasets, or are not although they have others")
	}
}

// What stages read is at its sites, and of its datasets; a task that holds two that are nowhere together is an error, unless one is released.
func TestPlaceStages(t *testing.T) {
	c, err := parseSites([]string{"a=1", "b=1", "c=1"})
	if err != nil {
		t.Fatal(err)
	}
	w := &jobfile.Whereabouts{
		Datasets: []jobfile.Dataset{{Name: "d", Allow: []string{"a", "b"}}, {Name: "e", Deny: []string{"a", "b"}}},
		Stages: []jobfile.StageData{
			{Data: []jobfile.Source{{Site: "b", Bytes: 5, Dataset: "d"}, {Site: "c", Bytes: 6}}},
			{Data: []jobfile.Source{{Site: "c", Dataset: "e"}}},
			{},
		},
	}
	place := func() (*sched.JobSpec, error) {
		r := &runSites{Cluster: c}
		for i := range w.Datasets {
			if err := r.addDataset("datasets", &w.Datasets[i]); err != nil {
				t.Fatal(err)
			}
		}
		p := &jobfile.Plan{
			Spec: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 2}, {Tasks: 1}, {Tasks: 1}}, Edges: []sched.Edge{{From: 0, To: 2}, {From: 1, To: 2}}},
			Work: &jobfile.Work{Array: &jobfile.Array{}},
		}
		return &p.Spec, r.place(t.Context(), p, w, 1)
	}
	if _, err := place(); err == nil || !strings.HasPrefix(err.Error(), "datasets: stages[2]: task 0: expected a site where all that it holds may be, d, e have none in common") {
		t.Errorf("the error is %v", err)
	}
	w.Stages[0].Releases = []string{"d"}
	spec, err := place()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]sched.Dataset{{Name: "d", Sites: []sched.SiteID{0, 1}}, {Name: "e", Sites: []sched.SiteID{2}}}, spec.Datasets); d != "" {
		t.Error(d)
	}
	st := spec.Stages
	if d := cmp.Diff([][]sched.Source{{{Site: 1, Bytes: 5}, {Site: 2, Bytes: 6}}}, st[0].Inputs); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][][]uint32{{{0}}, {{1}}, nil}, [][][]uint32{st[0].Datasets, st[1].Datasets, st[2].Datasets}); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]uint32{0}, st[0].Releases); d != "" {
		t.Error(d)
	}
}
