package overlap

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Sim simulates one policy. Give it the jobs with [Sim.Arrive] in order of arrival, then call [Sim.Drain].
type Sim struct {
	engine  engine
	clock   float64
	arrived int64
	present int
	last    Demand // the last to arrive
	pending bool   // whether last has yet to be admitted
	pool    pool
	out     done
	done    func(Completion)
	batch   []Completion // what was completed since it was taken last, without done
}

// New returns an empty system. It calls done for every completed job, in order of completion, jobs that complete
// together in order of their index. Without done, which costs a call for each job, [Sim.Take] has them.
func New(p Discipline, done func(Completion)) *Sim {
	return &Sim{engine: p.engine(), clock: math.Inf(-1), done: done}
}

// Run simulates all jobs, which come in order of arrival, and calls done as [New] does.
func Run(p Discipline, jobs iter.Seq[Demand], done func(Completion)) {
	s := New(p, done)
	for j := range jobs {
		s.Arrive(j)
	}
	s.Drain()
}

// Take returns what was completed since the last call, in the order that [New] says. The caller may read it until it
// calls another method.
func (s *Sim) Take() []Completion {
	batch := s.batch
	s.batch = s.batch[:0]
	return batch
}

func (s *Sim) report(j *Demand, index int64) {
	if s.done == nil {
		s.batch = append(s.batch, Completion{Job: *j, Index: index, Time: s.clock})
		return
	}
	s.done(Completion{Job: *j, Index: index, Time: s.clock})
}

// Present is the number of jobs that have arrived and are not done.
func (s *Sim) Present() int { return s.present }

// Arrive moves the clock to the arrival of a valid job, completing what is done by then, and admits it. Jobs of one
// arrival time are ranked by the order in which they come. A job that arrives before its predecessor is a bug of the
// caller, and panics.
func (s *Sim) Arrive(j Demand) {
	if !(j.Arrival >= s.clock) && s.arrived > 0 {
		panic(fmt.Sprintf("overlap: job %d arrives at %v, the clock is at %v", s.arrived, j.Arrival, s.clock))
	}
	s.until(j.Arrival)
	s.clock = j.Arrival
	s.arrived++
	if j.Map == 0 && j.Shuffle == 0 {
		s.report(&j, s.arrived-1)
		return
	}
	s.present++
	s.last, s.pending = j, true
}

// Drain serves all jobs that are present to their end.
func (s *Sim) Drain() { s.until(math.Inf(1)) }

// until handles all events up to and including the given time.
func (s *Sim) until(t float64) {
	if t < s.clock { // by rounding
		t = s.clock
	}
	if s.pending {
		s.pending = false
		index := s.arrived - 1
		if s.engine.pass(s.last, t-s.clock) {
			s.clock += s.last.Alone()
			s.present--
			s.report(&s.last, index)
		} else {
			s.engine.admit(s.pool.get(s.last, index))
		}
	}
	for s.present > 0 {
		at, ok := s.engine.advance(s.clock, t, &s.out)
		if at > math.MaxFloat64 {
			panic(fmt.Sprintf("overlap: %d jobs are present at %v and none is served", s.present, s.clock))
		}
		s.clock = at
		if len(s.out.jobs) > 0 {
			s.complete()
		}
		if !ok {
			return
		}
	}
}

// complete reports the jobs that the last event completed, and recycles them.
func (s *Sim) complete() {
	jobs := s.out.jobs
	if len(jobs) > 1 { // two classes, at most
		slices.SortFunc(jobs, func(a, b *present) int { return cmp.Compare(a.index, b.index) })
	}
	for _, j := range jobs {
		s.report(&j.Demand, j.index)
		s.pool.put(j)
	}
	s.present -= len(jobs)
	s.out.jobs = jobs[:0]
}
