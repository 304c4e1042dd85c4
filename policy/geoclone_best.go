package policy

import "github.com/tailcut/tailcut/policy/internal/geo"

// leastTail is the probability below which a tail counts as 0. What that changes in an expectation is below the
// rounding of its sum.
const leastTail = 1e-18

// race is the law of the best of several attempts: P(min > y) is the product of P(X_k > y). It is exact, for it is
// carried from attempt to attempt as a whole; each costs the number of values on both sides. Races of one arena live
// until it is emptied.
type race struct {
	at, n    int32 // arena.value[at : at+n], likewise tail; n is 0 where nobody runs
	expected float64
}

// races is the memory of many races.
type races struct{ value, tail []float64 }

func (a *races) empty() { a.value, a.tail = a.value[:0], a.tail[:0] }

// join lets one more attempt into a race: one that lasts p X + d, X by law. Values of X are positive, p is.
func (a *races) join(r race, law geo.Stair, p, d float64) race {
	from := len(a.value)
	old, oldTail := a.value[r.at:r.at+r.n], a.tail[r.at:r.at+r.n]
	i, k := 0, 0
	x, y := 1.0, 1.0 // tails of both sides at the last value
	out, above := race{at: int32(from)}, 1.0
	for {
		var at float64
		switch more, some := i < len(old), k < len(law.Value); {
		case more && (!some || old[i] <= p*law.Value[k]+d):
			at, x = old[i], oldTail[i]
			if some && at == p*law.Value[k]+d {
				y = law.Tail[k]
				k++
			}
			i++
		case some:
			at, y = p*law.Value[k]+d, law.Tail[k]
			k++
		default:
			out.n = int32(len(a.value) - from)
			return out
		}
		if len(old) == 0 {
			x = 1
		}
		tail := x * y
		if tail < leastTail {
			tail = 0
		}
		if tail < above {
			a.value, a.tail = append(a.value, at), append(a.tail, tail)
			out.expected += at * (above - tail)
			above = tail
		}
		if tail == 0 {
			out.n = int32(len(a.value) - from)
			return out
		}
	}
}
