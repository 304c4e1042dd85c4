package geo

// Stair is a discrete law on few values: P(X > y) is tail[i] from value[i] on, up to value[i+1], and 1 before value[0].
// Values ascend strictly, tails descend to 0.
type Stair struct{ Value, Tail []float64 }

// Left returns the expectation of X - x given that X > x, 0 where no value is above x.
func (s Stair) Left(x float64) float64 {
	sum, above, all := 0.0, 1.0, 0.0
	for i, value := range s.Value {
		if value > x {
			if all == 0 {
				all = above
			}
			sum += (value - x) * (above - s.Tail[i])
		}
		above = s.Tail[i]
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

// Mean returns the expectation, the sum of value times probability.
func (s Stair) Mean() (sum float64) {
	above := 1.0
	for i, x := range s.Value {
		sum += x * (above - s.Tail[i])
		above = s.Tail[i]
	}
	return sum
}

// After returns the law of p X + d - age given that it is positive: what is left of something that has lasted for age.
// What is older than p X + d can be lasts as long again. It uses the memory of to.
func (s Stair) After(to Stair, p, d, age float64) Stair {
	to.Value, to.Tail = to.Value[:0], to.Tail[:0]
	alive := 1.0
	for i, x := range s.Value {
		at := p*x + d
		if at <= age {
			alive = s.Tail[i]
			continue
		}
		if alive <= 0 {
			break
		}
		to.Value, to.Tail = append(to.Value, at-age), append(to.Tail, s.Tail[i]/alive)
	}
	if len(to.Value) == 0 {
		to.Value, to.Tail = append(to.Value, age), append(to.Tail, 0)
	}
	return to
}
