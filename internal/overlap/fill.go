package overlap

import "math"

// fill is FillSRPT, which is not the paper's: MaxSRPT, but the map station shares its time when the shuffle station
// would idle and it pays. docs/explain/fillsrpt.md argues for it.
//
// When a job has shuffle work available, fill does what MaxSRPT does. When none has, every job has map work and the
// ratio y/x that it came with. Let h be the first by max(x(t), y(t)), with ratio r_h, and g the first of the jobs with
// y > x, with ratio r_g. If r_h >= 1, or there is no g, or g is h, fill again does what MaxSRPT does. Otherwise h alone
// keeps the shuffle station busy for r_h of the time, and a share q = (1-r_h)/(r_g-r_h) of the map station for g, the
// rest for h, keeps it busy all the time. While it does so n1 jobs with x >= y that come before g end later by q a
// second. The n2 jobs with y > x end sooner: by q(r_g-1) if no more jobs come, as their map work has to wait for the
// n1 jobs; by q r_g if jobs come all the time, and shuffle work is all that holds them up. So g gets
//
//	q    if n2 (r_g-1/2) > n1
//	q/2  otherwise, if the jobs since the system was last empty brought at least as much shuffle as map work
//	0    otherwise
//
// The second line pays only if jobs with y > x go on coming; it is what keeps FillSRPT from losing to Theorem 2's
// adversaries as MaxSRPT and SplitSRPT do. Which line applies is settled when a job comes, or its map work, its shuffle
// work or its backlog ends. Ties by y > x, then arrival: so a g that has caught up with h goes before it.
type fill struct {
	class   class
	heavy   heap       // jobs with y > x that have map work, by max(x(t), y(t))
	brought [2]float64 // map and shuffle work that came since the system was last empty
	lot     float64    // of q, what g gets; to be settled anew when it is not
	settled bool
}

func newFill() *fill { return &fill{class: newClass(byMax), heavy: heap{slot: slotOther}} }

func (f *fill) count(j Demand) {
	if f.class.empty() {
		f.brought = [2]float64{}
	}
	f.brought[0] += j.Map
	f.brought[1] += j.Shuffle
	f.settled = false
}

func (f *fill) admit(j *present) {
	f.count(j.Demand)
	if j.y > j.x {
		j.tie = -1
		if j.x > 0 {
			f.heavy.push(j, f.class.order.key(j))
		}
	}
	f.class.admit(j)
}

// pass leaves aside a job that leaves time of the shuffle station to a job with y > x.
func (f *fill) pass(j Demand, limit float64) bool {
	c := &f.class
	if c.d == nil && f.heavy.len() > 0 && j.Shuffle < j.Map {
		return false
	}
	m, d := c.m, c.d
	if !c.pass(j, limit) {
		return false
	}
	f.count(j)
	f.follow(m)
	f.follow(d)
	return true
}

// follow gives a job that was served its place among the heavy.
func (f *fill) follow(j *present) {
	switch {
	case j == nil || !f.heavy.has(j):
	case j.x == 0:
		f.heavy.remove(j)
	default:
		f.heavy.lower(j, f.class.order.key(j))
	}
}

func (f *fill) each(do func(j *present, x, y float64)) { f.class.each(do) }

func (f *fill) advance(now, until float64, out *done) (at float64, ok bool) {
	c := &f.class
	if c.empty() {
		return until, false
	}
	if g := f.heavy.top(); g != nil && c.d == nil && g != c.m && c.m.ratio < 1 {
		if !f.settled {
			f.settle(g)
		}
		if f.lot > 0 {
			return f.both(c.m, g, now, until, out)
		}
	}
	m, d := c.m, c.d
	if at, ok = c.alone(now, until, out); ok {
		f.settled = false
	}
	f.follow(m)
	f.follow(d)
	return at, ok
}

// settle finds how much of q goes to g.
func (f *fill) settle(g *present) {
	gain := float64(f.heavy.len()) * (g.Shuffle - g.Map/2)
	switch most := gain / g.Map; {
	case float64(f.class.mapping.countBefore(f.heavy.entries[0].key, most))*g.Map < gain:
		f.lot = 1
	case f.brought[1] >= f.brought[0]:
		f.lot = 0.5
	default:
		f.lot = 0
	}
	f.settled = true
}

// both serves h and g, of which neither has a backlog or starts one, as [engine] says. Their next event is the end of
// one of them, or that g catches up with h.
func (f *fill) both(h, g *present, now, until float64, out *done) (float64, bool) {
	c := &f.class
	q := f.lot * (1 - h.ratio) / (g.ratio - h.ratio)
	due := min(over(h.x, crumb*h.Map, 1-q), over(g.x, crumb*g.Map, q))
	catches := false
	if falls := q*g.ratio - (1 - q); falls > 0 {
		in := max(0, g.y-h.x) / falls
		if catches = in < due; catches {
			due = in
		}
	}
	at, fires := now+due, true
	if at > until {
		at, fires, catches = until, false, false
	}
	dt := at - now
	hEnds := flow(h, (1-q)*dt)
	gEnds := flow(g, q*dt)
	if fires && !catches && !hEnds && !gEnds { // by rounding
		if h.x*q <= g.x*(1-q) {
			hEnds = flow(h, math.Inf(1))
		} else {
			gEnds = flow(g, math.Inf(1))
		}
	}
	first, second := c.order.key(h), c.order.key(g)
	if catches {
		second = min(first, second)
	}
	c.mapping.entries[0].key = first
	f.heavy.entries[0].key = second
	c.mapping.lower(g, second)
	if hEnds {
		c.mapping.remove(h)
		out.add(h)
	}
	if gEnds {
		c.mapping.remove(g)
		f.heavy.remove(g)
		out.add(g)
	}
	if fires {
		c.choose()
		f.settled = f.settled && !hEnds && !gEnds
	}
	return at, fires
}

// flow takes map work off a job without a backlog, and the shuffle work that it sets free; it tells whether the job is
// done.
func flow(j *present, work float64) bool {
	if j.x -= work; j.x <= crumb*j.Map {
		j.x = 0
	}
	j.y = j.ratio * j.x
	return j.x == 0
}

// countBefore counts the entries whose keys are below one, up to the first that is more than most.
func (h *heap) countBefore(key, most float64) (n int) {
	var count func(i int)
	count = func(i int) {
		if i >= len(h.entries) || float64(n) > most || !(h.entries[i].key < key) {
			return
		}
		n++
		count(2*i + 1)
		count(2*i + 2)
	}
	count(0)
	return n
}
