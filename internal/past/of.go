package past

import (
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/sched"
)

// Course is how a job went that is over.
type Course struct {
	Run, Name string
	Policy    string // that it ended under
	Slots     int    // that there were for all jobs
	// ClassSlots are those of each class, as in map=4,shuffle=2; "" if all were alike.
	ClassSlots string
	Spec       *sched.JobSpec
	Stages     []string // names, in the order of Spec.Stages
	Classes    []string // names of the classes of slots by Spec.Stages[i].Class; none if there is only one
	Submitted  time.Time
	Arrived    sched.Time // the same instant on the clock of Records and of Spec.Deadline
	Output     string
	Command    string // a digest
	Input      int64  // bytes that the first stage reads; 0 if that is not known
	Summary    *live.Summary
	Records    []live.Record
	Promises   []promise.Promise
}

// Record returns what is kept of the job.
func (c *Course) Record() *JobRecord {
	at := func(t sched.Time) time.Time { return c.Submitted.Add(time.Duration(t - c.Arrived)) }
	s := c.Summary
	j := &JobRecord{
		Run: c.Run, Name: c.Name, State: s.State, Policy: c.Policy, Slots: c.Slots, ClassSlots: c.ClassSlots, Submitted: c.Submitted, Ended: c.Submitted.Add(time.Duration(s.Flow)),
		Broken: s.Recovered > 0 || s.Crashed > 0 || s.Retries > 0, Output: c.Output, Command: c.Command, Spec: c.Spec,
		Stages: make([]StageRecord, len(c.Stages)), Attempts: s.Attempts, Clones: s.Clones, Fruitful: s.Fruitful.Seconds(), Fruitless: s.Fruitless.Seconds(), Promises: c.Promises,
	}
	if d := c.Spec.Deadline; d > 0 && d < sched.Never {
		j.Deadline = at(d)
	}
	lives := make([]AttemptColumns, len(c.Stages))
	for i := range c.Records {
		r := &c.Records[i]
		if start := at(r.Start); j.Started.IsZero() || start.Before(j.Started) {
			j.Started = start
		}
		lives[r.Stage].add(r, c.Arrived)
	}
	read := Shuffled(c.Spec, c.Records)
	for i, name := range c.Stages {
		st := &j.Stages[i]
		st.ShuffleBytes = read[i]
		st.PastStage = lives[i].Sample(name, c.Spec.Stages[i].Tasks)
		if st.Bytes = read[i]; i == 0 {
			st.Bytes = c.Input
		}
		if st.Lives = &lives[i]; lives[i].Len() == 0 {
			st.Lives = nil
		} else {
			st.Reports = new(slices.ContainsFunc(c.Records, func(r live.Record) bool { return r.Stage == i && r.Reported }))
		}
		if class := int(c.Spec.Stages[i].Class); class < len(c.Classes) {
			st.Class = c.Classes[class]
		}
	}
	return j
}

// add adds an attempt.
func (c *AttemptColumns) add(r *live.Record, arrived sched.Time) {
	if r.From > 0 && len(c.From) == 0 {
		c.From = make([]float64, len(c.Task))
	}
	if len(c.From) > 0 || r.From > 0 {
		c.From = append(c.From, r.From)
	}
	c.Task, c.Number = append(c.Task, r.Index), append(c.Number, r.Number)
	c.Began, c.Ran = append(c.Began, r.Start-arrived), append(c.Ran, r.Stop-r.Start)
	c.End, c.Clone = append(c.End, r.End), append(c.Clone, r.Clone)
	c.Note(r.Bytes)
}

// Shuffled returns how many bytes the stages have read of earlier ones, as far as that is known.
func Shuffled(spec *sched.JobSpec, records []live.Record) []int64 {
	read := make([]int64, len(spec.Stages))
	for k := range spec.Edges {
		e := &spec.Edges[k]
		readers := make([]int64, spec.Stages[e.From].Tasks)
		for i := range readers {
			switch e.Kind {
			case sched.Barrier:
				readers[i] = int64(spec.Stages[e.To].Tasks)
			case sched.Pointwise:
				readers[i] = 1
			}
		}
		for _, p := range e.Pairs {
			readers[p[0]]++
		}
		for i := range records {
			if r := &records[i]; r.End == live.Won && r.Stage == e.From {
				read[e.To] += r.Bytes * readers[r.Index]
			}
		}
	}
	return read
}
