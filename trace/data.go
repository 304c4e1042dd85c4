package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Source is data that tasks read and that is there before the job.
type Source struct {
	Site  uint32 // index in Workload.Sites; 0 is a site that the workload does not name, the same for all of the job
	Bytes int64  // at least 0
}

// Input is a list of sources: Workload.Sources[First : First+Sources].
type Input struct{ First, Sources uint32 }

// HasData tells whether the workload says of any task how many bytes it reads, or where.
func (w *Workload) HasData() bool { return len(w.Inputs)+len(w.Bytes) > 0 }

// InputsOf returns the lists of what a stage's tasks read that is there before the job: one for each task, one for all,
// or none.
func (w *Workload) InputsOf(st *StageRow) []Input {
	return w.Inputs[st.FirstInput : st.FirstInput+st.Inputs]
}

// SourcesOf returns a list of sources.
func (w *Workload) SourcesOf(in Input) []Source { return w.Sources[in.First : in.First+in.Sources] }

// BytesOf returns what tasks read over an edge, see [sched.Edge].
func (w *Workload) BytesOf(e *Edge) []int64 { return w.Bytes[e.FirstBytes : e.FirstBytes+e.Bytes] }

// Writes returns what each reader reads of the result of each task of a stage of job j, the stage counted from the
// job's first, as [sched.AttemptDone] says it: of readers that read different amounts, their mean, rounded. It is one
// number for each task, or one for all, or none if no edge carries bytes. The slice may be the workload's.
func (w *Workload) Writes(j, stage int) []int64 {
	if len(w.Bytes) == 0 {
		return nil
	}
	edges := slices.Clone(w.EdgesOf(j))
	edges = slices.DeleteFunc(edges, func(e Edge) bool { return int(e.From) != stage || e.Bytes == 0 })
	switch {
	case len(edges) == 0:
		return nil
	case len(edges) == 1 && edges[0].Kind != sched.PerTask:
		return w.BytesOf(&edges[0])
	}
	stages := w.StagesOf(j)
	sums, readers := make([]float64, stages[stage].Tasks), make([]float64, stages[stage].Tasks)
	for _, e := range edges {
		bytes, each := w.BytesOf(&e), 1.0
		read := func(task, k int) {
			sums[task] += each * float64(bytes[min(k, len(bytes)-1)])
			readers[task] += each
		}
		if e.Kind == sched.Barrier {
			each = float64(stages[e.To].Tasks)
		}
		if e.Kind == sched.PerTask {
			for k, p := range w.Pairs[e.FirstPair : e.FirstPair+e.Pairs] {
				read(int(p[0]), k)
			}
			continue
		}
		for task := range sums {
			read(task, task)
		}
	}
	means := make([]int64, len(sums))
	for task, n := range readers {
		if n > 0 {
			means[task] = int64(math.Round(sums[task] / n))
		}
	}
	return means
}

// Data completes the spec of job j, as Spec has made it, by what its tasks read. at returns the site of a cluster that
// stands for an index of Workload.Sites. It shares bytes of edges with the workload and reuses the lists of inputs.
func (w *Workload) Data(j int, spec *sched.JobSpec, at func(site uint32) sched.SiteID) {
	for i, st := range w.StagesOf(j) {
		lists := spec.Stages[i].Inputs[:0]
		for _, in := range w.InputsOf(&st) {
			list := make([]sched.Source, 0, in.Sources)
			for _, s := range w.SourcesOf(in) {
				list = append(list, sched.Source{Site: at(s.Site), Bytes: s.Bytes})
			}
			lists = append(lists, list)
		}
		spec.Stages[i].Inputs = lists
	}
	for i, e := range w.EdgesOf(j) {
		spec.Edges[i].Bytes = w.BytesOf(&e)
	}
}

// addInput appends a list of sources to those of the last stage. Numbers of bytes are at least 0.
func (w *Workload) addInput(sources ...Source) {
	st := &w.Stages[len(w.Stages)-1]
	if st.Inputs == 0 {
		st.FirstInput = uint32(len(w.Inputs))
	}
	st.Inputs++
	w.Inputs = append(w.Inputs, Input{uint32(len(w.Sources)), uint32(len(sources))})
	w.Sources = append(w.Sources, sources...)
}

// addBytes makes the last edge carry bytes.
func (w *Workload) addBytes(bytes ...int64) {
	e := &w.Edges[len(w.Edges)-1]
	e.FirstBytes, e.Bytes = uint32(len(w.Bytes)), uint32(len(bytes))
	w.Bytes = append(w.Bytes, bytes...)
}

// siteLine is a source in the native format.
type siteLine struct {
	Site    string `json:"site,omitempty"`
	Bytes   int64  `json:"bytes"`
	Dataset string `json:"dataset,omitempty"`
}

// inputs appends the inputs of the last stage. The error belongs to the field inputs.
func (in *reader) inputs(lists [][]siteLine) error {
	st := &in.w.Stages[len(in.w.Stages)-1]
	if n := len(lists); n > 1 && n != int(st.Tasks) {
		return fmt.Errorf("expected a list for each of the %d tasks, or one for all, got %d", st.Tasks, n)
	}
	for k, list := range lists {
		sources := make([]Source, 0, len(list))
		for i, s := range list {
			if s.Bytes < 0 {
				return fmt.Errorf("[%d][%d]: expected at least 0 bytes, got %d", k, i, s.Bytes)
			}
			sources = append(sources, Source{in.site(s.Site), s.Bytes})
		}
		in.w.addInput(sources...)
	}
	return nil
}

// site returns the index in Workload.Sites of a name, which may be "".
func (in *reader) site(name string) uint32 {
	if len(in.w.Sites) == 0 {
		in.w.Sites = append(in.w.Sites, "")
		in.sites = map[string]uint32{"": 0}
	}
	i, known := in.sites[name]
	if !known {
		i = uint32(len(in.w.Sites))
		in.w.Sites = append(in.w.Sites, name)
		in.sites[name] = i
	}
	return i
}

// bytes makes the last edge carry bytes, so many numbers or one for all.
func (in *reader) bytes(bytes []int64, each int, of string) error {
	if n := len(bytes); n > 1 && n != each {
		return fmt.Errorf("bytes: expected a number for each of the %d %s, or one for all, got %d", each, of, n)
	}
	for k, b := range bytes {
		if b < 0 {
			return fmt.Errorf("bytes[%d]: expected at least 0, got %d", k, b)
		}
	}
	if len(in.w.Bytes)+len(bytes) > math.MaxInt32 {
		return errors.New("bytes: expected less than 2^31 numbers in all")
	}
	in.w.addBytes(bytes...)
	return nil
}

// afterLine is a stage to wait for: its name, or an object with the bytes that are read of its results.
type afterLine struct {
	Stage string  `json:"stage"`
	Bytes []int64 `json:"bytes,omitempty"`
}

// UnmarshalJSON reads a name or an object.
func (a *afterLine) UnmarshalJSON(text []byte) error {
	type object afterLine
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if json.Unmarshal(text, &a.Stage) == nil || d.Decode((*object)(a)) == nil && a.Stage != "" {
		return nil
	}
	return fmt.Errorf(`after, after_each: expected the name of a stage or {"stage":NAME,"bytes":[...]}, got %s`, abridged(string(text)))
}

// MarshalJSON writes a name if that says all.
func (a afterLine) MarshalJSON() ([]byte, error) {
	if len(a.Bytes) == 0 {
		return json.Marshal(a.Stage)
	}
	type object afterLine
	return json.Marshal(object(a))
}
