package trace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// TestWhereDataMayBe reads the job of the fuzz target, on a cluster of the sites a, b, c, d.
func TestWhereDataMayBe(t *testing.T) {
	w, err := Read(strings.NewReader(confined), "f", 1)
	if err != nil {
		t.Fatal(err)
	}
	at := func(site uint32) sched.SiteID { return sched.SiteID(strings.Index("abcd", w.Sites[site])) }
	for _, w := range []*Workload{w, w.Resample(1)} { // it shares what the job consists of
		var spec sched.JobSpec
		w.Spec(0, &spec)
		w.Confine(0, &spec, 4, at)
		if d := cmp.Diff([]sched.Dataset{{Name: "p", Sites: []sched.SiteID{0}}, {Name: "q", Sites: []sched.SiteID{0, 1, 3}}}, spec.Datasets); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([][]uint32{{0}, nil}, spec.Stages[0].Datasets); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([][]uint32{{1}}, spec.Stages[1].Datasets); d != "" || len(spec.Stages[0].Releases) != 1 {
			t.Error(d, spec.Stages[0].Releases)
		}
	}
	free, err := Read(strings.NewReader(moved), "f", 1)
	if err != nil {
		t.Fatal(err)
	}
	if free.RulesOf(0) != nil {
		t.Error("a job without datasets has rules")
	}
	other, err := Read(strings.NewReader(strings.Replace(confined, `"deny":["c"]`, `"deny":["a"]`, 1)), "f", 1)
	if err != nil {
		t.Fatal(err)
	}
	if w.Hash() == other.Hash() {
		t.Error("rules are not part of the hash")
	}
}

func TestDatasetErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`"name":"p"`, `"name":""`, "f:1: field datasets[0].name: expected a name"},
		{`"name":"q"`, `"name":"p"`, `f:1: field datasets[1].name: expected a name of its own, another dataset is called "p"`},
		{`,"deny":["c"]`, ``, `f:1: field datasets[1]: expected allow, deny or both: lists of sites where "q" may be, and may not be`},
		{`"deny":["c"]`, `"deny":[""]`, "f:1: field datasets[1].deny[0]: expected the name of a site"},
		{`"deny":["c"]`, `"denny":["c"]`, "f:1: field denny: unknown; did you mean deny?"},
		{`"dataset":"p"`, `"dataset":"r"`, `f:1: field stages[0].inputs[0][0].dataset: expected the name of one of the job's datasets, got "r"`},
		{`{"bytes":4}`, `{"bytes":4,"dataset":"q"}`, `f:1: field stages[0].inputs[0][1].dataset: expected a field site beside it: "q" may not be everywhere`},
		{`{"site":"a","bytes":3,"dataset":"p"}`, `{"site":"b","bytes":3,"dataset":"p"}`, `f:1: field stages[0].inputs[0][0].site: expected a site where dataset "p" may be, got "b"`},
		{`"bytes":1,"dataset":"q"`, `"bytes":1`, `f:1: field datasets[1]: expected an input that names it: no input is of dataset "q"`},
		{`"releases":["p"]`, `"releases":["s"]`, `f:1: field stages[0].releases[0]: expected the name of one of the job's datasets, got "s"`},
	} {
		text := strings.Replace(confined, c.from, c.to, 1)
		if text == confined {
			t.Fatalf("%q is not in the text", c.from)
		}
		if _, err := Read(strings.NewReader(text), "f", 1); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s gives\n%v\nwant\n%s", c.to, err, c.want)
		}
	}
}
