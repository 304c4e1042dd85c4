package overlap

import "math"

// Tight is a lower bound on the total flow time of any policy that is never below the one of [Bound], and mostly well
// above it: it compares numbers of present jobs at every instant instead of total flow times over a period.
//
// Let N(t) be the number of jobs present at t under some policy; the total flow time is the integral of N. Each
// relaxation below has a number of present jobs that is at most N(t) at every t, so the integral of the largest of them
// is a bound.
//
//   - Single server. Take w in [0, 1] and give job i the size w x_i + (1-w) y_i on one server of rate 1. Under the
//     policy, job i is mapped at rate p_i and shuffled at rate q_i; serve it here at w p_i + (1-w) q_i. All these rates
//     sum to w + (1-w) = 1 at most, and a job is done here when the policy has done both its phases, not later. So this
//     server, under some schedule, has at most N(t) jobs at every t. SRPT has the fewest of all schedules at every t
//     (Schrage 1968). So SRPT here has at most N(t). w = 1 and w = 0 are the two servers of the paper's bound, w = 1/2
//     is that of its proof of Theorem 3.
//   - Parts. Jobs that are left out only free capacity for the others. So for any partition of the jobs, each part on
//     servers of its own, the numbers of present jobs of the parts add up to at most N(t). Here the jobs with x >= c y
//     are on a server with the sizes x and the others on one with the sizes y, as in the proof of Theorem 5, where c is
//     1.
//   - Delay. No job takes less than max(x, y), so each is present that long.
//
// If all jobs count, it is at least the paper's bound, as the integral of a maximum over a period is at least the
// maximum of integrals. Jobs that do not count are left out, as parts are, and so delay no others here.
type Tight struct {
	servers []srpt
	sums    [relaxations]int // jobs present in each relaxation
	delays  floats           // when the jobs of the relaxation by delay end

	clock   float64
	area    float64 // integral of the largest number
	arrived int64
	skip    int64
}

// What the relaxations differ in: w of single servers, c of partitions; the last is the one by delay.
var (
	weights    = [...]float64{1, 0.75, 0.5, 0.25, 0}
	partitions = [...]float64{0.25, 1, 4}
)

const (
	byDelay     = len(weights) + len(partitions)
	relaxations = byDelay + 1
)

// srpt is a server that knows how long the jobs are, not which they are.
type srpt struct {
	relaxation int
	end        float64 // when the job that it serves is done; infinite without one
	waiting    floats  // what is left of the others
}

// NewTight returns a bound on the flow times of all jobs but the first skip.
func NewTight(skip int64) *Tight {
	b := &Tight{skip: skip}
	for r := range weights {
		b.servers = append(b.servers, srpt{relaxation: r, end: math.Inf(1)})
	}
	for p := range partitions {
		for range 2 {
			b.servers = append(b.servers, srpt{relaxation: len(weights) + p, end: math.Inf(1)})
		}
	}
	return b
}

// Arrive admits the next job, which arrives no earlier than the last.
func (b *Tight) Arrive(j Demand) {
	b.arrived++
	if b.arrived <= b.skip {
		return
	}
	b.until(j.Arrival)
	b.clock = j.Arrival
	for r, w := range weights {
		b.admit(r, w*j.Map+(1-w)*j.Shuffle)
	}
	for p, c := range partitions {
		server := len(weights) + 2*p
		if j.Map >= c*j.Shuffle {
			b.admit(server, j.Map)
		} else {
			b.admit(server+1, j.Shuffle)
		}
	}
	if alone := j.Alone(); alone > 0 {
		b.delays.push(b.clock + alone)
		b.sums[byDelay]++
	}
}

// Drain serves all jobs that are present to their end.
func (b *Tight) Drain() { b.until(math.Inf(1)) }

// Mean is the bound on the mean flow time in seconds of the jobs that count, once they have been drained; 0 when none
// counts.
func (b *Tight) Mean() float64 {
	if b.arrived <= b.skip {
		return 0
	}
	return b.area / float64(b.arrived-b.skip)
}

func (b *Tight) admit(server int, size float64) {
	if size == 0 {
		return // it is never present here
	}
	s := &b.servers[server]
	b.sums[s.relaxation]++
	switch left := s.end - b.clock; {
	case math.IsInf(left, 1):
		s.end = b.clock + size
	case size < left:
		s.waiting.push(left)
		s.end = b.clock + size
	default:
		s.waiting.push(size)
	}
}

// until adds up to t, from one end of a job to the next.
func (b *Tight) until(t float64) {
	for {
		next, first := t, -1
		for i := range b.servers {
			if end := b.servers[i].end; end <= next {
				next, first = end, i
			}
		}
		delayed := len(b.delays) > 0 && b.delays[0] <= next
		if delayed {
			next = b.delays[0]
		}
		most := 0
		for _, n := range b.sums {
			most = max(most, n)
		}
		if most > 0 {
			b.area += (next - b.clock) * float64(most)
		}
		b.clock = next
		switch {
		case delayed:
			b.delays.pop()
			b.sums[byDelay]--
		case first >= 0 && !math.IsInf(next, 1):
			b.servers[first].next()
			b.sums[b.servers[first].relaxation]--
		default:
			return
		}
	}
}

// next turns to the least of those that wait.
func (s *srpt) next() {
	if len(s.waiting) == 0 {
		s.end = math.Inf(1)
		return
	}
	s.end += s.waiting.pop()
}

// floats is a binary heap, the least number first.
type floats []float64

func (h *floats) push(v float64) {
	*h = append(*h, v)
	s, i := *h, len(*h)-1
	for ; i > 0 && v < s[(i-1)/2]; i = (i - 1) / 2 {
		s[i] = s[(i-1)/2]
	}
	s[i] = v
}

func (h *floats) pop() float64 {
	s := *h
	least, v := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return least
	}
	i := 0
	for child := 1; child < len(s); child = 2*i + 1 {
		if child+1 < len(s) && s[child+1] < s[child] {
			child++
		}
		if v <= s[child] {
			break
		}
		s[i] = s[child]
		i = child
	}
	s[i] = v
	return least
}
