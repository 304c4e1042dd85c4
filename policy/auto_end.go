package policy

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// stageEnd is the law of the end of a stage: of the latest of its running tasks, whose laws are independent. It is
// computed on a grid of times, each longer than the one before by a factor of gridStep, around what a new attempt takes
// on average. What lies between two of them counts as the nearer one. So a time is off by a sixth of itself at most,
// and no law here is known better.
//
//	F_k(t)  seen[k]: the chance that task k is done by t
//	G(t)    fresh: the same of a new attempt
//	L(t)    the product of F_k(t) over all tasks: the chance that the stage is done by t
//	E[end]  the integral of 1 - L(t)
//
// With a clone, F_k is 1 - (1 - F_k)(1 - G); without an attempt that runs it is less.
type stageEnd struct {
	at, width onGrid
	fresh     onGrid
	seen      []onGrid
	from      []onGrid // the product of F_k over all tasks but the first so many of those seen
}

// onGrid is a number for each time of the grid.
type onGrid [gridTimes]float64

const (
	gridTimes = 32
	gridStep  = 1.35
	gridFrom  = 150 // parts of the mean of a new attempt that the first time is; the last is 73 such means
)

// frame lays the grid around what a new attempt takes on average.
func (s *stageEnd) frame(usual float64) {
	at := usual / gridFrom
	for g := range s.at {
		s.at[g], s.width[g] = at, at*(gridStep-1)
		at *= gridStep
	}
}

// find computes the end of a stage from the tasks that a look has seen. Those that it has not seen are younger, and
// count as new.
func (s *stageEnd) find(e *autoEye, stage *sched.Stage) {
	s.over(&e.renewal, &s.fresh)
	n := len(e.seen)
	s.seen, s.from = kit.Grown(s.seen, n), kit.Grown(s.from, n)
	s.from[n].fill(1)
	if unseen := float64(int(stage.Running) - n); unseen > 0 {
		for g, f := range &s.fresh {
			s.from[n][g] = math.Pow(f, unseen)
		}
	}
	for k := n - 1; k >= 0; k-- {
		if k+1 < n && e.seen[k].left == e.seen[k+1].left {
			s.seen[k] = s.seen[k+1]
		} else {
			s.over(&e.seen[k].left.timeLeft, &s.seen[k])
		}
		for g, f := range &s.seen[k] {
			s.from[k][g] = s.from[k+1][g] * f
		}
	}
}

// over computes how likely it is that a time is over, at each of the grid.
func (s *stageEnd) over(t *timeLeft, to *onGrid) {
	half := math.Sqrt(gridStep)
	i, sum := 0, 0.0
	for g, at := range &s.at {
		for ; i < len(t.x) && t.x[i] <= at*half; i++ {
			sum += t.w[i]
		}
		to[g] = min(1, sum)
	}
}

// sooner returns by how much earlier the stage ends on average for each of the tasks that it is best to clone, if
// clones draw new durations, and how many these are: the first of those seen.
func (s *stageEnd) sooner(seen int) (late float64, many int) {
	var cloned onGrid // the product of those with a clone
	cloned.fill(1)
	for k := range seen {
		saved := 0.0
		for g, f := range &s.seen[k] {
			cloned[g] *= 1 - (1-f)*(1-s.fresh[g])
			saved += s.width[g] * (cloned[g]*s.from[k+1][g] - s.from[0][g])
		}
		if each := saved / float64(k+1); each > late {
			late, many = each, k+1
		}
	}
	return late, many
}

// later returns by how much later the stage ends on average if one of the tasks seen, k, is done as without says.
// before is the product of F_i over those before it.
func (s *stageEnd) later(k int, before, without *onGrid) (late float64) {
	for g, f := range &s.seen[k] {
		late += s.width[g] * before[g] * s.from[k+1][g] * max(0, f-without[g])
	}
	return late
}

func (to *onGrid) fill(x float64) {
	for g := range to {
		to[g] = x
	}
}

// times multiplies each number by that of another grid.
func (to *onGrid) times(f *onGrid) {
	for g := range to {
		to[g] *= f[g]
	}
}
