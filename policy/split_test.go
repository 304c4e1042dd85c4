package policy

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// splitTwin divides the slots whether there are enough for all tasks or not.
type splitTwin struct{ kit.Splitter }

func (p *splitTwin) Decide(v *sched.View, act *sched.Actions) {
	if !p.Begins(v, act) || v.FreeSlots() == 0 || v.Pending() == 0 {
		return
	}
	p.Jobs = p.Jobs[:0]
	for j := range sched.JobID(v.Rows().Jobs()) {
		if job := v.Job(j); job.State == sched.JobActive {
			p.Jobs = append(p.Jobs, kit.Part{Job: j, Arrived: job.Arrived, Demand: int(job.Pending + job.Live)})
		}
	}
	p.Weigh(v, p.Jobs)
	p.Divide(v.Slots())
	for _, x := range p.Jobs {
		p.Start(v, act, x.Job, x.Share-int(v.Job(x.Job).Live))
	}
	for _, x := range p.Jobs {
		p.Start(v, act, x.Job, v.FreeSlots())
	}
}

type intermediateTwin struct {
	splitTwin
	work kit.Workload
}

func (p *intermediateTwin) Observe(v *sched.View, ev *sched.Event) { p.work.Observe(v, ev) }

func (p *intermediateTwin) least(v *sched.View, jobs []kit.Part) float64 {
	x := intermediate{work: p.work}
	return x.least(v, jobs)
}

// TestSplitTwin: what starts does not depend on whether the shares are computed where there are slots for all.
func TestSplitTwin(t *testing.T) {
	launched := 0
	rapid.Check(t, func(r *rapid.T) {
		clock := kit.Clock{Slot: sched.Time(rapid.IntRange(0, 2).Draw(r, "slot")) * sched.Second}
		spec := rapid.SampledFrom([]string{"laps", "intermediate-srpt"}).Draw(r, "policy")
		var twin sched.Policy
		if spec == "laps" {
			twin = &splitTwin{Splitter: kit.Splitter{Clock: clock, Weigh: laps(toRatio(0.5))}}
		} else {
			x := &intermediateTwin{splitTwin: splitTwin{Splitter: kit.Splitter{Clock: clock}}}
			x.Weigh = x.least
			twin = x
		}
		p, err := New(spec+":slot="+clock.Slot.String(), 1)
		if err != nil {
			r.Fatal(err)
		}
		x := newSrewPair(r, p, twin, sched.DefaultLimits())
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			x.advance(r)
		}
		x.finish(r)
		launched += x.launched
	})
	if launched < 500 && !testing.Short() {
		t.Errorf("%d attempts: the worlds are too tame", launched)
	}
}
