package plan

import (
	"math"
	"slices"
	"sort"

	"github.com/tailcut/tailcut/laws"
)

const (
	played    = 20_000    // the most tasks of a job that is played
	playDraws = 1_000_000 // durations to draw for one chance, about
	// The random numbers by which tasks at once are chosen, and those by which the chance with them is told, which the
	// choice has not seen.
	seedChoose, seedTell = 1, 2
)

// plays is how many times a job is played to tell its chance.
func (s shift) plays() int { return min(max(playDraws/s.tasks, 200), 10_000) }

// play samples the chance of a job with g tasks at once, n times.
func (s shift) play(g, n int) Chance {
	inTime := 0
	var p wavePlay
	for k := range n {
		if p.draw(s, seedTell, k); p.longest <= s.left && p.done(g) <= s.left {
			inTime++
		}
	}
	low, high := laws.ShareInterval(inTime, n)
	return Chance{P: float64(inTime) / float64(n), Low: low, High: high, Samples: n}
}

// wavePlay is one job that is played. The duration of a task is a function of the job's number and the task's, and
// increases with the random number, so that more tasks at once, more clones and a later deadline make no job later.
type wavePlay struct {
	lasts        []float64 // of each task, whole nanoseconds
	sum, longest float64   // of several stages the longest is that of a path
	free         []float64 // when each place is free: a heap, the earliest first

	// of a job of several stages: of each where its tasks begin, how many stages it waits for, its next task, and its
	// tasks that are not done; and the stages that have begun and have tasks that have not
	stages                           []Phase
	first, before, next, open, ready []int
	running                          stageEnds
}

func (p *wavePlay) draw(s shift, seed uint64, number int) {
	p.lasts, p.sum, p.longest = p.lasts[:0], 0, 0
	key := scatter(seed) ^ scatter(uint64(number)+1)
	if p.stages = s.stages; len(s.stages) > 0 {
		p.drawStages(key)
		return
	}
	for i := range s.tasks {
		y := nanoseconds(laws.Sample(s.law, uniform(key, 0, i)))
		p.lasts = append(p.lasts, y)
		p.sum += y
		p.longest = max(p.longest, y)
	}
}

func (p *wavePlay) drawStages(key uint64) {
	p.first = p.first[:0]
	p.longest = path(p.stages, func(k int) (longest float64) {
		p.first = append(p.first, len(p.lasts))
		for i := range p.stages[k].Tasks {
			y := nanoseconds(laws.Sample(p.stages[k].Law, uniform(key, k, i)))
			p.lasts = append(p.lasts, y)
			p.sum += y
			longest = max(longest, y)
		}
		return longest
	})
}

// done returns when the job is done with g tasks at once.
func (p *wavePlay) done(g int) (end float64) {
	if g >= len(p.lasts) {
		return p.longest
	}
	if len(p.stages) > 0 {
		return p.doneStages(g)
	}
	p.free = append(p.free[:0], p.lasts[:g]...)
	slices.Sort(p.free)
	end = p.free[g-1]
	for _, y := range p.lasts[g:] {
		p.free[0] += y
		end = max(end, p.free[0])
		p.sink()
	}
	return end
}

// sink puts the top of the heap to its place.
func (p *wavePlay) sink() {
	free := p.free
	x := free[0]
	i := 0
	for down := 1; down < len(free); down = 2*i + 1 {
		if right := down + 1; right < len(free) && free[right] < free[down] {
			down = right
		}
		if free[down] >= x {
			break
		}
		free[i] = free[down]
		i = down
	}
	free[i] = x
}

// never is the tasks at once of a job that is late with any number of them.
const never = math.MaxInt32

// fewest returns the fewest tasks at once with which the played job is done within a time. Graham's bounds leave little
// to search. Of stages side by side, more at once may for once be later, and there may be fewer than these.
func (p *wavePlay) fewest(left float64) int {
	if p.longest > left {
		return never
	}
	lo, hi := max(1, int(math.Ceil(p.sum/left))), len(p.lasts)
	if p.longest < left {
		hi = min(hi, max(1, int(math.Ceil((p.sum-p.longest)/(left-p.longest)))))
	}
	return lo + sort.Search(hi-lo, func(i int) bool { return p.done(lo+i) <= left })
}

// fewestAtOnce returns in increasing order how many tasks at once each of n played jobs needs.
func (s shift) fewestAtOnce(n int, seed uint64) []int {
	all := make([]int, n)
	var p wavePlay
	for k := range all {
		p.draw(s, seed, k)
		all[k] = p.fewest(s.left)
	}
	slices.Sort(all)
	return all
}
