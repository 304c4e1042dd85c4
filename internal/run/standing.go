package run

import (
	"github.com/tailcut/tailcut/sched"
)

// Standing is how a job stands, for those who watch it: a screen, programs, who is notified. It comes from the core's
// view of the job, or from a server that has that.
type Standing struct {
	State   string  `json:"state"` // queued, running, paused, succeeded, failed or cancelled
	Seconds float64 `json:"seconds"`
	// Seconds to the deadline, below 0 after it; nil without one. Chance is the probability of meeting it; nil while it
	// is not known.
	Left   *float64 `json:"left_seconds,omitempty"`
	Chance *float64 `json:"pocd,omitempty"`
	// Tasks that were done when the job was submitted.
	Recovered int             `json:"recovered_tasks,omitempty"`
	Stages    []StageStanding `json:"stages"`
}

// StageStanding is how one stage stands.
type StageStanding struct {
	Name     string `json:"name"`
	Tasks    int    `json:"tasks"`
	Need     int    `json:"need"` // tasks that must be done for the stage to be
	Done     int    `json:"done"`
	GivenUp  int    `json:"given_up,omitempty"` // tasks that failed for good, or wait for such
	Running  int    `json:"running"`            // tasks with an attempt
	Attempts int    `json:"attempts"`           // that run
	Open     bool   `json:"open"`               // its tasks may run
	Closed   bool   `json:"closed"`             // nothing of it will run any more
}

// Standing returns how the job stands that the core knows by a number.
func (p *Prepared) Standing(v *sched.View, id sched.JobID) *Standing {
	row := v.Job(id)
	now := v.Now()
	if row.State > sched.JobActive {
		now = row.Closed
	}
	s := &Standing{State: stateOf(&row), Seconds: (now - row.Arrived).Seconds(), Chance: p.foresight.chance}
	if row.Deadline != sched.Never {
		left := (row.Deadline - v.Now()).Seconds()
		s.Left = &left
	}
	for i, name := range p.Header.Stages {
		s.Recovered += len(p.Header.Job.Stages[i].Done)
		st := v.Stage(row.FirstStage + sched.StageID(i))
		s.Stages = append(s.Stages, StageStanding{
			Name: name, Tasks: int(st.Tasks), Need: int(st.Need), Done: int(st.Done), GivenUp: int(st.GivenUp),
			Running: int(st.Running), Attempts: int(st.Live), Open: st.State == sched.StageOpen, Closed: st.State == sched.StageClosed,
		})
	}
	return s
}

// stateOf words the state of a job.
func stateOf(row *sched.Job) string {
	switch {
	case row.State == sched.JobSucceeded:
		return "succeeded"
	case row.State == sched.JobBroken:
		return "failed"
	case row.State == sched.JobStopped:
		return "cancelled"
	case row.Live > 0:
		return "running"
	}
	return "queued"
}

// Done counts the tasks that are done.
func (s *Standing) Done() (n int) {
	for i := range s.Stages {
		n += s.Stages[i].Done
	}
	return n
}

// Tasks counts all tasks.
func (s *Standing) Tasks() (n int) {
	for i := range s.Stages {
		n += s.Stages[i].Tasks
	}
	return n
}

// GivenUp counts the tasks that are given up.
func (s *Standing) GivenUp() (n int) {
	for i := range s.Stages {
		n += s.Stages[i].GivenUp
	}
	return n
}

// over tells whether the job has ended.
func (s *Standing) over() bool {
	return s.State == "succeeded" || s.State == "failed" || s.State == "cancelled"
}

// hopeful counts the tasks of a stage that are done or may still be.
func (s *StageStanding) hopeful() int { return s.Tasks - s.GivenUp }

// unfinished counts the tasks that a stage still needs and may still get.
func (s *StageStanding) unfinished() int { return max(0, min(s.Need, s.hopeful())-s.Done) }

// clones counts the attempts that run beside the first of their tasks.
func (s *StageStanding) clones() int { return max(0, s.Attempts-s.Running) }
