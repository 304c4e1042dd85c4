package history

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// hadoop holds what the logs of Hadoop have in common: ids, and that an attempt's start and end are told apart.
//
// Job is the job's id, Stage is map, reduce, setup or cleanup, Task and Number come from the attempt's id. Attempts
// that end without having started are passed over, and so is what is said of an attempt after its end: that its output
// was lost with its machine. A reduce attempt begins where [trace.AfterMaps] puts its work: what it waited for maps is
// no part of it.
type hadoop struct {
	names   names
	lastMap map[string]sched.Time  // by job, when its last map so far succeeded
	running map[string]hadoopStart // by attempt id
	latest  sched.Time
	name    []byte // scratch
	a       Record
}

type hadoopStart struct {
	stage       string
	start       sched.Time
	host        string
	speculative bool
}

func newHadoop() hadoop {
	return hadoop{names: names{}, lastMap: map[string]sched.Time{}, running: map[string]hadoopStart{}}
}

// hadoopID is an attempt's id taken apart: attempt_200904211745_0002_m_000021_0.
type hadoopID struct {
	job          []byte // 200904211745_0002
	task, number int
}

func parseHadoopID(id []byte) (p hadoopID, ok bool) {
	rest, ok := bytes.CutPrefix(id, []byte("attempt_"))
	if !ok || bytes.Count(rest, []byte{'_'}) != 4 {
		return p, false
	}
	end := bytes.IndexByte(rest, '_')
	end += 1 + bytes.IndexByte(rest[end+1:], '_')
	parts := bytes.Split(rest[end+1:], []byte{'_'})
	var err, err2 error
	p.job = rest[:end]
	p.task, err = strconv.Atoi(string(parts[1]))
	p.number, err2 = strconv.Atoi(string(parts[2]))
	return p, err == nil && err2 == nil && p.task >= 0 && p.number >= 0
}

// hadoopStages maps the task types of all versions to the names of stages.
var hadoopStages = map[string]string{
	"MAP": "map", "REDUCE": "reduce", "SETUP": "setup", "CLEANUP": "cleanup",
	"JOB_SETUP": "setup", "JOB_CLEANUP": "cleanup", "TASK_CLEANUP": "cleanup",
}

// hadoopOutcomes maps the states of all versions.
var hadoopOutcomes = map[string]Outcome{
	"SUCCESS": Succeeded, "SUCCEEDED": Succeeded, "FAILED": Failed, "KILLED": Killed,
}

func (h *hadoop) started(id []byte, s hadoopStart) {
	h.latest = max(h.latest, s.start)
	h.running[string(id)] = s
}

// hadoopEnd is what the end of an attempt says.
type hadoopEnd struct {
	at              sched.Time
	outcome         Outcome
	fetched         sched.Time // when a reduce attempt had fetched all that it reads, 0 if unknown
	host            []byte
	input, shuffled int64 // bytes
	collected       int64 // milliseconds of garbage collection
}

// ended tells of an attempt whose id has been checked.
func (h *hadoop) ended(id []byte, e hadoopEnd, emit emit) error {
	h.latest = max(h.latest, e.at)
	s, known := h.running[string(id)]
	if !known {
		return nil
	}
	delete(h.running, string(id))
	if len(e.host) > 0 {
		s.host = h.host(e.host)
	}
	return h.tell(id, s, e, emit)
}

func (h *hadoop) tell(id []byte, s hadoopStart, e hadoopEnd, emit emit) error {
	p, _ := parseHadoopID(id)
	h.name = append(append(h.name[:0], "job_"...), p.job...)
	job := h.names.keep(h.name)
	switch {
	case s.stage == "map" && e.outcome == Succeeded:
		h.lastMap[job] = max(h.lastMap[job], e.at)
	case s.stage == "reduce" && s.start > 0:
		s.start = min(trace.AfterMaps(s.start, h.lastMap[job], e.fetched), max(s.start, e.at))
	}
	h.a = Record{
		Job: job, Stage: s.stage, Task: p.task, Number: p.number, Start: s.start, Duration: span(s.start, e.at),
		Outcome: e.outcome, Speculative: s.speculative, Host: s.host, InputBytes: max(0, e.input), ShuffleBytes: max(0, e.shuffled),
		Metrics: Metrics{GC: boundedMillis(e.collected)},
	}
	if s.stage == "reduce" && e.fetched > s.start && s.start > 0 {
		h.a.FetchWait = min(e.fetched-s.start, h.a.Duration)
	}
	return emit(&h.a)
}

// host takes a machine's name out of /rack/name, and undoes the escapes of old logs.
func (h *hadoop) host(text []byte) string {
	text = text[bytes.LastIndexByte(text, '/')+1:]
	if bytes.IndexByte(text, '\\') >= 0 {
		return h.names.keep([]byte(strings.ReplaceAll(string(text), `\`, "")))
	}
	return h.names.keep(text)
}

// finish tells of what still ran when the log ended.
func (h *hadoop) finish(emit emit) error {
	for _, id := range slices.SortedFunc(maps.Keys(h.running), cmp.Compare) {
		if err := h.tell([]byte(id), h.running[id], hadoopEnd{at: h.latest, outcome: Running}, emit); err != nil {
			return err
		}
	}
	return nil
}

// course says what waits for what in the jobs of Hadoop. How many slots there were is in none of its logs.
func (h *hadoop) course() *Course {
	c := &Course{System: "hadoop"}
	for _, job := range slices.Sorted(maps.Keys(h.lastMap)) {
		c.Stages = append(c.Stages,
			StageCourse{Job: job, Stage: "map", Parents: []string{"setup"}},
			StageCourse{Job: job, Stage: "reduce", Parents: []string{"map"}},
			StageCourse{Job: job, Stage: "cleanup", Parents: []string{"map", "reduce"}})
	}
	return c
}
