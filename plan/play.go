package plan

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tailcut/tailcut/laws"
)

// playing is one job being played. Its tasks are numbered by the rank of their originals' durations, which changes
// nothing, the tasks being exchangeable, and saves looking for those that still run.
//
// The duration of an attempt is a function of seed, job, attempt number and task, so that rules are compared on the
// same luck and a clone more shifts nobody else's.
type playing struct {
	law    laws.Law
	key    uint64    // of seed and job
	sorted []float64 // durations of the originals, increasing

	// What a rule does. Between two forks all running tasks have the same number of attempts.
	end      []float64 // when each task is done, if nothing more happens
	running  []int32   // the tasks not done at the last fork
	at       float64   // the last fork
	copies   int       // attempts of each running task since then
	attempts int       // attempt numbers used
	sum      float64   // machine seconds up to the last fork

	cloned func(task int, at float64) // hears of each task that gets new attempts; nil for nobody
}

func newJob(l laws.Law, tasks int) *playing {
	return &playing{law: l, sorted: make([]float64, tasks), end: make([]float64, tasks), running: make([]int32, tasks)}
}

// reset draws the job with that number.
func (j *playing) reset(seed, number uint64) {
	j.key = scatter(seed) ^ scatter(number+1)
	for i := range j.sorted {
		j.sorted[i] = j.draw(0, i)
	}
	slices.Sort(j.sorted)
}

// start forgets the last rule.
func (j *playing) start() {
	copy(j.end, j.sorted)
	j.running = j.running[:len(j.end)]
	for i := range j.running {
		j.running[i] = int32(i)
	}
	j.at, j.copies, j.attempts, j.sum = 0, 1, 1, 0
}

// draw returns the duration of an attempt of a task.
func (j *playing) draw(attempt, task int) float64 {
	return laws.Sample(j.law, uniform(j.key, attempt, task))
}

// doneAt returns when k tasks are done if nothing more happens; 0 for none.
func (j *playing) doneAt(k int) float64 {
	if k == 0 {
		return 0
	}
	if j.attempts == 1 {
		return j.sorted[k-1]
	}
	done := len(j.end) - len(j.running) // before the last fork
	ends := make([]float64, len(j.running))
	for i, task := range j.running {
		ends[i] = j.end[task]
	}
	slices.Sort(ends)
	if k <= done {
		return j.at
	}
	return ends[k-done-1]
}

// fork gives each task that runs at time t, which is not before the last fork, so many clones.
func (j *playing) fork(t float64, clones int, original Original) {
	if math.IsInf(t, 1) || clones == 0 && original == Keep {
		return
	}
	kept := j.running[:0]
	for _, task := range j.running {
		j.sum += float64(j.copies) * (min(j.end[task], t) - j.at)
		if j.end[task] > t {
			kept = append(kept, task)
		}
	}
	j.running, j.at = kept, t
	fresh := clones
	if original == Kill {
		fresh, j.copies = clones+1, 0
	}
	for _, task := range kept {
		if j.cloned != nil {
			j.cloned(int(task), t)
		}
		rest := math.Inf(1)
		for a := range fresh {
			rest = min(rest, j.draw(j.attempts+a, int(task)))
		}
		if original == Kill {
			j.end[task] = t + rest
		} else {
			j.end[task] = min(j.end[task], t+rest)
		}
	}
	j.attempts += fresh
	j.copies += fresh
}

// finish returns the latency and the cost per task.
func (j *playing) finish() (latency, cost float64) {
	sum := j.sum
	for _, task := range j.running {
		sum += float64(j.copies) * (j.end[task] - j.at)
	}
	return slices.Max(j.end), sum / float64(len(j.end))
}

// uniform returns the number in (0, 1) of an attempt of a task.
func uniform(key uint64, attempt, task int) float64 {
	var source rand.PCG
	source.Seed(key, scatter(uint64(attempt)<<32|uint64(task)))
	return (float64(source.Uint64()>>11) + 0.5) / (1 << 53)
}

// scatter is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// tally is Welford's running mean and variance.
type tally struct {
	count, mean, squares float64
}

func (t *tally) add(x float64) {
	t.count++
	d := x - t.mean
	t.mean += d / t.count
	t.squares += d * (x - t.mean)
}

func (t *tally) variance() float64 { return t.squares / (t.count - 1) }

// standardError of the mean.
func (t *tally) standardError() float64 { return math.Sqrt(t.variance() / t.count) }
