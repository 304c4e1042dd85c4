package kit

import "github.com/tailcut/tailcut/sched"

// Places finds machines for clones, and knows for that purpose which machines have tried a task in vain.
type Places struct {
	up    int                              //  machines that are up
	heads sched.Table[sched.TaskID, int32] // its first trial plus 1
	all   []trial                          // trials that ended without result, of unfinished tasks
	spare int32                            // first free element of all plus 1
}

// trial is an attempt that failed or was lost; next is the task's next one plus 1.
type trial struct {
	machine sched.MachineID
	next    int32
}

// Observe takes note of machines that come and go and of attempts that end.
func (p *Places) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.MachineJoined:
		p.up++
	case sched.MachineLost:
		p.up--
	case sched.AttemptFailed, sched.AttemptLost:
		if v.Task(ev.Task).State == sched.TaskRunning {
			p.remember(ev.Task, ev.Machine)
		}
	case sched.AttemptDone:
		p.forget(ev.Task)
	case sched.StageDone:
		if st := v.Stage(ev.Stage); st.Done < st.Tasks {
			p.forgetStage(&st)
		}
	case sched.JobFailed, sched.JobCancelled:
		job := v.Job(ev.Job)
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			st := v.Stage(s)
			p.forgetStage(&st)
		}
	}
}

func (p *Places) remember(t sched.TaskID, m sched.MachineID) {
	head := p.heads.At(t)
	i := p.spare
	if i > 0 {
		p.spare = p.all[i-1].next
	} else {
		p.all = append(p.all, trial{})
		i = int32(len(p.all))
	}
	p.all[i-1] = trial{m, *head}
	*head = i
}

func (p *Places) forget(t sched.TaskID) {
	first := p.heads.Get(t)
	if first == 0 {
		return
	}
	last := first
	for p.all[last-1].next > 0 {
		last = p.all[last-1].next
	}
	p.all[last-1].next, p.spare = p.spare, first
	p.heads.Drop(t)
}

func (p *Places) forgetStage(st *sched.Stage) {
	for t := st.First; p.heads.Len() > 0 && t < st.First+sched.TaskID(st.Tasks); t++ {
		p.forget(t)
	}
}

// Unused returns the first free machine from id from on that has never run an attempt of the task. If there is none,
// and the task has had as many attempts as machines are up, so that there may be none to wait for (on a single
// machine, always), any free machine will do.
func (p *Places) Unused(v *sched.View, t sched.TaskID, from sched.MachineID) (sched.MachineID, bool) {
	m, ok := freeFor(v, t, from)
	for ok && p.ran(v, t, m) {
		m, ok = freeFor(v, t, m+1)
	}
	if !ok && p.tried(v, t) >= p.up {
		return freeFor(v, t, from)
	}
	return m, ok
}

// freeFor returns the first free machine from id from on at a site where data of the task may be.
func freeFor(v *sched.View, t sched.TaskID, from sched.MachineID) (sched.MachineID, bool) {
	m, ok := v.FreeMachine(from)
	for ok && !v.Sites().Allows(t, v.Machine(m).Site) {
		m, ok = v.FreeMachine(m + 1)
	}
	return m, ok
}

// tried counts the attempts that run or have ended in vain: no less than the machines that they were on.
func (p *Places) tried(v *sched.View, t sched.TaskID) int {
	n := int(v.Task(t).Live)
	for i := p.heads.Get(t); i > 0; i = p.all[i-1].next {
		n++
	}
	return n
}

func (p *Places) ran(v *sched.View, t sched.TaskID, m sched.MachineID) bool {
	for i := p.heads.Get(t); i > 0; i = p.all[i-1].next {
		if p.all[i-1].machine == m {
			return true
		}
	}
	return RunsOn(v, t, m)
}

// Elsewhere returns the first free machine on which a task does not run, or else the first free one; ok is false if
// no slot is free where data of the task may be. It is where a policy puts a clone that has no better idea.
func Elsewhere(v *sched.View, t sched.TaskID) (sched.MachineID, bool) {
	first, found := freeFor(v, t, 0)
	for m, ok := first, found; ok; m, ok = freeFor(v, t, m+1) {
		if !RunsOn(v, t, m) {
			return m, true
		}
	}
	return first, found
}

// RunsOn tells whether an attempt of a task runs on a machine.
func RunsOn(v *sched.View, t sched.TaskID, m sched.MachineID) bool {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		if v.Attempt(a).Machine == m {
			return true
		}
	}
	return false
}
