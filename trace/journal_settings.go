package trace

import (
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Settings are what a run is taken up with that differs from before: a batch that has them begins with another policy,
// limits and machines, before its facts. In a payload they come last, a length and JSON, and are absent otherwise.
type Settings struct {
	Version   string           `json:"version"` // of the tool
	Policy    string           `json:"policy"`
	Seed      uint64           `json:"seed"`
	Limits    sched.Limits     `json:"limits"`
	Retries   int              `json:"retries"`
	MaxFailed int              `json:"max_failed,omitempty"`    // tasks that may fail for good
	Stages    []*int           `json:"stage_retries,omitempty"` // of each stage that has its own; nil for Retries
	Deadline  *sched.Time      `json:"deadline,omitempty"`      // nil: as before; 0: none
	Machines  []JournalMachine `json:"machines"`                // those that are there from now on
	Command   json.RawMessage  `json:"command"`
	Work      json.RawMessage  `json:"work,omitempty"` // what attempts do from now on; nil: as before
}

// Take makes a header that of the run from the settings on. Machines that are gone stay in the list, for those that ran
// on them.
func (h *JournalHeader) Take(s *Settings) {
	h.Policy, h.Seed, h.Limits, h.Job.Retries, h.Command = s.Policy, s.Seed, s.Limits, s.Retries, s.Command
	h.Job.MaxFailed = s.MaxFailed
	h.Job.Stages = slices.Clone(h.Job.Stages)
	for i := range h.Job.Stages {
		h.Job.Stages[i].Retries = nil
		if i < len(s.Stages) {
			h.Job.Stages[i].Retries = s.Stages[i]
		}
	}
	if s.Work != nil {
		h.Work = s.Work
	}
	if s.Deadline != nil {
		h.Job.Deadline = *s.Deadline
	}
	h.Machines = append(append([]JournalMachine(nil), s.Machines...), h.Machines[min(len(s.Machines), len(h.Machines)):]...)
}

func appendSettings(b []byte, x *Batch) []byte {
	switch {
	case x.Settings != nil:
		return appendJSON(b, x.Settings)
	case len(x.Jobs)+len(x.Told) > 0: // something follows
		return binary.AppendUvarint(b, 0)
	}
	return b
}

// appendJSON appends a length and a value as JSON. It must be of numbers, strings, and JSON that was given.
func appendJSON(b []byte, x any) []byte {
	text, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func (d *decoder) settings() *Settings {
	if d.bad || len(d.p) == 0 {
		return nil
	}
	text := d.bytes(d.uint(uint64(len(d.p))))
	if len(text) == 0 {
		return nil
	}
	s := &Settings{}
	if json.Unmarshal(text, s) != nil {
		d.bad = true
	}
	return s
}
