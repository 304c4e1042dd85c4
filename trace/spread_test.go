package trace

import (
	"slices"
	"strings"
	"testing"
)

// TestSpread: a list for all tasks, of a dataset, becomes what a list for each task is; the workload that the copy was made of keeps its own.
func TestSpread(t *testing.T) {
	read := func(inputs string) *Workload {
		w, err := new(Importer).Read(strings.NewReader(`{"datasets":[{"name":"d","allow":["a"]}],"stages":[{"tasks":2,"law":"det:value=1"},{"tasks":2,"law":"det:value=1","inputs":[`+inputs+`]}]}`), "jobs.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	const list = `[{"site":"a","bytes":5,"dataset":"d"}]`
	one, each := read(list), read(list+","+list)
	before := one.Hash()
	own := *one
	own.Stages, own.Inputs, own.Sources, own.Rules = slices.Clone(one.Stages), slices.Clone(one.Inputs), slices.Clone(one.Sources), slices.Clone(one.Rules)
	own.Spread(0, 0)
	own.Spread(0, 1)
	var got, want, old strings.Builder
	for _, x := range []struct {
		w  *Workload
		to *strings.Builder
	}{{&own, &got}, {each, &want}, {one, &old}} {
		if err := WriteJSONLines(x.to, x.w); err != nil {
			t.Fatal(err)
		}
	}
	if got.String() != want.String() || got.String() == old.String() {
		t.Errorf("got %s\nwant %s\nnot %s", got.String(), want.String(), old.String())
	}
	if one.Hash() != before {
		t.Error("the original has changed")
	}
}
