package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var sparkOracle = oracle{
	name: "spark",
	specs: []string{
		"spark:interval=1s", "spark:quantile=0.5,multiplier=1.2,order=fair,interval=1s", "spark:quantile=0.1,multiplier=0.5,interval=7s,min_runtime=3s",
		"spark:quantile=1,task_threshold=4s,interval=5s", "spark:quantile=0,multiplier=0,interval=2s,order=srpt", "spark3:clones=cluster,interval=1s",
		"spark3:order=fair,interval=1s", "spark:quantile=0.3,multiplier=1,interval=1s,task_threshold=1s,min_runtime=9s,clones=cluster,order=fair",
		"spark:quantile=0.2,multiplier=0.5,interval=2s,marks=earliest",
	},
	slow: func(a kit.Args) sched.Policy {
		return &slowSpark{
			slowly: newSlowly(a), quantile: a.Float("quantile"), multiplier: a.Float("multiplier"), interval: a.Span("interval"),
			minRuntime: a.Span("min_runtime"), threshold: a.Span("task_threshold"), queue: a.Choice("marks") == "earliest", marks: map[sched.JobID][]sched.AttemptID{},
		}
	},
}

// slowSpark decides as Spark 3.0 to 4.0 do, but for what is about records and decommissioned executors.
type slowSpark struct {
	slowly
	quantile, multiplier            float64
	interval, minRuntime, threshold sched.Time
	queue                           bool                              // the first mark is served first
	slots                           uint32                            // of the largest machine: spark.executor.cores
	marks                           map[sched.JobID][]sched.AttemptID // stacks, the last is on top
}

func (p *slowSpark) Observe(v *sched.View, ev *sched.Event) {
	p.slowly.Observe(v, ev)
	if ev.Kind == sched.MachineJoined {
		p.slots = max(p.slots, v.Machine(ev.Machine).Slots)
	}
}

func (p *slowSpark) Decide(v *sched.View, act *sched.Actions) {
	jobs := p.jobs(v)
	slices.Sort(jobs)
	for _, j := range jobs {
		p.marks[j] = slices.DeleteFunc(p.marks[j], func(a sched.AttemptID) bool { return !v.Rows().Alive(a) || v.Task(v.Rows().TaskOf(a)).Live != 1 })
		for _, s := range stagesOf(v, j) {
			if v.Now()%p.interval == 0 {
				p.marks[j] = append(p.marks[j], p.checkSpeculatable(v, s, p.marks[j])...)
			}
		}
	}
	p.serve(v, func(t sched.TaskID) bool { p.start(v, act, t); return true }, func(j sched.JobID) bool { return p.dequeue(v, act, j) })
	if v.Cluster().Unfinished() > 0 {
		act.WakeAt(nextCheck(v.Now(), p.interval))
	}
}

// checkSpeculatable is TaskSetManager.checkSpeculatableTasks of one task set: it returns the attempts to be marked, the
// oldest to be served first.
func (p *slowSpark) checkSpeculatable(v *sched.View, s sched.StageID, marked []sched.AttemptID) (found []sched.AttemptID) {
	st := v.Stage(s)
	tasks, successes := int(st.Tasks), p.won[s]
	minFinished := max(int(math.Floor(p.quantile*float64(tasks-int(st.GivenUp)))), 1)
	threshold := 0.0
	switch {
	case tasks == 1 && p.threshold == 0:
		return nil
	case tasks > 1 && len(successes) >= minFinished:
		sorted := slices.Sorted(slices.Values(successes))
		threshold = max(p.multiplier*float64(sorted[len(sorted)/2]), float64(p.minRuntime))
	case p.threshold > 0 && tasks <= int(p.slots):
		threshold = float64(p.threshold)
	default:
		return nil
	}
	for _, t := range runningOf(v, inStage(v, s)) {
		a, alone := only(v, t)
		if alone && float64(v.Now()-v.Attempt(a).Started) > threshold && !slices.Contains(marked, a) {
			found = append(found, a)
		}
	}
	// Spark goes through a hash set; here the oldest is to be served first
	slices.SortFunc(found, func(a, b sched.AttemptID) int {
		x, y := v.Attempt(a), v.Attempt(b)
		return cmp.Or(cmp.Compare(y.Started, x.Started), cmp.Compare(y.Task, x.Task))
	})
	if p.queue {
		slices.Reverse(found)
	}
	return found
}

// dequeue is TaskSetManager.dequeueTaskFromList for marked tasks: from the end of the list, on a machine that never ran
// the task.
func (p *slowSpark) dequeue(v *sched.View, act *sched.Actions, j sched.JobID) bool {
	marks := p.marks[j]
	for k := len(marks) - 1; k >= 0 && !v.Job(j).Paused; k-- {
		i := k
		if p.queue {
			i = len(marks) - 1 - k
		}
		t := v.Rows().TaskOf(marks[i])
		m, ok := p.places.Unused(v, t, 0)
		if v.AttemptRoom(t) == 0 || !ok {
			continue
		}
		p.marks[j] = slices.Delete(marks, i, i+1)
		kit.Launch(act, t, m, 0, sched.Straggling)
		return true
	}
	return false
}
