package policy

import (
	"math"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// foretold is what is known of durations. The first report of each attempt foretells how long the attempt would take
// for its whole task. These durations are not censored: those of attempts that are killed later count like all others.
//
// A law that is given is believed as long as the values P(X < y) look uniform: their mean is within
// foretoldDoubt standard deviations of a half. Else, and where none is given, the law is Pareto's with the moments of
// what the stage has foretold. As foretoldOthers durations of its own count the moments known beforehand, else those
// of all jobs, as long as these have foretold more.
type foretold struct {
	given  laws.Law // nil if none is
	shares powers   // P(X < y) under it
	all    powers
	rows   []uint32 // by row: generation of the attempt that has foretold last
}

// stageForetold is of one stage.
type stageForetold struct {
	own    powers
	logs   powers   // of the logarithms, see sizes
	others float64  // fitted was made with: durations of all jobs, or minus the mean known beforehand, or 0
	fitted laws.Law // nil after own has changed
}

// powers are sums over values.
type powers struct{ n, sum, squares float64 }

func (m *powers) add(x float64) { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }

// plus adds n times a mean and a mean square.
func (m powers) plus(n, mean, square float64) powers {
	return powers{m.n + n, m.sum + n*mean, m.squares + n*square}
}

const (
	foretoldDoubt  = 4
	foretoldOthers = 2
)

// first tells whether an attempt has not foretold before, and notes that it has.
func (f *foretold) first(a sched.AttemptID) bool {
	f.rows = kit.Grown(f.rows, a.Row())
	if f.rows[a.Row()] == a.Generation() {
		return false
	}
	f.rows[a.Row()] = a.Generation()
	return true
}

// add takes in a duration.
func (f *foretold) add(st *stageForetold, y float64) {
	if f.given != nil {
		f.shares.add(f.given.CDF(y))
	}
	f.all.add(y)
	st.own.add(y)
	st.fitted = nil
}

// believed tells whether there is a law that is given, and nothing speaks against it.
func (f *foretold) believed() bool {
	n := f.shares.n
	return f.given != nil && (n == 0 || math.Abs(f.shares.sum/n-0.5) <= foretoldDoubt/math.Sqrt(12*n))
}

// of returns the law of a stage; nil if nothing is known of it.
func (f *foretold) of(st *stageForetold, stage *sched.Stage) laws.Law {
	if f.believed() {
		return f.given
	}
	others := f.all.n // what counts beside own
	if stage.Mean > 0 {
		others = -stage.Mean.Seconds()
	} else if others <= st.own.n {
		others = 0
	}
	if st.fitted != nil && st.others == others && st.own.n+others != 0 {
		return st.fitted
	}
	m := st.own
	mean, sd := stage.Mean.Seconds(), stage.SD.Seconds()
	switch {
	case mean > 0:
		m = m.plus(foretoldOthers, mean, mean*mean+sd*sd)
	case others > 0:
		m = m.plus(foretoldOthers, f.all.sum/others, f.all.squares/others)
	case m.n == 0:
		var ok bool
		if mean, sd, ok = stage.Estimate(); !ok || mean <= 0 {
			return nil
		}
		m = m.plus(1, mean, mean*mean+sd*sd)
	}
	st.others, st.fitted = others, paretoOf(m.sum/m.n, m.squares/m.n)
	return st.fitted
}

// paretoOf returns Pareto's law of a mean and a mean square.
func paretoOf(mean, square float64) laws.Law {
	variance := square - mean*mean
	if variance <= 1e-12*square {
		return laws.Deterministic{Value: mean}
	}
	fit := kit.FitPareto(mean, math.Sqrt(variance))
	return laws.Pareto{Alpha: fit.Alpha, Xm: fit.Mu}
}

// forget lets what all jobs have foretold fade with each job.
func (f *foretold) forget() {
	for _, m := range []*powers{&f.shares, &f.all} {
		m.n, m.sum, m.squares = m.n*fade, m.sum*fade, m.squares*fade
	}
}

// hear takes in the first report of an attempt that tells its speed.
func (p *laxity) hear(v *sched.View, ev *sched.Event) {
	a := v.Attempt(ev.Attempt)
	y, ok := p.whole(&a)
	if !ok || !p.law.first(ev.Attempt) {
		return
	}
	if law := p.lawOf(v, ev.Stage); law != nil {
		p.redraw.shows(ev.Task, ev.Job, y, law)
	}
	st := &p.stages.Of(ev.Stage).stageForetold
	p.sizes.foretells(st, ev.Task, y)
	p.law.add(st, y)
	if p.worthless(v, ev.Job) {
		p.vain.Push(ev.Task) // it is known now what killing it would save
	}
}

// whole returns the seconds that an attempt takes for a whole task by its speed; ok is false before it has begun.
func (p *laxity) whole(a *sched.Attempt) (y float64, ok bool) {
	end, ok := p.End(a)
	if !ok || a.Progress >= 1 {
		return 0, false
	}
	return (end - a.ProgressAt).Seconds() / (1 - a.Progress), true
}
