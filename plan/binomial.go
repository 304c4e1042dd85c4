package plan

// negligible is where the tails of a binomial law are cut, relative to its highest
// probability: about 9 standard deviations out.
const negligible = 1e-18

// band is the part of a probability mass function that is not negligible: pmf[i] is the
// probability of lo+i.
type band struct {
	lo  int
	pmf []float64
}

// binomial returns the law of the successes in n trials of probability p, where q = 1-p is
// given apart so that neither loses its digits. It starts at the mode, goes outwards by the
// ratio of neighbours and divides by the sum, which is good to a few units in the last place
// per step and needs no factorial. It stops where a probability is below cut times the highest.
// The slice is taken from buffer if that is large enough.
func binomial(n int, p, q, cut float64, buffer []float64) band {
	if p <= 0 || n == 0 {
		return band{0, append(buffer[:0], 1)}
	}
	if q <= 0 {
		return band{n, append(buffer[:0], 1)}
	}
	mode := min(n, int(float64(n+1)*p))
	up, down := p/q, q/p
	// Downwards from the mode first, in reverse, then upwards.
	out := append(buffer[:0], 1)
	x := mode
	for term := 1.0; x > 0; x-- {
		term *= float64(x) / float64(n-x+1) * down
		if term < cut {
			break
		}
		out = append(out, term)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	lo := mode - len(out) + 1
	term := 1.0
	for x := mode; x < n; x++ {
		term *= float64(n-x) / float64(x+1) * up
		if term < cut {
			break
		}
		out = append(out, term)
	}
	var sum float64
	for _, t := range out {
		sum += t
	}
	for i := range out {
		out[i] /= sum
	}
	return band{lo, out}
}

// hi is the largest number of the band.
func (b band) hi() int { return b.lo + len(b.pmf) - 1 }

// tail turns the band into survivals: afterwards pmf[i] is P(X > lo+i).
func (b band) tail() {
	var above float64
	for i := len(b.pmf) - 1; i >= 0; i-- {
		above, b.pmf[i] = above+b.pmf[i], above
	}
}
