package policy

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var hadoop2Oracle = oracle{
	name: "hadoop2",
	specs: []string{
		"hadoop2", "hadoop2:rest=1s,order=fair", "hadoop2:retry=700ms,rest=4s,min_allowed=2,order=srpt", "hadoop2:estimator=simple-exponential,skip=2,smooth=10s,rest=3s",
		"hadoop2:estimator=simple-exponential-first,skip=0,rest=2s,total_cap=0.5", "hadoop2:rest=1s,clones=cluster", "hadoop2:estimator=simple-exponential,rest=1s,clones=cluster,order=fair",
		"hadoop2:estimator=simple-exponential-first,skip=3,rest=1s,min_allowed=0,running_cap=1",
	},
	slow: func(a kit.Args) sched.Policy {
		return &slowHadoop2{
			slowly: newSlowly(a), estimator: a.Choice("estimator"), retry: a.Span("retry"), rest: a.Span("rest"), minAllowed: a.Int("min_allowed"),
			total: a.Float("total_cap"), running: a.Float("running_cap"), smooth: a.Span("smooth"), skip: a.Int("skip"),
			next: map[sched.JobID]sched.Time{}, estimates: map[sched.AttemptID]*estimate{}, requests: map[sched.StageID]sched.TaskID{},
		}
	},
}

// slowHadoop2 decides as DefaultSpeculator does.
type slowHadoop2 struct {
	slowly
	quiet       kit.Silence
	estimator   string
	retry, rest sched.Time
	minAllowed  int
	total       float64
	running     float64
	smooth      sched.Time
	skip        int
	next        map[sched.JobID]sched.Time // scan
	estimates   map[sched.AttemptID]*estimate
	requests    map[sched.StageID]sched.TaskID // for a second attempt
}

// estimate is what an estimator of Hadoop knows of an attempt, SimpleExponentialSmoothing's record among it.
type estimate struct {
	heard    sched.Time // last report, real or not
	progress float64
	forecast float64 // per second
	constant sched.Time
	readings int
	end      sched.Time
	some     bool // it has an end
	told     bool // by the driver's rate
}

func (p *slowHadoop2) Observe(v *sched.View, ev *sched.Event) {
	p.slowly.Observe(v, ev)
	p.quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.AttemptProgress:
		a := v.Attempt(ev.Attempt)
		x := p.of(v, ev.Attempt)
		if x.told = a.Rate > 0; x.told {
			x.end, x.some = kit.Later(a.ProgressAt, (1-a.Progress)/a.Rate), true
		} else {
			p.reading(x, a.Started, v.Now(), max(0, (a.Progress-a.From)/(1-a.From)))
		}
		p.putOff(v, ev.Attempt)
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		delete(p.estimates, ev.Attempt)
		if t, ok := p.requests[ev.Stage]; ok && t == ev.Task && (v.Task(t).State != sched.TaskRunning || v.Task(t).Live != 1) {
			delete(p.requests, ev.Stage)
		}
	case sched.StageDone:
		delete(p.requests, ev.Stage)
	case sched.JobArrived:
		p.next[ev.Job] = v.Now()
	case sched.JobFailed, sched.JobCancelled:
		job := v.Job(ev.Job)
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			delete(p.requests, s)
		}
	}
}

func (p *slowHadoop2) of(v *sched.View, a sched.AttemptID) *estimate {
	if p.estimates[a] == nil {
		p.estimates[a] = &estimate{heard: v.Attempt(a).Started}
	}
	return p.estimates[a]
}

// reading is LegacyTaskRuntimeEstimator.updateAttempt, or SimpleExponentialSmoothing.incorporateReading and
// SimpleExponentialTaskRuntimeEstimator.estimatedRuntime.
func (p *slowHadoop2) reading(x *estimate, started, now sched.Time, progress float64) {
	before, had := x.heard, x.progress
	x.heard, x.progress = now, progress
	if p.estimator == "legacy" {
		if now > started {
			x.end, x.some = kit.Later(started, (now-started).Seconds()/max(0.0001, progress)), true
		}
		return
	}
	if now > before {
		sample := (progress - had) / (now - before).Seconds()
		if x.readings == 0 {
			x.forecast, x.constant = sample, p.smooth
		}
		if x.readings == p.skip {
			x.constant = max(x.constant, now-started)
		}
		weight := 1 - math.Exp(-float64(now-before)/float64(x.constant))
		if x.readings > 0 { // else the sample is the forecast
			x.forecast = weight*sample + (1-weight)*x.forecast
		}
		x.readings++
	}
	forecast := -1.0
	if x.readings > p.skip {
		forecast = x.forecast
	}
	if p.estimator == "simple-exponential" {
		forecast = max(1e-10*1000, forecast) // of milliseconds
	}
	if x.some = forecast > 0; x.some {
		x.end = kit.Later(now, (1-progress)/forecast)
	}
}

// putOff is not Hadoop's: an attempt that stands still ends no sooner than is known of it then.
func (p *slowHadoop2) putOff(v *sched.View, a sched.AttemptID) {
	row, x := v.Attempt(a), p.of(v, a)
	if rem, silent := p.quiet.Remaining(v, a, &row); silent {
		x.end, x.some = max(x.end, v.Now()+min(rem, sched.Never-v.Now())), true
	}
}

func (p *slowHadoop2) Decide(v *sched.View, act *sched.Actions) {
	p.deal(v, act)
	p.quiet.Look(v, func(_ sched.StageID, t sched.TaskID) {
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			p.putOff(v, a)
		}
	})
	kit.WakeFor(act, &p.quiet.Due)
	for j := range sched.JobID(v.Rows().Jobs()) {
		if v.Job(j).State != sched.JobActive || p.next[j] > v.Now() {
			continue
		}
		p.next[j] = v.Now() + p.retry
		if p.computeSpeculations(v, j) {
			p.next[j] = v.Now() + p.rest
		}
	}
	for j, at := range p.next {
		if v.Job(j).State == sched.JobActive {
			act.WakeAt(at)
		}
	}
	p.deal(v, act)
}

// deal gives free slots to fresh tasks and to requests.
func (p *slowHadoop2) deal(v *sched.View, act *sched.Actions) {
	p.serve(v, func(t sched.TaskID) bool { p.start(v, act, t); return true }, func(j sched.JobID) bool {
		for _, s := range stagesOf(v, j) {
			t, ok := p.requests[s]
			if !ok || v.Job(j).Paused {
				continue
			}
			m, free := p.places.Unused(v, t, 0)
			if v.AttemptRoom(t) == 0 {
				delete(p.requests, s)
			} else if free {
				delete(p.requests, s)
				kit.Launch(act, t, m, 0, sched.Straggling)
				return true
			}
		}
		return false
	})
}

// computeSpeculations is a scan of one job, and tells whether it has asked for an attempt.
func (p *slowHadoop2) computeSpeculations(v *sched.View, j sched.JobID) (successes bool) {
	for _, s := range stagesOf(v, j) {
		st := v.Stage(s)
		if _, open := p.requests[s]; open || st.Pending > 0 || v.Job(j).Paused { // containers are needed
			continue
		}
		n := int(st.Tasks - st.GivenUp)
		if st.Done < 1 || float64(st.Done)/float64(n) < 0.05 { // thresholdRuntime: on schedule
			continue
		}
		var silent []sched.AttemptID
		best, value, speculating, running := sched.TaskID(0), sched.Time(0), 0, 0
		for _, t := range runningOf(v, inStage(v, s)) {
			running++
			a, alone := only(v, t)
			if !alone {
				speculating += int(v.Task(t).Live) - 1
				continue
			}
			x := p.of(v, a)
			if !v.Rows().Waiting(a) && !x.told && v.Now()-x.heard > 9*sched.Second {
				silent = append(silent, a)
			}
			if gain := x.end - kit.Later(v.Now(), p.newRuntime(&st)); x.some && x.end >= v.Now() && gain > value && v.AttemptRoom(t) > 0 && !v.Rows().Waiting(a) {
				best, value = t, gain
			}
		}
		allowed := int(max(float64(p.minAllowed), p.total*float64(n)))
		allowed = int(max(float64(allowed), p.running*float64(running)))
		if speculating >= allowed {
			continue
		}
		if value > 0 {
			p.requests[s], successes = best, true
		}
		for _, a := range silent {
			row, x := v.Attempt(a), p.of(v, a)
			p.reading(x, row.Started, v.Now(), x.progress)
			p.putOff(v, a)
		}
	}
	return successes
}

// newRuntime is estimatedNewAttemptRuntime, in seconds.
func (p *slowHadoop2) newRuntime(st *sched.Stage) float64 {
	mean, sd, _ := st.Measured()
	n := float64(st.Done)
	switch {
	case p.estimator == "legacy":
		return mean
	case n < 2:
		return 0
	}
	sd *= math.Sqrt((n - 1) / n)
	ci := mean + 1.96*sd/math.Sqrt(n)
	return ci + min(0.25*ci, sd/2)
}
