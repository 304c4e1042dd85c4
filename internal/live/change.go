package live

import (
	"errors"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// ErrUnnamed is the error of a run whose journal is of a version that noted no change of settings.
var ErrUnnamed = errors.New("its journal is of an older version, which cannot record other settings")

// A run may be taken up with another policy, other limits, machines or retries, or another deadline. What is done
// stays done. The change is in the journal, in the first batch in which a machine is there again, and a replay makes
// it at the same place.

// Policies returns a fresh policy as a header names it.
type Policies func(*trace.JournalHeader) (sched.Policy, error)

// Change has the run, which was opened and not yet looped, go on with other settings. Under them a job that its policy
// had given up is tried again, too.
func (r *Run) Change(s *trace.Settings) error {
	if r.Header.Folder() == "" {
		return ErrUnnamed
	}
	if s.Work != nil {
		r.works = append(r.works, s.Work)
	}
	if r.change = s; r.State() == sched.JobStopped {
		r.Retried, r.over = true, false
	}
	return nil
}

// give takes settings over into a core, whose machines are all down, and its header.
func give(core *sched.Core, h *trace.JournalHeader, s *trace.Settings, policies Policies) error {
	next := *h
	next.Take(s)
	p, err := policies(&next)
	if err != nil {
		return err
	}
	if sched.Paces(p) {
		return ErrPaces
	}
	slots := make([]int, len(s.Machines))
	for i, m := range s.Machines {
		slots[i] = m.Slots
		if i >= len(h.Machines) {
			if _, err := core.AddMachineOf(m.Class, m.Site, m.Slots); err != nil {
				return err
			}
		}
	}
	to := sched.HandOver{Policy: p, Limits: s.Limits, Retries: s.Retries, MaxFailed: s.MaxFailed, Stages: s.Stages, Deadline: next.Job.Deadline, Slots: slots}
	if err := core.HandOver(&to); err != nil {
		return err
	}
	*h = next
	return nil
}
