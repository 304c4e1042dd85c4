package policy

// SplitSRPT: Lin, Zhang, Wierman, Tan, "Joint Optimization of Overlapping Phases in MapReduce", IFIP Performance 2013,
// Algorithm 2, with tasks in place of a fluid.
//
//	x_i, y_i, x_i(t), y_i(t)  original and remaining map and shuffle size: see stations
//	S1, S2                    jobs with x_i >= y_i, the others
//	B                         the least max(x_i/y_i, y_i/x_i) of the jobs present; mu1 = 1/(1+B), mu2 = B/(1+B)
//
//	slots  map station: mu2 of them for S1, mu1 for S2; shuffle station: mu1 for S1, mu2 for S2
//	order  S1 by x_i(t), then y_i(t); S2 by y_i(t), then x_i(t); ties by arrival, then id
//
// A free slot goes to the class that is below its share, to S1 if neither or both are, and to the other if the class
// has no task waiting that needs such a slot (the work-conserving reading: capacity that a class cannot use is the
// other's). Inside a class a job whose shuffle tasks wait for their maps leaves the slot to the next. The share of S1
// is rounded to a whole number of slots, and S2 has the rest. If all ratios are infinite, mu1 is 0. Deviations: tasks
// are not preempted; where sizes are estimated, so are the original ones, and a job changes its class when what is
// known of it changes.
//
// As for maxsrpt, the cluster needs two classes of slots. An event costs O(stages of the job + log jobs); a change of
// machines O(jobs).

import (
	"math"

	"github.com/tailcut/tailcut/policy/internal/tandem"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var splitsrptEntry = kit.Entry{
	Name:           "splitsrpt",
	Family:         kit.Stations,
	Cost:           "O(stages of the job + log jobs), with size=bytes their square; a machine that comes or goes O(jobs)",
	Summary:        "map-heavy and shuffle-heavy jobs side by side, each kind by its smaller phase's remaining size; no clones",
	Needs:          kit.Needs{Jobs: true, Classes: true, Instead: "fifo, or spark for clones"},
	Source:         "Lin et al., IFIP Performance 2013, Algorithm 2",
	Params:         tandem.Params,
	WorkConserving: true,
	New:            func(a kit.Args) sched.Policy { return &splitsrpt{stations: tandem.NewStations(a)} },
}

type splitsrpt struct {
	stations tandem.Stations
	jobs     sched.Table[sched.JobID, splitJob]
	kinds    [2]kit.Heap[tandem.Rank]      // S1, S2: jobs with tasks that wait for a slot of this class
	live     [2]int                        // attempts of S1, S2 that run in such slots
	balance  kit.Heap[kit.Rising[float64]] // active jobs by max(x/y, y/x)
	shuffle  bool                          // this is the shuffle station
}

// splitJob is what a job has added to live.
type splitJob struct{ kind, live int }

func (p *splitsrpt) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.MachineJoined {
		p.shuffle = v.Machine(ev.Machine).Class > 0
	}
	p.Overhear(v, ev)
}

// Overhear takes in what happens at the other station, which the order depends on as much.
func (p *splitsrpt) Overhear(v *sched.View, ev *sched.Event) {
	p.stations.Observe(v, ev)
	if tandem.About(ev) {
		p.touch(v, ev.Job)
	}
	if ev.Kind == sched.JobRetired {
		p.jobs.Drop(ev.Job)
	}
}

// touch looks at a job again.
func (p *splitsrpt) touch(v *sched.View, j sched.JobID) {
	job, x := v.Job(j), p.jobs.At(j)
	p.live[x.kind] -= x.live
	p.kinds[x.kind].Drop(int(j))
	x.live = int(job.Live)
	if job.State != sched.JobActive || job.Paused {
		p.balance.Drop(int(j))
		p.live[x.kind] += x.live
		return
	}
	left, original := p.stations.Of(v, &job)
	place := tandem.Rank{First: left.X, Second: left.Y, Arrived: job.Arrived}
	if x.kind = 0; original.X < original.Y {
		x.kind, place = 1, tandem.Rank{First: left.Y, Second: left.X, Arrived: job.Arrived}
	}
	p.live[x.kind] += x.live
	p.balance.Set(int(j), kit.Rising[float64]{X: original.Imbalance()})
	if job.Pending > 0 {
		p.kinds[x.kind].Set(int(j), place)
	}
}

func (p *splitsrpt) Decide(v *sched.View, act *sched.Actions) {
	if p.stations.Moved {
		p.stations.Moved = false
		for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
			p.touch(v, j)
		}
	}
	if p.balance.Len() == 0 {
		return
	}
	share := p.share(v.Slots())
	for v.FreeSlots() > 0 && p.kinds[0].Len()+p.kinds[1].Len() > 0 {
		kind := 0
		if p.live[0] >= share && p.live[1] < v.Slots()-share {
			kind = 1
		}
		if p.kinds[kind].Len() == 0 {
			kind = 1 - kind
		}
		j := sched.JobID(p.kinds[kind].Top())
		t, _ := kit.FirstPending(v, j)
		m, _ := v.FreeMachine(0)
		kit.Start(v, act, t, m)
		p.live[kind]++
		p.jobs.Of(j).live++
		if v.Job(j).Pending == 0 {
			p.kinds[kind].Drop(int(j))
		}
	}
}

// share returns how many of the station's slots are for S1; a job must be present.
func (p *splitsrpt) share(slots int) int {
	mu := 1 / (1 + p.balance.TopKey().X) // of the class that this station is not heavy for
	if !p.shuffle {
		mu = 1 - mu
	}
	return int(math.Round(mu * float64(slots)))
}
