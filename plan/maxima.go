package plan

import "math"

const (
	// small is how small s·S must be for the binomial series of 1-(1-S)^s to be cut after seriesTerms: (1/32)^8/9! is
	// below the rounding of the first term.
	small       = 1.0 / 32
	seriesTerms = 8
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
// addition; where it is so small that the binomial series converges at once, a step adds to the seriesTerms power
// sums Σ g S^i, whose digits the subtraction from 1 would lose; and only in between is it a multiplication per s, or per
// stride of s.
type maxima struct {
	lo, hi int // the band of s
	stride int
	total  float64
	series [seriesTerms]float64 // Σ g S^(i+1) of the small S
	powers []float64            // Σ g (1-S)^(lo+i·stride) of the rest
}

// reset empties the sums, for s from lo to hi.
func (m *maxima) reset(lo, hi int) {
	m.lo, m.hi, m.total, m.series = lo, hi, 0, [seriesTerms]float64{}
	m.stride = max(1, min(lo/perStride, (hi-lo)/window))
	size := (hi-lo+m.stride-1)/m.stride + 1
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
		s[6] += a * S2
		s[7] += b * S2
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
	log := math.Log1p(-S)
	p0 := g * math.Exp(float64(m.lo)*log)
	q := 1 - S
	if m.stride > 1 {
		q = math.Exp(float64(m.stride) * log)
	}
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

// at returns the sum for s, which must be of the band.
func (m *maxima) at(s int) float64 {
	// C(s,1) M1 - C(s,2) M2 + … = s (M1 - (s-1)/2 (M2 - (s-2)/3 (M3 - …)))
	var sum float64
	for i := seriesTerms - 1; i >= 0; i-- {
		sum = float64(s-i) / float64(i+1) * (m.series[i] - sum)
	}
	return m.total - m.power(s) + sum
}

// power returns Σ g (1-S)^s of the steps that are not in the series.
func (m *maxima) power(s int) float64 {
	i := (s - m.lo) / m.stride
	rest := (s - m.lo) % m.stride
	if rest == 0 {
		return m.powers[i]
	}
	first := max(0, min(i-window/2+1, len(m.powers)-window))
	x := float64(i-first) + float64(rest)/float64(m.stride)
	var sum, norm float64 // the barycentric formula
	for j, p := range m.powers[first : first+window] {
		w := barycentric[j] / (x - float64(j))
		sum += w * p
		norm += w
	}
	return sum / norm
}

// barycentric are the weights of equidistant nodes: binomials of alternating sign.
var barycentric = [window]float64{1, -11, 55, -165, 330, -462, 462, -330, 165, -55, 11, -1}
