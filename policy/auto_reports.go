package policy

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// filter combines what an attempt has reported so far with its latest report: a Kalman filter of the logarithm of the
// time left.
//
//	o   logarithm of the seconds that are left by a report
//	p   the same by all reports before it: what was left then, less the time since
//	P   variance of p. It grows as the time left becomes less, of which a minute is more and more
//	r   variance of the error that each report has of its own
//	q   variance of what has changed for good from one report to the next
//	K   P / (P + r): how much of o - p is believed
//
// r and q follow from d, the difference of o and what the report before it alone implies. An error of a single report
// shows twice in d, with opposite signs, so r = -E[d d'] of one d and the next, and q = E[d d] - 2r. Reports without
// errors of their own are believed as they are.
//
// What all reports of an attempt have in common stays, see trust: c, with a variance of b. By c, p is off by c
// (since / left) more with each report, and the filter by that / K if it goes on. So K is at least what makes the
// sum of the variance from single reports, r K / 2, and of the square of that the least:
//
//	K^3 = 4 b (since / left)^2 / r
type filter struct {
	rows          []reported // by row
	n, both, sqrs float64    // pairs of differences, and the sums of their products and of the squares
}

// reported is what an attempt has said.
type reported struct {
	gen      uint32
	two      bool       // d is known
	first    sched.Time // the first report
	promised float64    // seconds left by that
	at       sched.Time // the latest report
	last     float64    // seconds left by that alone
	left     float64    // and by all of them
	miss     float64    // P of left
	d        float64
	asked    float64 // age at which it has asked for a look, see hears
}

const (
	filterCounts = 20 // pairs of differences without any error, before there are some
	filterFade   = 0.999
	farFromEnd   = 3   // times the time between two reports that are left, if the logarithm is to say something
	mostApart    = 3   // of d, so that no single one decides
	soonOver     = 0.1 // of the time left, below which what is left of it says nothing of the next report
)

// errors returns r and q.
func (f *filter) errors() (own, change float64) {
	n := f.n + filterCounts
	own = max(0, -f.both/n)
	return own, max(0, f.sqrs/n-2*own)
}

// hears takes in that an attempt has so many seconds left, as it says. all is the variance of the error of a report:
// what reports of an attempt have in common, and what each has of its own.
func (f *filter) hears(a sched.AttemptID, now sched.Time, says, all float64) {
	f.rows = kit.Grown(f.rows, a.Row())
	x := &f.rows[a.Row()]
	own, change := f.errors()
	if x.gen != a.Generation() {
		*x = reported{gen: a.Generation(), first: now, promised: says, at: now, last: says, left: says, miss: own}
		return
	}
	since := (now - x.at).Seconds()
	if says <= 0 || since <= 0 {
		x.two, x.at, x.last, x.left, x.miss = false, now, says, says, own
		return
	}
	f.learns(x, says, since)
	expects, grown := x.left-since, x.left/(x.left-since)
	x.at, x.last = now, says
	if expects <= soonOver*x.left || own == 0 {
		x.left, x.miss = says, own
		return
	}
	miss := x.miss*grown*grown + change
	drift, common := since/x.left, max(0, all-own)
	believed := min(1, max(miss/(miss+own), math.Cbrt(4*common*drift*drift/own)))
	x.left, x.miss = expects*math.Pow(says/expects, believed), believed*own
}

// learns takes in the difference of a report and what the one before it implies.
func (f *filter) learns(x *reported, says, since float64) {
	if min(x.last, says) <= farFromEnd*since {
		x.two = false
		return
	}
	d := max(-mostApart, min(mostApart, math.Log(says/(x.last-since))))
	if x.two {
		f.n, f.both, f.sqrs = filterFade*f.n+1, filterFade*f.both+d*x.d, filterFade*f.sqrs+d*d
	}
	x.d, x.two = d, true
}

// left returns how many seconds an attempt had left when it last reported, and by how much the variance of the
// logarithm of that differs from a first report's. ok is false if nothing has been reported. The row is as it is to be
// judged: of an attempt that is silent, all reports are void.
func (f *filter) left(a sched.AttemptID, row *sched.Attempt) (seconds, more float64, ok bool) {
	rem, ok := row.Remaining(row.ProgressAt)
	if !ok {
		return 0, 0, false
	}
	if x, heard := f.of(a); heard && x.at == row.ProgressAt {
		own, _ := f.errors()
		return x.left, x.miss - own, true
	}
	return rem.Seconds(), 0, true
}

// of returns what an attempt has said; ok is false if that is nothing.
func (f *filter) of(a sched.AttemptID) (x *reported, ok bool) {
	if a.Row() >= len(f.rows) || f.rows[a.Row()].gen != a.Generation() {
		return nil, false
	}
	return &f.rows[a.Row()], true
}
