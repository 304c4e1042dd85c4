package policy

import (
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var hadoopOracle = oracle{
	name: "hadoop",
	specs: []string{
		"hadoop:lag=5s", "hadoop:gap=0,lag=0s,order=fair", "hadoop:lag=1s,heartbeat=500ms,order=srpt", "hadoop:gap=0.1,lag=20s,heartbeat=1s,clones=cluster",
		"hadoop:gap=0.05,lag=0s,clones=cluster,order=fair", "hadoop:lag=10s,gap=0.3", "hadoop:lag=3s,gap=0.1,heartbeat=2s,lag_from=task",
	},
	slow: func(a kit.Args) sched.Policy {
		return &slowHadoop{
			slowly: newSlowly(a), gap: a.Float("gap"), lag: a.Span("lag"), heartbeat: a.Span("heartbeat"),
			ofTask: a.Choice("lag_from") == "task", stood: map[sched.AttemptID]float64{},
		}
	},
}

// slowHadoop decides as Hadoop 0.20 does, but that slots do not wait for heartbeats: at each heartbeat the job tracker
// asks every task whether it is to have a speculative attempt, and a free slot takes the first that the job without
// other tasks then has.
type slowHadoop struct {
	slowly
	quiet          kit.Silence
	gap            float64
	lag, heartbeat sched.Time
	ofTask         bool                        // lag counts from the start of the task
	stood          map[sched.AttemptID]float64 // progress of those that stand still
	slow           []sched.TaskID              // at the last heartbeat, that have had no clone since
}

func (p *slowHadoop) Observe(v *sched.View, ev *sched.Event) {
	p.slowly.Observe(v, ev)
	p.quiet.Observe(v, ev)
	if ev.Kind == sched.AttemptProgress || ev.Kind == sched.AttemptTaken {
		p.judge(v, ev.Attempt)
	}
}

func (p *slowHadoop) judge(v *sched.View, a sched.AttemptID) {
	row := v.Attempt(a)
	delete(p.stood, a)
	if rem, silent := p.quiet.Remaining(v, a, &row); silent {
		age := (v.Now() - row.Started).Seconds()
		p.stood[a] = row.From + (1-row.From)*age/(age+rem.Seconds())
	}
}

func (p *slowHadoop) Decide(v *sched.View, act *sched.Actions) {
	p.quiet.Look(v, func(_ sched.StageID, t sched.TaskID) {
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			p.judge(v, a)
		}
	})
	kit.WakeFor(act, &p.quiet.Due)
	if v.Now()%p.heartbeat == 0 {
		p.slow = p.slow[:0]
		for _, j := range p.jobs(v) {
			for _, s := range stagesOf(v, j) {
				p.findSpeculativeTasks(v, s)
			}
		}
	}
	p.serve(v, func(t sched.TaskID) bool { p.start(v, act, t); return true }, func(j sched.JobID) bool { return p.clone(v, act, j) })
	if v.Cluster().Unfinished() > 0 {
		act.WakeAt(nextCheck(v.Now(), p.heartbeat))
	}
}

// clone is what a free slot gets from a job without fresh tasks.
func (p *slowHadoop) clone(v *sched.View, act *sched.Actions, j sched.JobID) bool {
	for i, t := range p.slow {
		if v.Rows().JobOf(t) != j || v.AttemptRoom(t) == 0 {
			continue
		}
		if _, alone := only(v, t); !alone || v.Task(t).State != sched.TaskRunning {
			continue
		}
		if m, ok := p.places.Unused(v, t, 0); ok {
			p.slow = slices.Delete(p.slow, i, i+1)
			kit.Launch(act, t, m, 0, sched.Straggling)
			return true
		}
	}
	return false
}

// findSpeculativeTasks is JobInProgress.findSpeculativeTask, for all slots that may ask until the next heartbeat.
func (p *slowHadoop) findSpeculativeTasks(v *sched.View, s sched.StageID) {
	st := v.Stage(s)
	running := runningOf(v, inStage(v, s))
	sum := float64(st.Done)
	for _, t := range running {
		sum += p.recomputeProgress(v, t)
	}
	average := sum / float64(st.Tasks-st.GivenUp)
	for _, t := range running {
		if p.hasSpeculativeTask(v, t, average) {
			p.slow = append(p.slow, t)
		}
	}
}

// hasSpeculativeTask is TaskInProgress.hasSpeculativeTask, whose startTime is when the job was initialised.
func (p *slowHadoop) hasSpeculativeTask(v *sched.View, t sched.TaskID, average float64) bool {
	a, alone := only(v, t)
	started := v.Job(v.Rows().JobOf(t)).Arrived
	if alone && p.ofTask {
		started = v.Attempt(a).Started
	}
	return alone && !v.Rows().Waiting(a) && v.Attempt(a).Started < v.Now() && v.AttemptRoom(t) > 0 &&
		p.gap-(average-p.recomputeProgress(v, t)) <= 0 && v.Now()-started >= p.lag
}

// recomputeProgress is TaskInProgress.recomputeProgress for a running task.
func (p *slowHadoop) recomputeProgress(v *sched.View, t sched.TaskID) (best float64) {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		row := v.Attempt(a)
		done, still := p.stood[a]
		switch {
		case still:
		case row.Started < v.Now():
			done = row.ProgressAtTime(v.Now())
		default:
			done = 0 // it has not reported
		}
		best = max(best, done)
	}
	return best
}
