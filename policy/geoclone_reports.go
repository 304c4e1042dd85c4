package policy

// What GeoClone does where attempts report what they have done, which the paper does not have. A stage reports once one
// of its attempts has. There
//
//   - an attempt still takes what its reports say, as kit.Silence has it;
//   - a task of which that is known may get further attempts while it runs;
//   - of the first attempts of a task (draws says how many), only the one that will be done first goes on;
//   - a further attempt has to save at least a part (gain) of what it is expected to run.
//
// Where nothing reports, decisions are those of the paper: silent stages are silent beside others that report. A task
// that is slow however often it is begun anew stops losing attempts after these, and then its attempts race.
// See docs/decisions/0101.

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// geoReports are what is known of stages whose attempts report.
type geoReports struct {
	on    bool // whether they count
	heard bool // whether there was one
	quiet kit.Silence
	told  kit.PerStage[bool]
}

// listen takes note of an event.
func (r *geoReports) listen(v *sched.View, ev *sched.Event) {
	if !r.on {
		return
	}
	r.quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.StageReady:
		if v.Rows().Visible(ev.Stage) {
			*r.told.Open(ev.Stage) = false
		}
	case sched.AttemptProgress:
		*r.told.Of(ev.Stage), r.heard = true, true
	case sched.AttemptTaken:
		if a := v.Attempt(ev.Attempt); a.Rate > 0 || a.Progress > a.From {
			*r.told.Of(ev.Stage), r.heard = true, true
		}
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		r.told.End(v, ev)
	}
}

// wake asks to be called when an attempt may stand still. Without a report nobody can tell.
func (r *geoReports) wake(v *sched.View, act *sched.Actions) {
	if r.heard {
		r.quiet.Look(v, func(sched.StageID, sched.TaskID) {})
		kit.WakeFor(act, &r.quiet.Due)
	}
}

// from tells whether there are reports from a stage.
func (r *geoReports) from(s sched.StageID) bool { return r.heard && r.told.Has(s) && *r.told.Of(s) }

// foretold returns the seconds that an attempt still takes by its reports; ok is false if they do not say.
func (r *geoReports) foretold(v *sched.View, a sched.AttemptID) (seconds float64, ok bool) {
	if !r.from(v.Task(v.Attempt(a).Task).Stage) {
		return 0, false
	}
	row := r.quiet.Attempt(v, a)
	rem, ok := row.Remaining(v.Now())
	return rem.Seconds(), ok
}

// prune ends attempts of tasks that have another which will be done first.
func (p *geoclone) prune(v *sched.View, act *sched.Actions) {
	if !p.heard || p.draws == 0 {
		return
	}
	for s, told := range p.told.All() {
		if !*told {
			continue
		}
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			if task := v.Task(t); task.Live > 1 && task.Launched < p.draws {
				p.keepFirst(v, act, t)
			}
		}
	}
}

// keepFirst ends the attempts of a task that by their reports need longer than the one that needs least; of equals the
// latest goes on.
func (p *geoclone) keepFirst(v *sched.View, act *sched.Actions, t sched.TaskID) {
	least, first := math.Inf(1), 0
	p.late = p.late[:0]
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		if rem, ok := p.foretold(v, a); ok {
			if rem < least {
				least, first = rem, len(p.late)
			}
			p.late = append(p.late, a)
		}
	}
	for i, a := range p.late {
		if i != first && v.Rows().MayKill(a) {
			kit.Kill(act, a, sched.Replaced)
		}
	}
}
