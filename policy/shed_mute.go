package policy

import (
	"math"

	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// ageOf returns the seconds that an attempt has worked.
func (p *shed) ageOf(v *sched.View, a *sched.Attempt) float64 {
	return max(0, v.Now()-a.Started-p.Quiet.Launch).Seconds()
}

// age describes the attempts of a mute stage to the optimiser, all as the oldest of the task that is likeliest to be
// late; of equals, as the oldest of all.
func (p *shed) age(v *sched.View, s sched.StageID, w *plan.Work) {
	w.Launch = p.Launch.Seconds()
	held, worst, age := math.MaxInt, math.Inf(-1), 0.0
	for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
		oldest, stay := 0.0, 0
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			row := v.Attempt(a)
			x := p.ageOf(v, &row)
			if oldest = max(oldest, x); !w.Renew(x) {
				stay++
			}
		}
		held = min(held, stay-1)
		if late := w.LogLate(oldest); late > worst || late == worst && oldest > age {
			age, worst = oldest, late
		}
	}
	w.Age, w.Held = age, 0
	if held < math.MaxInt && !w.Renew(age) {
		w.Held = max(0, held)
	}
}

// prune kills the attempts that clones are to take the place of, and those that are too many; spare is the number of
// slots that nobody needs.
func (p *shed) prune(v *sched.View, act *sched.Actions, spare int) {
	for _, s := range p.open {
		if v.Stage(s).Running == 0 {
			continue
		}
		if !kit.Mute(v, s) {
			for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
				p.Prune(v, act, t)
			}
			continue
		}
		st := p.stages.Of(s)
		w := p.work(v, st)
		if st.rank == shedLow && w.Law != certainly {
			w = p.soon(v, st)
		}
		w.Launch = p.Launch.Seconds() // also of a stage with tasks that wait
		judge := &w
		if p.waved && st.rank != shedLow && v.Stage(s).Pending > 0 {
			judge = nil // the deadline is not that of these tasks
		}
		if st.rank == shedLow && p.waits == 0 {
			st.clones = spare / max(1, p.lowUp)
		}
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			p.trim(v, act, t, st.clones, judge)
		}
	}
}

// trim kills attempts of a task that reports nothing: those that are late likelier than new ones, and of the others the
// likeliest to be late that are more than should be. The oldest always goes on. Without w no attempt is worth more than
// another.
func (p *shed) trim(v *sched.View, act *sched.Actions, t sched.TaskID, clones int, w *plan.Work) {
	oldest, _ := p.Foremost(v, t)
	for {
		var worst sched.AttemptID
		var row sched.Attempt
		most := math.Inf(-1)
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			x := v.Attempt(a)
			late := 0.0
			if w != nil {
				late = w.LogLate(p.ageOf(v, &x))
			}
			if a != oldest && v.Rows().MayKill(a) && (late > most || late == most && x.Number > row.Number) {
				worst, row, most = a, x, late
			}
		}
		if worst == 0 || int(v.Task(t).Live) <= 1+clones && (w == nil || !w.Renew(p.ageOf(v, &row))) {
			return
		}
		kit.Kill(act, worst, sched.Replaced)
	}
}
