package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Hadoop's job history file (.jhist) since 0.23: the line Avro-Json, the schema, then one event a line; or the line
// Avro-Binary, the schema, then events in Avro's binary encoding, as Hadoop 3 writes unless told otherwise. An attempt
// is two events, such as MAP_ATTEMPT_STARTED and MAP_ATTEMPT_FINISHED.

type jhist struct {
	hadoop
	in *lines
	c  cursor
}

func newJhist() *jhist { return &jhist{hadoop: newHadoop()} }

// jhistEvent is what an event of an attempt says.
type jhistEvent struct {
	id, kind, host  []byte
	start, finish   int64
	input, shuffled int64
	collected       int64 // milliseconds
	fetched         int64 // instant
	speculative     bool
}

func (j *jhist) read(in *lines, emit emit) error {
	j.in = in
	binary := false
	return in.each(func(line []byte) error {
		switch line = bytes.TrimSpace(line); {
		case in.number == 1:
			binary = string(line) == "Avro-Binary"
		case in.number == 2 && binary:
			return j.binary(line, emit)
		case in.number > 2 && len(line) > 0:
			return j.line(line, emit)
		}
		return nil
	})
}

// binary reads the events behind the schema, which begin on the third line.
func (j *jhist) binary(schema []byte, emit emit) error {
	a, err := newAvro(j.in.in, schema)
	if err != nil {
		return j.in.wrong("", err)
	}
	j.in.number = 3
	for n := 1; ; n++ {
		event, err := a.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			ends := errors.Is(err, errAvroEnds) || errors.Is(err, io.ErrUnexpectedEOF)
			if err = j.in.wrong("", fmt.Errorf("event %d: %w", n, unreadable(err))); ends && j.in.notes != nil {
				return errCut{err}
			}
			return err
		}
		if err := j.line(event, emit); err != nil {
			return fmt.Errorf("%w (event %d)", err, n)
		}
	}
}

func (j *jhist) line(line []byte, emit emit) error {
	if line[0] != '{' || line[len(line)-1] != '}' {
		return j.in.expected("", "a JSON object on one line", line)
	}
	c := &j.c
	c.reset(line)
	c.enter('{')
	var kind []byte
	var e jhistEvent
	for key, more := c.key(); more; key, more = c.key() {
		switch {
		case string(key) == "type":
			kind = c.str()
		case string(key) == "event" && bytes.Contains(kind, []byte("_ATTEMPT_")):
			c.enter('{')
			for _, more := c.key(); more; _, more = c.key() { // the record's name
				j.attempt(&e)
			}
		default:
			c.skip()
		}
	}
	if c.err != nil {
		return c.wrong(j.in)
	}
	if what := string(kind); strings.Contains(what, "_ATTEMPT_") {
		return j.told(what[strings.LastIndexByte(what, '_')+1:], &e, emit)
	}
	return nil
}

// told handles an event of an attempt, which is STARTED, FINISHED, FAILED or KILLED.
func (j *jhist) told(what string, e *jhistEvent, emit emit) error {
	if _, ok := parseHadoopID(e.id); !ok {
		return j.in.expected("attemptId", "an id such as attempt_1526555215992_0001_m_000000_0", e.id)
	}
	field, ms := "finishTime", e.finish
	if what == "STARTED" {
		field, ms = "startTime", e.start
	}
	at, ok := millis(ms)
	if !ok {
		return j.in.wrong(field, fmt.Errorf("expected milliseconds since 1970, got %d", ms))
	}
	var outcome Outcome
	switch what {
	case "STARTED":
		stage, ok := hadoopStages[string(e.kind)]
		if !ok {
			return j.in.expected("taskType", "MAP, REDUCE, JOB_SETUP or JOB_CLEANUP", e.kind)
		}
		j.started(e.id, hadoopStart{stage: stage, start: at, host: j.host(e.host), speculative: e.speculative})
		return nil
	case "FINISHED":
	case "FAILED":
		outcome = Failed
	case "KILLED":
		outcome = Killed
	default:
		return nil
	}
	return j.ended(e.id, hadoopEnd{at, outcome, ifKnown(e.fetched), e.host, e.input, e.shuffled, e.collected}, emit)
}

// attempt reads the record of an event.
func (j *jhist) attempt(e *jhistEvent) {
	c := &j.c
	c.enter('{')
	for key, more := c.key(); more; key, more = c.key() {
		switch string(key) {
		case "attemptId":
			e.id = j.text()
		case "taskType":
			e.kind = j.text()
		case "startTime":
			e.start = c.int()
		case "finishTime":
			e.finish = c.int()
		case "shuffleFinishTime":
			e.fetched = c.int()
		case "hostname", "trackerName":
			e.host = j.text()
		case "avataar":
			e.speculative = string(j.text()) == "SPECULATIVE"
		case "counters":
			j.counters(e, false)
		default:
			c.skip()
		}
	}
}

// text reads a text or a union of null and text, which Avro writes as {"string":"..."}.
func (j *jhist) text() (s []byte) {
	c := &j.c
	if c.space() != '{' {
		return c.str()
	}
	c.enter('{')
	for _, more := c.key(); more; _, more = c.key() {
		s = c.str()
	}
	return s
}

// counters looks for the bytes that the attempt read. In a union the counters are below the name of their type.
func (j *jhist) counters(e *jhistEvent, inUnion bool) {
	c := &j.c
	if c.space() != '{' {
		c.skip()
		return
	}
	c.enter('{')
	for key, more := c.key(); more; key, more = c.key() {
		if !inUnion && bytes.HasSuffix(key, []byte("JhCounters")) {
			j.counters(e, true)
			continue
		}
		if string(key) != "groups" {
			c.skip()
			continue
		}
		for c.enter('['); c.item(']'); {
			c.enter('{')
			for key, more := c.key(); more; key, more = c.key() {
				if string(key) != "counts" {
					c.skip()
					continue
				}
				for c.enter('['); c.item(']'); {
					j.counter(e)
				}
			}
		}
	}
}

func (j *jhist) counter(e *jhistEvent) {
	c := &j.c
	var name []byte
	var value int64
	c.enter('{')
	for key, more := c.key(); more; key, more = c.key() {
		switch string(key) {
		case "name":
			name = c.str()
		case "value":
			value = c.int()
		default:
			c.skip()
		}
	}
	switch string(name) {
	case "HDFS_BYTES_READ":
		e.input = value
	case "REDUCE_SHUFFLE_BYTES":
		e.shuffled = value
	case "GC_TIME_MILLIS":
		e.collected = value
	}
}
