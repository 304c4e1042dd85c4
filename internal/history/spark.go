package history

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tailcut/tailcut/sched"
)

// Apache Spark's event log: one JSON event a line, as JsonProtocol.scala of Spark 1.0 to 4.0 writes it. A job's
// JobStart names its stages, and each attempt of a task has a TaskStart and a TaskEnd with all that is known of it.
// What it tells of executors and times of stages is in spark_course.go; other events are passed over.
//
// Job is the number of the Spark job that first listed the stage. Stage is the stage's id; a stage that is tried again,
// because its input was lost, is a stage of its own, such as 23.1. Task is the index within the stage.
//
// A task whose result was lost with its executor has a second TaskEnd, with the reason Resubmitted. It is told as a
// failed attempt, with the duration of the one that succeeded.

// spark reads the files of one application.
type spark struct {
	in      *lines
	c       cursor
	names   names
	stages  map[sparkStageID]*sparkStage
	jobs    map[int64]string // job by stage id
	running map[int64]sparkTask
	latest  sched.Time // instant of the last thing known to have happened
	ended   sched.Time // of the application, 0 if the log does not tell
	told    sparkCourse
	a       Record
}

type sparkStageID struct{ id, attempt int64 }

type sparkStage struct{ job, stage, name string }

// sparkTask is an attempt that runs.
type sparkTask struct {
	stage         *sparkStage
	index, number int
	start         sched.Time
	host          string
	speculative   bool
}

// sparkEnd is what a TaskStart or a TaskEnd says.
type sparkEnd struct {
	stage                               sparkStageID
	id, index, number                   int64
	launched, finished, input, shuffled int64
	failed, killed, speculative         bool
	reason, host, executor, locality    []byte
	times                               sparkTimes
}

func newSpark() *spark {
	return &spark{
		names: names{}, stages: map[sparkStageID]*sparkStage{}, jobs: map[int64]string{}, running: map[int64]sparkTask{}, told: newSparkCourse(),
	}
}

func (s *spark) read(in *lines, emit emit) error {
	s.in = in
	return in.each(func(line []byte) error {
		if line = bytes.TrimRight(line, " \t"); len(line) == 0 {
			return nil
		}
		return s.line(line, emit)
	})
}

// line reads an event. Lines that are cut short are found even where their event does not matter.
func (s *spark) line(line []byte, emit emit) error {
	if line[0] != '{' || line[len(line)-1] != '}' {
		return s.in.expected("", "a JSON object on one line", line)
	}
	c := &s.c
	c.reset(line)
	c.enter('{')
	key, _ := c.key()
	if string(key) != "Event" {
		return s.in.expected("", `an event of Spark, whose first key is "Event"`, line)
	}
	var err error
	switch kind := string(c.str()); kind {
	case "SparkListenerTaskEnd":
		err = s.taskEnd(emit)
	case "SparkListenerTaskStart":
		err = s.taskStart()
	case "SparkListenerJobStart":
		s.jobStart()
	case "SparkListenerStageSubmitted":
		s.stageSubmitted()
	case "SparkListenerApplicationEnd":
		s.applicationEnd()
	default:
		s.told.event(kind, c)
	}
	if err == nil && c.err != nil {
		err = c.wrong(s.in)
	}
	return err
}

// jobStart remembers whose stages are whose. A stage that a later job shares stays with the first.
func (s *spark) jobStart() {
	c := &s.c
	job := int64(-1)
	var stages []int64
	var submitted sched.Time
	for key, more := c.key(); more; key, more = c.key() {
		switch string(key) {
		case "Job ID":
			job = c.int()
		case "Submission Time":
			submitted = c.millis()
		case "Stage IDs":
			for c.enter('['); c.item(']'); {
				stages = append(stages, c.int())
			}
		default:
			c.skip()
		}
	}
	if c.err != nil || job < 0 {
		return
	}
	name := strconv.FormatInt(job, 10)
	s.told.jobStart(job, name, submitted)
	for _, id := range stages {
		if _, known := s.jobs[id]; !known {
			s.jobs[id] = name
		}
	}
}

// stageSubmitted remembers what people call a stage: the place in the program.
func (s *spark) stageSubmitted() {
	c := &s.c
	var id sparkStageID
	var name string
	for key, more := c.key(); more; key, more = c.key() {
		if string(key) != "Stage Info" {
			c.skip()
			continue
		}
		c.enter('{')
		for key, more := c.key(); more; key, more = c.key() {
			switch string(key) {
			case "Stage ID":
				id.id = c.int()
			case "Stage Attempt ID":
				id.attempt = c.int()
			case "Stage Name":
				name = s.names.keep(c.str())
			default:
				c.skip()
			}
		}
	}
	if c.err == nil {
		s.stage(id).name = name
	}
}

func (s *spark) applicationEnd() {
	c := &s.c
	for key, more := c.key(); more; key, more = c.key() {
		if string(key) == "Timestamp" {
			if t, ok := millis(c.int()); ok {
				s.latest, s.ended = max(s.latest, t), t
			}
		} else {
			c.skip()
		}
	}
}

// stage returns the row of a stage.
func (s *spark) stage(id sparkStageID) *sparkStage {
	if st := s.stages[id]; st != nil {
		return st
	}
	st := &sparkStage{job: s.jobs[id.id], stage: strconv.FormatInt(id.id, 10)}
	if id.attempt > 0 {
		st.stage = fmt.Sprintf("%d.%d", id.id, id.attempt)
	}
	s.stages[id] = st
	return st
}

func (s *spark) taskStart() error {
	var e sparkEnd
	s.task(&e)
	if s.c.err != nil {
		return nil
	}
	start, err := s.instant("Launch Time", e.launched)
	if err != nil {
		return err
	}
	s.running[e.id] = sparkTask{
		stage: s.stage(e.stage), index: int(e.index), number: int(e.number), start: start, host: s.names.keep(e.host), speculative: e.speculative,
	}
	return nil
}

func (s *spark) taskEnd(emit emit) error {
	e := sparkEnd{launched: -1, finished: -1}
	s.task(&e)
	if s.c.err != nil {
		return nil
	}
	start, err := s.instant("Launch Time", e.launched)
	if err != nil {
		return err
	}
	if e.finished == 0 {
		// when it ended is not known, and it did not last until 1970
		delete(s.running, e.id)
		return s.in.skip(s.in.wrong("Finish Time", errors.New("expected when the attempt ended, got 0")))
	}
	end, err := s.instant("Finish Time", e.finished)
	if err != nil {
		return err
	}
	st := s.stage(e.stage)
	delete(s.running, e.id)
	s.a = Record{
		Job: st.job, Stage: st.stage, StageName: st.name, Task: int(e.index), Number: int(e.number), Start: start, Duration: span(start, end),
		Outcome: e.outcome(), Speculative: e.speculative, Host: s.names.keep(e.host), InputBytes: max(0, e.input), ShuffleBytes: max(0, e.shuffled),
		Executor: s.names.keep(e.executor), Metrics: e.metrics(span(start, end)),
	}
	return emit(&s.a)
}

// outcome reads reason and flags. TaskCommitDenied ends the one of two attempts that came second.
func (e *sparkEnd) outcome() Outcome {
	switch {
	case string(e.reason) == "Success":
		return Succeeded
	case e.killed || string(e.reason) == "TaskKilled" || string(e.reason) == "TaskCommitDenied":
		return Killed
	case len(e.reason) == 0 && !e.failed:
		return Succeeded
	}
	return Failed
}

// instant turns the milliseconds of a field into a time.
func (s *spark) instant(field string, ms int64) (sched.Time, error) {
	t, ok := millis(ms)
	if !ok {
		return 0, s.in.wrong(field, fmt.Errorf("expected milliseconds since 1970, got %d", ms))
	}
	s.latest = max(s.latest, t)
	return t, nil
}

// task reads the rest of a TaskStart or TaskEnd.
func (s *spark) task(e *sparkEnd) {
	c := &s.c
	for key, more := c.key(); more; key, more = c.key() {
		switch string(key) {
		case "Stage ID":
			e.stage.id = c.int()
		case "Stage Attempt ID":
			e.stage.attempt = c.int()
		case "Task End Reason":
			c.enter('{')
			for key, more := c.key(); more; key, more = c.key() {
				if string(key) == "Reason" {
					e.reason = c.str()
				} else {
					c.skip()
				}
			}
		case "Task Info":
			s.taskInfo(e)
		case "Task Metrics":
			s.taskMetrics(e)
		default:
			c.skip()
		}
	}
}

func (s *spark) taskInfo(e *sparkEnd) {
	c := &s.c
	c.enter('{')
	for key, more := c.key(); more; key, more = c.key() {
		switch string(key) {
		case "Task ID":
			e.id = c.int()
		case "Index":
			e.index = c.int()
		case "Attempt":
			e.number = c.int()
		case "Launch Time":
			e.launched = c.int()
		case "Finish Time":
			e.finished = c.int()
		case "Host":
			e.host = c.str()
		case "Executor ID":
			e.executor = c.str()
		case "Locality":
			e.locality = c.str()
		case "Getting Result Time":
			e.times.gettingResult = c.int()
		case "Speculative":
			e.speculative = c.bool()
		case "Failed":
			e.failed = c.bool()
		case "Killed":
			e.killed = c.bool()
		default:
			c.skip()
		}
	}
}

// taskMetrics reads what the task had to read, and where its time went. Tasks that failed early have null there.
func (s *spark) taskMetrics(e *sparkEnd) {
	c := &s.c
	if c.space() != '{' {
		c.skip()
		return
	}
	c.enter('{')
	for key, more := c.key(); more; key, more = c.key() {
		switch string(key) {
		case "Input Metrics":
			c.fields(func(key string) {
				if key == "Bytes Read" {
					e.input = max(0, min(c.int(), 1<<60))
				} else {
					c.skip()
				}
			})
		case "Shuffle Read Metrics":
			e.shuffleRead(c)
		case "Executor Deserialize Time":
			e.times.deserialize = c.int()
		case "Executor Run Time":
			e.times.run = c.int()
		case "Result Serialization Time":
			e.times.serialize = c.int()
		case "JVM GC Time":
			e.times.gc = c.int()
		case "Disk Bytes Spilled":
			e.times.spilled = c.int()
		default:
			c.skip()
		}
	}
}

// shuffleRead reads what came from earlier stages, and how long the task waited for it.
func (e *sparkEnd) shuffleRead(c *cursor) {
	c.fields(func(key string) {
		switch key {
		case "Remote Bytes Read", "Local Bytes Read":
			e.shuffled += max(0, min(c.int(), 1<<60))
		case "Fetch Wait Time":
			e.times.fetchWait = c.int()
		default:
			c.skip()
		}
	})
	e.shuffled = min(e.shuffled, 1<<62)
}

// finish tells of what still ran when the log ended.
func (s *spark) finish(emit emit) error {
	for _, id := range slices.SortedFunc(maps.Keys(s.running), cmp.Compare) {
		t := s.running[id]
		s.a = Record{
			Job: t.stage.job, Stage: t.stage.stage, StageName: t.stage.name, Task: t.index, Number: t.number, Start: t.start,
			Duration: span(t.start, s.latest), Outcome: Running, Speculative: t.speculative, Host: t.host,
		}
		if err := emit(&s.a); err != nil {
			return err
		}
	}
	return nil
}
