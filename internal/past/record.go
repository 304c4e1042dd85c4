package past

import (
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/sched"
)

// States of jobs that are over.
const (
	Succeeded = "succeeded"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// JobRecord is what is kept of a job that is over.
type JobRecord struct {
	Run    string `json:"run"` // the name of its run, by which it is kept once
	Name   string `json:"name"`
	State  string `json:"state"`            // succeeded, failed or cancelled
	Policy string `json:"policy,omitempty"` // that it ended under
	Slots  int    `json:"slots,omitempty"`  // that there were for all jobs
	// ClassSlots are those of each class, as in map=4,shuffle=2; "" if all were alike.
	ClassSlots string    `json:"class_slots,omitempty"`
	Submitted  time.Time `json:"submitted"`        // zero if it is not known
	Started    time.Time `json:"started,omitzero"` // of its first attempt
	Ended      time.Time `json:"ended,omitzero"`
	Deadline   time.Time `json:"deadline,omitzero"`
	// It was stopped and taken up again, or tasks were retried: its flow time says little.
	Broken    bool              `json:"broken,omitempty"`
	Output    string            `json:"output,omitempty"`
	Command   string            `json:"command,omitempty"` // a digest, by which equal commands are told
	Spec      *sched.JobSpec    `json:"spec,omitempty"`    // nil of what was kept before there was a database
	Stages    []StageRecord     `json:"stages"`
	Attempts  int               `json:"attempts,omitempty"`
	Clones    int               `json:"clones,omitempty"`
	Fruitful  float64           `json:"fruitful_seconds,omitempty"`
	Fruitless float64           `json:"fruitless_seconds,omitempty"`
	Spent     float64           `json:"spent_seconds,omitempty"` // from submission to end, where these are not known
	Promises  []promise.Promise `json:"promises,omitempty"`      // in the order in which they were made
}

// StageRecord is a stage of a job that is over.
type StageRecord struct {
	live.PastStage        // a sample of its durations
	Class          string `json:"class,omitempty"`
	ShuffleBytes   int64  `json:"shuffle_bytes,omitempty"` // that it read of earlier stages; 0 if it is not known
	// Lives are those of its attempts; nil if they were not asked for, or are kept no more.
	Lives *AttemptColumns `json:"attempts,omitempty"`
}

// AttemptColumns are the lives of a stage's attempts: entry i of each is of attempt i.
type AttemptColumns struct {
	Task   []int        `json:"task"`
	Number []int        `json:"number"`
	Began  []sched.Time `json:"began_ns"` // after the job was submitted
	Ran    []sched.Time `json:"ran_ns"`
	From   []float64    `json:"from,omitempty"` // what part of the task was done before; none if 0 of all
	End    []live.End   `json:"end"`
	Clone  []bool       `json:"clone"`
	Bytes  []int64      `json:"bytes,omitempty"` // that each reader of its result reads; none if 0 of all
}

// Len is how many attempts there are.
func (c *AttemptColumns) Len() int {
	if c == nil {
		return 0
	}
	return len(c.Task)
}

// Note keeps how many bytes each task that reads the result of the attempt that was added last reads of it; 0 if that
// is not known.
func (c *AttemptColumns) Note(bytes int64) {
	if bytes > 0 && c.Bytes == nil {
		c.Bytes = make([]int64, len(c.Task)-1, cap(c.Task))
	}
	if c.Bytes != nil {
		c.Bytes = append(c.Bytes, bytes)
	}
}

func (c *AttemptColumns) from(i int) float64 {
	if len(c.From) == 0 {
		return 0
	}
	return c.From[i]
}

// Whole returns how long attempt i would have taken for the whole task, given where it began, and whether that is
// known: if it was cut off it is longer than that. Attempts that failed or were lost with their machine say nothing.
func (c *AttemptColumns) Whole(i int) (d sched.Time, cut, known bool) {
	whole, ok := sched.Whole(c.Ran[i], c.from(i))
	switch d = sched.FromSeconds(whole); c.End[i] {
	case live.Won:
		return d, false, ok
	case live.Lost, live.Killed:
		return d, true, ok && whole > 0
	}
	return 0, false, false
}

// Flow is how long the job took from its submission to its end; 0 if it is not known.
func (j *JobRecord) Flow() time.Duration {
	if j.Submitted.IsZero() {
		return time.Duration(j.Spent * float64(time.Second))
	}
	return max(0, j.Ended.Sub(j.Submitted))
}

// Imported returns a job of which nothing is known but what the file of its name kept.
func Imported(name, id string, r *live.PastRun) *JobRecord {
	j := &JobRecord{Run: id, Name: name, State: Succeeded, Policy: r.Policy, Slots: r.Slots, Broken: r.Seconds == 0, Spent: r.Seconds}
	for _, st := range r.Stages {
		j.Stages = append(j.Stages, StageRecord{PastStage: st})
	}
	return j
}

// run returns what the file of the job's name keeps of it.
func (j *JobRecord) run() live.PastRun {
	r := live.PastRun{ID: j.Run}
	if !j.Broken {
		r.Seconds, r.Policy, r.Slots = j.Flow().Seconds(), j.Policy, j.Slots
	}
	for _, st := range j.Stages {
		if j.Broken {
			st.Tasks, st.Slowest = 0, nil
		}
		r.Stages = append(r.Stages, st.PastStage)
	}
	return r
}

// Slowest is how many tasks of a stage are kept as its slowest.
func Slowest(tasks int) int {
	if tasks < 2 {
		return 0
	}
	return min(20, (tasks+19)/20)
}

// Sample makes of a stage's attempts what is kept of its durations in any case.
func (c *AttemptColumns) Sample(name string, tasks int) live.PastStage {
	var won, cut []sched.Time
	var winners []int
	for i := range c.Len() {
		d, wasCut, known := c.Whole(i)
		switch {
		case known && wasCut:
			cut = append(cut, d)
		case known:
			won = append(won, d)
		}
		if c.End[i] == live.Won {
			winners = append(winners, i)
		}
	}
	st := live.Sample(name, won, cut)
	st.Tasks = tasks
	slices.SortStableFunc(winners, func(a, b int) int { return int(max(-1, min(1, c.Ran[b]-c.Ran[a]))) })
	for _, i := range winners[:min(Slowest(tasks), len(winners))] {
		st.Slowest = append(st.Slowest, c.Task[i])
	}
	return st
}

// Durations returns what is known of the durations of jobs, which are the latest first.
func Durations(name string, jobs []*JobRecord) *live.Past {
	p := &live.Past{Schema: live.PastSchema, Job: name, Runs: []live.PastRun{}}
	for _, j := range slices.Backward(jobs) {
		p.Runs = append(p.Runs, j.run())
	}
	return p
}
