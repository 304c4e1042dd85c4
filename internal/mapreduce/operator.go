package mapreduce

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Operator names what a job does, with its arguments. Fields that the named operator does not use must be empty.
type Operator struct {
	Name     string `json:"name"`               // wordcount, wordmean, grep, sort or streaming
	Pattern  string `json:"pattern,omitempty"`  // grep: a regular expression of Go's package regexp
	Mapper   string `json:"mapper,omitempty"`   // streaming: for sh -c
	Combiner string `json:"combiner,omitempty"` // streaming, optional: for sh -c; see streaming.go
	Reducer  string `json:"reducer,omitempty"`  // streaming: for sh -c; without one the mappers' output is the result
	ByLine   bool   `json:"by_line,omitempty"`  // streaming: the mapper treats each line by itself, so attempts resume
}

// operator is a built-in: the stages of its jobs and the work of its attempts.
type operator struct {
	check  func(op Operator) error // may be nil
	stages func(op Operator, reducers int) []shape
	sums   bool // what maps write are counts, of which those of equal keys may be summed up
	run    map[Kind]func(*worker) error
}

// shape is a stage as its operator sees it.
type shape struct {
	kind     Kind
	tasks    int  // perSplit: one for each split; perGroup: one for each group of map tasks
	segments int  // that a task writes, one for each task of the next stage; 0: a part
	resumes  bool // an attempt can go on from another's strides
}

const (
	perSplit = -1
	perGroup = -2
)

func operators() map[string]operator {
	return map[string]operator{
		"wordcount": wordcount(),
		"wordmean":  wordmean(),
		"grep":      grep(),
		"sort":      sortLines(),
		"streaming": streaming(),
	}
}

// Operators returns the names of the built-in operators that are asked for by name, sorted. The other, streaming, is
// asked for by its commands.
func Operators() []string {
	all := operators()
	delete(all, "streaming")
	return slices.Sorted(maps.Keys(all))
}

// lookup returns the operator's built-in, or an error that says what is wrong with its name or its arguments.
func (op Operator) lookup() (operator, error) {
	all := operators()
	def, ok := all[op.Name]
	if !ok {
		return operator{}, fmt.Errorf("operator %q: there are %s", op.Name, strings.Join(Operators(), ", "))
	}
	for _, arg := range []struct{ of, name, text string }{
		{"grep", "pattern", op.Pattern},
		{"streaming", "mapper", op.Mapper},
		{"streaming", "combiner", op.Combiner},
		{"streaming", "reducer", op.Reducer},
	} {
		if arg.of != op.Name && arg.text != "" {
			return operator{}, fmt.Errorf("%s takes no %s", op.Name, arg.name)
		}
		if !utf8.ValidString(arg.text) {
			return operator{}, fmt.Errorf("%s: the %s is not valid UTF-8", op.Name, arg.name)
		}
	}
	if op.ByLine && op.Name != "streaming" {
		return operator{}, fmt.Errorf("%s takes no by_line", op.Name)
	}
	if def.check == nil {
		return def, nil
	}
	return def, def.check(op)
}

// shapes returns the stages of a job, with a shuffle or without.
func (d operator) shapes(op Operator, reducers int, shuffle bool) []shape {
	all := d.stages(op, reducers)
	if shuffle {
		all = withShuffle(all)
	}
	return all
}

// attempt returns the work of the attempts of a kind.
func (d operator) attempt(kind Kind) func(*worker) error {
	if kind == KindShuffle {
		return func(a *worker) error { return a.shuffle(d.sums) }
	}
	return d.run[kind]
}

// shape returns the stage of a kind in a job of one reducer, if there may be one.
func (d operator) shape(op Operator, kind Kind) (shape, bool) {
	for _, s := range d.shapes(op, 1, true) {
		if s.kind == kind {
			return s, true
		}
	}
	return shape{}, false
}

// mapReduce is the shape of most jobs.
func mapReduce(_ Operator, reducers int) []shape {
	return []shape{
		{kind: KindMap, tasks: perSplit, segments: reducers, resumes: true},
		{kind: KindReduce, tasks: reducers},
	}
}

// writeCounts writes "key\tcount" lines.
func (a *worker) writeCounts(in stream) error {
	return a.part(func(w io.Writer) error {
		var line []byte
		return each(in, func(key, value []byte) error {
			n, err := decodeCount(value)
			if err != nil {
				return err
			}
			line = fmt.Appendf(append(line[:0], key...), "\t%d\n", n)
			_, err = w.Write(line)
			return err
		})
	})
}
