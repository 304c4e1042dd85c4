package plan

import (
	"fmt"
	"math"
	"slices"
)

// chainSteps is the number of steps into which [ChainPoCD] divides the time that is left.
const chainSteps = 2048

// ChainPoCD returns the probability that a job of several stages, one after the other, meets its deadline, and a bound
// of the error. The first stage may be running; deadline and elapsed time are the first's, those of the others are not
// looked at. The tasks of stage i have clones[i] clones each. The times of the stages are independent.
//
// It is a convolution on a grid: each stage's time is rounded up to a step for a lower bound and down for an upper one.
// The answer is their middle, and half their distance the bound; for smooth laws that is about the number of stages
// divided by 2,000, and the middle is far better. The probability of a miss is a sum of positive terms, and so keeps
// its digits where it is small.
func ChainPoCD(stages []Work, clones []int) (pocd, within float64, err error) {
	if len(stages) == 0 || len(stages) != len(clones) {
		return 0, 0, fmt.Errorf("a chain wants a number of clones for each of its stages, got %d stages and %d numbers",
			len(stages), len(clones))
	}
	left := stages[0].Deadline - stages[0].Elapsed
	if !(left > 0) {
		return 0, 0, nil
	}
	if len(stages) == 1 {
		return stages[0].PoCD(clones[0]), 0, nil
	}
	late, soon := chainMiss(stages, clones, left)
	// Rounding may leave the bounds of what is certain a little above 1, or in the wrong order.
	late = min(late, 1)
	soon = min(soon, late)
	return 1 - (late+soon)/2, (late - soon) / 2, nil
}

// chainMiss returns the bounds of the probability that the stages take longer than left.
func chainMiss(stages []Work, clones []int, left float64) (upper, lower float64) {
	// After i stages: the probabilities that they take longer than each step.
	up, down := make([]float64, chainSteps+1), make([]float64, chainSteps+1)
	nextUp, nextDown := slices.Clone(up), slices.Clone(down)
	alive, mass := slices.Clone(up), make([]float64, chainSteps)
	for i, w := range stages {
		if i > 0 {
			w.Elapsed = 0
		}
		for s := range alive {
			alive[s] = w.stageSurvival(left*float64(s)/chainSteps, clones[i])
		}
		for s := range mass {
			mass[s] = alive[s] - alive[s+1]
		}
		if i == 0 {
			copy(up, alive)
			copy(down, alive)
			continue
		}
		// Of a stage that ends within step s the end is taken for its later edge, or its earlier one.
		for end := range nextUp {
			late, soon := alive[end], alive[end]
			for s, m := range mass[:end] {
				late += m * up[end-s-1]
				soon += m * down[end-s]
			}
			nextUp[end], nextDown[end] = late, soon
		}
		up, nextUp, down, nextDown = nextUp, up, nextDown, down
	}
	return up[chainSteps], down[chainSteps]
}

// stageSurvival returns the probability that the tasks take longer than a time from now.
func (w Work) stageSurvival(left float64, clones int) float64 {
	return -math.Expm1(w.oddsWithin(left).log(clones))
}
