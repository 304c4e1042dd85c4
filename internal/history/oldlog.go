package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/tailcut/tailcut/sched"
)

// The job log of Hadoop 0.20 and 1: records such as
//
//	MapAttempt TASK_TYPE="MAP" TASKID="task_..." TASK_ATTEMPT_ID="attempt_..." START_TIME="1240336762622" .
//
// that end with a lone dot. In values a backslash stands before ", =, . and itself, and values may go on over lines
// (the error of a failed attempt). Rumen concatenates files with lines !!FILE=name!! between; those that hold a job's
// configuration are passed over.

type oldLog struct {
	hadoop
	in    *lines
	value map[string][]byte // of the current record
	text  []byte            // the record, over lines
}

func newOldLog() *oldLog { return &oldLog{hadoop: newHadoop(), value: map[string][]byte{}} }

func (o *oldLog) read(in *lines, emit emit) error {
	o.in = in
	configuration := false
	return in.each(func(line []byte) error {
		line = bytes.TrimLeft(line, " \f")
		if name, separator := bytes.CutPrefix(line, []byte("!!FILE=")); separator {
			configuration = bytes.HasSuffix(name, []byte(".xml!!"))
			return nil
		}
		if configuration || len(line) == 0 {
			return nil
		}
		return o.record(line, emit)
	})
}

// record reads a record that begins with line.
func (o *oldLog) record(line []byte, emit emit) error {
	o.text = append(o.text[:0], line...)
	for openQuote(o.text) {
		more, err := o.in.next()
		if errors.Is(err, io.EOF) {
			err = o.in.expected("", `a closing " of the last value`, o.text)
			if o.in.notes != nil {
				err = errCut{err}
			}
		}
		if err != nil {
			return err
		}
		o.text = append(append(o.text, '\n'), more...)
		if len(o.text) > maxLine {
			return o.in.wrong("", fmt.Errorf("expected records of at most %d bytes", maxLine))
		}
	}
	kind, rest, _ := bytes.Cut(o.text, []byte{' '})
	switch string(kind) {
	case "Meta", "Job", "Task":
		return nil
	case "MapAttempt", "ReduceAttempt":
	default:
		return o.in.expected("", "a record that begins with Job, Task, MapAttempt or ReduceAttempt", kind)
	}
	clear(o.value)
	for {
		rest = bytes.TrimLeft(rest, " ")
		if len(rest) == 0 || rest[0] == '.' {
			break
		}
		key, after, ok := bytes.Cut(rest, []byte(`="`))
		end := quoteEnd(after)
		if !ok || end < 0 {
			return o.in.expected("", `KEY="value" pairs`, rest)
		}
		o.value[string(key)] = after[:end]
		rest = after[end+1:]
	}
	return o.attempt(emit)
}

// openQuote says whether a record ends within a value.
func openQuote(text []byte) bool {
	for {
		start := bytes.IndexByte(text, '"')
		if start < 0 {
			return false
		}
		end := quoteEnd(text[start+1:])
		if end < 0 {
			return true
		}
		text = text[start+1+end+1:]
	}
}

// quoteEnd returns the index of the first quote without a backslash, -1 if there is none.
func quoteEnd(s []byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// attempt handles the start or the end of an attempt, or both.
func (o *oldLog) attempt(emit emit) error {
	id := o.value["TASK_ATTEMPT_ID"]
	if _, ok := parseHadoopID(id); !ok {
		return o.in.expected("TASK_ATTEMPT_ID", "an id such as attempt_200904211745_0002_m_000021_0", id)
	}
	if text, ok := o.value["START_TIME"]; ok {
		start, err := o.instant("START_TIME", text)
		if err != nil {
			return err
		}
		stage, ok := hadoopStages[string(o.value["TASK_TYPE"])]
		if !ok {
			return o.in.expected("TASK_TYPE", "MAP, REDUCE, SETUP or CLEANUP", o.value["TASK_TYPE"])
		}
		o.started(id, hadoopStart{stage: stage, start: start})
	}
	text, ok := o.value["FINISH_TIME"]
	if !ok {
		return nil
	}
	end, err := o.instant("FINISH_TIME", text)
	if err != nil {
		return err
	}
	outcome, ok := hadoopOutcomes[string(o.value["TASK_STATUS"])]
	if !ok {
		return o.in.expected("TASK_STATUS", "SUCCESS, FAILED or KILLED", o.value["TASK_STATUS"])
	}
	counters := o.value["COUNTERS"]
	fetched, _ := strconv.ParseInt(string(o.value["SHUFFLE_FINISHED"]), 10, 64)
	e := hadoopEnd{at: end, outcome: outcome, host: o.value["HOSTNAME"], input: counter(counters, "(HDFS_BYTES_READ)"), shuffled: counter(counters, "(REDUCE_SHUFFLE_BYTES)")}
	e.fetched = ifKnown(fetched)
	return o.ended(id, e, emit)
}

func (o *oldLog) instant(field string, text []byte) (sched.Time, error) {
	ms, err := strconv.ParseInt(string(text), 10, 64)
	t, ok := millis(ms)
	if err != nil || !ok {
		return 0, o.in.expected(field, "milliseconds since 1970", text)
	}
	return t, nil
}

// counter finds [(name)(what people call it)(value)], 0 if it is not there.
func counter(text []byte, name string) int64 {
	_, rest, _ := bytes.Cut(text, []byte(name))
	_, rest, _ = bytes.Cut(rest, []byte(")("))
	digits, _, _ := bytes.Cut(rest, []byte{')'})
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
