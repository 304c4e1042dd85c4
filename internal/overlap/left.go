package overlap

import (
	"cmp"
	"slices"
)

// Left is what remains of a present job.
type Left struct {
	Index        int64   // place of the job in the order of arrival, from 0
	Map, Shuffle float64 // x(t), y(t), seconds of a station
	Backlog      float64 // of Shuffle, what is mapped and can be shuffled now
}

// Advance moves the clock to t, completing what is done by then. A time before the clock leaves it where it is.
func (s *Sim) Advance(t float64) {
	if t > s.clock {
		s.until(t)
		s.clock = t
	}
}

// Left returns what remains of the present jobs, in order of arrival.
func (s *Sim) Left() []Left {
	s.until(s.clock) // admit the last
	var all []Left
	s.engine.each(func(j *present, x, y float64) {
		all = append(all, Left{Index: j.index, Map: x, Shuffle: y, Backlog: max(0, y-j.ratio*x)})
	})
	slices.SortFunc(all, func(a, b Left) int { return cmp.Compare(a.Index, b.Index) })
	return all
}

func (q *queue) each(f func(j *present, x, y float64)) { q.class.each(f) }

func (s *split) each(f func(j *present, x, y float64)) {
	s.class[0].each(f)
	s.class[1].each(f)
}

func (c *class) each(f func(j *present, x, y float64)) {
	for _, e := range c.mapping.entries {
		f(e.job, e.job.x, e.job.y)
	}
	for _, e := range c.ready.entries {
		if !c.mapping.has(e.job) {
			f(e.job, e.job.x, e.job.y)
		}
	}
}

func (s *sharing) each(f func(j *present, x, y float64)) {
	for _, j := range s.waiting.jobs[s.waiting.first:] {
		f(j, j.x, j.y)
	}
	for _, e := range s.flowing.entries {
		x := max(0, e.job.endV-s.v) * s.weight(e.job)
		f(e.job, x, e.job.ratio*x)
	}
	for _, b := range s.stocked {
		w := s.weight(b.job)
		f(b.job, max(0, b.job.endV-s.v)*w, (b.rest-(s.w-b.atW))*w)
	}
	for _, e := range s.draining.entries {
		f(e.job, 0, max(0, e.key-s.w)*s.weight(e.job))
	}
}
