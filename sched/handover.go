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
	for i, n := range h.Slots {
		m := &v.machines[i]
		m.Slots, m.full, m.room = uint32(n), uint32(n), uint32(n)
	}
	c.policy, c.paces, c.wake, c.told, v.limits = h.Policy, Paces(h.Policy), Never, Never, h.Limits
	for _, job := range v.jobs.All() {
		job.Retries, job.MaxFailed, job.Deadline = uint32(h.Retries), uint32(h.MaxFailed), h.Deadline
		if h.Deadline == 0 {
			job.Deadline = Never
		}
	}
	for _, st := range v.stages.All() {
		st.Retries = uint32(h.Retries)
		if i := int(st.Index); i < len(h.Stages) && h.Stages[i] != nil {
			st.Retries = uint32(*h.Stages[i])
		}
	}
	for _, task := range v.tasks.All() {
		if task.State < TaskDone {
			task.Failures, task.NoClones = 0, false
		}
	}
	for j, job := range v.jobs.All() {
		if job.State == JobActive {
			c.retell(j)
		}
	}
	return nil
}
