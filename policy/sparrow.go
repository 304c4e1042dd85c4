package policy

// Sparrow: Ousterhout, Wendell, Zaharia, Stoica, "Sparrow: Distributed, Low Latency Scheduling", SOSP 2013, section 3.
//
//	d          probes: probes of a task
//	m          tasks of a job that come to wait at one instant
//	RTT        trip: of a message and its answer
//
// Batch sampling (3.2): a job's scheduler sends d m probes to different machines drawn at random. Late binding (3.4): a
// probe is a reservation in the queue of its machine. When a slot is free its machine asks the scheduler of the first
// reservation for a task, and gets the job's next one, or hears that there is none. Proactive cancellation (3.5): once
// no task of a job waits, its scheduler takes back the reservations that are left.
//
// sampling=batch is 3.2 without late binding: the machines answer with the lengths of their queues, and the tasks go to
// the shortest. sampling=task is 3.1, the power of two choices: d probes of each task alone. probes=1 is random
// placement.
//
// Readings. Queues are those of machines, not of slots. A job with more probes than there are machines has all of them
// as often as that goes, and samples the rest. A task that waits again, because its attempt has failed, has probes of
// its own, unless enough reservations of its job are left. Reservations at a machine that is lost go to others. A
// cancellation takes no time. Messages take half a round trip each, and say how things are when they arrive.
// Constraints (4.1) and weights of users (4.2) are not modelled: the core knows neither.
//
// An event costs O(log machines) and what it sends.

import (
	"github.com/tailcut/tailcut/policy/internal/probes"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var sparrowEntry = kit.Entry{
	Name:    "sparrow",
	Family:  kit.Probes,
	Cost:    "O(log machines), and what it sends",
	Summary: "each job sends two probes a task to machines drawn at random; a machine asks for a task when its slot is free; no clones",
	Needs:   kit.Needs{Jobs: true, Lacking: "probes still queue at machines drawn at random, some of which are idle and some not"},
	Source:  "Ousterhout et al., SOSP 2013, section 3",
	Params: []kit.Param{
		probesParam, tripParam,
		{Name: "sampling", Kind: kit.Choice, Default: "late", Choices: []string{"late", "batch", "task"}, Help: "late: batch sampling with late binding; batch: the tasks go to the shortest of the sampled queues; task: each task alone to the shorter of its own"},
		cancelParam("true"),
	},
	New: func(a kit.Args) sched.Policy {
		s := probeSettings(a)
		s.Sample = map[string]probes.Sample{"late": probes.Late, "batch": probes.Batch, "task": probes.Each}[a.Choice("sampling")]
		return probes.New(s)
	},
}

// What policies with probes have in common.
var (
	probesParam = kit.Param{Name: "probes", Kind: kit.Int, Default: "2", Min: 1, Max: 1000, Help: "probes of a task"}
	tripParam   = kit.Param{Name: "trip", Kind: kit.Span, Default: "500us", Max: 1e6, Help: "a message and its answer take so long"}
)

func cancelParam(or string) kit.Param {
	return kit.Param{Name: "cancel", Kind: kit.Bool, Default: or, Help: "take back reservations when no task of their job waits"}
}

// probeSettings are the settings of queues in order of arrival without long jobs.
func probeSettings(a kit.Args) probes.Settings {
	return probes.Settings{Seed: a.Seed(), Probes: a.Int("probes"), Trip: a.Span("trip"), Cancel: a.Bool("cancel"), Bypass: -1}
}
