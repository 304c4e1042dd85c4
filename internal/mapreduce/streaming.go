package mapreduce

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// streaming runs commands in the manner of Hadoop Streaming, each through sh -c.
//
// A mapper reads the lines of its split on standard input (the last line of a file ends with "\n" even where the file
// does not; nothing else is changed) and writes records, one a line: the key up to the first tab, the value after
// it. A line without a tab is a key with an empty value. Records go to the partition that the key's hash names.
//
// A reducer reads "key\tvalue" lines, the tab always present as in Hadoop, sorted by the bytes of the key; values
// of a key come in the order of map tasks and, within one, in the order in which the mapper wrote them. What it
// writes to standard output is the part, untouched. Without a reducer what each mapper writes is a part, untouched.
//
// A combiner, if given, stands between: one for each map attempt that has any output, fed like a reducer with all
// of it, whose output is parsed like a mapper's. It is run once, always, so it may do what a reducer may.
//
// A mapper sees its whole split: what it does with a line may depend on the lines before, so its attempts cannot
// resume. One that is said to treat each line by itself is run for each stride, see byline.go.
//
// Mappers and reducers run even when they have nothing to read. An exit status other than 0 fails the attempt.
func streaming() operator {
	return operator{
		check: func(op Operator) error {
			if op.Mapper == "" {
				return errors.New("streaming: there is no mapper")
			}
			if op.Combiner != "" && op.Reducer == "" {
				return errors.New("streaming: there is a combiner and no reducer")
			}
			return nil
		},
		stages: func(op Operator, reducers int) []shape {
			if op.Reducer == "" {
				return []shape{{kind: KindMap, tasks: perSplit, resumes: op.ByLine}}
			}
			return []shape{
				{kind: KindMap, tasks: perSplit, segments: reducers, resumes: op.ByLine},
				{kind: KindReduce, tasks: reducers},
			}
		},
		run: map[Kind]func(*worker) error{
			KindMap:    streamingMap,
			KindReduce: streamingReduce,
		},
	}
}

func streamingMap(a *worker) error {
	op := a.spec.Operator
	switch {
	case op.Combiner != "":
		return streamingCombine(a)
	case op.Reducer != "":
		out := a.newSorter(a.spec.memoryLimit(), false)
		if err := a.mapWith(out, out.collect); err != nil {
			return err
		}
		return out.writeSegments()
	case op.ByLine:
		out := &verbatim{a: a}
		if err := a.mapWith(out, out.collect); err != nil {
			return err
		}
		return a.part(out.writeTo)
	default:
		return a.part(func(w io.Writer) error { return a.mapWith(nil, copyTo(w)) })
	}
}

// mapWith runs the mapper on the attempt's split. What it writes, read takes in, and into has it then.
func (a *worker) mapWith(into collector, read func(io.Reader) error) error {
	if a.spec.Operator.ByLine {
		return a.mapLines(into, read)
	}
	return a.command("mapper", a.spec.Operator.Mapper, buffered(func(w io.Writer) error {
		return a.pieces(nil, func(piece []byte) error {
			_, err := w.Write(piece)
			return err
		})
	}), read)
}

// streamingCombine sorts the mapper's output as a whole, so that one combiner sees every key once and in order, and
// partitions what comes out of it.
func streamingCombine(a *worker) error {
	op := a.spec.Operator
	half := a.spec.memoryLimit() / 2
	mapped := a.newSorter(half, false)
	err := a.mapWith(mapped, func(r io.Reader) error {
		return a.records(r, func(key, value []byte) error { return mapped.add(0, key, value) })
	})
	if err != nil {
		return err
	}
	combined := a.newSorter(half, false)
	if !mapped.empty() {
		in, err := mapped.sorted()
		if err != nil {
			return err
		}
		defer in.close()
		err = a.command("combiner", op.Combiner, buffered(func(w io.Writer) error {
			return writeRecords(w, in, partitionSize)
		}), combined.collect)
		if err != nil {
			return err
		}
	}
	return combined.writeSegments()
}

func streamingReduce(a *worker) error {
	in, err := a.shuffled(false)
	if err != nil {
		return err
	}
	defer in.close()
	return a.part(func(w io.Writer) error {
		return a.command("reducer", a.spec.Operator.Reducer, buffered(func(stdin io.Writer) error {
			return writeRecords(stdin, in, 0)
		}), copyTo(w))
	})
}

// writeRecords writes "key\tvalue" lines, leaving out what the keys begin with.
func writeRecords(w io.Writer, in stream, skip int) error {
	var line []byte
	return each(in, func(key, value []byte) error {
		line = append(append(line[:0], key[skip:]...), '\t')
		line = append(append(line, value...), '\n')
		_, err := w.Write(line)
		return err
	})
}

// collect adds the records that a command writes, each to the partition of its key.
func (s *sorter) collect(r io.Reader) error {
	n := s.a.spec.Segments
	return s.a.records(r, func(key, value []byte) error {
		return s.add(hashPartition(key, n), key, value)
	})
}

// records calls fn for each record that a command writes. The slices are valid during the call only.
func (a *worker) records(r io.Reader, fn func(key, value []byte) error) error {
	line := func(text []byte) error {
		key, value, _ := bytes.Cut(text, []byte{'\t'})
		return fn(key, value)
	}
	cutter := lineCutter{limit: a.spec.maxLine()}
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if cutErr := cutter.cut(buf[:n], line); errors.As(cutErr, new(*tooLong)) {
			return hopeless{fmt.Errorf("what a command wrote: %w", cutErr)}
		} else if cutErr != nil {
			return cutErr
		}
		if err == io.EOF {
			if len(cutter.carry) > 0 { // the last line, without its "\n"
				return line(cutter.carry)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func copyTo(w io.Writer) func(io.Reader) error {
	return func(r io.Reader) error {
		_, err := io.Copy(w, r)
		return err
	}
}
