package policy

// GRASS: Ananthanarayanan, Hung, Ren, Stoica, Wierman, Yu, "GRASS: Trimming Stragglers in Approximation Analytics",
// NSDI 2014, sections 3 and 4.
//
//	deadline-bound  a job with Job.Deadline, until that has passed; left is the time until then
//	error-bound     every other job: of each stage Stage.Need tasks must be done
//	t_rem           time left of a task: that of its quickest attempt by the linear estimate, as of its last report
//	t_new           duration of another attempt: the mean of tnew, see kit.TNew
//	c               attempts of the task that run, at most copies
//	saving          c t_rem - (c+1) t_new
//
//	a free slot goes to a job by order, as in fair.go unless said otherwise, if it has a use for it:
//	  mode=gs, deadline    of tasks that wait, and running ones with t_new < t_rem, if t_new <= left: the smallest t_new
//	  mode=ras, deadline   of running tasks with saving > 0 and t_new <= left the largest saving; else of those that wait with t_new <= left the smallest t_new
//	  mode=gs, error       of needed tasks that wait (t_rem = t_new), and running ones with t_new < t_rem: the largest t_rem
//	  mode=ras, error      of needed running tasks with saving > 0 the largest saving; else of those that wait the largest t_new
//	  mode=grass           ras, and gs from the switching point on
//
// Needed are as many tasks as the stage still has to finish, those with the smallest min(t_rem, t_new): running ones by
// t_rem, then those that wait.
//
// The switching point, of which section 4 has a rule of thumb and what the system does:
//
//	switch=learned  from the times that jobs took which went by one rule throughout, see grass_learned.go
//	switch=waves    the last two waves: unfinished tasks are no more than waves times the attempts that the job has with the slot on offer or,
//	                for a deadline, left is no more than waves times the mean t_new of its unfinished tasks
//	switch=size     no more than size tasks are unfinished: a small job is greedy from its beginning. Xu et al. (TPDS 2017) let the sizes of jobs
//	                decide and do not say how; GRASS calls jobs of up to 50 tasks small
//
// Readings. tnew=finished: GRASS samples the durations of a job's completed tasks. Under FIFO a job of one wave is in
// its last waves from the start, so that switch=waves hardly ever saves resources. Equal t_new: first what waits. A
// task whose t_new is above left is
// of no use in the paper, but a job here ends when all is done: such tasks wait until no other of the job has a use for
// a slot, and get no duplicates. So do tasks of stages of which nothing is known. With Need for all tasks and no
// deadline this is the form that Xu et al. (TPDS 2017) compare with. The paper's tasks report at all times; here the
// t_rem of one that stands still grows, see kit.Silence.
//
// An event costs O(log tasks of the stage + log jobs + stages of the job), and O(running tasks of the stage) more where
// not all tasks are needed.

import (
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var grassEntry = kit.Entry{
	Name:    "grass",
	Family:  kit.Stragglers,
	Clones:  "tasks with long to go",
	Cost:    "O(log tasks of the stage + log jobs + stages of the job)",
	Summary: "duplicates that save resources first, greedy ones for the last waves; knows deadlines and partial results",
	Source:  "Ananthanarayanan et al., NSDI 2014, sections 3 and 4",
	Params: []kit.Param{
		{Name: "mode", Kind: kit.Choice, Default: "grass", Choices: []string{"grass", "gs", "ras"}, Help: "which rule picks a job's next attempt"},
		{Name: "switch", Kind: kit.Choice, Default: "learned", Choices: []string{"learned", "waves", "size"},
			Help: "from when on mode=grass is greedy: learned from sampled jobs (section 4), in the last waves (the rule of thumb of section 4), or for the last tasks (Xu et al., TPDS 2017)"},
		{Name: "waves", Kind: kit.Float, Default: "2", Min: 0, Max: 1e6, Help: "length of the last stretch with switch=waves, and with switch=learned before there are samples"},
		{Name: "size", Kind: kit.Int, Default: "50", Min: 0, Max: 1e9, Help: "tasks left from which on switch=size is greedy"},
		{Name: "sample", Kind: kit.Float, Default: "0.15", Min: 0, Max: 1, Help: "fraction of the jobs that switch=learned runs by one rule throughout, half of them by each"},
		{Name: "copies", Kind: kit.Int, Default: "3", Min: 1, Max: 8, Help: "attempts of one task running at once"},
		kit.TNewParam("finished"),
		kit.OrderBy("fair"),
	},
	Progress: true,
	New:      newGrass,
}

type grass struct {
	order kit.Ranking

	gs, ras bool   // neither: switch
	learned *pilot // of switch=learned
	size    int    // of switch=size, -1 for others
	waves   float64
	copies  uint16

	ends     kit.Ends
	news     kit.TNew
	stages   kit.PerStage[grassStage]
	waiting  kit.Heap[kit.Standing]           // jobs with tasks that wait
	running  kit.Heap[kit.Standing]           // other jobs with a use for a slot, when they were last looked at
	switches kit.Heap[kit.Rising[sched.Time]] // jobs with a deadline by the instant from which another rule holds
	sorted   []sched.Time                     // scratch of needed
}

// grassStage has the tasks that may get another attempt by their estimated ends: late[c-1] those with c attempts.
type grassStage struct {
	late [7]kit.Heap[kit.Falling[sched.Time]]
}

// use is what a job would do with a slot.
type use struct {
	task  sched.TaskID
	clone bool
	rank  int     // uses of a larger rank go before all others
	value float64 // then larger values
}

func newGrass(a kit.Args) sched.Policy {
	mode := a.Choice("mode")
	p := &grass{
		order: kit.NewRanking(a), gs: mode == "gs", ras: mode == "ras", size: -1, waves: a.Float("waves"), copies: uint16(a.Int("copies")), news: kit.NewTNew(a),
	}
	switch how := a.Choice("switch"); {
	case p.gs || p.ras:
	case how == "learned":
		p.learned = &pilot{seed: a.Seed(), sample: a.Float("sample")}
	case how == "size":
		p.size = a.Int("size")
	}
	return p
}

func (a use) better(b use) bool {
	return a.rank > b.rank || a.rank == b.rank && a.value > b.value
}

func (p *grass) Observe(v *sched.View, ev *sched.Event) {
	p.order.Learn(v, ev)
	p.ends.Observe(v, ev)
	p.news.Observe(v, ev, &p.ends)
	if p.learned != nil {
		p.learned.observe(v, ev)
	}
	switch ev.Kind {
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		for c := range st.late {
			st.late[c].Clear()
		}
	case sched.AttemptProgress, sched.AttemptTaken, sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		p.place(v, ev.Task)
	case sched.JobPaused, sched.JobContinued:
		kit.Reconsider(v, ev, func(t sched.TaskID) { p.place(v, t) })
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.stages.End(v, ev)
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized, sched.TimerFired, sched.AttemptBegan, sched.DataFetched:
		return
	case sched.JobRetired:
		p.waiting.Drop(int(ev.Job))
		p.running.Drop(int(ev.Job))
		p.switches.Drop(int(ev.Job))
		return
	}
	p.touch(v, ev.Job)
}

// place puts a task in the order of its stage to which it belongs now.
func (p *grass) place(v *sched.View, t sched.TaskID) {
	task := v.Task(t)
	st := p.stages.Of(task.Stage)
	id := int(t - v.Stage(task.Stage).First)
	for c := range st.late {
		st.late[c].Drop(id)
	}
	end, ok := p.ends.Task(v, t)
	if ok && task.State == sched.TaskRunning && task.Live < p.copies && v.AttemptRoom(t) > 0 {
		st.late[task.Live-1].Set(id, kit.Falling[sched.Time]{X: end})
	}
}

// touch looks at a job again.
func (p *grass) touch(v *sched.View, j sched.JobID) {
	job := v.Job(j)
	p.waiting.Drop(int(j))
	p.running.Drop(int(j))
	p.switches.Drop(int(j))
	if job.State != sched.JobActive {
		return
	}
	if job.Pending > 0 {
		p.waiting.Set(int(j), p.order.Standing(v, j, &job))
	} else if _, ok := p.choose(v, j, true); ok {
		p.running.Set(int(j), p.order.Standing(v, j, &job))
	}
	if bound(v, &job) {
		at := job.Deadline // from then on it is error-bound
		if x := at - sched.FromSeconds(p.stretch(v, j, &job)); x > v.Now() {
			at = x
		}
		p.switches.Set(int(j), kit.Rising[sched.Time]{X: at})
	}
}

// bound tells whether the job has a deadline that has not passed.
func bound(v *sched.View, job *sched.Job) bool {
	return job.Deadline > v.Now() && job.Deadline < sched.Never
}

// wave returns the mean t_new of the unfinished tasks of the open stages of a job, in seconds.
func (p *grass) wave(v *sched.View, job *sched.Job) float64 {
	sum, n := 0.0, 0.0
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		if mean, ok := p.news.Mean(s, &st); ok && st.State == sched.StageOpen {
			sum += float64(st.Unfinished()) * mean
			n += float64(st.Unfinished())
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// stretch returns for how long before its deadline a job with one is greedy, in seconds.
func (p *grass) stretch(v *sched.View, j sched.JobID, job *sched.Job) float64 {
	if p.gs || p.ras || p.size >= 0 {
		return 0
	}
	wave := p.wave(v, job)
	if left := (job.Deadline - v.Now()).Seconds(); p.learned != nil && wave > 0 {
		if x, _, ok := p.learned.point(v, j, boundTime, left/wave); ok {
			return x * wave
		}
	}
	return p.waves * wave
}

// greedy tells which of the two rules the job follows.
func (p *grass) greedy(v *sched.View, j sched.JobID, job *sched.Job) bool {
	if p.gs || p.ras {
		return p.gs
	}
	if p.learned != nil {
		if sampled, gs := p.learned.sampled(j); sampled {
			return gs
		}
	}
	left := uint32(0)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		left += st.Unfinished()
	}
	if p.size >= 0 {
		return left <= uint32(p.size)
	}
	timed, wave, time := bound(v, job), 0.0, (job.Deadline - v.Now()).Seconds()
	if timed {
		wave = p.wave(v, job)
	}
	if p.learned != nil {
		kind, of := boundTasks, float64(left)
		if timed {
			kind, of = boundTime, time/wave
		}
		if _, now, ok := p.learned.point(v, j, kind, of); ok {
			return now
		}
	}
	if timed {
		return time <= p.waves*wave
	}
	return float64(left) <= p.waves*float64(job.Live+1)
}

// choose returns what the job would do with a free slot; clones tells whether it may clone.
func (p *grass) choose(v *sched.View, j sched.JobID, clones bool) (best use, ok bool) {
	job := v.Job(j)
	greedy := p.greedy(v, j, &job)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		if st.State != sched.StageOpen {
			continue
		}
		mean, known := p.news.Mean(s, &st)
		limit := p.needed(v, s, &st)
		if t, waits := v.PendingTask(s, 0); waits && st.Running < st.Unfinished() {
			x := p.fresh(v, &job, t, mean, known, greedy)
			if !ok || x.better(best) {
				best, ok = x, true
			}
		}
		if !clones || !known || st.Running == 0 {
			continue
		}
		for c := range p.stages.Of(s).late {
			x, some := p.another(v, &job, s, c, mean, limit, greedy)
			if some && (!ok || x.better(best)) {
				best, ok = x, true
			}
		}
	}
	return best, ok
}

// Ranks of uses: what cannot be in time, tasks that wait when saving goes first, and all others.
const (
	useless = iota
	second
	useful
)

// fresh rates the first attempt of a task that waits.
func (p *grass) fresh(v *sched.View, job *sched.Job, t sched.TaskID, mean float64, known, greedy bool) use {
	x := use{task: t, rank: second, value: mean}
	if greedy {
		x.rank = useful
	}
	if bound(v, job) {
		x.value = -mean
		if mean > (job.Deadline - v.Now()).Seconds() {
			x.rank = useless
		}
	}
	if !known {
		x.rank, x.value = useless, 0
	}
	return x
}

// another rates one more attempt of the stage's task with c+1 attempts that ends last, not after limit.
func (p *grass) another(v *sched.View, job *sched.Job, s sched.StageID, c int, mean float64, limit sched.Time, greedy bool) (x use, ok bool) {
	h := &p.stages.Of(s).late[c]
	n, end := -1, sched.Time(0)
	if limit == sched.Never {
		if h.Len() > 0 {
			n, end = h.Top(), h.TopKey().X
		}
	} else { // not all tasks are needed
		for i, at := range h.All() {
			if at.X <= limit && (at.X > end || at.X == end && i < n) {
				n, end = i, at.X
			}
		}
	}
	if n < 0 {
		return use{}, false
	}
	rem, copies := (end - v.Now()).Seconds(), float64(c+1)
	x = use{task: v.Stage(s).First + sched.TaskID(n), clone: true, rank: useful, value: rem}
	deadline := bound(v, job)
	if !greedy {
		x.value = copies*rem - (copies+1)*mean
		ok = x.value > 0
	} else {
		ok = rem > mean
		if deadline {
			x.value = -mean
		}
	}
	return x, ok && (!deadline || mean <= (job.Deadline-v.Now()).Seconds())
}

// needed returns the latest end of the running tasks that the stage needs, Never if it needs all of them. One of which
// nothing is known counts as the last.
func (p *grass) needed(v *sched.View, s sched.StageID, st *sched.Stage) sched.Time {
	n := int(st.Unfinished())
	if int(st.Running) <= n {
		return sched.Never
	}
	p.sorted = p.sorted[:0]
	for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
		end, known := p.ends.Task(v, t)
		if !known {
			end = sched.Never - 1
		}
		p.sorted = append(p.sorted, end)
	}
	slices.Sort(p.sorted)
	if n == 0 {
		return 0
	}
	return p.sorted[n-1]
}

func (p *grass) Decide(v *sched.View, act *sched.Actions) {
	p.ends.Look(v, act, func(_ sched.StageID, t sched.TaskID) {
		p.news.JudgeTask(v, t, &p.ends)
		p.place(v, t)
		p.touch(v, v.Rows().JobOf(t))
	})
	for p.switches.Len() > 0 && p.switches.TopKey().X <= v.Now() {
		j := sched.JobID(p.switches.Top())
		if p.learned != nil && v.Job(j).Deadline <= v.Now() {
			p.learned.land(v, j)
		}
		p.touch(v, j)
	}
	if p.learned != nil && p.learned.news {
		p.learned.news = false
		for j := range p.learned.jobs.All() {
			p.touch(v, j)
		}
	}
	for v.FreeSlots() > 0 {
		clones := v.CloneRoom() > 0
		from := &p.waiting
		if clones && p.running.Len() > 0 && (p.waiting.Len() == 0 || kit.Before(&p.running, &p.waiting)) {
			from = &p.running
		}
		if from.Len() == 0 {
			break
		}
		j := sched.JobID(from.Top())
		x, ok := p.choose(v, j, clones)
		if !ok {
			from.Drop(int(j))             // until something happens to it
			if job := v.Job(j); !clones { // nor has it a use for its waiting tasks, but for a clone it may have
				if _, ok := p.choose(v, j, true); ok {
					p.running.Set(int(j), p.order.Standing(v, j, &job))
				}
			}
			continue
		}
		switch {
		case x.clone && v.AttemptRoom(x.task) == 0: // its job had room when it was placed
		case x.clone:
			m, _ := kit.Elsewhere(v, x.task)
			kit.Launch(act, x.task, m, 0, sched.Straggling)
		default:
			m, _ := v.FreeMachine(0)
			kit.Start(v, act, x.task, m)
			if p.learned != nil {
				p.learned.begin(v, j)
			}
		}
		p.place(v, x.task)
		p.touch(v, j)
	}
	kit.WakeFor(act, &p.switches)
}
