package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"

	"github.com/tailcut/tailcut/sched"
)

// Executions of scientific workflows in WfFormat 1.5 (Coleman et al., "WfCommons", FGCS 2022): a JSON object with the
// tasks, their parents and the files that they read and write, and how long each task ran. Several may follow one
// another. Fields that are not named here are ignored.
//
// A workflow becomes a job that arrives at 0. Tasks of one kind (the name without a number at its end) and depth (the
// longest chain of parents) are a stage. An edge carries, for each pair of parent and child, the bytes of the files
// that one writes and the other reads; what no task writes is input, at a site that the file does not name.

type wfDocument struct {
	Name     string `json:"name"`
	Workflow struct {
		Specification struct {
			Tasks []wfTask `json:"tasks"`
			Files []wfFile `json:"files"`
		} `json:"specification"`
		Execution struct {
			Tasks []wfRun `json:"tasks"`
		} `json:"execution"`
	} `json:"workflow"`
}

type wfTask struct {
	Name    string   `json:"name"`
	ID      string   `json:"id"`
	Parents []string `json:"parents"`
	Inputs  []string `json:"inputFiles"`
	Outputs []string `json:"outputFiles"`
}

type wfFile struct {
	ID   string `json:"id"`
	Size *int64 `json:"sizeInBytes"`
}

type wfRun struct {
	ID      string   `json:"id"`
	Seconds *float64 `json:"runtimeInSeconds"`
}

func isWfCommons(s *sample) bool { return s.line[0] == '{' && s.hasKey("workflow") }

// wfCommons reads all workflows of a stream.
func (in *reader) wfCommons() error {
	text, err := io.ReadAll(io.LimitReader(in.lines, maxLine+1))
	if err != nil {
		return in.wrong("", err)
	}
	if len(text) > maxLine {
		return in.wrong("", fmt.Errorf("expected at most %d bytes", maxLine))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for number := uint32(0); ; number++ {
		var doc wfDocument
		begin := d.InputOffset()
		switch err := d.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			in.line = lineAt(text, offsetOf(err, d))
			return in.wrongJSON(err)
		}
		wf := workflow{in: in, doc: &doc, text: text, begin: begin}
		if err := wf.job(number); err != nil {
			return err
		}
	}
}

// offsetOf returns where decoding failed.
func offsetOf(err error, d *json.Decoder) int64 {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset
	case errors.As(err, &kind):
		return kind.Offset
	}
	return d.InputOffset()
}

// lineAt returns the number, from 0, of the line that an offset is in.
func lineAt(text []byte, offset int64) uint32 {
	return uint32(bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n")))
}

// workflow is a document on its way to become a job. Tasks are known by their place in the specification.
type workflow struct {
	in    *reader
	doc   *wfDocument
	text  []byte // of the whole stream
	begin int64  // of the document

	index   map[string]int   // of tasks, by id
	sizes   map[string]int64 // of files
	writer  map[string]int   // task that writes a file
	seconds map[string]float64
	parents [][]uint32
	stage   []int // of tasks, index of the job's stages
	place   []int // of tasks, in their stage
}

// wrong reports a mistake at a place of the document: keys and indexes from its root.
func (f *workflow) wrong(err error, path ...any) error {
	f.in.line = lineAt(f.text, f.begin+locate(f.text[f.begin:], path))
	field := ""
	for _, p := range path {
		switch p := p.(type) {
		case string:
			if field != "" {
				field += "."
			}
			field += p
		case int:
			field += fmt.Sprintf("[%d]", p)
		}
	}
	return f.in.wrong(field, err)
}

// locate returns the offset of a value in a JSON document, as far as the path leads.
func locate(text []byte, path []any) int64 {
	d := json.NewDecoder(bytes.NewReader(text))
	at := int64(0)
	for _, p := range path {
		if _, err := d.Token(); err != nil { // the bracket of the value that is entered
			return at
		}
		for n := 0; d.More(); n++ {
			at = d.InputOffset()
			found := false
			if key, isKey := p.(string); isKey {
				t, err := d.Token()
				if err != nil {
					return at
				}
				at, found = d.InputOffset(), t == key
			} else {
				found = n == p
			}
			if found {
				break
			}
			var skipped json.RawMessage
			if d.Decode(&skipped) != nil {
				return at
			}
		}
	}
	for at < int64(len(text)) && bytes.IndexByte([]byte(" \t\r\n,:"), text[at]) >= 0 {
		at++
	}
	return at
}

// job appends the job.
func (f *workflow) job(number uint32) error {
	if err := f.collect(); err != nil {
		return err
	}
	order, circle := topological(len(f.parents), func(i int) []uint32 { return f.parents[i] })
	if circle >= 0 {
		return f.wrong(errors.New("expected no circle, the task waits for itself"), "workflow", "specification", "tasks", circle, "parents")
	}
	w := f.in.w
	job := JobRow{
		Number: number, Name: f.in.names.add(f.doc.Name), FirstStage: uint32(len(w.Stages)), FirstEdge: uint32(len(w.Edges)),
	}
	stages := f.group(order)
	if len(stages) > maxStages {
		return f.wrong(fmt.Errorf("expected at most %d kinds of tasks, got %d", maxStages, len(stages)), "workflow", "specification", "tasks")
	}
	for _, tasks := range stages {
		if err := f.addStage(tasks); err != nil {
			return err
		}
	}
	f.addEdges(stages)
	job.Stages, job.Edges = uint32(len(stages)), uint32(len(w.Edges))-job.FirstEdge
	w.Jobs = append(w.Jobs, job)
	return nil
}

// collect indexes tasks, files and runs, and checks that they fit together.
func (f *workflow) collect() error {
	spec := &f.doc.Workflow.Specification
	if len(spec.Tasks) == 0 {
		return f.wrong(errors.New("expected at least one task"), "workflow", "specification", "tasks")
	}
	if err := f.in.room(len(spec.Tasks)); err != nil {
		return f.wrong(err, "workflow", "specification", "tasks")
	}
	f.index, f.sizes, f.writer, f.seconds = map[string]int{}, map[string]int64{}, map[string]int{}, map[string]float64{}
	for i, x := range spec.Files {
		if x.Size == nil || *x.Size < 0 {
			return f.wrong(fmt.Errorf("expected the size of file %q, at least 0 bytes", abridged(x.ID)), "workflow", "specification", "files", i, "sizeInBytes")
		}
		f.sizes[x.ID] = *x.Size
	}
	for i, r := range f.doc.Workflow.Execution.Tasks {
		if r.Seconds == nil {
			return f.wrong(fmt.Errorf("expected how long task %q ran", abridged(r.ID)), "workflow", "execution", "tasks", i, "runtimeInSeconds")
		}
		if _, err := checkSeconds(*r.Seconds); err != nil {
			return f.wrong(err, "workflow", "execution", "tasks", i, "runtimeInSeconds")
		}
		f.seconds[r.ID] = *r.Seconds
	}
	for i := range spec.Tasks {
		t := &spec.Tasks[i]
		if _, twice := f.index[t.ID]; twice {
			return f.wrong(fmt.Errorf("expected an id of its own, %q is there twice", abridged(t.ID)), "workflow", "specification", "tasks", i, "id")
		}
		f.index[t.ID] = i
		if _, known := f.seconds[t.ID]; !known {
			return f.wrong(fmt.Errorf("expected a task that workflow.execution.tasks knows, got %q", abridged(t.ID)), "workflow", "specification", "tasks", i, "id")
		}
		for k, file := range t.Outputs {
			if _, known := f.sizes[file]; !known {
				return f.unknownFile(i, "outputFiles", k, file)
			}
			f.writer[file] = i
		}
	}
	return f.family()
}

func (f *workflow) unknownFile(task int, field string, k int, file string) error {
	return f.wrong(fmt.Errorf("expected a file whose size is in workflow.specification.files, got %q", abridged(file)),
		"workflow", "specification", "tasks", task, field, k)
}

// family finds the parents of each task.
func (f *workflow) family() error {
	tasks := f.doc.Workflow.Specification.Tasks
	f.parents = make([][]uint32, len(tasks))
	for i := range tasks {
		known := map[int]bool{}
		for k, id := range tasks[i].Parents {
			p, found := f.index[id]
			if !found {
				return f.wrong(fmt.Errorf("expected the id of a task, got %q", abridged(id)), "workflow", "specification", "tasks", i, "parents", k)
			}
			if !known[p] {
				known[p] = true
				f.parents[i] = append(f.parents[i], uint32(p))
			}
		}
		for k, file := range tasks[i].Inputs {
			if _, found := f.sizes[file]; !found {
				return f.unknownFile(i, "inputFiles", k, file)
			}
			if writer, made := f.writer[file]; made && writer != i && !known[writer] {
				return f.wrong(fmt.Errorf("expected task %q, which writes the file, among the parents", abridged(tasks[writer].ID)),
					"workflow", "specification", "tasks", i, "inputFiles", k)
			}
		}
	}
	return nil
}

// serial is the number that generators put behind the kind of a task.
var serial = regexp.MustCompile(`_(ID)?\d+$`)

// group returns the tasks of each stage: of one kind and depth, depths ascending.
func (f *workflow) group(order []uint32) (stages [][]int) {
	type key struct {
		depth int
		kind  string
	}
	tasks := f.doc.Workflow.Specification.Tasks
	depth, deepest := make([]int, len(tasks)), 0
	for _, i := range order {
		for _, p := range f.parents[i] {
			depth[i] = max(depth[i], depth[p]+1)
		}
		deepest = max(deepest, depth[i])
	}
	at := make([][]int, deepest+1)
	for i := range tasks {
		at[depth[i]] = append(at[depth[i]], i)
	}
	f.stage, f.place = make([]int, len(tasks)), make([]int, len(tasks))
	index := map[key]int{}
	for d, level := range at {
		for _, i := range level {
			k := key{d, serial.ReplaceAllString(tasks[i].Name, "")}
			s, known := index[k]
			if !known {
				s = len(stages)
				index[k], stages = s, append(stages, nil)
			}
			f.stage[i], f.place[i] = s, len(stages[s])
			stages[s] = append(stages[s], i)
		}
	}
	return stages
}

// addStage appends a stage with its durations and inputs.
func (f *workflow) addStage(tasks []int) error {
	w, all := f.in.w, f.doc.Workflow.Specification.Tasks
	first := len(w.Durations)
	for _, i := range tasks {
		d, err := checkSeconds(f.seconds[all[i].ID])
		if err != nil {
			return f.wrong(err, "workflow", "execution", "tasks")
		}
		w.Durations = append(w.Durations, d)
	}
	w.addStage(first, len(tasks), f.in.names.add(serial.ReplaceAllString(all[tasks[0]].Name, "")))
	anywhere := f.in.site("")
	var sum int64
	lists := make([]int64, len(tasks))
	for k, i := range tasks {
		for _, file := range all[i].Inputs {
			if _, made := f.writer[file]; !made {
				lists[k] = capped(lists[k], f.sizes[file])
			}
		}
		sum = capped(sum, lists[k])
	}
	for _, n := range lists {
		if sum == 0 {
			break
		}
		w.addInput(Source{anywhere, n})
	}
	w.Stages[len(w.Stages)-1].InputBytes = sum
	return nil
}

// addEdges appends an edge for each two stages of which tasks are parents and children.
func (f *workflow) addEdges(stages [][]int) {
	w, all := f.in.w, f.doc.Workflow.Specification.Tasks
	for to, children := range stages {
		pairs, carried := make([][][2]uint32, to), make([][]int64, to) // by stage of the parent
		for _, child := range children {
			from := map[int]int64{}
			for _, file := range all[child].Inputs {
				if writer, made := f.writer[file]; made {
					from[writer] = capped(from[writer], f.sizes[file])
				}
			}
			for _, p := range f.parents[child] {
				s := f.stage[p]
				pairs[s] = append(pairs[s], [2]uint32{uint32(f.place[p]), uint32(f.place[child])})
				carried[s] = append(carried[s], from[int(p)])
			}
		}
		for from := range pairs {
			if len(pairs[from]) > 0 {
				w.Edges = append(w.Edges, Edge{
					From: uint32(from), To: uint32(to), Kind: sched.PerTask, FirstPair: uint32(len(w.Pairs)), Pairs: uint32(len(pairs[from])),
				})
				w.Pairs = append(w.Pairs, pairs[from]...)
				w.addBytes(carried[from]...)
			}
		}
	}
}

// capped adds numbers of at least 0; what is beyond the range stays at its end.
func capped(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
