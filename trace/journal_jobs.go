package trace

import (
	"encoding/json"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// JournalJob is a job of a journal that has many: what a core is given of it, and what its executor and its owner need
// when an engine takes the journal up.
type JournalJob struct {
	ID        sched.JobID `json:"id"`
	Name      string      `json:"name"`      // for people; others may have the same
	Run       string      `json:"run"`       // unique name of its run
	Key       string      `json:"key"`       // of the submission, by which its client knows it
	Submitted time.Time   `json:"submitted"` // wall clock
	Held      bool        `json:"held,omitempty"`
	// Spec.Deadline is an instant of the journal's time, like all others.
	Spec    sched.JobSpec   `json:"spec"`
	Stages  []string        `json:"stages"`  // names, in the order of Spec.Stages
	Command json.RawMessage `json:"command"` // what was asked for
	Work    json.RawMessage `json:"work"`    // what the executor needs to run an attempt
	Output  string          `json:"output"`  // folder of the results
	// Halt: once more than so many tasks have failed for good nothing more of the job starts, and it ends when the last
	// attempt has. Nil for never.
	Halt  *int          `json:"halt,omitempty"`
	After []sched.JobID `json:"after,omitempty"` // jobs for which its owner holds it; the engine does not look at them
}
