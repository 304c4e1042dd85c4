package kit

import (
	"math"
	"testing"
)

// The mean of the longest of m shortest of c, against all outcomes in turn.
func TestEmpirical(t *testing.T) {
	law := Empirical{1, 2, 2, 7}
	var all func(c, m int, longest float64) (sum float64, n int)
	all = func(c, m int, longest float64) (sum float64, n int) {
		if m == 0 {
			return longest, 1
		}
		for k := range int(math.Pow(float64(len(law)), float64(c))) {
			shortest := math.Inf(1)
			for range c {
				shortest = min(shortest, law[k%len(law)])
				k /= len(law)
			}
			s, one := all(c, m-1, max(longest, shortest))
			sum, n = sum+s, n+one
		}
		return sum, n
	}
	for c := 1; c <= 3; c++ {
		for m := 1; m <= 3; m++ {
			sum, n := all(c, m, 0)
			if got, want := law.Longest(c, m), sum/float64(n); math.Abs(got-want) > 1e-12 {
				t.Errorf("c=%d, m=%d: %v, want %v", c, m, got, want)
			}
		}
	}
	if got, want := law.Cost(2, 3, 0.5), law.Longest(2, 3)+3*law.Shortest(2); got != want {
		t.Errorf("cost %v, want %v", got, want)
	}
	if got := (Empirical{4}).Longest(3, 9); got != 4 {
		t.Errorf("one duration: %v", got)
	}
}
