package mapreduce

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// outline is a plan's stages without their splits.
func outline(p *Plan) []StagePlan {
	stages := append([]StagePlan(nil), p.Stages...)
	for i := range stages {
		stages[i].Splits = nil
	}
	return stages
}

func TestPlanStages(t *testing.T) {
	dir := makeInput(t, map[string]string{"a": strings.Repeat("x\n", 10), "b": "y\n"}) // 22 bytes: 3 splits of 10
	mapped := func(segments int) StagePlan {
		return StagePlan{Name: "map", Kind: KindMap, Tasks: 3, Segments: segments}
	}
	reduce := func(tasks, segments int) StagePlan {
		return StagePlan{Name: "reduce", Kind: KindReduce, After: []int{0}, Tasks: tasks, Segments: segments}
	}
	tests := []struct {
		op   Operator
		want []StagePlan
	}{
		{Operator{Name: "wordcount"}, []StagePlan{mapped(4), reduce(4, 0)}},
		{Operator{Name: "wordmean"}, []StagePlan{mapped(1), reduce(1, 0)}},
		{Operator{Name: "sort"}, []StagePlan{mapped(4), reduce(4, 0)}},
		{Operator{Name: "grep", Pattern: "x"}, []StagePlan{mapped(4), reduce(4, 1),
			{Name: "sort", Kind: KindSort, After: []int{1}, Tasks: 1}}},
		{Operator{Name: "streaming", Mapper: "m", Reducer: "r"}, []StagePlan{mapped(4), reduce(4, 0)}},
		{Operator{Name: "streaming", Mapper: "m"}, []StagePlan{mapped(0)}},
	}
	for _, tt := range tests {
		t.Run(tt.op.Name, func(t *testing.T) {
			job := Request{Operator: tt.op, Inputs: []string{dir}, Reducers: 4, SplitSize: 10}
			plan, err := NewPlan(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, outline(plan)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			again, err := NewPlan(t.Context(), job)
			if diff := cmp.Diff(plan, again); err != nil || diff != "" {
				t.Errorf("a second plan of the same differs: %v\n%s", err, diff)
			}
		})
	}
}

func TestPlanErrors(t *testing.T) {
	dir := makeInput(t, map[string]string{"f": "x\n"})
	good := Request{Operator: Operator{Name: "wordcount"}, Inputs: []string{dir}, Reducers: 1}
	tests := []struct {
		name string
		edit func(*Request)
		want string
	}{
		{"operator", func(j *Request) { j.Operator.Name = "wordcuont" }, `"wordcuont": there are grep, sort, wordcount, wordmean`},
		{"argument of another", func(j *Request) { j.Operator.Pattern = "x" }, "wordcount takes no pattern"},
		{"no pattern", func(j *Request) { j.Operator.Name = "grep" }, "pattern is empty"},
		{"bad pattern", func(j *Request) { j.Operator = Operator{Name: "grep", Pattern: "a(b"} }, "missing closing )"},
		{"no mapper", func(j *Request) { j.Operator.Name = "streaming" }, "no mapper"},
		{"combiner alone", func(j *Request) { j.Operator = Operator{Name: "streaming", Mapper: "m", Combiner: "c"} }, "no reducer"},
		{"no text", func(j *Request) { j.Operator = Operator{Name: "streaming", Mapper: "\xff"} }, "not valid UTF-8"},
		{"no reducers", func(j *Request) { j.Reducers = 0 }, "reducers: 0"},
		{"too many reducers", func(j *Request) { j.Reducers = math.MaxInt }, "reducers: "},
		{"no inputs", func(j *Request) { j.Inputs = nil }, "no input"},
		{"split size", func(j *Request) { j.SplitSize = -1 }, "split size: -1"},
		{"memory limit", func(j *Request) { j.MemoryLimit = -1 }, "memory limit: -1"},
		{"absent input", func(j *Request) { j.Inputs = []string{dir + "/absent"} }, dir + "/absent"},
	}
	for _, tt := range tests {
		job := good
		tt.edit(&job)
		_, err := NewPlan(t.Context(), job)
		oneLine(t, tt.name, err, tt.want)
	}
}

func TestPlanAttemptErrors(t *testing.T) {
	dir := makeInput(t, map[string]string{"f": "x\n"})
	plan, err := NewPlan(t.Context(), Request{Operator: Operator{Name: "wordcount"}, Inputs: []string{dir}, Reducers: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name        string
		stage, task int
		upstream    []string
		dir         string
	}{
		{"stage", 2, 0, nil, "d"},
		{"negative stage", -1, 0, nil, "d"},
		{"task", 0, 1, nil, "d"},
		{"negative task", 0, -1, nil, "d"},
		{"upstream of the first stage", 0, 0, []string{"u"}, "d"},
		{"no upstream", 1, 0, nil, "d"},
		{"upstream without a name", 1, 0, []string{""}, "d"},
		{"no folder", 0, 0, nil, ""},
	} {
		_, err := plan.Attempt(tt.stage, tt.task, tt.upstream, tt.dir)
		oneLine(t, tt.name, err)
	}
	spec, err := plan.Attempt(1, 1, []string{"/up"}, "/own")
	if err != nil {
		t.Fatal(err)
	}
	want := &AttemptSpec{Operator: Operator{Name: "wordcount"}, Kind: KindReduce, Task: 1, Upstream: []string{"/up"},
		Partition: 1, Dir: "/own", MemoryLimit: DefaultMemoryLimit}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestAttemptFolder: two attempts never share a folder, and nothing but output stays in it.
func TestAttemptFolder(t *testing.T) {
	dir := makeInput(t, map[string]string{"f": strings.Repeat("a b c\n", 100)})
	plan, err := NewPlan(t.Context(), Request{Operator: Operator{Name: "sort"}, Inputs: []string{dir}, Reducers: 2, MemoryLimit: 500})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := plan.Attempt(0, 0, nil, filepath.Join(t.TempDir(), "new", "attempt"))
	if err != nil {
		t.Fatal(err)
	}
	var heard []float64
	spec.Progress = func(f float64) { heard = append(heard, f) }
	got, err := Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if got.SpilledRecords == 0 {
		t.Error("nothing was spilled")
	}
	got.SpilledRecords = 0
	want := Counters{InputBytes: 600, InputRecords: 100, OutputBytes: 500, OutputRecords: 100}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters: (-want +got)\n%s", diff)
	}
	if names := folder(t, spec.Dir); len(names) != 2 {
		t.Errorf("the folder holds %d files", len(names))
	}
	if len(heard) == 0 || heard[len(heard)-1] != 1 {
		t.Errorf("progress %v does not end with 1", heard)
	}
	_, err = Run(t.Context(), spec)
	oneLine(t, "second attempt in the folder", err, spec.Dir, "exists")
}

func TestMeter(t *testing.T) {
	var heard []float64
	m := &meter{report: func(f float64) { heard = append(heard, f) }, total: 4 << 20, at: time.Now().Add(time.Hour)}
	for range 40 {
		m.add(meterBytes / 8)
		m.at = m.at.Add(time.Hour) // only bytes count
	}
	if diff := cmp.Diff([]float64{0.25, 0.5, 0.75, 1, 1}, heard); diff != "" {
		t.Errorf("by bytes: (-want +got)\n%s", diff)
	}
	heard = nil
	m = &meter{report: m.report, total: 4}
	m.add(1) // the first is due, for nothing was reported yet
	m.add(1)
	m.at = m.at.Add(-meterInterval)
	m.add(1)
	if diff := cmp.Diff([]float64{0.25, 0.75}, heard); diff != "" {
		t.Errorf("by time: (-want +got)\n%s", diff)
	}
}

func FuzzDecodePlan(f *testing.F) {
	f.Add([]byte(`{}`))
	dir := makeInput(f, map[string]string{"f": "a\nb\nc\n", "\xff": "d\n"})
	for _, op := range []Operator{{Name: "sort"}, {Name: "grep", Pattern: "a"}, {Name: "streaming", Mapper: "m"}} {
		plan, err := NewPlan(f.Context(), Request{Operator: op, Inputs: []string{dir}, Reducers: 2, SplitSize: 3})
		if err != nil {
			f.Fatal(err)
		}
		text, err := json.Marshal(plan)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		plan, err := DecodePlan(data)
		if err != nil {
			return
		}
		for s, stage := range plan.Stages {
			for i := range min(stage.Tasks, 3) {
				_, first, end := plan.Reads(s, i)
				upstream := slices.Repeat([]string{"up"}, end-first)
				if _, err := plan.Attempt(s, i, upstream, "dir"); err != nil {
					t.Fatalf("a plan that was accepted gives no attempt: %v", err)
				}
			}
		}
	})
}

func FuzzDecodeSpec(f *testing.F) {
	for _, text := range []string{
		`{}`,
		`{"operator":{"name":"wordcount"},"kind":"map","segments":2,"dir":"d","split":[{"path":"/f","size_bytes":9,"mod_time_unix_nano":1,"offset_bytes":3,"length_bytes":6}]}`,
		`{"operator":{"name":"sort"},"kind":"map","segments":3,"dir":"d","boundaries":["YQ==","Yg=="]}`,
		`{"operator":{"name":"grep","pattern":"a"},"kind":"sort","upstream":["u"],"dir":"d"}`,
		`{"operator":{"name":"wordcount"},"kind":"map","segments":1,"dir":"d","split":[{"path":{"base64":"/w=="},"size_bytes":9223372036854775807,"offset_bytes":9223372036854775807,"length_bytes":1}]}`,
	} {
		f.Add([]byte(text))
	}
	work, err := os.MkdirTemp(f.TempDir(), "")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		spec, err := DecodeSpec(data)
		if err != nil || spec.Operator.Name == "streaming" || spec.Segments > 10 { // no commands, and not many files
			return
		}
		// What was accepted runs without a panic. It reads no file but those of the empty folder below.
		for i := range spec.Split {
			spec.Split[i].Path = Path(filepath.Join(work, "absent"))
		}
		for i := range spec.Upstream {
			spec.Upstream[i] = work
		}
		if spec.Dir, err = os.MkdirTemp(work, ""); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(spec.Dir)
		if _, err := Run(t.Context(), spec); err == nil && len(spec.Split)+len(spec.Upstream) > 0 && spec.Kind != KindMap {
			t.Errorf("read segments that are not there")
		}
	})
}
