package sched

import (
	"fmt"
	"slices"
)

// Check recounts everything that the core keeps incrementally and reports the first difference: slots used twice, a
// task with two results, a task that nobody would ever run, a counter that drifted. It costs time in proportion to all
// tables and is meant for tests; builds with the tag invariants, and the race detector's, run it as often as audit
// says.
func (c *Core) Check() error {
	v := &c.view
	here, live := zeros(&c.here, len(v.machines)), &c.live
	live.Clear()
	for row := range v.attempts {
		a := &v.attempts[row]
		if a.waiting && !(a.running && (v.waits || v.stage(a.stage).Waits)) || a.started > v.now {
			return fmt.Errorf("sched: the attempt in row %d (running %v) is waiting: %v, and began at %v, which is now %v", row, a.running, a.waiting, a.started, v.now)
		}
		if a.running {
			if class := v.stage(v.task(a.task).Stage).Class; class != v.machines[a.machine].Class {
				return fmt.Errorf("sched: task %d needs a slot of class %d, one of class %d has it", a.task, class, v.machines[a.machine].Class)
			}
			if site := v.machines[a.machine].Site; !v.allows(a.task, site) {
				return fmt.Errorf("sched: task %d runs at site %d, where its data may not be", a.task, site)
			}
			here[a.machine]++
			*live.At(a.task)++
		}
	}
	if err := v.checkMachines(here); err != nil {
		return err
	}
	var sum counts
	for j := range v.jobs.All() {
		n, err := v.checkJob(j, live)
		if err != nil {
			return err
		}
		sum.add(n)
	}
	var pending, running [Classes]int
	for _, st := range v.stages.All() {
		pending[st.Class] += int(st.Pending)
		running[st.Class] += int(st.Running)
	}
	if v.unfinished != sum.unfinished || v.pendingTasks != pending || v.runningTasks != running || total(&v.used) != sum.live {
		return fmt.Errorf("sched: the cluster's counters are %d unfinished, %d pending, %d running, %d live, its rows say %+v",
			v.unfinished, v.pendingTasks, v.runningTasks, v.used, sum)
	}
	return nil
}

// zeros returns n zeros in a buffer that is used again.
func zeros(buf *[]uint32, n int) []uint32 {
	*buf = slices.Grow((*buf)[:0], n)[:n]
	clear(*buf)
	return *buf
}

// auditedRows is how many rows audit looks at per call, on average.
const auditedRows = 256

// audit panics if Check finds anything. Small worlds, as tests make them, are checked at every call; large ones once in
// so many calls that a call costs the same however large they are.
func (c *Core) audit() {
	v := &c.view
	size := v.jobs.Len() + v.stages.Len() + v.tasks.Len() + len(v.attempts) + len(v.machines)
	if c.unaudited += auditedRows; c.unaudited < size {
		return
	}
	c.unaudited = 0
	if err := c.Check(); err != nil {
		panic(err)
	}
}

// counts are what jobs add up to.
type counts struct{ unfinished, pending, running, live, held int }

func (n *counts) add(o counts) {
	n.unfinished += o.unfinished
	n.pending += o.pending
	n.running += o.running
	n.live += o.live
	n.held += o.held
}

func (v *View) checkMachines(here []uint32) error {
	var slots, used [Classes]int
	sites := make([]site, len(v.sites))
	for i := range v.machines {
		m := &v.machines[i]
		if m.Used != here[i] || m.Used > m.Slots || !m.Up && m.Used > 0 {
			return fmt.Errorf("sched: machine %d (up %v) has %d of %d slots in use, %d attempts run there", i, m.Up, m.Used, m.Slots, here[i])
		}
		if m.Up && m.Slots != max(m.room, m.Used) {
			return fmt.Errorf("sched: machine %d has %d slots, room for %d and %d in use", i, m.Slots, m.room, m.Used)
		}
		if free := m.Up && m.Used < m.Slots; v.free[m.Class].has(i) != free {
			return fmt.Errorf("sched: machine %d is free: %v, in the set of free ones: %v", i, free, v.free[m.Class].has(i))
		}
		if m.Up {
			slots[m.Class] += int(m.Slots)
			sites[m.Site].slots[m.Class] += int(m.Slots)
		}
		used[m.Class] += int(m.Used)
		sites[m.Site].used[m.Class] += int(m.Used)
	}
	for s := range sites {
		if at := &v.sites[s]; at.slots != sites[s].slots || at.used != sites[s].used {
			return fmt.Errorf("sched: site %d has %d slots, %d in use, its machines have %d and %d", s, at.slots, at.used, sites[s].slots, sites[s].used)
		}
	}
	if slots != v.slots || used != v.used {
		return fmt.Errorf("sched: %d slots counted and %d of them in use, the machines have %d and %d", v.slots, v.used, slots, used)
	}
	return nil
}

func (v *View) checkJob(j JobID, live *Table[TaskID, uint16]) (counts, error) {
	job := v.job(j)
	var sum counts
	closed, broken := uint32(0), uint32(0)
	var others beside
	for s := job.FirstStage; s < job.FirstStage+StageID(job.Stages); s++ {
		n, err := v.checkStage(s, live)
		if err != nil {
			return sum, err
		}
		if class := v.stage(s).Class; class > 0 {
			others[class].pending += uint32(n.pending)
			others[class].live += uint32(n.live)
		}
		if st := v.stage(s); st.State == StageClosed {
			closed++
		} else if job.State > JobSubmitted && st.blocked == 0 && st.Tasks > 0 && (st.Done+st.GivenUp >= st.Tasks || st.Done >= st.Need) {
			return sum, fmt.Errorf("sched: stage %d is in state %d and has nothing left to run: %+v", s, st.State, *st)
		}
		for t := v.stage(s).First; t < v.stage(s).First+TaskID(v.stage(s).Tasks); t++ {
			if v.task(t).State == TaskBroken {
				broken++
			}
		}
		sum.add(n)
	}
	if others != v.beside.Get(j) {
		return sum, fmt.Errorf("sched: job %d counts %+v beside class 0, its stages add up to %+v", j, v.beside.Get(j), others)
	}
	if v.active.has(int(j)) != (job.State == JobActive) {
		return sum, fmt.Errorf("sched: job %d in state %d is in the set of active ones: %v", j, job.State, v.active.has(int(j)))
	}
	if job.Broken != broken || job.State <= JobActive && broken > job.MaxFailed {
		return sum, fmt.Errorf("sched: job %d counts %d failed tasks, there are %d, and %d may fail", j, job.Broken, broken, job.MaxFailed)
	}
	if job.State == JobActive {
		if int(job.Unfinished) != sum.unfinished || int(job.Pending) != sum.pending || int(job.Live) != sum.live || job.StagesLeft != job.Stages-closed {
			return sum, fmt.Errorf("sched: job %d counts %+v, its stages add up to %+v with %d closed", j, *job, sum, closed)
		}
		if most := int(job.MaxLive); most > 0 && sum.live+sum.pending > most {
			return sum, fmt.Errorf("sched: job %d may run %d attempts at once, and has %+v", j, most, sum)
		}
		if sum.held > 0 && job.room() > 0 && !job.stirred {
			return sum, fmt.Errorf("sched: job %d holds tasks back, and has room for %d: %+v", j, job.room(), sum)
		}
		if sum.pending+sum.running+sum.held == 0 && !job.Paused {
			return sum, fmt.Errorf("sched: active job %d has nothing that runs or may run", j)
		}
		return sum, nil
	}
	if sum.pending+sum.running+sum.live+sum.held > 0 {
		return sum, fmt.Errorf("sched: job %d in state %d has %+v", j, job.State, sum)
	}
	return counts{}, nil
}

func (v *View) checkStage(s StageID, live *Table[TaskID, uint16]) (counts, error) {
	st := v.stage(s)
	var n counts
	done, givenUp, ready := uint32(0), uint32(0), 0
	for t := st.First; t < st.First+TaskID(st.Tasks); t++ {
		task := v.task(t)
		pending, running := task.State == TaskPending, task.State == TaskRunning
		if task.Live != live.Get(t) || running != (live.Get(t) > 0) {
			return n, fmt.Errorf("sched: task %d in state %d counts %d attempts, %d run", t, task.State, task.Live, live.Get(t))
		}
		if v.pending.has(int(t)) != pending || v.running.has(int(t)) != running {
			return n, fmt.Errorf("sched: task %d in state %d: pending set %v, running set %v", t, task.State, v.pending.has(int(t)), v.running.has(int(t)))
		}
		if (pending || running) && st.State != StageOpen {
			return n, fmt.Errorf("sched: task %d in state %d of stage %d in state %d", t, task.State, s, st.State)
		}
		if task.State < TaskDone {
			n.unfinished++
		}
		if pending {
			n.pending++
		}
		if running {
			n.running++
		}
		if task.State == TaskDone {
			done++
		}
		if task.State > TaskSkipped {
			givenUp++
		}
		switch free := task.State == TaskBlocked && task.blocked == 0 && st.State == StageOpen; {
		case v.held.has(int(t)):
			if n.held++; !free || v.job(st.Job).MaxLive == 0 || v.job(st.Job).Paused {
				return n, fmt.Errorf("sched: task %d in state %d is held back in %+v", t, task.State, *v.job(st.Job))
			}
		case free:
			ready++
		}
		n.live += int(live.Get(t))
	}
	if st.Done != done || st.GivenUp != givenUp || int(st.Pending) != n.pending || int(st.Running) != n.running || int(st.Live) != n.live {
		return n, fmt.Errorf("sched: stage %d counts %+v, its tasks say %+v, %d done and %d given up", s, *st, n, done, givenUp)
	}
	if job := v.job(st.Job); job.Paused && n.pending > 0 || !job.Paused && job.State == JobActive && ready > 0 {
		return n, fmt.Errorf("sched: stage %d of a job (paused %v) has %d tasks that wait for an attempt, and %d that wait for nothing", s, job.Paused, n.pending, ready)
	}
	if v.waiting[st.Class].has(int(s)) != (n.pending > 0) {
		return n, fmt.Errorf("sched: stage %d with %d pending tasks is in the set of waiting ones: %v", s, n.pending, v.waiting[st.Class].has(int(s)))
	}
	return n, nil
}
