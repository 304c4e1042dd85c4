package history

import (
	"fmt"
	"iter"

	"github.com/tailcut/tailcut/sched"
)

// StageRecord is what a log says about the tasks of one stage.
type StageRecord struct {
	Job, Stage, StageName string

	Succeeded []Observation // attempts that succeeded
	Censored  []float64     // seconds that attempts had run when they were killed, or when the log ended
	Failed    int           // attempts
	TimedOut  int           // attempts that are left out
	Cancelled int           // the same
	LeftOut   float64       // seconds that the longest of those had run
	Tasks     int           // different tasks that were seen
	// Resolution is the log's, in seconds: durations that it rounds to less count as that long, and nothing shorter can
	// be told apart. Raised is their number.
	Resolution float64
	Raised     int

	Attempts []TaskAttempt // all whose start the log tells, in its order
}

// TaskAttempt is what a replay of a stage needs of an attempt.
type TaskAttempt struct {
	Start, Duration sched.Time
	Task            int32
	Outcome         Outcome
	Speculative     bool
	Host            int32 // index into the hosts of [Stages]
	Executor        int32 // another for each; 0 if the log names none
	Bytes           int64 // read, as in [Observation]
	Metrics
}

// Observation is an attempt that succeeded.
type Observation struct {
	Seconds float64
	Bytes   int64 // read, from storage and from earlier stages; 0 if the log does not say
	Host    int32 // index into the hosts of [Stages]
}

// Seconds returns the durations of the attempts that succeeded, in seconds.
func (s *StageRecord) Seconds() []float64 {
	values := make([]float64, len(s.Succeeded))
	for i, o := range s.Succeeded {
		values[i] = o.Seconds
	}
	return values
}

// Title names the stage for people: job, stage, and what it is called.
func (s *StageRecord) Title() string {
	switch {
	case s.Job == "" && s.Stage == "":
		return "all tasks"
	case s.Stage == "":
		return "job " + s.Job
	case s.Job == "":
		return "stage " + s.Stage
	}
	return fmt.Sprintf("job %s, stage %s", s.Job, s.Stage)
}

// Stages sorts attempts into stages, in the order in which these come first. Empty job and stage take all; otherwise a
// stage is taken if its job is the one, and its id or its name the other.
func Stages(attempts iter.Seq2[*Record, error], job, stage string) (stages []*StageRecord, hosts []string, err error) {
	type id struct{ job, stage string }
	type place struct { // of a task
		stage  *StageRecord
		number int
	}
	byID := map[id]*StageRecord{}
	tasks := map[place]struct{}{}
	numbers, executors := map[string]int32{}, map[string]int32{"": 0}
	hostOf := func(name string) int32 {
		number, known := numbers[name]
		if !known {
			number = int32(len(hosts))
			hosts = append(hosts, name)
			numbers[name] = number
		}
		return number
	}
	executorOf := func(name string) int32 {
		if _, known := executors[name]; !known {
			executors[name] = int32(len(executors))
		}
		return executors[name]
	}
	for a, err := range attempts {
		if err != nil {
			return nil, nil, err
		}
		if job != "" && a.Job != job || stage != "" && a.Stage != stage && a.StageName != stage {
			continue
		}
		st := byID[id{a.Job, a.Stage}]
		if st == nil {
			st = &StageRecord{Job: a.Job, Stage: a.Stage, StageName: a.StageName}
			byID[id{a.Job, a.Stage}] = st
			stages = append(stages, st)
		}
		if _, seen := tasks[place{st, a.Task}]; !seen {
			tasks[place{st, a.Task}] = struct{}{}
			st.Tasks++
		}
		if a.Start > 0 {
			st.Attempts = append(st.Attempts, TaskAttempt{
				a.Start, a.Duration, int32(a.Task), a.Outcome, a.Speculative, hostOf(a.Host), executorOf(a.Executor), a.InputBytes + a.ShuffleBytes, a.Metrics,
			})
		}
		st.Resolution = max(st.Resolution, a.Resolution.Seconds())
		switch a.Outcome {
		case Succeeded:
			seconds := a.Seconds()
			if seconds < a.Resolution.Seconds() {
				seconds = a.Resolution.Seconds()
				st.Raised++
			}
			st.Succeeded = append(st.Succeeded, Observation{seconds, a.InputBytes + a.ShuffleBytes, hostOf(a.Host)})
		case Failed:
			st.Failed++
		case TimedOut:
			st.TimedOut++
			st.LeftOut = max(st.LeftOut, a.Seconds())
		case Cancelled:
			st.Cancelled++
			st.LeftOut = max(st.LeftOut, a.Seconds())
		default:
			st.Censored = append(st.Censored, a.Seconds())
		}
	}
	return stages, hosts, nil
}
