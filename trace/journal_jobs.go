package trace

import (
	"encoding/json"
	"slices"
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
	Spec sched.JobSpec `json:"spec"`
	// Tried is how many attempts tasks had before the submission, by place in the job: their numbers go on from there.
	Tried   map[int]int     `json:"tried,omitempty"`
	Stages  []string        `json:"stages"`  // names, in the order of Spec.Stages
	Command json.RawMessage `json:"command"` // what was asked for
	Work    json.RawMessage `json:"work"`    // what the executor needs to run an attempt
	Output  string          `json:"output"`  // folder of the results
	// Halt: once more than so many tasks have failed for good nothing more of the job starts, and it ends when the last
	// attempt has. Nil for never.
	Halt  *int          `json:"halt,omitempty"`
	After []sched.JobID `json:"after,omitempty"` // jobs for which its owner holds it; the engine does not look at them
}

// own is what a batch has for the owner of many jobs. In a payload it comes last, as a length and JSON.
type own struct {
	Jobs []*JournalJob `json:"jobs,omitempty"`
	Told []sched.JobID `json:"told,omitempty"`
}

func appendOwn(b []byte, x *Batch) []byte {
	if len(x.Jobs)+len(x.Told) == 0 {
		return b
	}
	return appendJSON(b, &own{Jobs: x.Jobs, Told: x.Told})
}

func (d *decoder) own(b *Batch) {
	b.Jobs, b.Told = nil, nil
	if d.bad || len(d.p) == 0 {
		return
	}
	var x own
	if json.Unmarshal(d.bytes(d.uint(uint64(len(d.p)))), &x) != nil || slices.Contains(x.Jobs, nil) {
		d.bad = true
	}
	b.Jobs, b.Told = x.Jobs, x.Told
}
