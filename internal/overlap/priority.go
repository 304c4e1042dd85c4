package overlap

import "math"

// Source: the paper's Section 4, Algorithm 1 (MaxSRPT) and Algorithm 2 (SplitSRPT), and "First Come First Serve" of
// Section 5.1.
//
//	x_i, y_i, x_i(t), y_i(t)   job.Map, job.Shuffle, job.x, job.y
//	S1, S2                     split.class[0], split.class[1]
//	beta(t)                    split.imbalance
//	mu_1, mu_2                 split.small, and large in split.share
//
// The algorithms' boxes leave capacity unused that Section 5 must have used to get its means: MaxSRPT's shuffle station
// serves the first job alone, and SplitSRPT's classes keep what they cannot use. Both are unstable at load 0.75 in the
// paper's own workload. Here the rest goes to the next jobs in the order, and to the other class; the literal forms are
// there for the theorems.

// engine is a policy at work. It serves from one reading of the clock to the next, so that what is served adds up to
// what has passed: jobs of few sizes, which often tie, then tie here too, however late it is.
type engine interface {
	admit(j *present)
	// pass serves a job that has just arrived to its end, and the others meanwhile, if it goes before all others and
	// nothing else happens up to then and within limit seconds. Otherwise it changes nothing and returns false. Under
	// an SRPT this is what most jobs meet, and they never see a heap.
	pass(j Demand, limit float64) bool
	// advance serves the present jobs from now up to and including their next event, at most until the given time, and
	// returns up to when. It returns false when there was no event by then.
	advance(now, until float64, out *done) (at float64, ok bool)
	// each calls f with every present job and what remains of it.
	each(f func(j *present, x, y float64))
}

// done collects the jobs that an event completed.
type done struct{ jobs []*present }

func (d *done) add(j *present) { d.jobs = append(d.jobs, j) }

// queue serves one class with all that there is: FCFS and MaxSRPT, which differ in the order.
type queue struct{ class class }

func newQueue(o order, literal bool) *queue {
	q := &queue{newClass(o)}
	q.class.literal = literal
	return q
}

func (q *queue) admit(j *present) { q.class.admit(j) }

func (q *queue) pass(j Demand, limit float64) bool { return q.class.pass(j, limit) }

func (q *queue) advance(now, until float64, out *done) (float64, bool) {
	if q.class.empty() {
		return until, false
	}
	return q.class.alone(now, until, out)
}

// split is SplitSRPT: jobs with x >= y in one class, the others in the other.
type split struct {
	class     [2]class
	literal   bool
	beta      float64
	small     float64 // mu_1 for this beta; mu_2 is 1-mu_1
	imbalance heap    // of all present jobs: the least of max(x/y, y/x), of original sizes
}

func newSplit(literal bool) *split {
	return &split{class: [2]class{newClass(byMap), newClass(byShuffle)}, literal: literal, imbalance: heap{slot: slotOther}}
}

func (s *split) admit(j *present) {
	s.imbalance.push(j, imbalance(j.Demand))
	if j.Map >= j.Shuffle {
		s.class[0].admit(j)
		return
	}
	s.class[1].admit(j)
}

func (s *split) pass(j Demand, limit float64) bool {
	own, other := &s.class[0], &s.class[1]
	if j.Map < j.Shuffle {
		own, other = other, own
	}
	return other.empty() && !s.literal && own.pass(j, limit)
}

// imbalance is max(x/y, y/x); infinite only when one of them is 0.
func imbalance(j Demand) float64 {
	low, high := min(j.Map, j.Shuffle), max(j.Map, j.Shuffle)
	if low == 0 {
		return math.Inf(1)
	}
	return high / low
}

// share sets the rates of both classes.
func (s *split) share() {
	s1, s2 := &s.class[0], &s.class[1]
	if beta := s.imbalance.entries[0].key; beta != s.beta {
		s.beta, s.small = beta, 1/(1+beta)
	}
	small, large := s.small, 1-s.small
	s1.mapRate, s2.mapRate = large, small
	if s.literal {
		s1.walk(small)
		s2.walk(large)
		return
	}
	if s2.m == nil {
		s1.mapRate = 1
	} else if s1.m == nil {
		s2.mapRate = 1
	}
	rate1, rate2 := small+spare(large, s2.demand()), large+spare(small, s1.demand())
	s1.walk(rate1)
	s2.walk(rate2)
}

// spare is what a demand leaves of a capacity. (The built-in max would cost more, as it looks for NaN.)
func spare(capacity, demand float64) float64 {
	if demand >= capacity {
		return 0
	}
	return capacity - demand
}

func (s *split) advance(now, until float64, out *done) (at float64, ok bool) {
	s1, s2 := &s.class[0], &s.class[1]
	before := len(out.jobs)
	switch {
	case s.imbalance.len() == 0:
		return until, false
	case s2.empty() && !s.literal:
		at, ok = s1.alone(now, until, out)
	case s1.empty() && !s.literal:
		at, ok = s2.alone(now, until, out)
	default:
		s.share()
		at = until
		at1, at2 := now+s1.due, now+s2.due
		if at1 <= at {
			at, ok = at1, true
		}
		if at2 <= at {
			at, ok = at2, true
		}
		s1.serve(at-now, at1 <= at, out)
		s2.serve(at-now, at2 <= at, out)
	}
	for _, j := range out.jobs[before:] {
		s.imbalance.remove(j)
	}
	return at, ok
}
