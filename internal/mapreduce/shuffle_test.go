package mapreduce

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShuffleChangesNoByte: parts are the same with a shuffle and without, for every operator: of no input, of one map,
// of several, of many partitions. The twins' jobs have a shuffle or none, too.
func TestShuffleChangesNoByte(t *testing.T) {
	input := makeInput(t, map[string]string{"f": "b a\nc a\nab ab\nd\na b\n\nz"})
	for _, op := range []Operator{{Name: "wordcount"}, {Name: "wordmean"}, {Name: "grep", Pattern: "[ab]+"}, {Name: "sort"}} {
		sameParts(t, Request{Operator: op, Inputs: []string{t.TempDir()}, Reducers: 3})
		sameParts(t, Request{Operator: op, Inputs: []string{input}, Reducers: 1})
		sameParts(t, Request{Operator: op, Inputs: []string{input}, SplitSize: 4, Reducers: 3})
	}
	sameParts(t, Request{Operator: Operator{Name: "sort"}, Inputs: []string{input}, SplitSize: 6, Reducers: 40})
}

// TestShuffleStreaming: values of a key come in the order of the maps, through combiners and partitions.
func TestShuffleStreaming(t *testing.T) {
	input := makeInput(t, map[string]string{"f": "b 1\na 2\nb 3\n\na 4\nc 5\na 6\nb 7\n"})
	for _, op := range []Operator{
		{Name: "streaming", Mapper: "tr ' ' '\\t'", Reducer: "cat"},
		{Name: "streaming", Mapper: "tr ' ' '\\t'", Combiner: "cat; echo seen", Reducer: "cat"},
		{Name: "streaming", Mapper: "cat"},
	} {
		sameParts(t, Request{Operator: op, Inputs: []string{input}, SplitSize: 4, Reducers: 2})
	}
}

func sameParts(t *testing.T, job Request) {
	t.Helper()
	job.Shuffle = false
	want := runJob(t, job)
	job.Shuffle = true
	if diff := cmp.Diff(want, runJob(t, job)); diff != "" {
		t.Errorf("%s: with a shuffle: (-without +with)\n%s", job.Operator.Name, diff)
	}
}

// TestShuffleIsBounded: groups cover the maps in order, and neither they nor their number grow beyond the root.
func TestShuffleIsBounded(t *testing.T) {
	for _, maps := range []int{0, 1, 2, 3, 4, 48, 99, 100, 101, 100_003} {
		p := &Plan{Stages: stagePlans(sortLines().shapes(Operator{}, 3, true), make([]Split, maps))}
		s, at := p.Stages[1], 0
		for task := range s.Tasks {
			earlier, first, end := p.Reads(1, task)
			if earlier != 0 || first != at || end <= first || end > maps {
				t.Fatalf("%d maps: task %d reads %d to %d of stage %d, expected from %d", maps, task, first, end, earlier, at)
			}
			at = end
		}
		if root := math.Sqrt(float64(maps)); at != maps || float64(s.Tasks) > root+3 || float64(s.Group) > max(1, root) {
			t.Errorf("%d maps: %d are read, by %d tasks in groups of %d", maps, at, s.Tasks, s.Group)
		}
		if _, first, end := p.Reads(2, 1); first != 0 || end != s.Tasks {
			t.Errorf("%d maps: a reduce task reads shuffles %d to %d of %d", maps, first, end, s.Tasks)
		}
	}
}

// TestShuffleTask: a task that is not of its group, or of a job without anything to shuffle, is refused.
func TestShuffleTask(t *testing.T) {
	p, err := NewPlan(t.Context(), Request{Operator: Operator{Name: "sort"}, Inputs: []string{makeInput(t, map[string]string{"f": "a\nb\nc\nd\n"})}, SplitSize: 2, Reducers: 2, Shuffle: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Stages[1].Tasks, p.Stages[1].Group, p.Resumes(1)); got != "2 2 false" {
		t.Errorf("4 maps: %s", got)
	}
	if _, err := p.Attempt(1, 0, []string{"a"}, "dir"); err == nil {
		t.Error("a shuffle of two maps has taken one folder")
	}
	spec, err := p.Attempt(1, 1, []string{"a", "b"}, "dir")
	if err != nil {
		t.Fatal(err)
	}
	spec.Operator = Operator{Name: "streaming", Mapper: "cat"}
	if err := spec.Validate(); err == nil {
		t.Error("a job without a reducer has a shuffle")
	}
}
