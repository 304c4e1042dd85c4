package workload

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/trace"
)

func load(t *testing.T, s Source, arg, stdin string) (*trace.Workload, []string, error) {
	t.Helper()
	return s.Load(t.Context(), arg, strings.NewReader(stdin), 1)
}

func TestLoad(t *testing.T) {
	const lines = "0 1 1 1\n5 2 1 1 4\n9 1 2 2\n"
	w, notes, err := load(t, Source{Filter: trace.Filter{MinTasks: 2}}, "-", lines)
	if err != nil || len(w.Jobs) != 1 || w.Tasks() != 2 || len(notes) == 0 || !strings.Contains(notes[len(notes)-1], "1 of 3 jobs") {
		t.Errorf("%v, %q, %v", w, notes, err)
	}
	_, notes, err = load(t, Source{}, "synth:jobs=2;law=pareto:alpha=0.9,xm=1", "")
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "the mean of pareto:alpha=0.9,xm=1 is infinite") {
		t.Errorf("%q, %v", notes, err)
	}
	for field, s := range map[string]Source{
		"import": {Imports: []string{"nonsense=1"}}, "drop": {Drop: "nowhere.csv"}, "skip": {Filter: trace.Filter{Skip: 3}},
	} {
		if _, _, err := load(t, s, "-", lines); err == nil || !strings.HasPrefix(err.Error(), field+": ") {
			t.Errorf("%s: %v", field, err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := (&Source{}).Load(stopped, "-", blocked{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }

// What is written in a format is read again as it was, whatever the compression.
func TestFormat(t *testing.T) {
	w, err := trace.Synthesize("synth:jobs=5;tasks=3", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.tr", "a.jsonl", "a.csv", "a.tr.gz", "a.csv.zst", "a.jsonl.gz"} {
		f, err := FormatOf(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Write(&b, w); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		back, _, err := load(t, Source{}, path, "")
		if err != nil || back.Tasks() != 15 || back.WorkSeconds() != w.WorkSeconds() {
			t.Errorf("%s: %v, %v", name, back, err)
		}
	}
	if f, err := FormatOf("-"); err != nil || f.Name != trace.JSONLines || f.Compression != "" {
		t.Errorf("-: %+v, %v", f, err)
	}
	if _, err := FormatOf("jobs.json"); err == nil || !strings.Contains(err.Error(), "ends in .tr, .jsonl or .csv") {
		t.Error(err)
	}
}

func TestInfos(t *testing.T) {
	w, _, err := load(t, Source{}, "-", "0 1 1 1\n5 2 1 1 4\n10 1 2 2\n")
	if err != nil {
		t.Fatal(err)
	}
	all := Infos{Describe("three", w, 2), Describe("again", w, 0)}
	if load := all[0].LoadRatio; load == nil || *load != 0.4 { // 8 s of work in 10 s on 2 machines
		t.Errorf("load %v", load)
	}
	var text, table, js strings.Builder
	for _, err := range []error{all.WriteText(&text), all.WriteCSV(&table), all.WriteJSON(&js)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(text.String(), "load on 2 machines") || !strings.Contains(text.String(), "straggling of a stage") {
		t.Error(text.String())
	}
	if !strings.Contains(table.String(), "\nthree,3,3,4,0,0,0,8,0,10,2,0.4,3,1.33") {
		t.Error(table.String())
	}
	if !strings.Contains(js.String(), `"load_ratio":0.4,"tasks_per_job":{"n":3,`) {
		t.Error(js.String())
	}
}
