package policy

// Eagle: Delgado, Didona, Dinu, Zwaenepoel, "Job-aware Scheduling in Eagle: Divide and Stick to Your Probes", SoCC
// 2016.
//
//	SSS    succinct state sharing: a machine that has a task of a long job, running or waiting, turns a probe away and
//	       answers which machines have any. The probe goes to one of the others, and if that turns it away too, to the
//	       short partition
//	SBP    sticky batch probing: a reservation stays at its machine until no task of its job waits, so that a slot whose
//	       task has ended goes on with the same job
//	SRPT   of the reservations in a queue the one goes first whose job has the least left: tasks that wait by their
//	       expected duration
//
// Long jobs are placed centrally, as in Hawk. Nothing is stolen: short tasks do not wait behind long ones.
//
// Readings. What a machine knows of the others is exact when it answers. It is drawn from by trying up to 32 machines;
// if all have long tasks, the short partition is next. The paper keeps jobs with much left from starving; that a
// reservation is overtaken at most bypass times is ours, and -1 is queues in order of arrival. How much a job has left
// is known at once. cutoff and short are Hawk's for the Google trace.
//
// An event costs O(log machines), what it sends, and the queue of each machine that has a free slot.

import (
	"github.com/tailcut/tailcut/policy/internal/probes"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var eagleEntry = kit.Entry{
	Name:    "eagle",
	Family:  kit.Probes,
	Cost:    "O(log machines), what it sends, and the queue of each machine with a free slot",
	Summary: "long jobs are placed centrally; machines with long tasks turn probes of short jobs away, and a slot goes on with the job it had; no clones",
	Needs:   kit.Needs{Jobs: true, Lacking: "probes still queue at machines drawn at random; nothing of it is both short and long"},
	Source:  "Delgado et al., SoCC 2016",
	Params: []kit.Param{
		probesParam, tripParam, cutoffParam, shortParam,
		{Name: "sticky", Kind: kit.Bool, Default: "true", Help: "a reservation stays until no task of its job waits"},
		{Name: "bypass", Kind: kit.Int, Default: "5", Min: -1, Max: 1e6, Help: "how often jobs with less left may overtake a reservation; -1 for queues in order of arrival"},
		cancelParam("false"),
	},
	New: func(a kit.Args) sched.Policy {
		s := hybridSettings(a)
		s.Avoid, s.Stick, s.Bypass = true, a.Bool("sticky"), a.Int("bypass")
		return probes.New(s)
	},
}
