package overlap

import "math"

// Bound computes the lower bound of the paper's Section 5.1 on the total flow time of any policy. Two single servers
// under SRPT, one with the map sizes and one with the shuffle sizes, are each at least as fast; in every period the
// slower one counts. A period begins when an arrival finds both servers empty.
type Bound struct {
	servers [2]server
	clock   float64
	arrived int64
	counted int64
	skip    int64
	closed  float64    // total flow time of the periods that are over
	period  [2]float64 // total flow times of the present period
}

// NewBound returns a bound that leaves out the flow times of the first skip jobs.
func NewBound(skip int64) *Bound {
	b := &Bound{skip: skip}
	for i := range b.servers {
		b.servers[i].skip = skip
	}
	return b
}

// Arrive admits the next job, which arrives no earlier than the last.
func (b *Bound) Arrive(j Demand) {
	b.until(j.Arrival)
	if b.servers[0].empty() && b.servers[1].empty() {
		b.close()
	}
	b.clock = j.Arrival
	if b.arrived >= b.skip {
		b.counted++
	}
	b.servers[0].admit(j, j.Map, b.arrived)
	b.servers[1].admit(j, j.Shuffle, b.arrived)
	b.arrived++
}

// Drain serves all jobs that are present to their end.
func (b *Bound) Drain() {
	for i := range b.servers {
		b.period[i] = b.servers[i].until(b.clock, math.Inf(1), b.period[i])
	}
	b.close()
}

// Mean is the bound on the mean flow time in seconds of the jobs that count, of the periods that are over; 0 when none
// counts.
func (b *Bound) Mean() float64 {
	if b.counted == 0 {
		return 0
	}
	return b.closed / float64(b.counted)
}

func (b *Bound) close() {
	b.closed += max(b.period[0], b.period[1])
	b.period = [2]float64{}
}

func (b *Bound) until(t float64) {
	for i := range b.servers {
		b.period[i] += b.servers[i].until(b.clock, t, 0)
	}
}

// server is a single server under SRPT. A job that is done before the next arrives, and goes before the others, never
// enters the heap: most do.
type server struct {
	waiting []sized // a binary heap
	last    sized   // the last to arrive, if it goes before those that wait
	holds   bool    // whether there is such a one
	skip    int64   // jobs that do not count
}

// sized is what a server knows of a job.
type sized struct {
	size, arrival float64 // what is left, and seconds
	index         int64
}

func (a *sized) before(b *sized) bool {
	return a.size < b.size || a.size == b.size && a.index < b.index
}

func (s *server) empty() bool { return !s.holds && len(s.waiting) == 0 }

func (s *server) admit(j Demand, size float64, index int64) {
	if size == 0 {
		return // its flow time is 0
	}
	e := sized{size, j.Arrival, index}
	if len(s.waiting) == 0 || size < s.waiting[0].size {
		s.last, s.holds = e, true
		return
	}
	s.push(e)
}

// until serves from clock to t, and adds the flow times of the jobs that count and are done by then.
func (s *server) until(clock, t, flow float64) float64 {
	lead := 0.0 // what of the time the first jobs have used already
	if s.holds {
		s.holds = false
		if lead = s.last.size; clock+lead > t {
			s.last.size = max(0, lead-(t-clock))
			s.push(s.last)
			return flow
		}
		flow += s.flow(&s.last, clock+lead)
	}
	for len(s.waiting) > 0 {
		first := &s.waiting[0]
		if clock+lead+first.size > t {
			first.size = max(0, first.size-(t-clock-lead)) // stays first: it only fell
			break
		}
		lead += first.size
		flow += s.flow(first, clock+lead)
		s.pop()
	}
	return flow
}

// flow is the flow time of a job that is done, if it counts.
func (s *server) flow(j *sized, now float64) float64 {
	if j.index < s.skip {
		return 0
	}
	return now - j.arrival
}

func (s *server) push(e sized) {
	s.waiting = append(s.waiting, e)
	h, i := s.waiting, len(s.waiting)-1
	for i > 0 {
		parent := int(uint(i-1) / 2)
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

func (s *server) pop() {
	last := len(s.waiting) - 1
	e, h, i := s.waiting[last], s.waiting[:last], 0
	s.waiting = h
	if last == 0 {
		return
	}
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&e) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = e
}
