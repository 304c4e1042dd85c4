package policy

// FIFO: Hadoop's default and Spark's FIFO pools.
//
// Each free slot goes to the first job, by (priority, arrival, id), that has a task waiting; later jobs may use what earlier ones
// cannot (no head-of-line blocking). No clones.

import "github.com/tailcut/tailcut/sched"

var fifoEntry = Entry{
	Name:           "fifo",
	Summary:        "jobs in order of priority and arrival; no clones",
	Source:         "Hadoop's default scheduler; Spark SchedulingAlgorithm.scala, FIFO",
	WorkConserving: true,
	New:            func(Args) sched.Policy { return &fifo{} },
}

type fifo struct{}

func (*fifo) Observe(*sched.View, *sched.Event) {}

func (*fifo) Decide(v *sched.View, act *sched.Actions) {
	for {
		m, ok := v.FreeMachine(0)
		s, waiting := v.WaitingStage(0)
		if !ok || !waiting {
			return
		}
		t, _ := v.PendingTask(s, 0)
		if _, err := act.Launch(t, m, 0, sched.Original); err != nil {
			panic(err)
		}
	}
}
