package policy

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
	"pgregory.net/rapid"
)

// splitTwin divides the slots whether there are enough for all tasks or not.
type splitTwin struct{ splitter }

func (p *splitTwin) Decide(v *sched.View, act *sched.Actions) {
	if !p.begins(v, act) || v.FreeSlots() == 0 || v.Pending() == 0 {
		return
	}
	p.jobs = p.jobs[:0]
	for j := range sched.JobID(v.Rows().Jobs()) {
		if job := v.Job(j); job.State == sched.JobActive {
			p.jobs = append(p.jobs, part{job: j, arrived: job.Arrived, demand: int(job.Pending + job.Live)})
		}
	}
	p.weigh(v, p.jobs)
	p.divide(v.Slots())
	for _, x := range p.jobs {
		p.start(v, act, x.job, x.share-int(v.Job(x.job).Live))
	}
	for _, x := range p.jobs {
		p.start(v, act, x.job, v.FreeSlots())
	}
}

type intermediateTwin struct {
	splitTwin
	work workload
}

func (p *intermediateTwin) Observe(v *sched.View, ev *sched.Event) { p.work.observe(v, ev) }

func (p *intermediateTwin) least(v *sched.View, jobs []part) float64 {
	x := intermediate{work: p.work}
	return x.least(v, jobs)
}

// TestSplitTwin: what starts does not depend on whether the shares are computed where there are slots for all.
func TestSplitTwin(t *testing.T) {
	launched := 0
	rapid.Check(t, func(r *rapid.T) {
		clock := slotClock{slot: sched.Time(rapid.IntRange(0, 2).Draw(r, "slot")) * sched.Second}
		spec := rapid.SampledFrom([]string{"laps", "intermediate-srpt"}).Draw(r, "policy")
		var twin sched.Policy
		if spec == "laps" {
			twin = &splitTwin{splitter: splitter{slotClock: clock, weigh: laps(toRatio(0.5))}}
		} else {
			x := &intermediateTwin{splitTwin: splitTwin{splitter: splitter{slotClock: clock}}}
			x.weigh = x.least
			twin = x
		}
		p, err := New(spec+":slot="+clock.slot.String(), 1)
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
