package sched

// Warm reads the rows of attempts that are to end soon, so that they are in the processor's caches by then. In a large
// cluster an event waits for memory twice: for the row of its attempt, and then for those of the task and the machine.
// A group of attempts waits as often as one (group prefetching: Chen, Ailamaki, Gibbons and Mowry, "Improving Hash Join
// Performance through Prefetching", ICDE 2004). It is a hint that a driver may give before Advance; nothing changes.
// The number returned means nothing; a compiler may leave out what nobody asks for.
func (c *Core) Warm(group []AttemptID) (sum uint32) {
	v := &c.view
	for _, id := range group {
		sum += v.attempts[id.row()].gen
	}
	for _, id := range group {
		a := &v.attempts[id.row()]
		sum += v.tasks.look(a.task).Launched + v.machines[a.machine].Used + v.stages.look(a.stage).Live
	}
	return sum
}
