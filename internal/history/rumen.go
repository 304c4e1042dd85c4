package history

import (
	"fmt"

	"github.com/tailcut/tailcut/sched"
)

// Rumen's job trace: JSON objects one after the other, a job each, with the lists mapTasks, reduceTasks and otherTasks
// of tasks with their attempts. Times are milliseconds since 1970, -1 if unknown. An attempt that ended and has one of
// its times missing lasted 0 if it failed or was killed, and is passed over if it succeeded.
//
// Reduces are told when the job has been read, since they wait for its maps.

type rumen struct {
	hadoop
	reduces []rumenEnd // of the job that is being read
}

// rumenEnd is an attempt to be told.
type rumenEnd struct {
	id   []byte
	from hadoopStart
	end  hadoopEnd
}

func newRumen() *rumen { return &rumen{hadoop: newHadoop()} }

type rumenTask struct {
	Kind     string         `json:"taskType"`
	Attempts []rumenAttempt `json:"attempts"`
}

type rumenAttempt struct {
	ID       string `json:"attemptID"`
	Host     string `json:"hostName"`
	Result   string `json:"result"`
	Start    int64  `json:"startTime"`
	Finish   int64  `json:"finishTime"`
	Input    int64  `json:"hdfsBytesRead"`
	Shuffled int64  `json:"reduceShuffleBytes"`
	Fetched  int64  `json:"shuffleFinished"`
}

func (r *rumen) read(in *lines, emit emit) error {
	s := newJSONStream(in)
	for {
		if more, err := s.open('{'); err != nil || !more {
			return err
		}
		err := s.fields(func(key string) error {
			switch key {
			case "mapTasks", "reduceTasks", "otherTasks":
				return s.list(key, func() error { return r.task(s, key, emit) })
			}
			return s.skip(key)
		})
		for _, e := range r.reduces { // of a log that ends early, those that were read
			if told := r.tell(e.id, e.from, e.end, emit); told != nil {
				return told
			}
		}
		if r.reduces = r.reduces[:0]; err != nil {
			return err
		}
	}
}

// task reads a task.
func (r *rumen) task(s *jsonStream, list string, emit emit) error {
	var t rumenTask
	if err := s.decode(list, &t); err != nil {
		return err
	}
	s.in.number = 1 + s.c.at(s.d.InputOffset())
	stage, ok := hadoopStages[t.Kind]
	if !ok {
		return s.in.expected(list+".taskType", "MAP, REDUCE, SETUP or CLEANUP", []byte(t.Kind))
	}
	for i := range t.Attempts {
		a := &t.Attempts[i]
		outcome, known := hadoopOutcomes[a.Result]
		switch {
		case a.Result == "":
			continue // it has not ended
		case !known:
			return s.in.expected(list+".attempts.result", "SUCCESS, FAILED or KILLED", []byte(a.Result))
		}
		id := []byte(a.ID)
		if _, ok := parseHadoopID(id); !ok {
			return s.in.expected(list+".attempts.attemptID", "an id such as attempt_200904211745_0002_m_000021_0", id)
		}
		start, end, err := r.times(a)
		if err != nil {
			return s.in.wrong(list+".attempts", err)
		}
		if start == 0 && outcome == Succeeded {
			continue
		}
		from := hadoopStart{stage: stage, start: start, host: r.host([]byte(a.Host))}
		e := hadoopEnd{at: end, outcome: outcome, input: a.Input, shuffled: a.Shuffled}
		e.fetched = ifKnown(a.Fetched)
		if stage == "reduce" {
			r.reduces = append(r.reduces, rumenEnd{id, from, e})
			continue
		}
		if err := r.tell(id, from, e, emit); err != nil {
			return err
		}
	}
	return nil
}

// times returns when an attempt started and ended, both 0 unless both are known.
func (r *rumen) times(a *rumenAttempt) (start, end sched.Time, err error) {
	if a.Start <= 0 || a.Finish <= 0 {
		return 0, 0, nil
	}
	start, ok := millis(a.Start)
	end, also := millis(a.Finish)
	if !ok || !also {
		return 0, 0, fmt.Errorf("expected milliseconds since 1970, got %d and %d", a.Start, a.Finish)
	}
	return start, end, nil
}
