package trace

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wfText is a workflow of three tasks, twice.
const wfText = wfOne + wfOne

const wfOne = `{
 "name": "w", "schemaVersion": "1.5",
 "workflow": {
  "specification": {
   "tasks": [
    {"name": "prep_ID1", "id": "a", "parents": [], "inputFiles": ["raw"], "outputFiles": ["x", "y"]},
    {"name": "merge_ID3", "id": "c", "parents": ["b", "a"], "inputFiles": ["y", "z", "x", "conf"], "outputFiles": []},
    {"name": "prep_ID2", "id": "b", "parents": [], "inputFiles": [], "outputFiles": ["z"]}
   ],
   "files": [
    {"id": "raw", "sizeInBytes": 100}, {"id": "x", "sizeInBytes": 10}, {"id": "y", "sizeInBytes": 1},
    {"id": "z", "sizeInBytes": 5}, {"id": "conf", "sizeInBytes": 7}
   ]
  },
  "execution": {"tasks": [
    {"id": "a", "runtimeInSeconds": 1.5},
    {"id": "b", "runtimeInSeconds": 2},
    {"id": "c", "runtimeInSeconds": 3}
  ]}
 }
}
`

// What tasks read: the file that nobody writes is input, the others come over the edges.
func TestWfCommonsData(t *testing.T) {
	w, err := Read(strings.NewReader(wfOne), "f", 1)
	if err != nil {
		t.Fatal(err)
	}
	spec := specs(w)[0]
	prep, merge := spec.Stages[0].Inputs, spec.Stages[1].Inputs
	if prep[0][0].Bytes != 100 || prep[1][0].Bytes != 0 || merge[0][0].Bytes != 7 {
		t.Errorf("inputs are %v and %v", prep, merge)
	}
	if d := cmp.Diff([][2]uint32{{1, 0}, {0, 0}}, spec.Edges[0].Pairs); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int64{5, 11}, spec.Edges[0].Bytes); d != "" {
		t.Error(d)
	}
}

// TestWfInstances compares with the table on the page that comes with the files: tasks, edges, depth, file GB, work in seconds.
func TestWfInstances(t *testing.T) {
	for _, c := range []struct {
		path                string
		tasks, edges, depth int
		gb                  string
		work                float64
	}{
		{"pegasus/montage/montage-chameleon-2mass-005d-001", 58, 114, 8, "0.22", 222},
		{"pegasus/montage/montage-chameleon-2mass-01d-001", 103, 231, 8, "0.44", 363},
		{"pegasus/montage/montage-chameleon-2mass-02d-001", 619, 1641, 8, "0.98", 1603},
		{"pegasus/montage/montage-chameleon-2mass-05d-001", 1738, 4698, 8, "4.51", 8695},
		{"pegasus/montage/montage-chameleon-dss-05d-001", 58, 114, 8, "2.80", 5586},
		{"pegasus/montage/montage-chameleon-dss-125d-001", 1066, 3012, 8, "17.4", 36969},
		{"pegasus/1000genome/1000genome-chameleon-10ch-250k-001", 410, 530, 3, "35.4", 25978},
		{"pegasus/epigenomics/epigenomics-chameleon-ilmn-2seq-50k-001", 515, 639, 9, "3.94", 8791},
		{"pegasus/seismology/seismology-chameleon-1100p-001", 1101, 1100, 2, "0.02", 585},
		{"pegasus/soykb/soykb-chameleon-20fastq-20ch-001", 286, 684, 11, "2.84", 47970},
		{"pegasus/srasearch/srasearch-chameleon-20a-001", 42, 60, 3, "30.1", 46183},
		{"pegasus/cycles/cycles-chameleon-5l-1c-9p-001", 331, 485, 4, "2.32", 10516},
		{"makeflow/blast/blast-chameleon-large-001", 103, 300, 3, "5.12", 154331},
		{"makeflow/bwa/bwa-chameleon-large-003", 1004, 4000, 3, "0.06", 13498},
		{"nextflow/rnaseq-dirt02-001", 197, 451, 10, "0.29", 2580},
	} {
		w, err := Load(shared(t, "wfinstances", c.path+".json.gz"), nil, 1)
		if err != nil {
			t.Error(err)
			continue
		}
		edges := 0
		depth := make([]int, len(w.Stages))
		deepest := 0
		for _, e := range w.Edges {
			edges += int(e.Pairs)
			depth[e.To] = max(depth[e.To], depth[e.From]+1)
			deepest = max(deepest, depth[e.To])
		}
		if w.Tasks() != c.tasks || edges != c.edges || deepest+1 != c.depth {
			t.Errorf("%s: %d tasks, %d edges, depth %d; want %d, %d, %d", c.path, w.Tasks(), edges, deepest+1, c.tasks, c.edges, c.depth)
		}
		if got := w.WorkSeconds(); math.Round(got) != c.work {
			t.Errorf("%s: %v s of work, want %v", c.path, got, c.work)
		}
		if got := gigabytes(t, c.path); got != c.gb {
			t.Errorf("%s: %s GB of files, want %s", c.path, got, c.gb)
		}
	}
}

func TestWfCommonsErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`"parents": [], "inputFiles": ["raw"]`, `"parents": ["c"], "inputFiles": ["raw"]`,
			"f:6: field workflow.specification.tasks[0].parents: expected no circle"},
		{`"inputFiles": ["raw"]`, `"inputFiles": ["raw", "gone"]`,
			`f:6: field workflow.specification.tasks[0].inputFiles[1]: expected a file whose size is in workflow.specification.files, got "gone"`},
		{`{"id": "conf", "sizeInBytes": 7}`, `{"id": "conf"}`,
			`f:12: field workflow.specification.files[4].sizeInBytes: expected the size of file "conf"`},
		{`"sizeInBytes": 5`, `"sizeInBytes": -5`, `f:12: field workflow.specification.files[3].sizeInBytes: expected the size of file "z"`},
		{`"sizeInBytes": 5`, `"sizeInBytes": "big"`, `f:12: field workflow.specification.files.sizeInBytes: expected a whole number in range, got string`},
		{`"parents": ["b", "a"]`, `"parents": ["b"]`, `f:7: field workflow.specification.tasks[1].inputFiles[0]: expected task "a", which writes the file, among the parents`},
		{`"parents": ["b", "a"]`, `"parents": ["b", "q"]`, `f:7: field workflow.specification.tasks[1].parents[1]: expected the id of a task, got "q"`},
		{`{"id": "b", "runtimeInSeconds": 2}`, `{"id": "b"}`, `f:17: field workflow.execution.tasks[1].runtimeInSeconds: expected how long task "b" ran`},
		{`{"id": "b", "runtimeInSeconds": 2}`, `{"id": "b", "runtimeInSeconds": -2}`, `f:17: field workflow.execution.tasks[1].runtimeInSeconds: `},
		{`"name": "prep_ID2", "id": "b"`, `"name": "prep_ID2", "id": "a"`, `f:8: field workflow.specification.tasks[2].id: expected an id of its own`},
		{`"files": [`, `"files": [,`, `f:10: expected a JSON object: `},
	} {
		text := strings.Replace(wfOne, c.from, c.to, 1)
		if text == wfOne {
			t.Fatalf("%q is not in the text", c.from)
		}
		if _, err := Read(strings.NewReader(text), "f", 1); err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s gives\n%v\nwant\n%s", c.to, err, c.want)
		}
	}
}

// gigabytes returns the sizes of all files as the page states them: three digits, two decimals below 1.
func gigabytes(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(shared(t, "wfinstances", path+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, done, err := decompress(f)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	var doc wfDocument
	if err := json.NewDecoder(plain).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, x := range doc.Workflow.Specification.Files {
		sum += float64(*x.Size) / 1e9
	}
	if sum >= 10 {
		return fmt.Sprintf("%.1f", sum)
	}
	return fmt.Sprintf("%.2f", sum)
}

// TestDataComesBack: sites, bytes and their places survive being written.
func TestDataComesBack(t *testing.T) {
	w, err := Read(strings.NewReader(moved), "f", 1)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"", "b", "a"}, w.Sites); d != "" {
		t.Error(d)
	}
	var out strings.Builder
	if err := WriteJSONLines(&out, w); err != nil {
		t.Fatal(err)
	}
	back, err := Read(strings.NewReader(out.String()), "f", 1)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(specs(w), specs(back)); d != "" {
		t.Error(d)
	}
	spec := specs(back)[0]
	if got := spec.Edges[2].Bytes; !cmp.Equal(got, []int64{1, 2}) {
		t.Errorf("bytes of the third edge are %v", got)
	}
	if lost := w.Lost(TR); !strings.Contains(strings.Join(lost, " "), "the data that tasks read, and its sites") {
		t.Errorf("lost is %v", lost)
	}
}

func TestDataErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`"bytes":4`, `"bytes":-4`, "f:1: field stages[0].inputs: [0][1]: expected at least 0 bytes, got -4"},
		{`[[{"site":"a","bytes":1}],[]]`, `[[],[],[]]`, "f:1: field stages[1].inputs: expected a list for each of the 2 tasks, or one for all, got 3"},
		{`"bytes":[7]`, `"bytes":[7,8,9]`, "f:1: field stages[1].after_each: bytes: expected a number for each of the 2 tasks of that stage, or one for all, got 3"},
		{`"bytes":[1,2]`, `"bytes":[1,-2]`, "f:1: field stages[2].after: bytes[1]: expected at least 0, got -2"},
		{`"after":["0",`, `"after":[0,`, `f:1: expected a JSON object: after, after_each: expected the name of a stage or {"stage":NAME,"bytes":[...]}, got 0`},
		{`"site":"b"`, `"located":"b"`, "f:1: field located: unknown field; docs/reference/workloads.md"},
	} {
		text := strings.Replace(moved, c.from, c.to, 1)
		if text == moved {
			t.Fatalf("%q is not in the text", c.from)
		}
		if _, err := Read(strings.NewReader(text), "f", 1); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s gives\n%v\nwant\n%s", c.to, err, c.want)
		}
	}
}
