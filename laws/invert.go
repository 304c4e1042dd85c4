package laws

import "math"

// maxSteps bounds solve: one step in eight halves the bracket in the order of
// the float64 numbers, of which there are fewer than 2^64.
const maxSteps = 8 * 64

// converged is the relative step at which Newton's method is done: the next one
// would be its square, below the last digit. A smaller bound would wait for the
// rounding noise of g to fall silent.
const converged = 1e-10

// solve returns the smallest x in [lo, hi] with g(x) >= 0 for a nondecreasing g,
// to one unit in the last place where g itself is that exact; hi if there is
// none. eval returns g(x) and a guess of the root made from x, such as
// Newton's, whose error is squared by each step; a guess that is NaN or outside the bracket is replaced by the middle
// of the bracket, so a step function or a flat one is solved too. start is the
// first guess.
func solve(lo, hi, start float64, eval func(x float64) (g, next float64)) float64 {
	x := start
	for step := 1; step < maxSteps; step++ {
		if step%8 == 0 || !(x > lo && x < hi) {
			x = middle(lo, hi)
		}
		if x == lo || x == hi {
			return hi // neighbours: nothing is left between them
		}
		g, next := eval(x)
		switch {
		case g >= 0:
			hi = x
		case g < 0:
			lo = x
		default:
			return math.NaN()
		}
		if math.Abs(next-x) <= converged*math.Abs(x) {
			return next
		}
		x = next
	}
	return hi
}

// middle returns the float64 halfway from lo to hi in the order of the
// float64 numbers: near the geometric mean for positive numbers. It is lo if
// they are neighbours.
func middle(lo, hi float64) float64 {
	a, b := ordinal(lo), ordinal(hi)
	return fromOrdinal(a>>1 + b>>1 + a&b&1) // the mean rounded down, without overflow
}

// ordinal numbers the finite floats in increasing order; both zeros are 0.
func ordinal(x float64) int64 {
	bits := int64(math.Float64bits(x))
	if bits < 0 {
		return math.MinInt64 - bits
	}
	return bits
}

func fromOrdinal(n int64) float64 {
	if n < 0 {
		return math.Float64frombits(uint64(math.MinInt64 - n))
	}
	return math.Float64frombits(uint64(n))
}
