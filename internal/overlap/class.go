package overlap

import "math"

// order ranks the jobs of a class. A job moves up in its order only while it is served, never down.
type order int

const (
	byArrival order = iota
	byMax           // L = max(x(t), y(t))
	byMap           // x(t), ties by y(t)
	byShuffle       // y(t)
)

func (o order) key(j *present) float64 {
	left := float64(j.index)
	switch o {
	case byMax:
		left = j.x
		if j.y > left { // max() would look for NaN
			left = j.y
		}
	case byMap:
		left, j.tie = j.x, rounded(j.y)
	case byShuffle:
		left = j.y
	}
	return rounded(left)
}

// rounded is a number to 36 bits. What is left of jobs is computed, and equal remainders of different jobs differ by
// some 1e-16 of their sizes; they tie all the same if they have few bits, such as multiples of 1/64, as that is what
// everything near them is rounded to. Remainders that are not equal and closer than 2^-35 of themselves may tie, too.
func rounded(left float64) float64 {
	const bits = 53 - 36
	return math.Float64frombits((math.Float64bits(left) + 1<<(bits-1)) &^ (1<<bits - 1))
}

// class is a set of jobs in one order and the capacity that it is given. Its map rate goes to the first job with map
// work, m. Its shuffle rate walks the order, each job taking what it can. At most two jobs can take any: m, when it
// flows, takes what its map work sets free, mapRate*ratio, and d, the first job with shuffle work available, takes all
// that is left.
//
// So only two keys change from one event to the next, both downwards, and never past each other, since the one before
// falls faster. When capacity is short or d comes before m, m does not flow: it starts a backlog, and may be d itself.
type class struct {
	order   order
	literal bool // what the flowing job leaves is lost

	mapping heap // jobs with map work
	ready   heap // jobs with shuffle work available: a backlog, or no map work at all

	// Of the heaps as they are. They change with the class's own events, when [class.choose] sets them anew.
	m, d    *present // their first jobs, nil when there is none
	flowing bool     // m exists, and is not in ready: its y is ratio*x

	mapRate   float64 // of m
	drainRate float64 // of d
	due       float64 // seconds until the next event of this class
	event     event
}

type event int

const (
	mapEnds   event = iota // m has no map work
	drainEnds              // d has no backlog
)

func newClass(o order) class {
	return class{order: o, mapping: heap{slot: slotMap}, ready: heap{slot: slotReady}}
}

func (c *class) empty() bool { return c.m == nil && c.d == nil }

func (c *class) admit(j *present) {
	if j.x > 0 {
		c.mapping.push(j, c.order.key(j))
	} else {
		c.ready.push(j, c.order.key(j))
	}
	c.choose()
}

// choose finds m and d. When d comes first nothing is left for m, which stocks up.
func (c *class) choose() {
	c.m, c.d = c.mapping.top(), c.ready.top()
	c.flowing = c.m != nil && !c.ready.has(c.m)
	if c.flowing && c.m.ratio > 0 && c.d != nil && !c.mapFirst() {
		c.stockUp()
	}
}

// mapFirst says whether m comes before d.
func (c *class) mapFirst() bool { return c.mapping.entries[0].before(&c.ready.entries[0]) }

// stockUp starts a backlog of m.
func (c *class) stockUp() {
	c.ready.push(c.m, c.mapping.entries[0].key)
	c.flowing = false
	c.d = c.ready.top()
}

// pass serves a job that has just arrived with all that there is, as [engine] says. What a map-heavy job leaves of the
// shuffle station goes to the first with available work, and the time that a shuffle-heavy job needs only the shuffle
// station goes to the first with map work, which then starts a backlog or adds to it.
func (c *class) pass(j Demand, limit float64) bool {
	key := j.Alone()
	if !(key < limit) {
		return false
	}
	if c.order == byArrival {
		return c.empty()
	}
	m, d := c.m, c.d
	key = rounded(key)
	if m != nil && key >= c.mapping.entries[0].key || d != nil && key >= c.ready.entries[0].key {
		return false
	}
	if spare := j.Map - j.Shuffle; spare >= 0 {
		return d == nil || c.literal || c.passDrain(d, spare)
	}
	return m == nil || c.passMap(m, j.Shuffle-j.Map)
}

// passDrain gives d, the first with available shuffle work, a part of it that does not empty its backlog.
func (c *class) passDrain(d *present, work float64) bool {
	if !(d.backlog()-work > crumb*d.Shuffle) {
		return false
	}
	d.y -= work
	key := c.order.key(d)
	c.ready.entries[0].key = key // stays first: it only fell
	if c.mapping.has(d) {
		c.mapping.lower(d, key)
	}
	c.choose() // d may come before m now, which was not served
	return true
}

// passMap gives m, the first with map work, a part of it that does not end it, and none of the shuffle station.
func (c *class) passMap(m *present, work float64) bool {
	if !(m.x-work > crumb*m.Map) {
		return false
	}
	m.x -= work
	key := c.order.key(m)
	c.mapping.entries[0].key = key // stays first: it only fell
	switch {
	case !c.flowing:
		c.ready.lower(m, key)
		c.d = c.ready.top() // m may come before d now
	case m.ratio > 0:
		c.stockUp()
	}
	return true
}

// demand is the shuffle rate that the class can use at most.
func (c *class) demand() float64 {
	if c.d != nil {
		return math.Inf(1)
	}
	if c.m != nil {
		return c.mapRate * c.m.ratio
	}
	return 0
}

// walk gives out a shuffle rate along the order, and finds the next event.
func (c *class) walk(rate float64) {
	m := c.m
	c.drainRate = rate
	if c.flowing {
		switch released := c.mapRate * m.ratio; {
		case released > rate:
			c.stockUp()
		case c.literal && c.d != nil && c.mapFirst():
			c.drainRate = 0
		default:
			c.drainRate = rate - released
		}
	}
	c.due = math.Inf(1)
	if m != nil {
		c.due, c.event = over(m.x, crumb*m.Map, c.mapRate), mapEnds
	}
	d := c.d
	if d == nil {
		return
	}
	falls := c.drainRate
	if d == m {
		falls -= c.mapRate * m.ratio
	}
	if falls > 0 {
		if in := over(d.backlog(), crumb*d.Shuffle, falls); in <= c.due {
			c.due, c.event = in, drainEnds
		}
	}
}

// over is the time that work takes at a rate, 0 when it is no more than a crumb. Most rates are 1, and a division costs
// much.
func over(work, crumb, rate float64) float64 {
	switch {
	case work <= crumb:
		return 0
	case rate == 1:
		return work
	}
	return work / rate
}

// alone serves the class with all that there is, as [engine] does.
func (c *class) alone(now, until float64, out *done) (float64, bool) {
	c.mapRate = 1
	c.walk(1)
	if at := now + c.due; at <= until {
		c.serve(at-now, true, out)
		return at, true
	}
	c.serve(until-now, false, out)
	return until, false
}

// serve serves the class for dt seconds; fires says that its event is at the end of them. Jobs that are done go to out.
// What ends together may be a crumb apart; its turn may not come again soon, so it ends now.
func (c *class) serve(dt float64, fires bool, out *done) {
	m, d := c.m, c.d
	mapped, drained := false, false
	if m != nil {
		m.x -= c.mapRate * dt
		if fires && c.event == mapEnds || m.x <= crumb*m.Map {
			mapped, m.x = true, 0
		}
		if c.flowing {
			m.y = m.ratio * m.x
		}
	}
	if d != nil {
		d.y -= c.drainRate * dt
		if fires && c.event == drainEnds || d != m && d.backlog() <= crumb*d.Shuffle {
			drained, d.y = true, d.ratio*d.x
		}
	}
	c.rekey(m, d)
	if drained {
		c.drainEnded(d, out)
	}
	if mapped {
		c.mapEnded(m, out)
	}
	if mapped || drained {
		c.choose()
	}
}

// rekey gives m and d the keys of what remains of them. Both stay first where they are, as they only fell; and say so
// before one of them moves up among those that the other leads.
func (c *class) rekey(m, d *present) {
	if d == nil {
		if m != nil {
			c.mapping.entries[0].key = c.order.key(m)
		}
		return
	}
	key := c.order.key(d)
	c.ready.entries[0].key = key
	if m != nil && m != d {
		key := c.order.key(m)
		c.mapping.entries[0].key = key
		if !c.flowing && c.ready.has(m) {
			c.ready.lower(m, key)
		}
	}
	switch {
	case m == d:
		c.mapping.entries[0].key = key
	case c.mapping.has(d):
		c.mapping.lower(d, key)
	}
}

func (c *class) mapEnded(m *present, out *done) {
	c.mapping.remove(m)
	switch {
	case !c.ready.has(m):
		out.add(m)
	case m.y <= crumb*m.Shuffle:
		c.ready.remove(m)
		out.add(m)
	}
}

func (c *class) drainEnded(d *present, out *done) {
	c.ready.remove(d)
	if !c.mapping.has(d) {
		out.add(d)
	}
}
