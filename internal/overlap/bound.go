package overlap

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
	if b.servers[0].heap.len() == 0 && b.servers[1].heap.len() == 0 {
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
		for b.servers[i].heap.len() > 0 {
			b.period[i] += b.servers[i].finish(b.clock)
		}
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
		b.period[i] += b.servers[i].until(b.clock, t)
	}
}

// server is a single server under SRPT.
type server struct {
	heap heap // by remaining size
	pool pool
	skip int64   // jobs that do not count
	lead float64 // what of the clock the first jobs have used already since the last arrival
}

func (s *server) admit(j Demand, size float64, index int64) {
	if size == 0 {
		return // its flow time is 0
	}
	s.heap.push(s.pool.get(j, index), size)
}

// until serves from clock to t, and returns the flow times of the jobs that count and are done by then.
func (s *server) until(clock, t float64) (flow float64) {
	s.lead = 0
	for s.heap.len() > 0 {
		if first := &s.heap.entries[0]; clock+s.lead+first.key > t {
			first.key = max(0, first.key-(t-clock-s.lead)) // stays first: it only fell
			break
		}
		flow += s.finish(clock)
	}
	s.lead = 0
	return flow
}

// finish serves the first job to its end, and returns its flow time if it counts.
func (s *server) finish(clock float64) (flow float64) {
	first := s.heap.entries[0]
	s.lead += first.key
	s.heap.pop()
	s.pool.put(first.job)
	if first.job.index < s.skip {
		return 0
	}
	return clock + s.lead - first.job.Arrival
}
