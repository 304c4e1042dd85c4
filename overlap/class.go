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

func (o order) key(j *job) float64 {
	switch o {
	case byMax:
		return max(j.x, j.y)
	case byMap:
		j.tie = j.y
		return j.x
	case byShuffle:
		return j.y
	}
	return float64(j.index)
}

// class is a set of jobs in one order and the capacity that it is given. Its map rate goes to the first job with map work. Its shuffle
// rate walks the order, each job taking what it can. At most two jobs can take any:
//
//	flowing  the job being mapped, when it has no backlog: takes what its map work sets free, p*ratio
//	draining the first job with shuffle work available: takes all that is left
//
// So only two keys change from one event to the next, both downwards, and never past each other, since the one before falls faster.
// A flowing job that cannot take all that it sets free, because capacity is short or a draining job comes before it, starts a backlog.
type class struct {
	order   order
	literal bool // what the flowing job leaves is lost

	mapping heap // jobs with map work; the first is served
	ready   heap // jobs with shuffle work available: a backlog, or no map work at all

	mapRate   float64 // p, of the first of mapping
	drainRate float64 // of the first of ready
	due       float64 // seconds until the next event of this class
	event     event
}

type event int

const (
	mapEnds event = iota
	drainEnds
)

func newClass(o order) class {
	return class{order: o, mapping: heap{slot: slotMap}, ready: heap{slot: slotReady}}
}

func (c *class) empty() bool { return c.mapping.len() == 0 && c.ready.len() == 0 }

func (c *class) admit(j *job) {
	if j.x > 0 {
		c.mapping.push(j, c.order.key(j))
		return
	}
	c.ready.push(j, c.order.key(j))
}

// demand is the shuffle rate that the class can use at most.
func (c *class) demand() float64 {
	if c.ready.len() > 0 {
		return math.Inf(1)
	}
	if m := c.mapping.top(); m != nil {
		return c.mapRate * m.ratio
	}
	return 0
}

// walk gives out a shuffle rate along the order.
func (c *class) walk(rate float64) {
	c.drainRate = rate
	m := c.mapping.top()
	if m == nil || c.ready.has(m) {
		return
	}
	released := c.mapRate * m.ratio
	if !c.mapFirst() {
		if released > 0 {
			c.ready.push(m, c.order.key(m))
		}
		return
	}
	switch {
	case released > rate:
		c.ready.push(m, c.order.key(m))
	case c.literal:
		c.drainRate = 0
	default:
		c.drainRate = rate - released
	}
}

// mapFirst says whether the job being mapped comes before all jobs with available shuffle work.
func (c *class) mapFirst() bool {
	return c.ready.len() == 0 || c.mapping.entries[0].before(&c.ready.entries[0])
}

// plan finds the next event of the class.
func (c *class) plan() {
	c.due = math.Inf(1)
	m, d := c.mapping.top(), c.ready.top()
	if m != nil {
		c.due, c.event = over(m.x, c.mapRate), mapEnds
	}
	if d == nil || c.drainRate == 0 {
		return
	}
	left, rate := d.y, c.drainRate
	if d.x > 0 {
		left = max(0, d.backlog())
		if d == m {
			rate -= c.mapRate * m.ratio
		}
	}
	if rate > 0 {
		if in := over(left, rate); in <= c.due {
			c.due, c.event = in, drainEnds
		}
	}
}

// over is work/rate; most rates are 1, and a division is what costs most here.
func over(work, rate float64) float64 {
	if rate == 1 {
		return work
	}
	return work / rate
}

// alone serves the class with all that there is, as [engine] does.
func (c *class) alone(limit float64, out *done) (float64, bool) {
	c.mapRate = 1
	c.walk(1)
	c.plan()
	fires := c.due <= limit
	dt := min(c.due, limit)
	c.advance(dt, fires, out)
	return dt, fires
}

// advance serves the class for dt seconds; fires says that its event is at the end of them. Jobs that are done go to out.
func (c *class) advance(dt float64, fires bool, out *done) {
	m, d := c.mapping.top(), c.ready.top()
	if m != nil {
		c.work(m, dt, fires && c.event == mapEnds)
	}
	if d != nil {
		c.drain(m, d, dt, fires && c.event == drainEnds, out)
	}
	switch {
	case m == nil:
	case m.x == 0 && m.y <= crumb*m.Shuffle:
		if c.ready.has(m) {
			c.ready.remove(m)
		}
		out.add(m)
	case m == d && m.x > 0:
		c.mapping.lower(m, c.order.key(m))
	case m != d && c.ready.has(m):
		c.ready.lower(m, c.order.key(m))
	}
}

// work serves m, the first job with map work.
func (c *class) work(m *job, dt float64, ends bool) {
	m.x -= c.mapRate * dt
	if ends || m.x <= crumb*m.Map {
		m.x = 0
	}
	if !c.ready.has(m) {
		m.y = m.through()
	}
	if m.x == 0 {
		c.mapping.pop()
		return
	}
	c.mapping.entries[0].key = c.order.key(m) // stays first: it only fell
}

// drain serves d, the first job with available shuffle work. m is the job being mapped, perhaps the same.
func (c *class) drain(m, d *job, dt float64, ends bool, out *done) {
	d.y -= c.drainRate * dt
	shrinks := d != m || c.drainRate > c.mapRate*m.ratio
	switch {
	case ends, shrinks && d.backlog() <= crumb*d.Shuffle:
		c.ready.pop()
		d.y = 0
		if d.x > 0 {
			d.y = d.through()
			if d != m {
				c.mapping.lower(d, c.order.key(d))
			}
		} else if d != m { // m is added when all is said about it
			out.add(d)
		}
	default:
		c.ready.entries[0].key = c.order.key(d) // stays first: it only fell
		if d != m && d.x > 0 {
			c.mapping.lower(d, c.order.key(d))
		}
	}
}
