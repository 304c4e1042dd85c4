package promise

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tailcut/tailcut/sched"
)

// Jobs that will be submitted matter to those that are there where they go first or share with them. Plays draw them
// from the latest submissions: how far apart these were, and what they were. See
// docs/decisions/0107-plays-foresee-jobs-that-come.md.

// Came is a job that was submitted.
type Came struct {
	At    sched.Time
	Spec  sched.JobSpec // see [Shape]; the deadline is counted from At
	Known []*Durations  // what is known of each stage, nil for nothing
}

const (
	// MostCame is how many submissions are worth keeping.
	MostCame = 50

	leastGaps  = 5   // from how many gaps between submissions on others are foreseen
	mostComing = 100 // jobs that come in a play, of MostTasks tasks
)

// Shape returns what is kept of a job for others that may come like it: not what is about single tasks.
func Shape(spec *sched.JobSpec) sched.JobSpec {
	s := *spec
	s.Datasets, s.Stages, s.Edges = nil, nil, nil
	for i := range spec.Stages {
		st := spec.Stages[i]
		st.Waits, st.Done, st.Inputs, st.Datasets, st.Releases = false, nil, nil, nil, nil
		s.Stages = append(s.Stages, st)
	}
	for _, e := range spec.Edges {
		kind := e.Kind
		if kind == sched.PerTask {
			kind = sched.Barrier
		}
		s.Edges = append(s.Edges, sched.Edge{From: e.From, To: e.To, Kind: kind})
	}
	return s
}

// coming are the jobs that come in a play.
type coming struct {
	gaps  *law       // how far apart they are; nil if none come
	kinds []player   // from which they are drawn
	age   sched.Time // for how long none has come
	until sched.Time // none come later: as far ahead as submissions are known back
	luck  rand.PCG   // of its own: who comes depends neither on the policy nor on what attempts take
	rng   *rand.Rand

	// of this play
	factor float64 // by how much they are further apart than was seen
	next   sched.Time
	jobs   []player // that have come, by id
	room   int      // tasks that may come
}

// await readies what is known of jobs that come, which is nothing until there are some gaps.
func (g *game) await(cache map[*Durations]*law) {
	c := &g.coming
	c.rng, c.next = rand.New(&c.luck), sched.Never
	var gaps []float64
	for i := 1; i < len(g.Came); i++ {
		gaps = append(gaps, max(0, g.Came[i].At-g.Came[i-1].At).Seconds())
	}
	if len(gaps) < leastGaps {
		return
	}
	for i := range g.Came {
		x := &g.Came[i]
		if x.Spec.Validate() != nil { // it is from a file
			continue
		}
		p := player{SavedJob: &sched.SavedJob{Spec: x.Spec}, laws: make([]*law, len(x.Spec.Stages))}
		for k, d := range x.Known {
			p.laws[k] = g.lawOfNew(d, cache)
		}
		c.kinds = append(c.kinds, p)
	}
	if len(c.kinds) > 0 {
		c.age = max(0, g.snapshot.At-g.Came[len(g.Came)-1].At)
		c.until = 2*g.snapshot.At - g.Came[0].At
		c.gaps = lawOfFew(&Run{Ended: gaps}, []float64{c.age.Seconds()})
	}
}

// lawOfNew is the law of a stage of a job that has not begun: what earlier jobs took, or the one that it is like.
func (g *game) lawOfNew(d *Durations, cache map[*Durations]*law) *law {
	if d == nil {
		return nil
	}
	l, done := cache[d]
	if !done {
		past := d.Past
		if len(past) == 0 {
			past = []Run{d.Own}
		}
		l = lawOfPast(past)
		cache[d] = l
	}
	return l
}

// begin draws when the first job comes in a play.
func (c *coming) begin(seed uint64, play int, now sched.Time) {
	c.jobs, c.room = c.jobs[:0], MostTasks
	if c.gaps == nil {
		return
	}
	c.luck.Seed(seed, ^uint64(play))
	c.luck.Uint64() // seeds that differ little begin alike
	dev := c.gaps.deviation
	c.factor = math.Exp(dev*c.rng.NormFloat64() - dev*dev/2)
	c.next = now - c.age
	c.draw(now, c.age)
}

// draw draws when the next job comes: none has for age.
func (c *coming) draw(now, age sched.Time) {
	seconds := c.factor * c.gaps.draw(age.Seconds()/c.factor, c.rng.Float64())
	if c.next += sched.FromSeconds(seconds); len(c.jobs) == mostComing || c.next > c.until || c.next < 0 {
		c.next = sched.Never
	}
	c.next = max(c.next, now)
}

// arrive lets the jobs come for which it is time.
func (g *game) arrive(now sched.Time) error {
	c := &g.coming
	for c.next <= now {
		p := c.kinds[c.rng.IntN(len(c.kinds))]
		spec := p.Spec
		for k := range spec.Stages {
			c.room -= spec.Stages[k].Tasks
		}
		if c.room < 0 {
			c.next = sched.Never
			return nil
		}
		if spec.Deadline > 0 {
			spec.Deadline += c.next
		}
		id, err := g.core.Submit(&spec)
		if err != nil {
			return fmt.Errorf("promise: a job like one that came: %w", err)
		}
		p.SavedJob = &sched.SavedJob{ID: id, Stage: g.core.View().Job(id).FirstStage, Spec: spec}
		p.factor = c.rng.NormFloat64()
		c.jobs = append(c.jobs, p)
		g.facts = append(g.facts, sched.Event{At: now, Kind: sched.JobArrived, Job: id})
		c.draw(now, 0)
	}
	return nil
}
