package policy

import (
	"math"
	"math/bits"
)

// ratio is an exact fraction num/den in lowest terms, 0 < num <= den.
type ratio struct{ num, den uint64 }

// decimals is the unit in which a ratio is read: nine digits after the point.
const decimals = 1_000_000_000

// toRatio returns the decimal fraction nearest to x, of nine digits, for 0 < x <= 1. A number that was typed with at
// most nine digits comes out exactly as typed: 0.7 is 7/10, which no double is.
func toRatio(x float64) ratio {
	num := uint64(math.Round(min(max(x, 1.0/decimals), 1) * decimals))
	a, b := num, uint64(decimals)
	for b > 0 {
		a, b = b, a%b
	}
	return ratio{num / a, decimals / a}
}

// shares are the slots g_j(t) that Section 4.1 allots to each rank, as integers. Let x = beta n for n jobs. Ranks 1 to
// floor(x) have the quota M/x each, the next one what is left of M, the others nothing: quota_i = M clamp(x-i+1, 0,
// 1)/x. The integers are the quotas by largest remainder, ties to the better rank. So they sum to M, never grow with
// the rank, and differ from the quotas by less than 1.
//
// Ranks that share a quota share their remainder, hence a few numbers hold the table of any number of jobs.
type shares struct {
	equal int // ranks 1..equal have the full quota
	each  int // its integer part
	extra int // ranks 1..extra of these get one slot more
	next  int // slots of rank equal+1
}

// shares divides slots among jobs. The arithmetic is exact: in doubles the remainders of some tables compare wrongly.
func (beta ratio) shares(slots, jobs int) shares {
	if slots <= 0 || jobs <= 0 {
		return shares{}
	}
	x := beta.num * uint64(jobs) // beta n, in units of 1/den
	equal, part := x/beta.den, x%beta.den
	var s shares
	var restEach, restNext uint64
	if s.equal = int(equal); equal > 0 { // otherwise the first rank has all, and the quota M/x would exceed M
		s.each, restEach = divide(slots, beta.den, x)
	}
	s.next, restNext = divide(slots, part, x)
	s.extra = slots - s.equal*s.each - s.next
	if restNext > restEach { // then there is a remainder, so at least one slot is left
		s.next++
		s.extra--
	}
	return s
}

// divide returns the quotient and remainder of slots*part/x, which must be at most slots.
func divide(slots int, part, x uint64) (quo int, rem uint64) {
	hi, lo := bits.Mul64(uint64(slots), part)
	q, rem := bits.Div64(hi, lo, x)
	return int(q), rem
}

// of returns the slots of a rank; 1 is the best.
func (s *shares) of(rank int) int {
	switch {
	case rank <= s.extra:
		return s.each + 1
	case rank <= s.equal:
		return s.each
	case rank == s.equal+1:
		return s.next
	default:
		return 0
	}
}
