package overlap

import "math"

// Source: the paper's Section 5.1, k-Limited Processor Sharing at the map station and Processor Sharing at the shuffle
// station, and Weighted Processor Sharing at both.
//
//	k           sharing.limit: jobs that share the map station; others wait in order of arrival. 0 stands for no limit
//	x_i, y_i    job.Map, job.Shuffle
//
// The paper does not say how the shuffle station is shared among jobs whose data come in slowly. Here shares are
// max-min: a job without backlog takes at most what its map work sets free, and the rest is shared by the others.
//
// Jobs that are served alike are kept in virtual time, so that an event moves two numbers and no job. Of a job with
// weight w (1 under k-LPS), dV = dt/mapWeight is the map work and dW = level*dt the shuffle work that it gets per unit
// of weight. A present job is
//
//	waiting   beyond k
//	flowing   mapped, no backlog: takes w*ratio/mapWeight, which is at most w*level
//	stocked   mapped, with backlog: takes w*level
//	draining  map work done: takes w*level
//
// Map ends are in a heap by V, ends of draining jobs in a heap by W, flowing jobs in a heap by ratio, since the largest
// is the first that the level no longer covers. Where weights differ by a factor of f, V and W are exact to f*1e-15.
// Only ends of backlogs, where V and W meet, need a scan of the stocked jobs.

// stocked is a mapped job with backlog, which per unit of weight is ratio*(V-atV) - (W-atW), and rest - (W-atW) when
// the map work is done.
type stocked struct {
	ratio, atV, atW float64
	rest            float64 // shuffle work per unit of weight when the backlog began
	job             *present
}

type sharing struct {
	limit    int
	weighted bool

	waiting  ring
	mapping  heap // by the V where the map work ends
	flowing  heap // by -ratio
	draining heap // by the W where the shuffle work ends
	stocked  []stocked

	v, w         float64
	mapWeight    sum     // of flowing and stocked jobs
	flowWork     sum     // of w*ratio of flowing jobs
	sharedWeight sum     // of stocked and draining jobs
	shared       int     // number of stocked and draining jobs
	level        float64 // shuffle rate per unit of weight
}

func newSharing(limit int, weighted bool) *sharing {
	return &sharing{
		limit: limit, weighted: weighted,
		mapping: heap{slot: slotMap}, flowing: heap{slot: slotOther}, draining: heap{slot: slotReady},
	}
}

// slack is the relative difference of rates that counts as rounding error: a job on the level neither gains nor loses
// backlog.
const slack = 1e-12

func (s *sharing) weight(j *present) float64 {
	if s.weighted && j.Weight > 0 {
		return j.Weight
	}
	return 1
}

func (s *sharing) admit(j *present) {
	switch {
	case j.x == 0:
		s.draining.push(j, s.w+j.y/s.weight(j))
		s.share(s.weight(j))
	case s.limit > 0 && s.mapping.len() >= s.limit:
		s.waiting.push(j)
	default:
		s.start(j)
	}
}

// start gives a job its share of the map station.
func (s *sharing) start(j *present) {
	w := s.weight(j)
	j.endV = s.v + j.x/w
	s.mapping.push(j, j.endV)
	s.mapWeight.add(w)
	if w*j.ratio > s.mapWeight.value() { // sets free more than the whole station takes; and would swamp the sum
		s.stockUp(j, j.y/w)
		return
	}
	s.flow(j)
}

func (s *sharing) flow(j *present) {
	s.flowing.push(j, -j.ratio)
	s.flowWork.add(s.weight(j) * j.ratio)
}

func (s *sharing) unflow(j *present) {
	s.flowing.remove(j)
	s.flowWork.add(-s.weight(j) * j.ratio)
	if s.flowing.len() == 0 {
		s.flowWork = sum{}
	}
}

// stockUp starts a backlog.
func (s *sharing) stockUp(j *present, rest float64) {
	j.stock = int32(len(s.stocked))
	s.stocked = append(s.stocked, stocked{j.ratio, s.v, s.w, rest, j})
	s.share(s.weight(j))
}

func (s *sharing) unstock(j *present) {
	last := len(s.stocked) - 1
	s.stocked[j.stock] = s.stocked[last]
	s.stocked[j.stock].job.stock = j.stock
	s.stocked = s.stocked[:last]
}

// share and unshare count a job into and out of those that the level serves.
func (s *sharing) share(w float64) {
	s.shared++
	s.sharedWeight.add(w)
}

func (s *sharing) unshare(w float64) {
	s.shared--
	s.sharedWeight.add(-w)
	if s.shared == 0 { // nobody's time: start anew, before the numbers grow and lose digits
		s.sharedWeight, s.w = sum{}, 0
	}
}

// settle finds the level. A flowing job that the level does not cover starts a backlog, which lifts the level but not
// over it.
func (s *sharing) settle() {
	for {
		used, most := 0.0, 0.0
		if s.flowing.len() > 0 {
			weight := s.mapWeight.value()
			used, most = s.flowWork.value()/weight, -s.flowing.entries[0].key/weight
		}
		covered := used <= 1+slack
		if s.shared > 0 {
			s.level = max(0, 1-used) / s.sharedWeight.value()
			covered = most <= s.level*(1+slack)
		}
		if covered || s.flowing.len() == 0 {
			return
		}
		j := s.flowing.top()
		s.unflow(j)
		s.stockUp(j, j.ratio*max(0, j.endV-s.v))
	}
}

// emptied finds the stocked job whose backlog ends first, and in how many seconds.
func (s *sharing) emptied() (j *present, in float64) {
	in = math.Inf(1)
	weight := s.mapWeight.value()
	reach := s.level * weight * (1 - slack)
	for i := range s.stocked {
		b := &s.stocked[i]
		if b.ratio >= reach {
			continue
		}
		left := max(0, b.ratio*(s.v-b.atV)-(s.w-b.atW))
		if t := left / (s.level - b.ratio/weight); t < in || t == in && b.job.index < j.index {
			j, in = b.job, t
		}
	}
	return j, in
}

// pass knows nobody who goes before others.
func (s *sharing) pass(Demand, float64) bool { return false }

// due is the virtual time from now to the end of an entry's work. A crumb of it is left over by rounding; a job of
// little weight among others of much would be held up by it.
func (s *sharing) due(e *entry, now, size float64) float64 {
	left := e.key - now
	if left*s.weight(e.job) <= crumb*size {
		return 0
	}
	return left
}

func (s *sharing) advance(now, until float64, out *done) (float64, bool) {
	if s.mapping.len()+s.draining.len() == 0 {
		return until, false
	}
	limit := until - now
	s.settle()
	mapIn, drainIn := math.Inf(1), math.Inf(1)
	if e, some := s.mapping.first(); some {
		mapIn = s.due(e, s.v, e.job.Map) * s.mapWeight.value()
	}
	if e, some := s.draining.first(); some {
		drainIn = s.due(e, s.w, e.job.Shuffle) / s.level
	}
	empty, emptyIn := s.emptied()
	dt := min(mapIn, drainIn, emptyIn, limit)
	if s.mapping.len() > 0 {
		s.v += dt / s.mapWeight.value()
	}
	if s.shared > 0 {
		s.w += dt * s.level
	}
	switch dt {
	case mapIn:
		s.v = s.mapping.entries[0].key
		s.mapped(out)
	case drainIn:
		j := s.draining.top()
		s.w = s.draining.entries[0].key
		s.draining.pop()
		s.unshare(s.weight(j))
		out.add(j)
	case emptyIn:
		s.unstock(empty)
		s.unshare(s.weight(empty))
		s.flow(empty)
	default:
		return until, false
	}
	return now + dt, true
}

// mapped ends the map work of the first job, and lets the next one in.
func (s *sharing) mapped(out *done) {
	j := s.mapping.top()
	w := s.weight(j)
	s.mapping.pop()
	s.mapWeight.add(-w)
	if s.flowing.has(j) {
		s.unflow(j)
		out.add(j)
	} else {
		b := s.stocked[j.stock]
		left := b.rest - (s.w - b.atW)
		s.unstock(j)
		if left*w <= crumb*j.Shuffle {
			s.unshare(w)
			out.add(j)
		} else {
			s.draining.push(j, s.w+left)
		}
	}
	if s.mapping.len() == 0 {
		s.mapWeight, s.v = sum{}, 0
	}
	if s.waiting.len() > 0 {
		s.start(s.waiting.pop())
	}
}

// sum adds and takes away without losing the small to the large: low has what high has rounded off.
type sum struct{ high, low float64 }

func (s *sum) add(v float64) {
	t := s.high + v
	d := t - s.high
	s.low += (s.high - (t - d)) + (v - d)
	s.high = t
}

func (s *sum) value() float64 { return s.high + s.low }

// ring is a queue of jobs, first in, first out.
type ring struct {
	jobs  []*present
	first int
}

func (r *ring) len() int { return len(r.jobs) - r.first }

func (r *ring) push(j *present) {
	if r.first > len(r.jobs)/2 { // reuse what has been popped, at a constant cost per job
		r.jobs = r.jobs[:copy(r.jobs, r.jobs[r.first:])]
		r.first = 0
	}
	r.jobs = append(r.jobs, j)
}

func (r *ring) pop() *present {
	j := r.jobs[r.first]
	r.first++
	return j
}
