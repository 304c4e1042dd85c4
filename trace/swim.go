package trace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
)

// Workloads of SWIM, the statistical workload injector for MapReduce (Chen, Ganapathi, Griffith, Katz, MASCOTS 2011):
// tab-separated, one job a line: id, submit time (s), gap to the job before (s), map input, shuffle and reduce output
// (bytes).
//
// There are no tasks and no durations in it; both are made from bytes. What a stage handles is the larger of what it
// takes in and what it puts out: map input and shuffle, shuffle and output, or map input and output if there is no
// shuffle and so no reduce stage. It has a task for every Split bytes of that, one at least; the last takes the rest. A
// task lasts TaskStart plus its bytes divided by the rate. So tasks of a stage are equal but for the last. The settings
// are those of [Importer].

var swimColumns = []string{"job", "submit time", "gap", "map input bytes", "shuffle bytes", "reduce output bytes"}

func isSWIM(s *sample) bool {
	if len(s.tsv) != 6 {
		return false
	}
	_, err := strconv.ParseFloat(s.tsv[0], 64)
	return err != nil && integers(s.tsv, 3, 4, 5)
}

// swimLine reads one job.
func (in *reader) swimLine(text string) error {
	fields := strings.Split(text, "\t")
	if len(fields) != len(swimColumns) {
		return in.wrong("", fmt.Errorf("expected %d fields between tabs, got %d", len(swimColumns), len(fields)))
	}
	arrival, err := parseSeconds(fields[1])
	if err != nil {
		return in.wrong("2 (submit time)", err)
	}
	var bytes [3]int64
	for i := range bytes {
		n, err := in.whole(fields, swimColumns, 3+i, 1<<60)
		if err != nil {
			return err
		}
		bytes[i] = int64(n)
	}
	input, shuffle, output := bytes[0], bytes[1], bytes[2]
	w := in.w
	job := JobRow{
		Arrival: arrival, Number: in.line, Name: in.names.add(strings.Clone(fields[0])),
		FirstStage: uint32(len(w.Stages)), Stages: 1, FirstEdge: uint32(len(w.Edges)),
	}
	mapped := shuffle
	if shuffle == 0 {
		mapped = output
	}
	if err := in.swimStage("map", input, mapped, in.set.Split, in.set.MapRate); err != nil {
		return in.wrong("4 (map input bytes)", err)
	}
	if shuffle > 0 {
		if err := in.swimStage("reduce", shuffle, output, in.set.ReduceSplit, in.set.ReduceRate); err != nil {
			return in.wrong("5 (shuffle bytes)", err)
		}
		w.Edges = append(w.Edges, Edge{From: 0, To: 1, Kind: sched.Barrier})
		job.Stages, job.Edges = 2, 1
	}
	w.Jobs = append(w.Jobs, job)
	return nil
}

// swimStage appends a stage that takes in and puts out so many bytes.
func (in *reader) swimStage(name string, taken, put, split, rate int64) error {
	size := max(taken, put)
	n := max(1, (size+split-1)/split)
	if n > maxTasks {
		return errors.New("expected fewer tasks; the size of a split is too small")
	}
	if err := in.room(int(n)); err != nil {
		return err
	}
	w := in.w
	first := len(w.Durations)
	for left := size; len(w.Durations)-first < int(n); left -= split {
		d, err := checkSeconds(float64(min(left, split)) / float64(rate))
		if err != nil {
			return err
		}
		w.Durations = append(w.Durations, d+in.set.TaskStart)
	}
	w.addStage(first, int(n), in.names.add(name))
	w.Stages[len(w.Stages)-1].InputBytes = taken
	return nil
}
