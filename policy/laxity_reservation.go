package policy

import (
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// drawing is what another attempt costs until it is judged, for a whole task.
//
//	c     launch + judge, in seconds
//	kept  of judge, the seconds in which what is done counts even if the attempt gives way: all of them in a stage that
//	      resumes, else none
//
// An attempt that gives way to one that takes x has done in judge what that one does in judge x/X. So judging costs
// judge (1 - x/X)^+, on average, and the seconds x that are worth another attempt are those with
//
//	E[(x-X)^+] = launch + judge E[(1 - x/X)^+], that is: E[(x-X)^+] + kept E[min(1, x/X)] = c
type drawing struct{ c, kept float64 }

// by returns the costs for a share of a task, or where only a share of the attempts is worth something.
func (d drawing) by(share float64) drawing { return drawing{d.c / share, d.kept / share} }

// draw returns what another attempt of a stage costs that is launched now.
func (p *laxity) draw(v *sched.View, s sched.StageID) drawing {
	d := drawing{c: p.cost(s)}
	if v.Stage(s).Resumable {
		d.kept = d.c - p.Launch.Seconds()
	}
	return d
}

// reservation has the seconds x that are worth another attempt, for a law, as a table.
//
//	g  E[(x-X)^+], the integral of the CDF up to x
//	m  E[min(1, x/X)]
type reservation struct {
	law     laws.Law
	x, g, m [reservationPoints]float64
}

const reservationPoints = 64

// of returns x. Both sides of the equation rise with it.
func (r *reservation) of(law laws.Law, d drawing) float64 {
	if r.law != law {
		r.fill(law)
	}
	const last = reservationPoints - 1
	at := func(i int) float64 { return r.g[i] + d.kept*r.m[i] }
	if c := at(last); d.c >= c {
		return r.x[last] + (d.c-c)/law.CDF(r.x[last])
	}
	lo, hi := 0, last // at(lo) <= c < at(hi)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; at(mid) <= d.c {
			lo = mid
		} else {
			hi = mid
		}
	}
	return r.x[lo] + (r.x[hi]-r.x[lo])*(d.c-at(lo))/(at(hi)-at(lo))
}

// fill integrates between quantiles, up to that of 0.984: the CDF by trapezoids, and 1/X as that of the middle. Beyond
// them X counts as the last; it is a nanosecond at least.
func (r *reservation) fill(law laws.Law) {
	r.law = law
	const n = reservationPoints
	for i := range r.x {
		r.x[i] = law.Quantile(float64(i) / n)
		if i > 0 {
			r.g[i] = r.g[i-1] + (r.x[i]-r.x[i-1])*(float64(i)-0.5)/n
		}
	}
	r.m[n-1] = 1
	inverse := 1 / (n * max(r.x[n-1], 1e-9)) // E[1/X; X > x]
	for i := n - 2; i >= 0; i-- {
		inverse += 2 / (n * max(r.x[i]+r.x[i+1], 2e-9))
		r.m[i] = min(1, float64(i)/n+r.x[i]*inverse)
	}
}
