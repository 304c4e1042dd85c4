package overlap

import (
	"fmt"
	"math"
)

// Demand is what arrives: in the paper's symbols, r, x and y.
type Demand struct {
	Arrival float64 // r, seconds, at most 1e100 from 0
	Map     float64 // x, seconds of the map station, 0 or from 1e-100 to 1e100
	Shuffle float64 // y, seconds of the shuffle station, 0 or from 1e-100 to 1e100
	Weight  float64 // share under [WPS], from 0.001 to 1000; 0 stands for 1
}

// Alone is max(x, y): the seconds that a job takes in an empty system.
func (j Demand) Alone() float64 { return max(j.Map, j.Shuffle) }

// Validate returns an error that starts with the field's name when a field is out of its range.
func (j Demand) Validate() error {
	switch {
	case !(math.Abs(j.Arrival) <= 1e100):
		return fmt.Errorf("arrival: expected seconds up to 1e100, not %v", j.Arrival)
	case j.Map != 0 && !(j.Map >= 1e-100 && j.Map <= 1e100):
		return fmt.Errorf("map: expected 0 or a size from 1e-100 to 1e100, not %v", j.Map)
	case j.Shuffle != 0 && !(j.Shuffle >= 1e-100 && j.Shuffle <= 1e100):
		return fmt.Errorf("shuffle: expected 0 or a size from 1e-100 to 1e100, not %v", j.Shuffle)
	case j.Weight != 0 && !(j.Weight >= 1e-3 && j.Weight <= 1e3):
		return fmt.Errorf("weight: expected 0 or a weight from 0.001 to 1000, not %v", j.Weight)
	}
	return nil
}

// Completion says when a job was done.
type Completion struct {
	Job   Demand
	Index int64   // place of the job in the order of arrival, from 0
	Time  float64 // seconds
}

// Flow is the job's response time in seconds.
func (c Completion) Flow() float64 { return max(0, c.Time-c.Job.Arrival) }

// Slowdown is the flow time in multiples of [Demand.Alone]; 1 for a job without work.
func (c Completion) Slowdown() float64 { return slowdown(c.Flow(), c.Job) }

func slowdown(flow float64, j Demand) float64 {
	if alone := j.Alone(); alone > 0 {
		return flow / alone
	}
	return 1
}

// crumb is the fraction of an original size below which a remainder is rounding error and counts as nothing. Without it
// a leftover of 1e-16 can lose its turn and hold up a job that is done by a whole other job.
const crumb = 1e-12

// present is a job that is present. It lives in a pool and is recycled when it is done.
type present struct {
	Demand
	index int64

	x, y  float64 // what remains of Map and Shuffle
	ratio float64 // Shuffle/Map: shuffle work that a unit of map work sets free; 0 without map work
	tie   float64 // breaks ties of keys, before the index

	pos   [4]int32 // place in the heap of each slot, -1 when it is not in there
	endV  float64  // virtual time at the end of its map work, see sharing
	stock int32    // place among the stocked jobs, see sharing
}

// backlog is b = y(t) - y x(t)/x, the shuffle work that is available now. What is below a crumb may be negative.
func (j *present) backlog() float64 { return j.y - j.ratio*j.x }

// pool recycles jobs; it grows to the longest queue.
type pool struct{ free []*present }

const poolChunk = 64

func (p *pool) get(of Demand, index int64) *present {
	if len(p.free) == 0 {
		chunk := make([]present, poolChunk)
		for i := range chunk {
			p.free = append(p.free, &chunk[i])
		}
	}
	j := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	j.Demand, j.index, j.x, j.y, j.tie, j.ratio = of, index, of.Map, of.Shuffle, 0, 0
	if of.Map > 0 {
		j.ratio = of.Shuffle / of.Map
	}
	j.pos = [4]int32{-1, -1, -1, -1}
	return j
}

func (p *pool) put(j *present) { p.free = append(p.free, j) }
