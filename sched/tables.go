package sched

// The changes of the tables that several rules share. Counters and sets are changed here and nowhere else.

// maxLive bounds the attempts of one task running at once, so that the counter in its row cannot overflow.
const maxLive = 1 << 15

// kin are the rows of a task, of its stage and of its job. A row is found in two steps and is asked for in many places,
// so a step of the core finds the three once and hands them on. They hold until facts are applied again.
type kin struct {
	task  *Task
	stage *Stage
	job   *Job
}

func (t *tables) kin(id TaskID) kin {
	task := t.task(id)
	st := t.stage(task.Stage)
	return kin{task, st, t.job(st.Job)}
}

// enqueue makes a task that nothing else is in front of wait for an attempt. While its job is paused it is blocked
// instead, and if the job is bounded it is held back: waits is false then.
func (v *View) enqueue(t TaskID, k kin) (waits bool) {
	switch {
	case k.job.Paused:
		k.task.State = TaskBlocked
	case k.job.MaxLive > 0:
		v.hold(t, k)
	default:
		v.line(t, k)
		return true
	}
	return false
}

// line is enqueue for a task of a job that may start it.
func (v *View) line(t TaskID, k kin) {
	st := k.stage
	k.task.State = TaskPending
	v.pending.add(int(t))
	if st.Pending++; st.Pending == 1 {
		v.waiting[st.Class].add(int(k.task.Stage))
	}
	k.job.Pending++
	v.pendingTasks[st.Class]++
	if st.Class > 0 {
		v.besideOf(st).pending++
	}
}

// enqueueAll does so for the blocked tasks of a stage.
func (v *View) enqueueAll(s StageID) {
	st := v.stage(s)
	job := v.job(st.Job)
	for t := st.First; t < st.First+TaskID(st.Tasks); t++ {
		if task := v.task(t); task.blocked == 0 && task.State == TaskBlocked && !v.held.has(int(t)) {
			v.enqueue(t, kin{task, st, job})
		}
	}
}

// dequeue takes a pending task out of the waiting ones; the caller gives it its new state.
func (v *View) dequeue(t TaskID, k kin) {
	st := k.stage
	v.pending.remove(int(t))
	if st.Pending--; st.Pending == 0 {
		v.waiting[st.Class].remove(int(k.task.Stage))
	}
	k.job.Pending--
	v.pendingTasks[st.Class]--
	if st.Class > 0 {
		v.besideOf(st).pending--
	}
}

// engage makes a pending task one that runs.
func (v *View) engage(t TaskID, k kin) {
	v.dequeue(t, k)
	k.task.State = TaskRunning
	v.running.add(int(t))
	k.stage.Running++
	v.runningTasks[k.stage.Class]++
}

// stopRunning takes a task without attempts out of the running ones; the caller gives it its new state.
func (v *View) stopRunning(t TaskID, k kin) {
	v.running.remove(int(t))
	k.stage.Running--
	v.runningTasks[k.stage.Class]--
}

// requeue makes a task whose last attempt has ended wait again, see enqueue.
func (v *View) requeue(t TaskID, k kin) (waits bool) {
	v.stopRunning(t, k)
	return v.enqueue(t, k)
}

// settle gives a task its last state. Siblings of a winner may still be running; they do not count as running tasks.
func (v *View) settle(t TaskID, k kin, state TaskState) {
	switch k.task.State {
	case TaskBlocked:
		v.drop(t, k)
	case TaskPending:
		v.dequeue(t, k)
		v.stir(k)
	case TaskRunning:
		v.stopRunning(t, k)
	}
	k.task.State = state
	k.job.Unfinished--
	v.unfinished--
}

// link puts a new attempt into the lists of its task and machine and counts it.
func (v *View) link(row int32, k kin) {
	a := &v.attempts[row]
	task, m := k.task, &v.machines[a.machine]
	if a.clone {
		v.here[row].older = task.first
	}
	task.first = row
	if m.Used > 0 {
		v.here[row].prev, v.here[row].next = -1, m.first
		if m.Used == 1 {
			v.here[m.first].next = -1
		}
		v.here[m.first].prev = row
	}
	m.first = row
	task.Live++
	task.Launched++
	k.stage.Live++
	k.job.Live++
	if k.stage.Class > 0 {
		v.besideOf(k.stage).live++
	}
	v.used[m.Class]++
	v.sites[m.Site].used[m.Class]++
	if m.Used++; m.Used == m.Slots {
		v.free[m.Class].remove(int(a.machine))
	}
}

// unlink reverses link.
func (v *View) unlink(row int32, k kin) {
	a := &v.attempts[row]
	task, m := k.task, &v.machines[a.machine]
	a.running = false
	if task.first == row {
		task.first = v.older(row)
	} else {
		p := task.first
		for v.older(p) != row {
			p = v.older(p)
		}
		v.here[p].older = v.older(row)
	}
	v.leave(row, m)
	task.Live--
	k.stage.Live--
	k.job.Live--
	if k.stage.Class > 0 {
		v.besideOf(k.stage).live--
	}
	v.stir(k)
	v.used[m.Class]--
	at := &v.sites[m.Site]
	at.used[m.Class]--
	m.Used--
	if !m.Up {
		v.slots[m.Class]--
		at.slots[m.Class]--
		return
	}
	if m.Slots > m.room {
		v.fit(a.machine)
	} else {
		v.free[m.Class].add(int(a.machine))
	}
}

// join makes a machine one that is up, with the slots that it has.
func (v *View) join(id MachineID) {
	m := &v.machines[id]
	m.Up = true
	v.slots[m.Class] += int(m.Slots)
	v.sites[m.Site].slots[m.Class] += int(m.Slots)
	if m.Slots > 0 {
		v.free[m.Class].add(int(id))
	}
}

// resize gives a machine that is up room for so many attempts.
func (v *View) resize(id MachineID, slots uint32) {
	v.machines[id].room = slots
	v.fit(id)
}

// fit gives a machine that is up the slots that it has room for, and those that are in use beyond.
func (v *View) fit(id MachineID) {
	m := &v.machines[id]
	slots := max(m.room, m.Used)
	more := int(slots) - int(m.Slots)
	m.Slots = slots
	v.slots[m.Class] += more
	v.sites[m.Site].slots[m.Class] += more
	if m.Used < m.Slots {
		v.free[m.Class].add(int(id))
	} else {
		v.free[m.Class].remove(int(id))
	}
}

// older returns the row of the running attempt of the same task that was launched before the one in a row, -1 if there
// is none.
func (v *View) older(row int32) int32 {
	if !v.attempts[row].clone {
		return -1
	}
	return v.here[row].older
}

// leave takes an attempt out of the list of its machine.
func (v *View) leave(row int32, m *Machine) {
	if m.Used == 1 {
		m.first = -1
		return
	}
	n := v.here[row]
	if n.prev >= 0 {
		v.here[n.prev].next = n.next
	} else {
		m.first = n.next
	}
	if n.next >= 0 {
		v.here[n.next].prev = n.prev
	}
}

// advance notes how far an attempt has come. One that has done less than it was to go on from found nothing there and
// began where it is.
func (v *View) advance(row int32, f *Event) {
	v.progress[row] = headway{from: min(v.from(row), f.Progress), done: f.Progress, at: v.now, rate: f.Rate}
	v.attempts[row].advanced = true
}

// from returns the fraction of the work that an attempt began with.
func (v *View) from(row int32) float64 {
	if !v.attempts[row].advanced {
		return 0
	}
	return v.progress[row].from
}
