package policy

// Hopper: Ren, Ananthanarayanan, Wierman, Yu, "Hopper: Decentralized Speculation-aware Cluster Scheduling at Scale",
// SIGCOMM 2015, sections 3 and 4: the centralized form.
//
//	S, N      View.Slots, active jobs
//	T_j       unfinished tasks of the job's current phase: its open stages
//	beta      tail index of durations, fitted to what has ended; 1 to 2
//	alpha_j   time that the next phase, the first stage that is blocked, needs to read the results of the stages before it, bytes / bandwidth, by the work
//	          of the current phase, tasks x mean duration; 1 without a next phase, and where nothing is known of bytes
//	V_j       virtual size, max(2/beta, 1) T_j sqrt(alpha_j): the slots that the job has a use for, its clones included
//	epsilon   epsilon: how much less than S/N slots a job may get
//
//	sum of V > S   jobs in order of the larger V of the current and the next phase get V_j slots each, while there are slots
//	otherwise      S V_j / sum of V, in whole numbers by largest remainder
//	fairness       nobody gets less than (1-epsilon) S/N, or V_j where that is less; the rest is divided as above
//
// A job starts its waiting tasks in its slots. In those that are left it duplicates the running task with the most time
// left, if that is more than a new attempt is expected to take. What it does not use stays free: it is reserved for the
// stragglers to come.
//
// Readings. V_j is rounded up, so that each job that is served can run. The bytes of alpha are those of the job's
// edges, and of measured edges what the results so far promise; alpha=work takes the whole work of the next phase
// instead, alpha=one leaves alpha out. The minimum is bounded by V_j, or else small jobs would hold slots that they
// have no use for. The paper runs any speculation in the slots of a job; here it is GRASS's greedy rule, and with
// tnew=finished GRASS's estimate of a new attempt's duration, see kit.TNew. The durations in alpha are those that the
// workload states, where it does. Slots are divided anew when a job comes or goes, a stage begins or ends, machines
// come or go, or, if there are too few, the unfinished tasks of a job have halved. Nothing is preempted: jobs above
// their slots keep what they have, and free slots go by the same order.
//
// A job that neither runs nor has a task that may run has no slots: all its unfinished tasks wait for others of its
// tasks. Where these need slots of another class it would keep the slots that they wait for, and two such jobs would
// wait for each other for ever.
//
// All that decides a share is whole: alpha's root counts in 1024ths, beta and epsilon in the nine digits of ratio. So
// equal remainders are equal, and the stated order breaks the tie.
//
// beta is the estimate of maximum likelihood over the stages that have ended, each with the shortest of its durations
// as its scale, of tasks with a single attempt; a stage counts less with each that ends after it, a third after a
// thousand.
//
// An event costs O(log jobs + log tasks of the stage + stages of the job), a division O(jobs log jobs + stages and
// edges of active jobs).

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var hopperEntry = kit.Entry{
	Name:    "hopper",
	Family:  kit.Early,
	Clones:  "tasks with long to go, in slots kept for them",
	Cost:    "O(log jobs + log tasks of the stage + stages of the job); a division of the slots O(jobs log jobs + stages and edges)",
	Summary: "each job gets the slots that it and its stragglers' clones will need, small jobs first; reserved slots stay free",
	Needs:   kit.Needs{Jobs: true, Lacking: "no slot is kept from anyone, and what is free clones stragglers"},
	Source:  "Ren et al., SIGCOMM 2015, sections 3 and 4",
	Params: []kit.Param{
		{Name: "epsilon", Kind: kit.Float, Default: "0.1", Min: 0, Max: 1, Help: "fraction of its fair share that a job may lack; 1 for no fairness"},
		{Name: "beta", Kind: kit.Float, Default: "0", Min: 0, Max: 2, Help: "tail index of durations; 0 estimates it from finished tasks"},
		{Name: "prior", Kind: kit.Float, Default: "1.5", Min: 1, Max: 2, Help: "initial value of that estimate"},
		{Name: "alpha", Kind: kit.Choice, Default: "bytes", Choices: []string{"bytes", "one", "work"}, Help: "what counts of a job's next stage: the bytes that it reads (section 4.2), nothing, or all its work"},
		{Name: "bandwidth", Kind: kit.Float, Default: "12.5e6", Min: 1, Max: 1e15, Help: "alpha=bytes: bytes per second that one slot reads"},
		{Name: "copies", Kind: kit.Int, Default: "2", Min: 1, Max: 1000, Help: "attempts of one task running at once"},
		kit.TNewParam("finished"),
	},
	Progress: true,
	New: func(a kit.Args) sched.Policy {
		return &hopper{
			news: kit.NewTNew(a),
			fair: decimals - uint64(math.Round(a.Float("epsilon")*decimals)), beta: a.Float("beta"), alpha: a.Choice("alpha"), bandwidth: a.Float("bandwidth"), copies: a.Int("copies"),
			tail: tailIndex{prior: a.Float("prior")},
		}
	},
}

type hopper struct {
	fair      uint64  // 1-epsilon, in units of 1/decimals
	beta      float64 // 0 where it is learnt
	alpha     string
	bandwidth float64
	copies    int

	ends   kit.Ends
	news   kit.TNew
	stages kit.PerStage[hopperStage]
	tail   tailIndex
	stale  bool          // the slots are to be divided anew
	doubts []sched.JobID // and if one of these wavers
	jobs   sched.Table[sched.JobID, hopperJob]
	shares []hopperShare
	waits  kit.Heap[kit.Standing] // jobs below their shares with tasks that wait
	// other jobs below their shares, with a task to duplicate when they were last looked at
	idles kit.Heap[kit.Standing]
}

// hopperStage has the tasks that may get another attempt, by their estimated ends, and the durations of winners without
// clones.
type hopperStage struct {
	late kit.Heap[kit.Falling[sched.Time]]
	won  logs
}

// hopperJob is what a job got when the slots were divided last.
type hopperJob struct {
	share int
	order float64 // by which it is served
	takes bool    // it ran or had a task that could run
	// unfinished tasks of the phase at which the slots are divided again; -1 where there are enough for all
	half int
}

// hopperShare is a job while the slots are divided.
type hopperShare struct {
	job     sched.JobID
	arrived sched.Time
	order   uint64 // the larger weight of this phase and the next
	weight  uint64 // T sqrt(alpha) in 1024ths; V is proportional to it
	rest    uint64 // what its share lacks of its part
	share   int
}

func (p *hopper) Observe(v *sched.View, ev *sched.Event) {
	p.ends.Observe(v, ev)
	p.news.Observe(v, ev, &p.ends)
	switch ev.Kind {
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized:
		p.stale = true
		return
	case sched.TimerFired, sched.AttemptBegan, sched.DataFetched:
		return
	case sched.JobRetired:
		p.jobs.Drop(ev.Job)
		return
	case sched.JobArrived:
		p.jobs.At(ev.Job)
		p.stale = true
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.late.Clear()
		st.won = logs{}
		p.stale = true
	case sched.AttemptDone:
		st := p.stages.Of(ev.Stage)
		if a := v.Attempt(ev.Attempt); v.Task(ev.Task).Launched == 1 && a.From == 0 {
			st.won.add((v.Now() - a.Started).Seconds())
		}
		p.place(v, ev.Task)
		if half := p.jobs.Of(ev.Job).half; half >= 0 {
			if unfinished, _ := hopperPhase(v, ev.Job); unfinished <= half {
				p.stale = true
			}
		}
	case sched.AttemptProgress, sched.AttemptTaken, sched.AttemptFailed, sched.AttemptLost:
		p.place(v, ev.Task)
	case sched.JobPaused, sched.JobContinued:
		kit.Reconsider(v, ev, func(t sched.TaskID) { p.place(v, t) })
		p.stale = true
	case sched.TaskGivenUp:
		p.stale = true
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.stale = true
		if ev.Kind == sched.StageDone {
			p.tail.add(&p.stages.Of(ev.Stage).won)
		}
		p.stages.End(v, ev)
	}
	p.touch(v, ev.Job)
}

// place puts a task in the order of its stage if it may get another attempt.
func (p *hopper) place(v *sched.View, t sched.TaskID) {
	task := v.Task(t)
	st := p.stages.Of(task.Stage)
	id := int(t - v.Stage(task.Stage).First)
	end, ok := p.ends.Task(v, t)
	if ok && task.State == sched.TaskRunning && int(task.Live) < p.copies && v.AttemptRoom(t) > 0 {
		st.late.Set(id, kit.Falling[sched.Time]{X: end})
	} else {
		st.late.Drop(id)
	}
}

// touch looks again at whether a job has a use for a slot. Most events change nothing about that, and then the heaps
// stay as they are.
func (p *hopper) touch(v *sched.View, j sched.JobID) {
	job := v.Job(j)
	if p.wavers(&job, j) {
		p.doubts = append(p.doubts, j) // it may be so in the midst of what happens at one instant only
	}
	if job.State != sched.JobActive || int(job.Live) >= p.jobs.Of(j).share {
		p.waits.Drop(int(j))
		p.idles.Drop(int(j))
		return
	}
	at := kit.Standing{Share: p.jobs.Of(j).order, Arrived: job.Arrived}
	switch {
	case job.Pending > 0:
		p.idles.Drop(int(j))
		p.waits.Set(int(j), at)
	case p.latest(v, &job).found:
		p.waits.Drop(int(j))
		p.idles.Set(int(j), at)
	default:
		p.waits.Drop(int(j))
		p.idles.Drop(int(j))
	}
}

// wavers tells whether a job has come to have a use for slots since they were divided, or no longer has any.
func (p *hopper) wavers(job *sched.Job, j sched.JobID) bool {
	return job.State == sched.JobActive && !job.Paused && p.jobs.Of(j).takes != hopperTakes(job)
}

// hopperTakes tells whether a job runs or has a task that may run.
func hopperTakes(job *sched.Job) bool { return job.Pending > 0 || job.Live > 0 }

// hopperLate is the task of a job that has the most time left.
type hopperLate struct {
	task  sched.TaskID
	end   sched.Time
	found bool
}

// latest returns the task that a job would duplicate.
func (p *hopper) latest(v *sched.View, job *sched.Job) (x hopperLate) {
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		mean, known := p.news.Mean(s, &st)
		if st.State != sched.StageOpen || !known || !v.Rows().Visible(s) {
			continue
		}
		h := &p.stages.Of(s).late
		if h.Len() > 0 && h.TopKey().X > max(x.end, kit.Later(v.Now(), mean)) {
			x = hopperLate{st.First + sched.TaskID(h.Top()), h.TopKey().X, true}
		}
	}
	return x
}

// hopperPhase returns the unfinished tasks of a job's open stages, and their work in seconds.
func hopperPhase(v *sched.View, j sched.JobID) (tasks int, work float64) {
	job := v.Job(j)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if st := v.Stage(s); st.State == sched.StageOpen && v.Rows().Visible(s) {
			n, w := hopperWork(&st)
			tasks += n
			work += w
		}
	}
	return tasks, work
}

func hopperWork(st *sched.Stage) (tasks int, work float64) {
	mean, _, ok := st.Estimate()
	if !ok {
		mean = srewPrior
	}
	return int(st.Unfinished()), float64(st.Unfinished()) * mean
}

// weights returns the weight of a job's current phase, and the larger one of this and the next.
func (p *hopper) weights(v *sched.View, j sched.JobID) (weight, order uint64) {
	tasks, work := hopperPhase(v, j)
	job := v.Job(j)
	var next [2]hopperNext
	n := 0
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages) && n < len(next); s++ {
		if st := v.Stage(s); st.State == sched.StageBlocked && st.Unfinished() > 0 {
			next[n] = p.next(v, &job, s, &st)
			n++
		}
	}
	weight = hopperWeight(tasks, work, next[0].comes)
	return weight, max(weight, hopperWeight(next[0].tasks, next[0].work, next[1].comes))
}

// hopperNext is a phase that is still blocked.
type hopperNext struct {
	tasks int
	work  float64 // seconds
	comes float64 // what counts of it in the alpha of the phase before, seconds; 0 for nothing
}

func (p *hopper) next(v *sched.View, job *sched.Job, s sched.StageID, st *sched.Stage) (x hopperNext) {
	x.tasks, x.work = hopperWork(st)
	switch p.alpha {
	case "bytes":
		if st.Reads {
			for from := job.FirstStage; from < s; from++ {
				x.comes += v.Sites().Carries(from, s) / p.bandwidth
			}
		}
	case "work":
		x.comes = x.work
	}
	return x
}

// hopperRoot is the unit of alpha's root.
const hopperRoot = 1 << 10

// hopperWeight returns T sqrt(alpha) of a phase with so much work before one of which so much counts.
func hopperWeight(tasks int, work, comes float64) uint64 {
	root := 1.0
	if work > 0 && comes > 0 {
		root = math.Sqrt(comes / work)
	}
	return uint64(tasks) * uint64(math.Round(min(max(root*hopperRoot, 1), 1<<20)))
}

// hopperFactor is max(2/beta, 1) as a fraction, in the unit of weights: V is a weight by it.
type hopperFactor struct{ num, den uint64 }

func (p *hopper) factor() hopperFactor {
	beta := p.beta
	if beta == 0 {
		beta = p.tail.index()
	}
	half := toRatio(beta / 2)
	return hopperFactor{half.den, half.num * hopperRoot}
}

// slots returns V, rounded up, if that is at most so many; else these.
func (f hopperFactor) slots(weight uint64, most int) int {
	hi, lo := bits.Mul64(weight, f.num)
	if hi >= f.den {
		return most
	}
	n, rest := bits.Div64(hi, lo, f.den)
	if rest > 0 {
		n++
	}
	return int(min(n, uint64(most)))
}

// divide gives each active job its slots.
func (p *hopper) divide(v *sched.View) {
	p.shares = p.shares[:0]
	total := uint64(0)
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		job, x := v.Job(j), p.jobs.Of(j)
		x.takes = hopperTakes(&job)
		if job.Paused || !x.takes { // what runs of a paused job is in nobody's slots
			x.share, x.half = 0, -1
			p.touch(v, j)
			continue
		}
		weight, order := p.weights(v, j)
		p.shares = append(p.shares, hopperShare{job: j, arrived: job.Arrived, order: order, weight: weight})
		total += weight
	}
	f := p.factor()
	scarce := f.slots(total, v.Slots()+1) > v.Slots()
	if scarce {
		hopperBySize(p.shares, v.Slots(), p.fair, f)
	} else {
		hopperInProportion(p.shares, v.Slots(), total)
	}
	for i := range p.shares {
		x := &p.shares[i]
		job := p.jobs.Of(x.job)
		job.half = -1
		if scarce {
			tasks, _ := hopperPhase(v, x.job)
			job.half = tasks / 2
		}
		if order := float64(x.order); job.share != x.share || job.order != order {
			job.share, job.order = x.share, order
			p.touch(v, x.job)
		}
	}
}

// Compare says who is served first.
func (x *hopperShare) Compare(y *hopperShare) int {
	if c := cmp.Compare(x.order, y.order); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(x.arrived, y.arrived), cmp.Compare(x.job, y.job))
}

// hopperBySize gives every job its minimum, and then V in order of size while there are slots.
func hopperBySize(jobs []hopperShare, slots int, fair uint64, f hopperFactor) {
	slices.SortFunc(jobs, func(a, b hopperShare) int { return a.Compare(&b) })
	least, _ := divide(slots, fair, decimals*uint64(len(jobs)))
	left := slots
	for i := range jobs {
		x := &jobs[i]
		x.share = f.slots(x.weight, least)
		left -= x.share
	}
	for i := range jobs {
		x := &jobs[i]
		more := f.slots(x.weight, x.share+left) - x.share
		x.share += more
		left -= more
	}
}

// hopperInProportion gives every job its part of the slots, by largest remainder, ties to the one that is served first;
// nothing if no job has a use for any.
func hopperInProportion(jobs []hopperShare, slots int, total uint64) {
	if total == 0 {
		return
	}
	left := slots
	for i := range jobs {
		x := &jobs[i]
		x.share, x.rest = divide(slots, x.weight, total)
		left -= x.share
	}
	hopperSelect(jobs, left)
	for i := range jobs[:left] {
		jobs[i].share++
	}
}

// remainder compares by what is missing from the parts of jobs, the largest first.
func (x *hopperShare) remainder(y *hopperShare) int {
	if c := cmp.Compare(y.rest, x.rest); c != 0 {
		return c
	}
	return x.Compare(y)
}

// hopperSelect moves the n jobs with the largest remainders to the front, in any order, without sorting (quickselect:
// Hoare, CACM 1961).
func hopperSelect(jobs []hopperShare, n int) {
	for n > 0 && n < len(jobs) {
		pivot := jobs[len(jobs)/2]
		i, j := 0, len(jobs)-1
		for i <= j {
			for jobs[i].remainder(&pivot) < 0 {
				i++
			}
			for pivot.remainder(&jobs[j]) < 0 {
				j--
			}
			if i <= j {
				jobs[i], jobs[j] = jobs[j], jobs[i]
				i++
				j--
			}
		}
		// jobs[:j+1] do not go after the pivot, jobs[i:] not before it, and between them is at most the pivot itself
		switch {
		case n <= j:
			jobs = jobs[:j+1]
		case n > i:
			jobs, n = jobs[i:], n-i
		default:
			return
		}
	}
}

func (p *hopper) Decide(v *sched.View, act *sched.Actions) {
	p.ends.Look(v, act, func(_ sched.StageID, t sched.TaskID) {
		p.news.JudgeTask(v, t, &p.ends)
		p.place(v, t)
		p.touch(v, v.Rows().JobOf(t))
	})
	for _, j := range p.doubts {
		job := v.Job(j)
		p.stale = p.stale || p.wavers(&job, j)
	}
	p.doubts = p.doubts[:0]
	if p.stale && v.Cluster().Unfinished() > 0 {
		p.stale = false
		p.divide(v)
	}
	for v.FreeSlots() > 0 {
		if p.idles.Len() > 0 && v.CloneRoom() > 0 && (p.waits.Len() == 0 || kit.Before(&p.idles, &p.waits)) {
			p.duplicate(v, act, sched.JobID(p.idles.Top()))
			continue
		}
		if p.waits.Len() == 0 {
			return
		}
		j := sched.JobID(p.waits.Top())
		t, _ := kit.FirstPending(v, j)
		m, _ := v.FreeMachine(0)
		kit.Start(v, act, t, m)
		p.place(v, t)
		p.touch(v, j)
	}
}

// duplicate gives the job's latest task another attempt if it is still late.
func (p *hopper) duplicate(v *sched.View, act *sched.Actions, j sched.JobID) {
	job := v.Job(j)
	x := p.latest(v, &job)
	if !x.found {
		p.idles.Drop(int(j)) // until something happens to it
		return
	}
	if v.AttemptRoom(x.task) > 0 { // as when it was placed
		m, _ := kit.Elsewhere(v, x.task)
		kit.Launch(act, x.task, m, 0, sched.Straggling)
	}
	p.place(v, x.task)
	p.touch(v, j)
}

// logs sums up durations of one stage for the tail index.
type logs struct {
	n, sum, least float64 // sum of logarithms; least is the smallest duration
}

func (l *logs) add(seconds float64) {
	if seconds <= 0 {
		return
	}
	if l.n == 0 || seconds < l.least {
		l.least = seconds
	}
	l.n++
	l.sum += math.Log(seconds)
}

// tailIndex estimates the index of a Pareto law of which every stage has a scale of its own: n-1 by the sum of
// ln(duration/shortest), over all stages.
type tailIndex struct{ prior, n, sum float64 }

func (x *tailIndex) add(l *logs) {
	if l.n < 2 {
		return
	}
	const fade = 1 - 1.0/1000
	x.n = x.n*fade + l.n - 1
	x.sum = x.sum*fade + max(0, l.sum-l.n*math.Log(l.least))
}

// index returns the tail index, at least 1 and at most 2.
func (x *tailIndex) index() float64 {
	if x.n == 0 {
		return x.prior
	}
	return min(max(x.n/x.sum, 1), 2)
}
