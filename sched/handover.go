package sched

import "fmt"

// HandOver is what may change of a core's world while all machines are down, as between the death of one engine and the
// start of the next. It is no fact, because nothing has happened.
type HandOver struct {
	Policy    Policy // a fresh one, told of what is left as if it had just arrived
	Limits    Limits
	Retries   int    // of every job
	Stages    []*int // the retries of its stages, by their position in it; nil, and beyond the list, Retries
	MaxFailed int    // of every job, see JobSpec
	Deadline  Time   // of every job; 0 for none
	Slots     []int  // of machines, by id; those beyond keep what they have
}

// HandOver lets another policy go on under other limits. Tasks that are not done are forgiven their failures. What is
// done, and what has been spent, stays. It is an error if a machine is up, or a number is out of range; the core is
// unchanged then.
func (c *Core) HandOver(h *HandOver) error {
	v := &c.view
	for i := range v.machines {
		if v.machines[i].Up {
			return fmt.Errorf("sched: handed over while machine %d is up", i)
		}
	}
	if h.Retries < 0 || h.Retries > MaxRetries {
		return fmt.Errorf("sched: retries of a task are between 0 and %d, not %d", MaxRetries, h.Retries)
	}
	for i, own := range h.Stages {
		if own != nil && (*own < 0 || *own > MaxRetries) {
			return fmt.Errorf("sched: retries of a task of stage %d are between 0 and %d, not %d", i, MaxRetries, *own)
		}
	}
	if err := validateMaxFailed(h.MaxFailed); err != nil {
		return fmt.Errorf("sched: %w", err)
	}
	if h.Deadline < 0 {
		return fmt.Errorf("sched: deadline %v is before the run began", h.Deadline)
	}
	if len(h.Slots) > len(v.machines) {
		return fmt.Errorf("sched: slots of %d machines, and there are %d", len(h.Slots), len(v.machines))
	}
	for i, n := range h.Slots {
		if n < 1 || n > maxSlots {
			return fmt.Errorf("sched: machine %d has between 1 and %d slots, not %d", i, maxSlots, n)
		}
	}
	s := c.Snapshot()
	for i := range s.Jobs {
		if len(s.Jobs[i].Spec.Datasets) > 0 && !Confines(h.Policy) {
			return fmt.Errorf("sched: data of job %d may not be everywhere, and the policy that is to go on does not choose sites", s.Jobs[i].ID)
		}
	}
	for i, n := range h.Slots {
		s.Machines[i].Slots, s.Machines[i].Room = uint32(n), uint32(n)
	}
	for i := range s.Jobs {
		h.change(&s.Jobs[i])
	}
	return c.Restore(s, h.Policy, h.Limits)
}

// change gives a job other bounds, and forgives its failures.
func (h *HandOver) change(j *SavedJob) {
	j.Spec.Retries, j.Spec.MaxFailed, j.Spec.Deadline = h.Retries, h.MaxFailed, h.Deadline
	for i := range j.Spec.Stages {
		if j.Spec.Stages[i].Retries = nil; i < len(h.Stages) {
			j.Spec.Stages[i].Retries = h.Stages[i]
		}
	}
	for i := range j.Tasks {
		if x := &j.Tasks[i]; x.State < TaskDone {
			x.Failures, x.NoClones = 0, false
		}
	}
}
