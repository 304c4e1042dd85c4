package policy

// Hadoop MRv2's speculation: Apache Hadoop 3.4.1, DefaultSpeculator.maybeScheduleASpeculation and speculationValue,
// StartEndTimesBase, LegacyTaskRuntimeEstimator, SimpleExponentialTaskRuntimeEstimator, SimpleExponentialSmoothing.
//
//	each job scans every retry (1 s), and next only after rest (15 s) where a scan has asked for an attempt. In a scan, of each kind of tasks
//	  that has no request open, nothing waiting, and max(1, 5 %) of its tasks done:
//	    end  = start + estimated runtime of the attempt     new = estimated runtime of another one
//	    of the tasks with one attempt and now <= end, now + new < end: ask for an attempt of the one with the largest end,
//	    if fewer than max(min_allowed, total_cap x tasks, running_cap x tasks running) have two attempts
//
//	kind                a stage
//	speculative-cap-*   total_cap, running_cap; minimum-allowed-tasks: min_allowed
//	retry-after-*       retry, rest
//	legacy              age/max(progress, 0.0001) as of the last report; another one: the mean of the tasks done
//	simple-exponential  age + (1 - progress)/rate as of the last report, the rate smoothed with 1-exp(-dt/T), T = smooth (at the report after the first skip, at
//	                    least the attempt's age), and 0 before more than skip reports, and at least 1e-10 a millisecond; another one: m + min(m/4, sd/2), m = mean + 1.96 sd/sqrt(n), and 0 while n < 2
//	silence             an attempt that has not reported for longer than 9 s counts as having reported the same progress again
//
// The quirk that everybody meets is kept: the slow-task threshold (mean + 1 sd) is computed but compared with nothing;
// only its other condition, 5 % done, counts. So is the other one, that a task without any progress counts as 10,000
// times as old.
//
// So with simple-exponential a young attempt seems never to end: at its first report its end is months ahead. The
// estimator's first version, simple-exponential-first, had no estimate before more than skip reports, and none while
// the rate was 0.
//
// Requests go job by job: each job has an application master that asks for containers, its fresh tasks' first, and the
// cluster serves the jobs in its order. clones=cluster is not Hadoop's: requests wait for the fresh tasks of all jobs.
//
// Readings. An attempt has no estimate before its first report. Silence is looked at by scans that could ask for an
// attempt. The check for stagnation beside it, whose sense is reversed in the code, is left out. What a resumed attempt
// has found done does not count as its progress. Where the driver tells rates the estimate is what follows from them,
// and nobody is silent. Beside this, an attempt that stands still (kit.Silence) ends no sooner than is known of it
// then: Hadoop would take one that says 0.99 again and again for nearly done. A job's requests are served in the order
// of its stages; one whose task is over, or has no attempt left, is withdrawn.
//
// The value of an attempt, end - now - new, falls with time, so that of a stage only the largest end matters, and a
// scan that finds nothing need not be repeated until something happens. An event costs O(log tasks running), a scan
// O(1) and what it finds silent.

import (
	"math"

	"github.com/tailcut/tailcut/plan/rule"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var hadoop2Entry = kit.Entry{
	Name:    "hadoop2",
	Family:  kit.Stragglers,
	Clones:  "the task that gains most",
	Cost:    "O(log running tasks); a scan O(1)",
	Summary: "of each stage, clone the task that would gain most, one at a time, within caps",
	Source:  "Apache Hadoop 3.4.1, DefaultSpeculator.maybeScheduleASpeculation",
	Code:    hadoop2Code,
	Params: []kit.Param{
		{Name: "estimator", Kind: kit.Choice, Default: "legacy", Choices: []string{"legacy", "simple-exponential", "simple-exponential-first"}, Help: "how the runtime of an attempt is estimated"},
		{Name: "retry", Kind: kit.Span, Default: "1s", Min: 0.001, Max: 86400, Help: "time between the scans of a job"},
		{Name: "rest", Kind: kit.Span, Default: "15s", Min: 0.001, Max: 86400, Help: "the same after a scan that has asked for an attempt"},
		{Name: "min_allowed", Kind: kit.Int, Default: "10", Min: 0, Max: 1e9, Help: "tasks of a stage with two attempts that are always allowed"},
		{Name: "total_cap", Kind: kit.Float, Default: "0.01", Min: 0, Max: 1, Help: "the same, as a fraction of the stage's tasks"},
		{Name: "running_cap", Kind: kit.Float, Default: "0.1", Min: 0, Max: 1, Help: "the same, as a fraction of its running tasks"},
		{Name: "smooth", Kind: kit.Span, Default: "120s", Min: 0.001, Max: 1e6, Help: "simple-exponential: time constant T"},
		{Name: "skip", Kind: kit.Int, Default: "24", Min: 0, Max: 1e6, Help: "simple-exponential: reports that are not enough for an estimate"},
		kit.OrderParam,
		kit.ClonesParam,
	},
	Progress:       true,
	WorkConserving: true,
	New:            newHadoop2,
}

const (
	hadoopSilence = 9 * sched.Second // MAX_WAITTING_TIME_FOR_HEARTBEAT
	hadoopCrawl   = 0.0001           // least progress that the legacy estimator divides by
	hadoopSlowest = 1e-7             // least rate, per second, that the other one does
)

type hadoop2 struct {
	order  kit.Order
	places kit.Places

	rule     rule.Hadoop[sched.Time]
	smoothed bool
	first    bool // the first version of the smoothed estimator
	smooth   sched.Time
	skip     int
	stages   kit.PerStage[hadoopStage]
	jobs     sched.Table[sched.JobID, hadoopJob]
	due      kit.Heap[kit.Rising[sched.Time]] // stages by the scan that may find something
	decided  sched.Time                       // the last decision
	decides  uint64                           // decisions
	quiet    kit.Silence
	lists    kit.Lists
	attempts []hadoopAttempt // by row
}

// hadoopJob says when a job scans: at from, and every retry after it.
type hadoopJob struct {
	from, asked sched.Time
	arrived     uint64 // after so many decisions
	open        int    // requests
}

type hadoopStage struct {
	id    sched.StageID
	first sched.TaskID                      // the stage's; indexes of tasks count from it
	asked bool                              // a request is open
	want  sched.TaskID                      // the task that it is for
	ends  kit.Heap[kit.Falling[sched.Time]] // tasks, by index, whose single attempt has an estimate, by its end
	// single attempts, by last report, real or not, which their links have for a start
	quiet kit.List
}

// hadoopAttempt is what is known of a running attempt.
type hadoopAttempt struct {
	end      sched.Time // estimated, 0 for none
	reported sched.Time // last report, real or not
	known    bool       // the driver has told its rate
	progress float64    // of its own, in [0, 1]: what it has done of what it was launched for
	rate     float64    // smoothed, per second
	constant sched.Time // T
	reports  int
}

func newHadoop2(a kit.Args) sched.Policy {
	return &hadoop2{
		order: kit.NewOrder(a).ClonesBy(a), rule: hadoopRule(a), smoothed: a.Choice("estimator") != "legacy",
		first: a.Choice("estimator") == "simple-exponential-first", smooth: a.Span("smooth"), skip: a.Int("skip"), decided: -1,
	}
}

func hadoopRule(a kit.Args) rule.Hadoop[sched.Time] {
	return rule.Hadoop[sched.Time]{
		Retry: a.Span("retry"), Rest: a.Span("rest"), MinAllowed: a.Int("min_allowed"), TotalCap: a.Float("total_cap"), RunningCap: a.Float("running_cap"),
	}
}

func (p *hadoop2) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	p.places.Observe(v, ev)
	p.quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.JobArrived:
		*p.jobs.At(ev.Job) = hadoopJob{from: v.Now(), arrived: p.decides}
	case sched.JobRetired:
		p.jobs.Drop(ev.Job)
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.id, st.first, st.asked, st.quiet = ev.Stage, v.Stage(ev.Stage).First, false, kit.List{}
		st.ends.Clear()
	case sched.TaskReady, sched.TaskGivenUp:
		p.schedule(v, p.stages.Of(ev.Stage), v.Now())
	case sched.AttemptProgress:
		p.report(v, ev.Attempt)
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		st := p.stages.Of(ev.Stage)
		p.forget(st, ev.Attempt, ev.Task)
		if row := ev.Attempt.Row(); row < len(p.attempts) {
			p.attempts[row] = hadoopAttempt{}
		}
		if a, ok := kit.Survivor(v, ev.Task); ok {
			p.single(st, a, ev.Task)
		}
		if task := v.Task(ev.Task); st.asked && st.want == ev.Task && (task.State != sched.TaskRunning || task.Live != 1) {
			p.answered(st, ev.Job)
		}
		p.schedule(v, st, v.Now())
	case sched.AttemptBegan, sched.AttemptTaken:
		p.started(ev.Attempt, v.Rows().Started(ev.Attempt))
		if a := v.Attempt(ev.Attempt); a.Rate > 0 || a.Progress > a.From {
			p.report(v, ev.Attempt)
		}
		st := p.stages.Of(ev.Stage)
		if a, ok := kit.Survivor(v, ev.Task); ok {
			p.single(st, a, ev.Task)
		}
		p.schedule(v, st, v.Now())
	case sched.JobPaused, sched.JobContinued:
		job := v.Job(ev.Job)
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			if p.stages.Has(s) {
				p.schedule(v, p.stages.Of(s), v.Now())
			}
		}
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		if ev.Kind == sched.StageDone && p.stages.Has(ev.Stage) && p.stages.Of(ev.Stage).asked {
			p.answered(p.stages.Of(ev.Stage), ev.Job)
		}
		p.due.End(v, ev)
		p.stages.End(v, ev)
	}
}

// single makes an attempt, which has become the only one of its task, a candidate.
func (p *hadoop2) single(st *hadoopStage, a sched.AttemptID, t sched.TaskID) {
	x := &p.attempts[a.Row()]
	if x.end > 0 {
		st.ends.Set(int(t-st.first), kit.Falling[sched.Time]{X: x.end})
	}
	if !x.known {
		p.lists.InsertByStart(&st.quiet, a, t, x.reported)
	}
}

// update takes notice that a candidate has reported, really or not, just now.
func (p *hadoop2) update(st *hadoopStage, a sched.AttemptID, t sched.TaskID) {
	p.forget(st, a, t)
	x := &p.attempts[a.Row()]
	if x.end > 0 {
		st.ends.Set(int(t-st.first), kit.Falling[sched.Time]{X: x.end})
	}
	if !x.known {
		p.lists.Append(&st.quiet, a, t, x.reported)
	}
}

// forget makes an attempt no candidate.
func (p *hadoop2) forget(st *hadoopStage, a sched.AttemptID, t sched.TaskID) {
	p.lists.Remove(a)
	st.ends.Drop(int(t - st.first))
}

// report takes in how far an attempt has come.
func (p *hadoop2) report(v *sched.View, id sched.AttemptID) {
	at := v.Attempt(id)
	st, x := p.stages.Of(v.Task(at.Task).Stage), &p.attempts[id.Row()]
	candidate := p.lists.ListOf(id) != nil || st.ends.Has(int(at.Task-st.first))
	if x.known = at.Rate > 0; x.known {
		x.end = kit.Later(at.ProgressAt, (1-at.Progress)/at.Rate)
	} else {
		p.estimate(x, at.Started, at.ProgressAt, max(0, (at.Progress-at.From)/(1-at.From)))
	}
	p.putOff(v, id)
	if candidate {
		p.update(st, id, at.Task)
		p.schedule(v, st, v.Now())
	}
}

// putOff moves the end of an attempt that stands still.
func (p *hadoop2) putOff(v *sched.View, a sched.AttemptID) {
	at, x := v.Attempt(a), &p.attempts[a.Row()]
	if rem, silent := p.quiet.Remaining(v, a, &at); silent {
		x.end = max(x.end, v.Now()+min(rem, sched.Never-v.Now()))
	}
}

// still takes notice of the attempts of a task that stand still.
func (p *hadoop2) still(v *sched.View, st *hadoopStage, t sched.TaskID) {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		p.putOff(v, a)
		if x := &p.attempts[a.Row()]; x.end > 0 && v.Task(t).Live == 1 && v.AttemptRoom(t) > 0 {
			st.ends.Set(int(t-st.first), kit.Falling[sched.Time]{X: x.end})
		}
	}
	p.schedule(v, st, v.Now())
}

// estimate takes in a report of progress.
func (p *hadoop2) estimate(x *hadoopAttempt, started, now sched.Time, progress float64) {
	dt := now - x.reported
	if p.smoothed && dt > 0 {
		if x.reports++; x.reports == 1 {
			x.rate, x.constant = progress/dt.Seconds(), p.smooth
		}
		if x.reports == p.skip+1 {
			x.constant = max(x.constant, now-started)
		}
		if x.reports > 1 {
			factor := -math.Expm1(-float64(dt) / float64(x.constant))
			x.rate += factor * ((progress-x.progress)/dt.Seconds() - x.rate)
		}
	}
	x.reported, x.progress = now, progress
	switch {
	case !p.smoothed && now > started:
		x.end = kit.Later(started, (now-started).Seconds()/max(hadoopCrawl, progress))
	case p.smoothed:
		x.end = p.forecast(x, now)
	}
}

// forecast returns the end of an attempt by its smoothed rate, 0 for none.
func (p *hadoop2) forecast(x *hadoopAttempt, now sched.Time) sched.Time {
	rate := x.rate
	if x.reports <= p.skip {
		rate = 0
	}
	if p.first && rate <= 0 {
		return 0
	}
	return kit.Later(now, (1-x.progress)/max(hadoopSlowest, rate))
}

// schedule notes the job's first scan, from an instant on, that may find something in the stage.
func (p *hadoop2) schedule(v *sched.View, st *hadoopStage, from sched.Time) {
	if p.open(v, st) {
		at := sched.Never
		if st.ends.Len() > 0 && p.gains(v, st, from) {
			at = from
		} else if l := p.lists.First(&st.quiet); l != nil {
			at = max(from, l.Started+hadoopSilence+1)
		}
		if at < sched.Never {
			p.due.Set(int(st.id), kit.Rising[sched.Time]{X: p.scan(v.Stage(st.id).Job, at)})
			return
		}
	}
	p.due.Drop(int(st.id))
}

// scan returns the instant of the job's first scan from an instant on. A second call at one instant is not scanned in.
func (p *hadoop2) scan(j sched.JobID, at sched.Time) sched.Time {
	job := p.jobs.Of(j)
	from := job.from
	if at = max(at, from); at == p.decided && job.arrived < p.decides {
		at++
	}
	return p.rule.Scan(from, at)
}

// open tells whether a scan could ask for an attempt in the stage if a task were slow.
func (p *hadoop2) open(v *sched.View, st *hadoopStage) bool {
	stage := v.Stage(st.id)
	return !st.asked && stage.Pending == 0 && !v.Job(stage.Job).Paused &&
		p.rule.Open(int(stage.Hopeful()), int(stage.Done), int(stage.Running), int(stage.Live-stage.Running))
}

// gains tells whether the attempt of the stage with the largest end would end later than another one started at an
// instant.
func (p *hadoop2) gains(v *sched.View, st *hadoopStage, at sched.Time) bool {
	return p.rule.Gains(kit.Later(at, p.anew(v, st)), st.ends.TopKey().X)
}

// anew returns the estimated runtime of another attempt in a stage that has tasks done, in seconds.
func (p *hadoop2) anew(v *sched.View, st *hadoopStage) float64 {
	stage := v.Stage(st.id)
	mean, sd, _ := stage.Measured()
	n := float64(stage.Done)
	switch {
	case !p.smoothed:
		return mean
	case n < 2:
		return 0
	default:
		sd *= math.Sqrt((n - 1) / n) // Hadoop's is that of the population
		m := mean + 1.96*sd/math.Sqrt(n)
		return m + min(m/4, sd/2)
	}
}

func (p *hadoop2) Decide(v *sched.View, act *sched.Actions) {
	p.order.Serve(v, act, p)
	p.quiet.Look(v, func(s sched.StageID, t sched.TaskID) { p.still(v, p.stages.Of(s), t) })
	kit.WakeFor(act, &p.quiet.Due)
	asked := false
	for p.due.Len() > 0 && p.due.TopKey().X <= v.Now() {
		asked = p.look(v, p.stages.Of(sched.StageID(p.due.Top()))) || asked
	}
	if asked {
		p.order.Serve(v, act, p)
	}
	p.decided = v.Now()
	p.decides++
	kit.WakeFor(act, &p.due)
}

// Fresh starts a task that waits.
func (p *hadoop2) Fresh(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) bool {
	a := p.order.Launch(v, act, t, m)
	p.started(a, v.Now())
	if !v.Rows().Waiting(a) {
		st := p.stages.Of(v.Task(t).Stage)
		p.lists.Append(&st.quiet, a, t, v.Now())
		p.schedule(v, st, v.Now())
	}
	return true
}

// look is the part of a scan that concerns one stage, and tells whether it asks for an attempt. The job rests after a
// scan in which one of its stages has asked.
func (p *hadoop2) look(v *sched.View, st *hadoopStage) (asks bool) {
	now, j := v.Now(), v.Stage(st.id).Job
	job := p.jobs.Of(j)
	if now < job.from && now != job.asked {
		p.schedule(v, st, now+1)
		return false
	}
	for p.open(v, st) && st.ends.Len() > 0 && p.gains(v, st, now) {
		t := st.first + sched.TaskID(st.ends.Top())
		a, _ := v.FirstAttempt(t)
		if v.AttemptRoom(t) == 0 {
			p.forget(st, a, t) // it may have no second attempt whatever comes
			continue
		}
		st.asked, st.want, asks = true, t, true
		job.from, job.asked = p.rule.Rested(now), now
		job.open++
		p.order.Want(v, j)
	}
	p.hear(v, st)
	p.schedule(v, st, now+1)
	if asks {
		p.rested(v, j)
	}
	return asks
}

// rested takes notice that a job will scan at other instants than before.
func (p *hadoop2) rested(v *sched.View, j sched.JobID) {
	job := v.Job(j)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if p.due.Has(int(s)) && p.due.Key(int(s)).X > v.Now() {
			p.schedule(v, p.stages.Of(s), v.Now()+1)
		}
	}
}

// answered takes notice that the open request of a stage is no more.
func (p *hadoop2) answered(st *hadoopStage, j sched.JobID) {
	st.asked = false
	job := p.jobs.Of(j)
	if job.open--; job.open == 0 {
		p.order.Unwant(j)
	}
}

// hear makes attempts that have been silent for too long report the same again.
func (p *hadoop2) hear(v *sched.View, st *hadoopStage) {
	for l := p.lists.First(&st.quiet); l != nil && v.Now()-l.Started > hadoopSilence; l = p.lists.First(&st.quiet) {
		a, t := p.lists.Attempt(v, l), l.Task
		x := &p.attempts[a.Row()]
		p.estimate(x, v.Attempt(a).Started, v.Now(), x.progress)
		p.putOff(v, a)
		p.update(st, a, t)
	}
}

// Clone starts an attempt that a job has asked for. A request for which there is no machine waits; one for a task that
// may have no second attempt whatever comes is withdrawn.
func (p *hadoop2) Clone(v *sched.View, act *sched.Actions, j sched.JobID) bool {
	job := v.Job(j)
	if job.Paused {
		return false
	}
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if !p.stages.Has(s) || !p.stages.Of(s).asked {
			continue
		}
		st := p.stages.Of(s)
		m, ok := p.places.Unused(v, st.want, 0)
		clones := v.AttemptRoom(st.want) > 0
		if clones && !ok {
			continue
		}
		first, _ := v.FirstAttempt(st.want)
		p.forget(st, first, st.want)
		if clones {
			p.started(p.order.Clone(v, act, st.want, m, sched.Straggling), v.Now())
		}
		p.answered(st, j)
		p.schedule(v, st, v.Now())
		if clones {
			return true
		}
	}
	return false
}

// started takes notice of a new attempt.
func (p *hadoop2) started(a sched.AttemptID, now sched.Time) {
	p.attempts = kit.Grown(p.attempts, a.Row())
	p.attempts[a.Row()] = hadoopAttempt{reported: now}
}
