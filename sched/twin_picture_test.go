package sched

import "math"

// picture is everything that a view can be asked, to compare the core's with the twin's.
type picture struct {
	Jobs     []Job
	Stages   []Stage
	Tasks    []Task
	Machines []Machine
	Running  [][]Attempt // per task, the latest first
	Room     []int       // AttemptRoom per task

	Active  []JobID
	Waiting []StageID
	Pending []TaskID // stage by stage
	Busy    []TaskID // tasks that run, stage by stage
	Free    []MachineID

	Results [][]SiteID // where the result of a task is, if it is done
	Sources [][]Source // per task
	Bytes   []float64  // that each stage will read of each before it, as far as that is foretold
	At      []atSite   // per site

	Slots, FreeSlots, Live, RunningTasks, PendingTasks, Unfinished, Clones, CloneRoom int
	Pace                                                                              float64
	Measured                                                                          [][2]float64 // mean and deviation of stages, in seconds
}

// atSite is what is known of a site.
type atSite struct {
	Slots, FreeSlots int
	Free             []MachineID
}

// pictureOf asks the core's view, through nothing but its methods.
func pictureOf(v *View) *picture {
	p := &picture{
		Slots: v.Slots(), FreeSlots: v.FreeSlots(), Live: v.Cluster().Live(), RunningTasks: v.Cluster().RunningTasks(), PendingTasks: v.Pending(),
		Pace: v.Cluster().Pace(), Unfinished: v.Cluster().Unfinished(), Clones: v.Cluster().Clones(), CloneRoom: v.CloneRoom(),
	}
	for j := range v.Rows().Jobs() {
		job := v.Job(JobID(j))
		if job.State != JobActive {
			job.StagesLeft = 0 // means nothing any more
		}
		p.Jobs = append(p.Jobs, job)
	}
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		p.Active = append(p.Active, j)
	}
	for s, ok := v.WaitingStage(0); ok; s, ok = v.WaitingStage(s + 1) {
		p.Waiting = append(p.Waiting, s)
	}
	for s := range StageID(v.Rows().Stages()) {
		st := v.Stage(s)
		mean, sd, _ := st.Measured()
		p.Measured = append(p.Measured, [2]float64{mean, sd})
		p.Stages = append(p.Stages, st)
		for from := range s {
			if bytes, ok := v.Sites().Foretold(from, s); ok {
				p.Bytes = append(p.Bytes, bytes)
			}
		}
		for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
			p.Pending = append(p.Pending, t)
		}
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			p.Busy = append(p.Busy, t)
		}
	}
	for t := range TaskID(v.Rows().Tasks()) {
		p.Tasks = append(p.Tasks, v.Task(t))
		p.Room = append(p.Room, v.AttemptRoom(t))
		var running []Attempt
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			running = append(running, v.Attempt(a))
		}
		p.Running = append(p.Running, running)
		p.Sources = append(p.Sources, v.Sites().AppendSources(nil, t))
		var result []SiteID
		if s, ok := v.Sites().Result(t); ok {
			result = append(result, s)
		}
		p.Results = append(p.Results, result)
	}
	for s := range SiteID(v.Sites().Len()) {
		at := atSite{Slots: v.Sites().Slots(s), FreeSlots: v.Sites().FreeSlots(s)}
		for m, ok := v.Sites().FreeMachine(s, 0); ok; m, ok = v.Sites().FreeMachine(s, m+1) {
			at.Free = append(at.Free, m)
		}
		p.At = append(p.At, at)
	}
	for m := range MachineID(v.Rows().Machines()) {
		p.Machines = append(p.Machines, v.Machine(m))
	}
	for m, ok := v.FreeMachine(0); ok; m, ok = v.FreeMachine(m + 1) {
		p.Free = append(p.Free, m)
	}
	return p
}

// picture counts everything anew, for one who sees so much.
func (w *twin) picture(sees sight) *picture {
	p := &picture{Pace: w.speed(), CloneRoom: w.cloneRoom(sees), RunningTasks: w.count(TaskRunning, sees), PendingTasks: w.count(TaskPending, sees)}
	p.Unfinished = w.count(TaskBlocked, everything) + w.count(TaskPending, everything) + w.count(TaskRunning, everything)
	for j := range w.jobs {
		p.Jobs = append(p.Jobs, w.jobRow(JobID(j), sees))
		if w.jobs[j].state == JobActive {
			p.Active = append(p.Active, JobID(j))
		}
	}
	for s := range w.stages {
		p.Stages = append(p.Stages, w.stageRow(StageID(s), sees))
		if p.Stages[s].Pending > 0 {
			p.Waiting = append(p.Waiting, StageID(s))
		}
		p.Measured = append(p.Measured, w.measured(StageID(s)))
		p.Bytes = append(p.Bytes, w.foretold(StageID(s))...)
	}
	for t := range w.tasks {
		w.pictureTask(p, TaskID(t), sees)
	}
	for i, m := range w.machines {
		used := len(w.live(w.on(MachineID(i))))
		for len(p.At) <= int(m.site) || len(p.At) < w.sites {
			p.At = append(p.At, atSite{})
		}
		p.Machines = append(p.Machines, Machine{Site: m.site, Class: m.class, Slots: uint32(w.slots(i)), Used: uint32(used), Up: m.up})
		if !sees(m.class) {
			continue
		}
		if m.up {
			p.Slots += w.slots(i)
			p.At[m.site].Slots += w.slots(i)
			p.At[m.site].FreeSlots += w.slots(i)
		}
		p.At[m.site].FreeSlots -= used
		if m.up && used < w.slots(i) {
			p.Free = append(p.Free, MachineID(i))
			p.At[m.site].Free = append(p.At[m.site].Free, MachineID(i))
		}
		p.Live += used
	}
	p.FreeSlots = p.Slots - p.Live
	p.Clones = p.Live - p.RunningTasks
	return p
}

func (w *twin) pictureTask(p *picture, t TaskID, sees sight) {
	if w.jobs[w.jobOf(t)].state == JobGone {
		p.Tasks, p.Running, p.Sources = append(p.Tasks, Task{State: TaskGone}), append(p.Running, nil), append(p.Sources, nil)
		p.Results, p.Room = append(p.Results, nil), append(p.Room, 0)
		return
	}
	row := Task{Stage: w.tasks[t].stage, State: w.state(t), Failures: uint16(w.failures(t)), NoClones: w.soured(t), Saved: w.tasks[t].saved}
	for _, a := range w.attempts {
		if a.Task == t {
			row.Launched++
		}
	}
	var running []Attempt
	for _, a := range w.live(w.of(t)) {
		running = append(running, w.row(a))
	}
	row.Live = uint16(len(running))
	room := 0
	if (row.State == TaskPending || row.State == TaskRunning) && !w.exhausted(t) && !w.jobs[w.jobOf(t)].paused {
		if room = maxLive - len(running); w.limits.Attempts != Unlimited {
			room = max(0, w.limits.Attempts-len(running))
		}
		if row.NoClones {
			room = max(0, min(room, 1-len(running)))
		}
		if most := w.jobs[w.jobOf(t)].spec.MaxAttempts; most > 0 {
			room = max(0, min(room, most-len(running)))
		}
		if spare := w.room(w.jobOf(t)); spare < math.MaxInt {
			if row.State == TaskPending {
				spare++
			}
			room = max(0, min(room, spare))
		}
	}
	p.Tasks = append(p.Tasks, row)
	p.Running = append(p.Running, running)
	p.Sources = append(p.Sources, w.sources(t))
	var result []SiteID
	if at, ok := w.resultAt(t); ok {
		result = append(result, at)
	}
	p.Results = append(p.Results, result)
	p.Room = append(p.Room, room)
	if !sees(w.stages[row.Stage].spec.Class) {
		return
	}
	if row.State == TaskPending {
		p.Pending = append(p.Pending, t)
	}
	if row.State == TaskRunning {
		p.Busy = append(p.Busy, t)
	}
}

func (w *twin) jobRow(j JobID, sees sight) Job {
	job := w.jobs[j]
	if job.state == JobGone {
		return Job{State: JobGone}
	}
	row := Job{
		State: job.state, MaxLive: uint32(job.spec.MaxLive), MaxAttempts: uint32(job.spec.MaxAttempts), Retries: uint32(job.spec.Retries), MaxFailed: uint32(job.spec.MaxFailed), Broken: uint32(w.failed(j)), Arrived: job.arrived, Closed: job.closed, Paused: job.paused,
		FirstStage: job.first, Stages: uint32(len(job.spec.Stages)), Priority: job.priority, Weight: job.weight, Deadline: job.deadline,
		Late: job.spec.Late, Value: job.spec.Value,
	}
	if row.Weight == 0 {
		row.Weight = 1
	}
	if row.Value == 0 {
		row.Value = row.Weight
	}
	if row.Deadline == 0 {
		row.Deadline = Never
	}
	for _, s := range w.stages {
		if s.job == j && !s.closed && job.state == JobActive {
			row.StagesLeft++
		}
	}
	for t := range w.tasks {
		if w.jobOf(TaskID(t)) != j {
			continue
		}
		row.Tasks++
		if s := w.state(TaskID(t)); s < TaskDone {
			row.Unfinished++
			if s == TaskPending && sees(w.stages[w.tasks[t].stage].spec.Class) {
				row.Pending++
			}
		}
	}
	for _, a := range w.attempts {
		switch {
		case w.jobOf(a.Task) != j:
			continue
		case a.ended == Never:
			if sees(w.stages[w.tasks[a.Task].stage].spec.Class) {
				row.Live++
			}
		case a.useful:
			row.Fruitful += a.ran()
		default:
			row.Fruitless += a.ran()
		}
		if a.refused {
			continue
		}
		row.Attempts++
		if a.Clone {
			row.Clones++
		}
		if a.failed {
			row.Failures++
		}
	}
	return row
}

func (w *twin) stageRow(s StageID, sees sight) Stage {
	st := w.stages[s]
	if w.jobs[st.job].state == JobGone {
		return Stage{State: StageGone}
	}
	row := Stage{Job: st.job, First: st.first, Tasks: uint32(st.spec.Tasks), Need: uint32(st.spec.Need), Resumable: st.spec.Resumable, Waits: st.spec.Waits, Class: st.spec.Class, Index: uint16(st.index)}
	row.Reads = len(st.spec.Inputs) > 0
	row.Retries = uint32(w.jobs[st.job].spec.Retries)
	if own := st.spec.Retries; own != nil {
		row.Retries = uint32(*own)
	}
	w.inputs(s, func(e Edge, _ *twinStage) { row.Reads = row.Reads || len(e.Bytes) > 0 || e.Measured })
	switch {
	case st.closed:
		row.State = StageClosed
	case w.open(s):
		row.State = StageOpen
	}
	for k := range st.spec.Tasks {
		t := st.first + TaskID(k)
		row.Live += uint32(len(w.live(w.of(t))))
		switch w.state(t) {
		case TaskPending:
			row.Pending++
		case TaskRunning:
			row.Running++
		case TaskDone:
			row.Done++
		case TaskBroken, TaskStranded:
			row.GivenUp++
		}
	}
	if !sees(st.spec.Class) {
		row.Live, row.Pending, row.Running = 0, 0, 0
	}
	return row
}

// resultAt returns where the result of a task is; ok is false if there is none.
func (w *twin) resultAt(t TaskID) (at SiteID, ok bool) {
	for _, a := range w.attempts {
		if a.Task == t && w.tasks[t].over == TaskDone && a.useful && a.why == 0 && !a.failed {
			return w.machines[a.Machine].site, true
		}
	}
	return 0, false
}

// foretold multiplies, for each stage that a stage waits for, the reads by the mean result.
func (w *twin) foretold(s StageID) (all []float64) {
	for i := range w.stages[:s] {
		reads, sum, n := 0.0, 0.0, 0.0
		w.inputs(s, func(e Edge, from *twinStage) {
			switch {
			case from != w.stages[i] || w.jobs[from.job].state == JobGone:
			case e.Kind == Barrier:
				reads += float64(from.spec.Tasks * w.stages[s].spec.Tasks)
			case e.Kind == Pointwise:
				reads += float64(from.spec.Tasks)
			default:
				reads += float64(len(e.Pairs))
			}
		})
		for k := range w.stages[i].spec.Tasks {
			t := w.stages[i].first + TaskID(k)
			if _, ok := w.resultAt(t); ok {
				n++
				sum += float64(w.tasks[t].result)
			}
		}
		if reads*sum > 0 {
			all = append(all, reads*sum/n)
		}
	}
	return all
}

// sources adds up what a task reads at each site.
func (w *twin) sources(t TaskID) (all []Source) {
	task := w.tasks[t]
	spec := w.stages[task.stage].spec
	at := map[SiteID]int64{}
	for k, list := range spec.Inputs {
		if len(spec.Inputs) == 1 || k == task.index {
			for _, x := range list {
				at[x.Site] += x.Bytes
			}
		}
	}
	w.inputs(task.stage, func(e Edge, from *twinStage) {
		read := func(i, n int) {
			site, ok := w.resultAt(from.first + TaskID(i))
			switch {
			case ok && e.Measured:
				at[site] += w.tasks[from.first+TaskID(i)].result
			case ok && len(e.Bytes) > 0:
				at[site] += e.Bytes[min(n, len(e.Bytes)-1)]
			}
		}
		for i := range from.spec.Tasks {
			if e.Kind == Barrier || e.Kind == Pointwise && i == task.index {
				read(i, i)
			}
		}
		for n, p := range e.Pairs {
			if int(p[1]) == task.index {
				read(int(p[0]), n)
			}
		}
	})
	for s := range SiteID(maxSites) {
		if at[s] > 0 {
			all = append(all, Source{s, at[s]})
		}
		if delete(at, s); len(at) == 0 {
			break
		}
	}
	return all
}

// measured returns mean and sample deviation of the winners' durations, each as of a whole task, in two passes.
func (w *twin) measured(s StageID) [2]float64 {
	var x []float64
	sum := 0.0
	gone := w.jobs[w.stages[s].job].state == JobGone
	for _, a := range w.attempts {
		if !gone && w.tasks[a.Task].stage == s && 1-a.From >= 1./64 && a.useful && a.why == 0 && !a.failed {
			x = append(x, a.ran().Seconds()/(1-a.From))
			sum += x[len(x)-1]
		}
	}
	if len(x) == 0 {
		return [2]float64{}
	}
	mean, square := sum/float64(len(x)), 0.0
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	return [2]float64{mean, math.Sqrt(square / float64(max(1, len(x)-1)))}
}
