package policy

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

var hadoopOracle = oracle{
	name: "hadoop", every: 10, // where attempts say what is so
	specs: []string{
		"hadoop:lag=5s", "hadoop:gap=0,lag=0s,order=fair", "hadoop:lag=1s,heartbeat=500ms,order=srpt", "hadoop:gap=0.1,lag=20s,heartbeat=1s,clones=cluster",
		"hadoop:gap=0.05,lag=0s,clones=cluster,order=fair", "hadoop:lag=10s,gap=0.3",
	},
	// with told rates a slot that gets free between two heartbeats sees more than the policy, which looks at heartbeats
	fate: func(f *policytest.Fate) { f.Rate = false },
	slow: func(a kit.Args) sched.Policy {
		return &slowHadoop{
			slowly: newSlowly(a), gap: a.Float("gap"), lag: a.Span("lag"), heartbeat: a.Span("heartbeat"),
			news: map[sched.StageID]sched.Time{},
		}
	},
}

// slowHadoop decides as Hadoop 0.20 does: when a machine with a free slot reports, a job without other tasks looks for
// a speculative one.
type slowHadoop struct {
	slowly
	quiet          kit.Silence
	gap            float64
	lag, heartbeat sched.Time
	news           map[sched.StageID]sched.Time // the first of the stage since its slow tasks were last looked for
	offered        []sched.TaskID               // slow tasks, of this decision
}

func (p *slowHadoop) Observe(v *sched.View, ev *sched.Event) {
	p.slowly.Observe(v, ev)
	p.quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.AttemptProgress, sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost, sched.AttemptBegan, sched.TaskGivenUp:
		p.hear(ev.Stage, v.Now())
	case sched.JobContinued:
		for _, s := range stagesOf(v, ev.Job) {
			p.hear(s, v.Now())
		}
	}
}

func (p *slowHadoop) hear(s sched.StageID, at sched.Time) {
	if before, ok := p.news[s]; !ok || at < before {
		p.news[s] = at
	}
}

func (p *slowHadoop) Decide(v *sched.View, act *sched.Actions) {
	p.quiet.Look(v, func(s sched.StageID, _ sched.TaskID) { p.hear(s, v.Now()) })
	kit.WakeFor(act, &p.quiet.Due)
	for again := true; again; { // fresh tasks may make room for clones
		pending := v.Pending()
		p.round(v, act)
		again = v.Pending() < pending
	}
	if v.Cluster().Unfinished() > 0 {
		act.WakeAt(nextCheck(v.Now(), p.heartbeat))
	}
}

// round offers the free slots to all jobs.
func (p *slowHadoop) round(v *sched.View, act *sched.Actions) {
	p.offered = p.offered[:0]
	for _, j := range p.jobs(v) {
		waiting := int(v.Job(j).Pending)
		if p.cluster {
			waiting = v.Pending()
		}
		for _, s := range stagesOf(v, j) {
			if v.CloneRoom() > 0 && waiting < v.FreeSlots() {
				p.offer(v, s)
			}
		}
	}
	tried := map[sched.TaskID]bool{}
	p.serve(v, func(t sched.TaskID) bool {
		p.start(v, act, t)
		p.hear(v.Task(t).Stage, v.Now()+1)
		return true
	}, func(j sched.JobID) bool {
		for _, t := range p.offered {
			if tried[t] || v.Rows().JobOf(t) != j {
				continue
			}
			if m, ok := p.places.Unused(v, t, 0); ok {
				tried[t] = true
				kit.Launch(act, t, m, 0, sched.Straggling)
				return true
			}
		}
		return false
	})
	for _, t := range p.offered {
		if !tried[t] {
			p.hear(v.Task(t).Stage, v.Now()+1) // it is offered again at the next heartbeat
		}
	}
}

// offer finds the slow tasks of a stage if a heartbeat has come since there was news of it.
func (p *slowHadoop) offer(v *sched.View, s sched.StageID) {
	now := v.Now()
	news, ok := p.news[s]
	if !ok || (news+p.heartbeat-1)/p.heartbeat*p.heartbeat > now { // there is a heartbeat at 0 too
		return
	}
	delete(p.news, s)
	arrived := v.Job(v.Stage(s).Job).Arrived
	st := v.Stage(s)
	sum := float64(st.Done)
	for _, t := range runningOf(v, inStage(v, s)) {
		sum += p.progress(v, t)
	}
	average := sum / float64(st.Tasks-st.GivenUp)
	for _, t := range runningOf(v, inStage(v, s)) {
		if p.hasSpeculativeTask(v, t, average, arrived) {
			p.offered = append(p.offered, t)
		} else if now < arrived+p.lag && p.hasSpeculativeTask(v, t, average, now-p.lag) {
			p.hear(s, arrived+p.lag)
		}
	}
}

// hasSpeculativeTask is TaskInProgress.hasSpeculativeTask, whose startTime is when the job was initialised.
func (p *slowHadoop) hasSpeculativeTask(v *sched.View, t sched.TaskID, average float64, started sched.Time) bool {
	a, alone := only(v, t)
	return alone && !v.Rows().Waiting(a) && v.AttemptRoom(t) > 0 && p.gap-(average-p.progress(v, t)) <= 0 && v.Now()-started >= p.lag
}

// progress is TaskInProgress.recomputeProgress for a running task.
func (p *slowHadoop) progress(v *sched.View, t sched.TaskID) (best float64) {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		best = max(best, p.attempt(v, a))
	}
	return best
}

func (p *slowHadoop) attempt(v *sched.View, a sched.AttemptID) float64 {
	row := v.Attempt(a)
	if rem, silent := p.quiet.Remaining(v, a, &row); silent {
		age := (v.Now() - row.Started).Seconds()
		return row.From + (1-row.From)*age/(age+rem.Seconds())
	}
	return row.ProgressAtTime(v.Now())
}
