package results

import (
	"io"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// scanner follows a journal's decisions without a core: what was launched, what became of it, and what won. So a run
// is read as fast as its file, whatever its policy was.
type scanner struct {
	tasks   []Result // of all stages
	of      map[sched.AttemptID]begun
	outputs map[sched.AttemptID][]byte
}

type begun struct {
	task   sched.TaskID
	number int
}

// scan reads the journal to its last whole record.
func (r *Run) scan(reader *trace.JournalReader, all bool) error {
	s := &scanner{of: map[sched.AttemptID]begun{}, outputs: map[sched.AttemptID][]byte{}}
	for stage := range reader.Header.Job.Stages {
		for i := range reader.Header.Job.Stages[stage].Tasks {
			s.tasks = append(s.tasks, Result{Stage: stage, Index: i})
		}
	}
	before, err := live.Before(reader)
	if err != nil {
		return err
	}
	s.begin(before)
	for {
		b, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		s.add(b)
	}
	r.Tasks = s.tasks
	if r.work.MapReduce != nil && !all { // the stages before only feed the last
		last := len(r.Stages) - 1
		for len(r.Tasks) > 0 && r.Tasks[0].Stage != last {
			r.Tasks = r.Tasks[1:]
		}
	}
	return nil
}

// begin takes in the attempts that the journal begins with, that of a job that a server has run.
func (s *scanner) begin(before *live.Lived) {
	for i := range before.Records {
		r := &before.Records[i]
		if int(r.Task) >= len(s.tasks) {
			continue
		}
		switch t := &s.tasks[r.Task]; r.End {
		case live.Won:
			t.State, t.Attempt, t.output = Done, r.Number, before.Outputs[i]
		case live.Failed:
			t.Failures++
		}
	}
}

// add takes in one record.
func (s *scanner) add(b *trace.Batch) {
	for i := range b.Outputs { // parts of the file, which is in memory and does not change
		s.outputs[b.Outputs[i].Attempt] = b.Outputs[i].Data
	}
	for i := range b.Decisions {
		switch d := &b.Decisions[i]; d.Kind {
		case sched.Launch:
			if int(d.Task) < len(s.tasks) {
				s.of[d.Attempt] = begun{d.Task, int(d.Number)}
				s.tasks[d.Task].live++
			}
		case sched.Commit:
			if a, ok := s.end(d.Attempt); ok {
				t := &s.tasks[a.task]
				t.State, t.Attempt, t.output = Done, a.number, s.outputs[d.Attempt]
			}
			delete(s.outputs, d.Attempt)
		case sched.Kill:
			s.end(d.Attempt)
		}
	}
	for i := range b.Facts {
		switch f := &b.Facts[i]; f.Kind {
		case sched.AttemptFailed, sched.AttemptDoomed:
			if a, ok := s.end(f.Attempt); ok {
				s.tasks[a.task].Failures++
			}
		case sched.AttemptRefused:
			s.end(f.Attempt)
		}
	}
}

// end takes an attempt off the list of those that run.
func (s *scanner) end(id sched.AttemptID) (begun, bool) {
	a, ok := s.of[id]
	if ok {
		delete(s.of, id)
		s.tasks[a.task].live--
	}
	return a, ok
}
