package policy

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// A task is slow for one of three causes, and what a clone of it takes depends on which.
const (
	byChance = iota // a clone draws a new duration
	byPace          // its attempt is slow: a clone takes d / k, with k from 1 to mostPace, log-uniform
	bySize          // a clone takes as long
	numCauses
)

const mostPace = 10

// causes learns how often slow tasks have each cause: a mixture, whose weights it finds as the EM algorithm does, one
// clone after the other. A clone that ends counts for each cause by how well that cause explains it, at the age y at
// which it ended, while the oldest attempt of its task took d:
//
//	            it won                            it ended otherwise
//	byChance    P(n is about y)                   P(n > y)
//	byPace      P(d/k is about y)                 P(d/k > y) = log10(d/y)
//	bySize      hardly ever                       1
//
// A clone that ended so early that all causes explain it alike says nothing and counts nothing. What all jobs have
// shown counts for a job as much as ownWeight clones of its own.
type causes struct {
	jobs sched.Table[sched.JobID, tally]
	all  tally
}

// tally counts clones by the cause that explains them.
type tally [numCauses]float64

// firstTally is what clones are taken to have shown before there are any.
var firstTally = tally{2, 2, 1}

const (
	ownWeight = 4

	about    = 1.25 // to this factor of an age
	unlikely = 0.01 // chance of what no law explains: laws are known from few winners
	runsOn   = 1.5  // times its age an attempt takes that has not been done
)

// of returns how likely each cause is for a slow task of the job. They sum to 1.
func (c *causes) of(j sched.JobID) (w tally) {
	own, sum, total := c.jobs.Get(j), 0.0, 0.0
	for i := range w {
		w[i] = firstTally[i] + c.all[i]
		sum += w[i]
	}
	for i := range w {
		w[i] = ownWeight*w[i]/sum + own[i]
		total += w[i]
	}
	for i := range w {
		w[i] /= total
	}
	return w
}

// rival is what a clone has run against: the oldest attempt of its task, and whether that one has won.
type rival struct {
	since sched.Time
	done  bool
}

// ends takes in a clone that ends at the age of y seconds, when the oldest attempt of its task is of age d. done
// tells that this is all that one takes.
func (c *causes) ends(past *sample, j sched.JobID, y, d float64, won, done bool) {
	if len(past.sorted) == 0 || y <= 0 {
		return
	}
	if !done {
		d *= runsOn
	}
	var says tally
	weight := 1.0
	if won {
		says[byChance] = past.exceeds(y/about) - past.exceeds(y*about) + unlikely
		says[byPace] = quicker(d, y/about) - quicker(d, y*about) + unlikely
		says[bySize] = unlikely / 10
	} else {
		says = tally{past.exceeds(y), quicker(d, y), 1}
		weight -= min(says[byChance], says[byPace])
		says[byChance] += unlikely
		says[byPace] += unlikely
	}
	sum := 0.0
	for i, w := range c.of(j) {
		says[i] *= w
		sum += says[i]
	}
	own := c.jobs.At(j)
	for i := range says {
		own[i] += weight * says[i] / sum
		c.all[i] += weight * says[i] / sum
	}
}

// quicker is the chance that an attempt of a pace that differs takes longer than y where another one takes d.
func quicker(d, y float64) float64 {
	return max(0, min(1, math.Log(d/y)/math.Log(mostPace)))
}

func (c *causes) forget(j sched.JobID) { c.jobs.Drop(j) }

func (c *causes) over() {
	for i := range c.all {
		c.all[i] *= fade
	}
}

// paceAt is 1/k at the middle of each quarter of its law.
var paceAt = [...]float64{0.750, 0.422, 0.237, 0.133}

// pacedSaves is the most that paced saves of what is left if the clone is new: 1 less the mean of paceAt, and a
// little more.
const pacedSaves = 0.62

// atPace is how long a clone of another pace takes whose task takes so long. It is not taken to be quicker than least:
// where all tasks take the same time, none of them is slow.
func atPace(takes, share, least float64) float64 { return max(least, takes*share) }

// paced is the law of what is left of a task of age a, of which r is left, and whose clone is of age y and has
// another pace. Of the clone it takes the mean for each r.
func (t *timeLeft) paced(r *timeLeft, a, y, least float64) {
	x, w := t.room(len(r.x))
	n, total := 0, 0.0
	for i, rest := range r.x {
		sum, many := 0.0, 0.0
		for _, share := range paceAt {
			if left := atPace(a+rest, share, least) - y; left > 0 {
				sum += min(rest, left)
				many++
			}
		}
		if many == 0 {
			continue
		}
		at := n
		for n++; at > 0 && x[at-1] > sum/many; at-- {
			x[at], w[at] = x[at-1], w[at-1]
		}
		x[at], w[at] = sum/many, r.w[i]*many
		total += w[at]
	}
	t.cut(n)
	if total == 0 { // the clone would be done by now
		t.set(r)
		return
	}
	for i := range t.w {
		t.w[i] /= total
	}
}

// passed returns the chance that a clone of another pace is done before what is left of a task of age a.
func (t *timeLeft) passed(a, least float64) (chance float64) {
	for i, x := range t.x {
		for _, share := range paceAt {
			if atPace(a+x, share, least) < x {
				chance += t.w[i] / float64(len(paceAt))
			}
		}
	}
	return chance
}
