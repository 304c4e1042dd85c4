package plan

import "math"

const (
	// small is how small s·S must be for the binomial series of 1-(1-S)^s to be cut after seriesTerms: (1/8)^10/11! is
	// below the rounding of the first term.
	small       = 1.0 / 8
	seriesTerms = 10
	// multiplied is the largest s for which (1-S)^s is formed by squaring, whose error grows with s: 4e-13 in all.
	multiplied = 4096
	// gone is -log of a power (1-S)^s that is nothing beside 1.
	gone = 45.0
	// Powers are summed for every s, or for every h-th with h = s/perStride and interpolated by the polynomial through
	// window of them. With x = -s log(1-S), (1-S)^s is an exponential of which h/s takes x/40; the remainder of the
	// polynomial, at most (x/40)^12 e^-x times 12!⁻¹ |Π(distances)| < 0.02, is below 1e-13 for every x.
	perStride = 40
	window    = 12
)

// maxima sums Σ g_i (1-(1-S_i)^s) for every s of a band at once: with g_i the widths of steps and S_i the survival of a
// residual there, the mean of the largest of s residuals.
//
// Three things make the whole grid cheap. Where S is so large that none of the powers is left, a step costs one
// addition; where it is so small that the binomial series converges at once, a step adds to the seriesTerms power sums
// Σ g S^i, whose digits the subtraction from 1 would lose; and only in between is it a multiplication per s, or per
// stride of s.
type maxima struct {
	lo, hi int // the band of s, lo a multiple of stride
	stride int
	first  int // lo/stride
	total  float64
	series [seriesTerms]float64 // Σ g S^(i+1) of the small S
	powers []float64            // Σ g (1-S)^(lo+i·stride) of the rest
}

// reset empties the sums, for s from lo to hi.
func (m *maxima) reset(lo, hi int) {
	m.stride = max(1, min(lo/perStride, (hi-lo)/window))
	m.first = lo / m.stride
	m.lo, m.hi, m.total, m.series = m.first*m.stride, hi, 0, [seriesTerms]float64{}
	size := (hi-m.lo+m.stride-1)/m.stride + 1
	if cap(m.powers) < size {
		m.powers = make([]float64, size)
	}
	m.powers = m.powers[:size]
	clear(m.powers)
}

// add adds a step of width g where the survival is S.
func (m *maxima) add(g, S float64) {
	if S <= 0 || g == 0 {
		return
	}
	if S*float64(m.hi) <= small {
		s := &m.series
		S2 := S * S
		a, b := g*S, g*S2
		s[0] += a
		s[1] += b
		a, b = a*S2, b*S2
		s[2] += a
		s[3] += b
		a, b = a*S2, b*S2
		s[4] += a
		s[5] += b
		a, b = a*S2, b*S2
		s[6] += a
		s[7] += b
		s[8] += a * S2
		s[9] += b * S2
		return
	}
	m.total += g
	if S*float64(m.lo) > gone {
		return
	}
	if S >= 1 {
		if m.lo == 0 {
			m.powers[0] += g
		}
		return
	}
	p0, q := m.start(S)
	p0 *= g
	q2 := q * q
	p1, p2, p3, q4 := p0*q, p0*q2, p0*q*q2, q2*q2
	acc := m.powers
	for len(acc) >= 4 {
		acc[0] += p0
		acc[1] += p1
		acc[2] += p2
		acc[3] += p3
		p0, p1, p2, p3 = p0*q4, p1*q4, p2*q4, p3*q4
		acc = acc[4:]
	}
	for i := range acc {
		acc[i] += p0
		p0 *= q
	}
}

// start returns (1-S)^lo and (1-S)^stride, for S < 1.
func (m *maxima) start(S float64) (first, stride float64) {
	if m.hi > multiplied {
		log := math.Log1p(-S)
		return math.Exp(float64(m.lo) * log), math.Exp(float64(m.stride) * log)
	}
	q := 1 - S
	lost := (1 - q) - S // of q to rounding
	stride = power(q, m.stride)
	return power(stride, m.first) * (1 + float64(m.lo)*lost/q), stride * (1 + float64(m.stride)*lost/q)
}

// power returns x^n for n >= 0.
func power(x float64, n int) float64 {
	result := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result *= x
		}
		x *= x
	}
	return result
}

// at returns the sum for s, which must be of the band.
func (m *maxima) at(s int) float64 {
	// C(s,1) M1 - C(s,2) M2 + … = s (M1 - (s-1)/2 (M2 - (s-2)/3 (M3 - …)))
	var sum float64
	for i := seriesTerms - 1; i >= 0; i-- {
		sum = float64(s-i) * reciprocal[i] * (m.series[i] - sum)
	}
	return m.total - m.rest(s) + sum
}

var reciprocal = [seriesTerms]float64{1, 1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 6, 1. / 7, 1. / 8, 1. / 9, 1. / 10}

// rest returns Σ g (1-S)^s of the steps that are not in the series.
func (m *maxima) rest(s int) float64 {
	i := (s - m.lo) / m.stride
	rest := (s - m.lo) % m.stride
	if rest == 0 {
		return m.powers[i]
	}
	from := max(0, min(i-window/2+1, len(m.powers)-window))
	x := float64(i-from) + float64(rest)/float64(m.stride)
	var sum, norm float64 // the barycentric formula
	for j, p := range m.powers[from : from+window] {
		w := barycentric[j] / (x - float64(j))
		sum += w * p
		norm += w
	}
	return sum / norm
}

// barycentric are the weights of equidistant nodes: binomials of alternating sign.
var barycentric = [window]float64{1, -11, 55, -165, 330, -462, 462, -330, 165, -55, 11, -1}
