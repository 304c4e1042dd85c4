package plan

import "math"

const (
	// small is how small s·S must be for the binomial series of 1-(1-S)^s to be cut after seriesTerms: (1/32)^8/9! is
	// below the rounding of the first term.
	small       = 1.0 / 32
	seriesTerms = 8
	// gone is -log of a power (1-S)^s that is nothing beside 1.
	gone = 45.0
)

// maxima sums Σ g_i (1-(1-S_i)^s) for every s of a band at once: with g_i the widths of steps and S_i the survival of a
// residual there, the mean of the largest of s residuals.
//
// Three things make the whole grid cheap. Where S is so large that none of the powers is left, a step costs one
// addition; where it is so small that the binomial series converges at once, a step adds to the seriesTerms power
// sums Σ g S^i, whose digits the subtraction from 1 would lose; and only in between is it a multiplication per s.
type maxima struct {
	lo     int // the least s
	total  float64
	series [seriesTerms]float64 // Σ g S^(i+1) of the small S
	powers []float64            // Σ g (1-S)^(lo+i) of the rest
}

// reset empties the sums, for s from lo to hi.
func (m *maxima) reset(lo, hi int) {
	size := hi - lo + 1
	if cap(m.powers) < size {
		m.powers = make([]float64, size)
	}
	m.powers = m.powers[:size]
	clear(m.powers)
	m.lo, m.total, m.series = lo, 0, [seriesTerms]float64{}
}

// add adds a step of width g where the survival is S.
func (m *maxima) add(g, S float64) {
	if S <= 0 || g == 0 {
		return
	}
	if S*float64(m.lo+len(m.powers)-1) <= small {
		term := g * S
		for i := range m.series {
			m.series[i] += term
			term *= S
		}
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
	q := 1 - S
	p0 := g * math.Exp(float64(m.lo)*math.Log1p(-S))
	p1 := p0 * q
	q2 := q * q
	p2, p3, q4 := p0*q2, p1*q2, q2*q2
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
	return m.total - m.powers[s-m.lo] + sum
}
