package policy

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// mantriTwin has the rules at the top of mantri.go, each evaluated for every task whenever there is something to decide.
type mantriTwin struct {
	naive
	delta, rho float64
	period     sched.Time
	byRho      bool
	restarts   int
	copies     int

	cluster bool
	lead    *dollyTwin    // it starts fresh tasks; nil for none
	young   []mantriClone // duplicates, in the order of their start
	tries   map[sched.TaskID]int
}

type mantriClone struct {
	attempt sched.AttemptID
	task    sched.TaskID
	started sched.Time
}

// mantriChoice is a task that a rule holds for, and until when.
type mantriChoice struct {
	task       sched.TaskID
	end, until sched.Time
	class      int
}

func TestMantriTwin(t *testing.T) { checkTwins(t, drawMantri) }

func drawMantri(t *rapid.T) (string, sched.Policy) {
	x := &mantriTwin{
		naive: newNaive(rapid.Bool().Draw(t, "fair")), byRho: rapid.Bool().Draw(t, "rho"), cluster: rapid.Bool().Draw(t, "cluster"),
		delta:  rapid.SampledFrom([]float64{0, 0.25, 0.5, 1}).Draw(t, "delta"),
		period: sched.Time(rapid.IntRange(0, 3).Draw(t, "period")) * sched.Second, rho: rapid.SampledFrom([]float64{0, 0.5, 3}).Draw(t, "rho"),
		restarts: rapid.IntRange(0, 2).Draw(t, "restarts"), copies: rapid.IntRange(1, 3).Draw(t, "copies"), tries: map[sched.TaskID]int{},
	}
	x.tnew = rapid.SampledFrom([]string{"finished", "all", "known"}).Draw(t, "tnew")
	spec := fmt.Sprintf("mantri:delta=%g,period=%v,rho=%g,restarts=%d,copies=%d,tnew=%s", x.delta, x.period, x.rho, x.restarts, x.copies, x.tnew)
	if !x.byRho {
		spec += ",idle=delta"
	}
	if x.fair {
		spec += ",order=fair"
	}
	if x.cluster {
		spec += ",clones=cluster"
	}
	if rapid.Bool().Draw(t, "no restarts") {
		spec += ",restart=false"
		x.restarts = 0
	}
	return spec, x
}

// drawMantriDup is Mantri as Xu et al. compare with it.
func drawMantriDup(t *rapid.T) (string, sched.Policy) {
	x := &mantriTwin{naive: newNaive(rapid.Bool().Draw(t, "fair")), delta: 0.25, period: 10 * sched.Second, copies: rapid.IntRange(2, 3).Draw(t, "copies")}
	x.tnew = rapid.SampledFrom([]string{"finished", "all", "known"}).Draw(t, "tnew")
	spec := fmt.Sprintf("mantri-dup:copies=%d,tnew=%s", x.copies, x.tnew)
	if x.fair {
		spec += ",order=fair"
	}
	return spec, x
}

func (p *mantriTwin) Decide(v *sched.View, act *sched.Actions) {
	p.prune(v, act)
	p.look(v, act)
	for v.FreeSlots() > 0 && p.give(v, act) {
	}
	p.forget(v)
	if len(p.young) > 0 {
		act.WakeAt(p.young[0].started + p.period)
	}
}

// give gives a free slot to the first job that has a use for it. With clones=cluster fresh tasks of all jobs go first.
func (p *mantriTwin) give(v *sched.View, act *sched.Actions) bool {
	for _, j := range p.jobs(v) {
		if t, ok := kit.FirstPending(v, j); ok {
			p.serve(v, act, t)
			return true
		}
		if !p.cluster && p.idle(v, act, func(s sched.StageID) bool { return v.Stage(s).Job == j }) {
			return true
		}
	}
	return p.cluster && p.idle(v, act, func(sched.StageID) bool { return true })
}

// serve gives a free slot to the stage of a fresh task.
func (p *mantriTwin) serve(v *sched.View, act *sched.Actions, t sched.TaskID) {
	s := v.Task(t).Stage
	if x, ok := p.outlier(v, s); ok {
		free, apart := p.free(v, x)
		kill(act, p.attempts(v, x)[0], sched.Replaced)
		kit.Launch(act, x, append(apart, free...)[0], v.Task(x).Saved, sched.Straggling)
		p.tries[x]++
	} else if x, ok := p.best(v, s, false); ok && v.CloneRoom() > 0 {
		p.duplicate(v, act, x.task)
	} else if p.lead != nil {
		p.lead.launch(v, act, t)
	} else {
		p.start(v, act, t)
	}
}

// idle duplicates the latest task of some stages by the rule for idle slots.
func (p *mantriTwin) idle(v *sched.View, act *sched.Actions, of func(sched.StageID) bool) bool {
	var first mantriChoice
	for _, s := range p.stages(v) {
		if x, ok := p.best(v, s, p.byRho); ok && of(s) && x.until > first.until {
			first = x
		}
	}
	if first.until == 0 || v.CloneRoom() == 0 {
		return false
	}
	p.duplicate(v, act, first.task)
	return true
}

// forget drops duplicates that have ended.
func (p *mantriTwin) forget(v *sched.View) {
	p.young = slices.DeleteFunc(p.young, func(x mantriClone) bool { return !v.Rows().Alive(x.attempt) })
}

func (p *mantriTwin) prune(v *sched.View, act *sched.Actions) {
	for p.forget(v); len(p.young) > 0 && p.young[0].started+p.period <= v.Now(); p.forget(v) {
		t := p.young[0].task
		p.young = p.young[1:]
		for v.Task(t).Live > 2 {
			slowest := slices.MaxFunc(p.attempts(v, t), func(a, b sched.AttemptID) int { // the first of equals is the youngest
				return cmp.Compare(p.endOf(a), p.endOf(b))
			})
			if v.Attempt(slowest).Started == v.Now() {
				break
			}
			kill(act, slowest, sched.Replaced)
		}
	}
}

func (p *mantriTwin) endOf(a sched.AttemptID) sched.Time {
	if end, ok := p.ends[a]; ok {
		return end
	}
	return sched.Never
}

func (p *mantriTwin) duplicate(v *sched.View, act *sched.Actions, t sched.TaskID) {
	p.young = append(p.young, mantriClone{p.clone(v, act, t, sched.Straggling), t, v.Now()})
}

// may tells whether a task may get another attempt.
func (p *mantriTwin) may(v *sched.View, t sched.TaskID) bool {
	p.forget(v)
	if p.lead != nil && p.lead.copies[v.Task(t).Stage] > 0 {
		return false
	}
	return int(v.Task(t).Live) < p.copies && v.AttemptRoom(t) > 0 && !slices.ContainsFunc(p.young, func(x mantriClone) bool { return x.task == t })
}

// outlier returns the task of a stage that is killed and started anew: t_rem > E[t_new] + Delta, the largest t_rem first.
func (p *mantriTwin) outlier(v *sched.View, s sched.StageID) (best sched.TaskID, ok bool) {
	mean, some := p.mean(v, s)
	latest := sched.Time(0)
	for _, t := range p.running(v, s) {
		end, known := p.end(v, t)
		if known && some && v.Task(t).Live == 1 && p.may(v, t) && p.tries[t] < p.restarts && end > latest {
			best, latest = t, end
		}
	}
	if latest > 0 && v.Attempt(p.attempts(v, best)[0]).Started == v.Now() {
		return best, false
	}
	return best, latest-v.Now()-p.period > sched.FromSeconds(mean) // which may be as long as a time can be
}

// best returns the task of a stage that is duplicated by one of the two rules, the largest t_rem first.
func (p *mantriTwin) best(v *sched.View, s sched.StageID, byRho bool) (best mantriChoice, ok bool) {
	mean, some := p.mean(v, s)
	for _, t := range p.running(v, s) {
		end, known := p.end(v, t)
		if !known || !some || !p.may(v, t) {
			continue
		}
		x := mantriChoice{task: t, end: end, class: 2}
		c := float64(v.Task(t).Live)
		if c == 1 {
			x.class = 1
			if p.tries[t] < p.restarts {
				x.class = 0
			}
		}
		if byRho {
			x.until = end - sched.FromSeconds(mean+p.rho*p.period.Seconds())
		} else {
			limit, some := p.saving(v, s, c, end-v.Now())
			if !some {
				continue
			}
			x.until = end - min(end, limit)
		}
		if x.until > v.Now() && (!ok || x.end > best.end || x.end == best.end && x.class < best.class) {
			best, ok = x, true
		}
	}
	return best, ok
}

// saving tells whether t_rem > t_new (c+1)/c with a probability above delta, and above which t_rem that is so.
func (p *mantriTwin) saving(v *sched.View, s sched.StageID, c float64, rem sched.Time) (limit sched.Time, ok bool) {
	if st := v.Stage(s); p.tnew == "known" && st.Mean > 0 {
		var law laws.Law = laws.Deterministic{Value: st.Mean.Seconds()}
		if st.SD > 0 {
			f := kit.FitPareto(st.Mean.Seconds(), st.SD.Seconds())
			law = laws.Pareto{Alpha: f.Alpha, Xm: f.Mu}
		}
		limit = sched.FromSeconds(law.Quantile(p.delta) * (c + 1) / c)
		return limit, limit < rem
	}
	below, all := 0, p.durations(s)
	limits := []sched.Time{}
	for _, d := range all {
		limits = append(limits, sched.FromSeconds(d*(c+1)/c))
		if limits[len(limits)-1] < rem {
			below++
		}
	}
	if float64(below) <= p.delta*float64(len(all)) {
		return 0, false
	}
	return limits[int(p.delta*float64(len(all)))], true
}
