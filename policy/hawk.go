package policy

// Hawk: Delgado, Dinu, Kermarrec, Zwaenepoel, "Hawk: Hybrid Datacenter Scheduling", USENIX ATC 2015, section 3.
//
//	cutoff             cutoff: a job is long if a task of it is expected to take longer
//	short partition    short: share of the machines that take no long tasks
//	d                  probes: of a task of a short job
//	cap                steal: machines that an idle one looks at
//
// A central scheduler sends each task of a long job to the machine with the least waiting time: the expected work of
// the long tasks in its queue, and what is left of the one that runs. Short jobs send probes, as in Sparrow, to all
// machines. A machine whose slot is free and whose queue is empty looks at up to so many machines outside the short
// partition, drawn at random, and takes from the first that has any the reservations of short jobs that wait in a row
// behind a long task.
//
// Readings. The expected duration of a job's tasks is the mean that the workload states, over all its stages; a job
// without any is short. cutoff and short are the paper's for the Google trace, 1129 s and 17 %. Machines of the short
// partition are spread evenly over the ids. Tasks of a long job are alike to the scheduler, so which of them a place in
// a queue starts is decided when it starts. What is stolen moves at once, as in the paper's simulator. On machines with
// several slots the waiting time is the work by the slots. The rest is as in Sparrow.
//
// An event costs O(log machines), what it sends, and in a steal the queues that are looked at.

import (
	"github.com/tailcut/tailcut/policy/internal/probes"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var hawkEntry = kit.Entry{
	Name:    "hawk",
	Family:  kit.Probes,
	Cost:    "O(log machines), what it sends, and the queues that it looks at to steal",
	Summary: "long jobs are placed centrally, short ones send probes; an idle machine steals short tasks that wait behind long ones; no clones",
	Needs:   kit.Needs{Jobs: true, Lacking: "probes still queue at machines drawn at random; nothing of it is both short and long"},
	Source:  "Delgado et al., USENIX ATC 2015, section 3",
	Params: []kit.Param{
		probesParam, tripParam, cutoffParam, shortParam,
		{Name: "steal", Kind: kit.Int, Default: "10", Min: 0, Max: 1000, Help: "machines that an idle one looks at for short tasks behind long ones"},
		cancelParam("false"),
	},
	New: func(a kit.Args) sched.Policy {
		s := hybridSettings(a)
		s.Steal = a.Int("steal")
		return probes.New(s)
	},
}

// What the two policies with a central scheduler have in common.
var (
	cutoffParam = kit.Param{Name: "cutoff", Kind: kit.Span, Default: "1129s", Max: 1e9, Help: "a job is long if its tasks are expected to take longer"}
	shortParam  = kit.Param{Name: "short", Kind: kit.Float, Default: "0.17", Min: 0, Max: 1, Help: "share of the machines that take no tasks of long jobs"}
)

func hybridSettings(a kit.Args) probes.Settings {
	s := probeSettings(a)
	s.Hybrid, s.Cutoff, s.Short = true, a.Span("cutoff"), a.Float("short")
	return s
}
