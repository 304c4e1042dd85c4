package overlap

import (
	"fmt"
	"math"
)

// Job is what arrives: in the paper's symbols, r, x and y.
type Job struct {
	Arrival float64 // r, seconds, finite
	Map     float64 // x, seconds of the map station, finite, 0 or more
	Shuffle float64 // y, seconds of the shuffle station, finite, 0 or more
	Weight  float64 // share under [WPS], positive and finite; 0 stands for 1
}

// Alone is max(x, y): the seconds that a job takes in an empty system.
func (j Job) Alone() float64 { return max(j.Map, j.Shuffle) }

// Validate returns an error that starts with the field's name when a field is out of its range.
func (j Job) Validate() error {
	switch {
	case !finite(j.Arrival):
		return fmt.Errorf("arrival: %v is not a finite number of seconds", j.Arrival)
	case !finite(j.Map) || j.Map < 0:
		return fmt.Errorf("map: %v is not a size of 0 or more", j.Map)
	case !finite(j.Shuffle) || j.Shuffle < 0:
		return fmt.Errorf("shuffle: %v is not a size of 0 or more", j.Shuffle)
	case !finite(j.Weight) || j.Weight < 0:
		return fmt.Errorf("weight: %v is not a positive number", j.Weight)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Completion says when a job was done.
type Completion struct {
	Job   Job
	Index int64   // place of the job in the order of arrival, from 0
	Time  float64 // seconds
}

// Flow is the job's response time in seconds.
func (c Completion) Flow() float64 { return max(0, c.Time-c.Job.Arrival) }

// Slowdown is the flow time in multiples of [Job.Alone]; 1 for a job without work.
func (c Completion) Slowdown() float64 {
	if alone := c.Job.Alone(); alone > 0 {
		return c.Flow() / alone
	}
	return 1
}

// crumb is the fraction of an original size below which a remainder is rounding error and counts as nothing. Without it a leftover of
// 1e-16 can lose its turn and hold up a job that is done by a whole other job.
const crumb = 1e-12

// job is a present job. It lives in a pool and is recycled when it is done.
type job struct {
	Job
	index int64

	x, y  float64 // what remains of Map and Shuffle
	ratio float64 // Shuffle/Map: shuffle work that a unit of map work sets free; 0 without map work
	tie   float64 // breaks ties of keys, before the index

	pos   [3]int32 // place in the heap of each slot, -1 when it is not in there
	endV  float64  // virtual time at the end of its map work, see sharing
	stock int32    // place among the stocked jobs, see sharing
}

// through is the shuffle work that remains when all that is mapped is shuffled.
func (j *job) through() float64 { return j.Shuffle * (j.x / j.Map) }

// backlog is b = y(t) - y x(t)/x, the shuffle work that is available now. What is below a crumb may be negative.
func (j *job) backlog() float64 {
	if j.x == 0 {
		return j.y
	}
	return j.y - j.through()
}

// pool recycles jobs; it grows to the longest queue.
type pool struct{ free []*job }

const poolChunk = 64

func (p *pool) get(of Job, index int64) *job {
	if len(p.free) == 0 {
		chunk := make([]job, poolChunk)
		for i := range chunk {
			p.free = append(p.free, &chunk[i])
		}
	}
	j := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	j.Job, j.index, j.x, j.y, j.tie = of, index, of.Map, of.Shuffle, 0
	j.ratio = 0
	if of.Map > 0 {
		j.ratio = of.Shuffle / of.Map
	}
	if math.IsInf(j.ratio, 1) { // the map work is not even rounding error
		j.x, j.ratio = 0, 0
	}
	j.pos = [3]int32{-1, -1, -1}
	return j
}

func (p *pool) put(j *job) { p.free = append(p.free, j) }
