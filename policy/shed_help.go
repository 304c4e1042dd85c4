package policy

import (
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// lower puts the stages whose deadlines have passed behind those that can make theirs, and tells whether there are any.
// It is for late=help; otherwise that is done when the slots are divided.
func (p *shed) lower(v *sched.View, act *sched.Actions) (found bool) {
	for p.deadlines.Len() > 0 && p.deadlines.TopKey().X <= v.Now() {
		s := sched.StageID(p.deadlines.Top())
		p.deadlines.Drop(int(s))
		if st := p.stages.Of(s); st.rank == shedRuns {
			st.rank, p.low, found = shedLow, true, true
		}
	}
	kit.WakeFor(act, &p.deadlines)
	return found
}

// help divides the slots that are left among the stages that miss their deadlines: as many clones as make it likely
// that they are done after the median time of a fresh attempt.
func (p *shed) help(v *sched.View, act *sched.Actions) {
	if p.late != shedHelp || !p.low || p.waits > 0 || v.Pending() > 0 {
		return
	}
	whole := plan.Pool{Slots: v.Slots(), Lambda: p.pool.Lambda}
	pool := plan.Pool{Slots: whole.Usable() - v.Cluster().Live(), Lambda: 1, MaxAttempts: p.pool.MaxAttempts}
	p.works, p.order = p.works[:0], p.order[:0]
	for _, s := range p.open {
		stage := v.Stage(s)
		if stage.State != sched.StageOpen {
			continue
		}
		st := p.stages.Of(s)
		if stage.Pending+stage.Running > 0 {
			pool.Slots -= p.pool.MasterSlots
		}
		if st.rank != shedLow || !p.misses(v, st) || stage.Running == 0 || st.law.Of(p.law, &stage) == nil || v.Job(stage.Job).Deadline == sched.Never {
			continue
		}
		p.works, p.order = append(p.works, p.soon(v, st)), append(p.order, st)
		pool.Slots += int(stage.Live)
	}
	if pool.Slots < 0 || len(p.works) == 0 {
		return
	}
	for i, r := range p.joint.Optimise(pool, p.utility, p.works).Clones {
		p.order[i].clones = max(0, r)
	}
	p.clones(v, act)
}

// soon describes a stage that misses its deadline as if that were the median time of a fresh attempt away.
func (p *shed) soon(v *sched.View, st *shedStage) plan.Work {
	w := p.work(v, st)
	if w.Launch == 0 {
		w.Elapsed = 0 // does not count then, and would cost the digits of a short rest
	}
	w.Deadline = w.Elapsed + w.Launch + (1-w.Progress)*w.Law.Quantile(0.5)
	if v.Stage(st.id).Pending == 0 && kit.Mute(v, st.id) {
		p.age(v, st.id, &w) // by then another task may be the likeliest to be late
	}
	return w
}
