package geo

// Stair is a discrete law on few values: P(X > y) is tail[i] from value[i] on, up to value[i+1], and 1 before value[0].
// Values ascend strictly, tails descend to 0.
type Stair struct{ Value, Tail []float64 }

// Mean returns the expectation, the sum of value times probability.
func (s Stair) Mean() (sum float64) {
	above := 1.0
	for i, x := range s.Value {
		sum += x * (above - s.Tail[i])
		above = s.Tail[i]
	}
	return sum
}
