package sim

import (
	"math"
	"sync"

	"github.com/tailcut/tailcut/sched"
)

// Paired is a run beside the first policy's run that met the same luck, over the jobs that succeeded in both. Jobs that
// failed in either are in no mean, so a policy does not seem quicker for having given up the jobs that take long.
type Paired struct {
	Jobs int // that succeeded in both
	// mean flow times of these in seconds, in this run and in the first policy's; not a number if there are none
	MeanFlow, FirstMeanFlow float64
}

// paired compares two runs, job by job, over the jobs whose class is wanted.
func paired(flows, first []flowOf, wanted func(class int16) bool) Paired {
	var p Paired
	for j, x := range flows {
		if flow, first := x.flow, first[j].flow; flow != noFlow && first != noFlow && wanted(x.class) {
			p.Jobs++
			p.MeanFlow += flow.Seconds()
			p.FirstMeanFlow += first.Seconds()
		}
	}
	if p.Jobs == 0 {
		return Paired{MeanFlow: math.NaN(), FirstMeanFlow: math.NaN()}
	}
	p.MeanFlow /= float64(p.Jobs)
	p.FirstMeanFlow /= float64(p.Jobs)
	return p
}

// noFlow is the flow time of a job that failed.
const noFlow sched.Time = -1

// flowOf is the flow time of a job, and its class, which is the same under all policies.
type flowOf struct {
	flow  sched.Time
	class int16
}

func flowsOf(jobs []JobResult) []flowOf {
	flows := make([]flowOf, len(jobs))
	for j := range jobs {
		if flows[j] = (flowOf{jobs[j].Completion - jobs[j].Arrival, jobs[j].Class}); jobs[j].Failed {
			flows[j].flow = noFlow
		}
	}
	return flows
}

// pairing sets Cell.Paired of all runs, whichever end first.
type pairing struct {
	mu    sync.Mutex
	first int // number of the first of the runs
	runs  []pairingRun
}

// pairingRun is the runs of all policies that meet the same luck.
type pairingRun struct {
	first   []flowOf      // flow times by job under the first policy, once they are known
	waiting []pairingCell // until then
	left    int           // policies that are still to come
}

type pairingCell struct {
	cell  *Cell
	flows []flowOf
}

func newPairing(policies, first, runs int) *pairing {
	p := &pairing{first: first, runs: make([]pairingRun, runs)}
	for k := range p.runs {
		p.runs[k].left = policies
	}
	return p
}

// add compares a run that is done, at once or as soon as the first policy's is done.
func (p *pairing) add(c *Cell, jobs []JobResult) {
	flows := flowsOf(jobs)
	p.mu.Lock()
	defer p.mu.Unlock()
	run := &p.runs[c.Run-p.first]
	if c.Policy == 0 {
		run.first = flows
	}
	run.waiting = append(run.waiting, pairingCell{c, flows})
	run.left--
	if run.first == nil {
		return
	}
	for _, w := range run.waiting {
		w.cell.Paired = paired(w.flows, run.first, func(class int16) bool { return class >= 0 })
		for k := range w.cell.Classes {
			w.cell.Classes[k].Paired = paired(w.flows, run.first, func(class int16) bool { return class == int16(k) })
		}
	}
	if run.waiting = nil; run.left == 0 {
		run.first = nil
	}
}

// Versus is a policy's mean flow time less the first one's, over the jobs that succeeded under both.
type Versus struct {
	Difference Estimate // in seconds, from the runs' differences
	First      float64  // the mean under the first policy, in seconds
	Jobs       float64  // of a run that succeeded under both, on average
}

// Versus compares a policy with the first one, run by run. Runs without a job that succeeded under both say nothing;
// if there are no others, the difference is not a number and Jobs is 0.
func (x *Comparison) Versus(policy int) Versus {
	var v Versus
	var all []float64
	for k := range x.Of(policy) {
		if p := &x.Of(policy)[k].Paired; p.Jobs > 0 {
			all = append(all, p.MeanFlow-p.FirstMeanFlow)
			v.First += p.FirstMeanFlow
			v.Jobs += float64(p.Jobs)
		}
	}
	if len(all) == 0 {
		return Versus{Difference: Estimate{math.NaN(), math.NaN(), 0}, First: math.NaN()}
	}
	v.Difference = EstimateOf(all)
	v.First /= float64(len(all))
	v.Jobs /= float64(x.Runs)
	return v
}
