package policy

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var lateOracle = oracle{
	name: "late",
	specs: []string{
		"late", "late:min_age=0s,cap=1", "late:min_age=1s,slow_task=0.5,order=fair", "late:min_age=5s,estimate=progress,slow_task=1,cap=0.5",
		"late-short:clones=cluster,slow_task=0.6", "late:min_age=2s,slow_task=0.5,order=srpt,cap=1", "late:min_age=0s,slow_task=0.9,order=fair,clones=cluster,cap=0.3",
	},
	slow: func(a kit.Args) sched.Policy {
		return &slowLate{
			slowly: newSlowly(a), cap: a.Float("cap"), slowTask: a.Float("slow_task"), minAge: a.Span("min_age"), byAge: a.Choice("estimate") == "age",
			reports: map[sched.AttemptID]lateReport{}, rates: map[sched.StageID][]float64{},
		}
	},
}

// slowLate is section 4 of the paper, for each job or for the cluster, with what late.go adds for attempts that do not
// report.
type slowLate struct {
	slowly
	quiet         kit.Silence
	cap, slowTask float64
	minAge        sched.Time
	byAge         bool
	reports       map[sched.AttemptID]lateReport
	rates         map[sched.StageID][]float64 // of winners
}

type lateReport struct {
	rate float64
	end  sched.Time
}

func (p *slowLate) Observe(v *sched.View, ev *sched.Event) {
	p.slowly.Observe(v, ev)
	p.quiet.Observe(v, ev)
	switch a := ev.Attempt; ev.Kind {
	case sched.AttemptProgress:
		rate := ev.Rate
		if age := (v.Now() - v.Attempt(a).Started).Seconds(); rate == 0 && age > 0 {
			rate = (ev.Progress - v.Attempt(a).From) / age
		}
		if rate > 0 {
			row, end := v.Attempt(a), kit.Later(v.Now(), (1-ev.Progress)/rate)
			if rem, silent := p.quiet.Remaining(v, a, &row); silent {
				end = v.Now() + rem
			}
			p.reports[a] = lateReport{rate, end}
		}
	case sched.AttemptDone:
		delete(p.reports, a)
		p.rates[ev.Stage] = append(p.rates[ev.Stage], (1-v.Attempt(a).From)/(v.Now()-v.Attempt(a).Started).Seconds())
	case sched.AttemptFailed, sched.AttemptLost:
		delete(p.reports, a)
	}
}

func (p *slowLate) Decide(v *sched.View, act *sched.Actions) {
	p.quiet.Look(v, func(_ sched.StageID, t sched.TaskID) {
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			p.still(v, a)
		}
	})
	kit.WakeFor(act, &p.quiet.Due)
	clone := func(j sched.JobID) bool { return p.clone(v, act, inJob(v, j)) }
	if p.cluster {
		clone = func(sched.JobID) bool { return p.clone(v, act, func(sched.TaskID) bool { return true }) }
	}
	for again := true; again; { // where there is no room for clones there is none until fresh tasks have started
		pending, room := v.Pending(), v.CloneRoom() > 0
		p.serve(v, func(t sched.TaskID) bool { p.start(v, act, t); return true }, func(j sched.JobID) bool { return room && clone(j) })
		again = v.Pending() < pending
	}
	p.wake(v, act)
}

// still judges an attempt that has reported and stands still by its whole age.
func (p *slowLate) still(v *sched.View, a sched.AttemptID) {
	row := v.Attempt(a)
	rem, silent := p.quiet.Remaining(v, a, &row)
	if _, reported := p.reports[a]; !silent || !reported {
		return
	}
	done := row.Progress - row.From
	if row.Rate > 0 {
		done = 1 - row.From
	}
	p.reports[a] = lateReport{done / (v.Now() - row.Started).Seconds(), v.Now() + rem}
}

// threshold returns the rate below which attempts of a stage are slow.
func (p *slowLate) threshold(v *sched.View, s sched.StageID) (float64, bool) {
	rates := slices.Clone(p.rates[s])
	for b, r := range p.reports {
		if v.Task(v.Attempt(b).Task).Stage == s {
			rates = append(rates, r.rate)
		}
	}
	slices.Sort(rates)
	at := int(p.slowTask * float64(len(rates)))
	if at >= len(rates) {
		return 0, false
	}
	return rates[at], true
}

// left returns the time that a slow task has left, and when it will be slow if nothing happens.
func (p *slowLate) left(v *sched.View, t sched.TaskID) (left sched.Time, slow bool, at sched.Time) {
	a, alone := only(v, t)
	if !alone || v.AttemptRoom(t) == 0 || v.Rows().Waiting(a) {
		return 0, false, sched.Never
	}
	s, started := v.Task(t).Stage, v.Attempt(a).Started
	rate, some := p.threshold(v, s)
	r, reported := p.reports[a]
	st := v.Stage(s)
	mean, _, measured := st.Measured()
	ripe := started + p.minAge
	switch {
	case !some || reported && r.rate >= rate || !reported && !(p.byAge && measured):
		return 0, false, sched.Never
	case reported:
		return r.end - v.Now(), v.Now() >= ripe, ripe
	}
	ripe = max(ripe, kit.Later(started, max(mean, 1/rate))+1)
	return v.Now() - started, v.Now() >= ripe, ripe
}

// clone clones the slow task with the longest time left for which there is a machine.
func (p *slowLate) clone(v *sched.View, act *sched.Actions, in func(sched.TaskID) bool) bool {
	type slow struct {
		left sched.Time
		task sched.TaskID
	}
	var all []slow
	for _, t := range runningOf(v, in) {
		if left, ok, _ := p.left(v, t); ok {
			all = append(all, slow{left, t})
		}
	}
	slices.SortFunc(all, func(a, b slow) int { return cmp.Or(cmp.Compare(b.left, a.left), cmp.Compare(a.task, b.task)) })
	most := int(p.cap * float64(v.Slots()))
	if p.cap > 0 {
		most = max(most, 1)
	}
	for _, x := range all {
		if m, ok := p.places.Unused(v, x.task, 0); ok && v.Cluster().Clones() < most {
			kit.Launch(act, x.task, m, 0, sched.Straggling)
			return true
		}
	}
	return false
}

// wake asks to be called when the next attempt is slow.
func (p *slowLate) wake(v *sched.View, act *sched.Actions) {
	for _, t := range runningOf(v, func(sched.TaskID) bool { return true }) {
		if _, _, at := p.left(v, t); at > v.Now() && at < sched.Never {
			act.WakeAt(at)
		}
	}
}
