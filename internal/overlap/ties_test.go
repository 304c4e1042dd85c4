package overlap

import "testing"

// TestTies: the bound that the documentation states. Remaining sizes that are 3e-11 of themselves apart never tie, a
// tenth of that apart they can, and what differs by rounding from a number of few bits is that number.
func TestTies(t *testing.T) {
	for _, size := range []float64{1. / 64, 0.3, 1, 1.999999, 7, 1e6} {
		if rounded(size) == rounded(size*(1+3e-11)) {
			t.Errorf("%v and 3e-11 of it more tie", size)
		}
	}
	if rounded(1) != rounded(1+3e-12) {
		t.Error("1 and 1+3e-12 do not tie")
	}
	for i := range 64 * 8 {
		size := float64(i) / 64
		if rounded(size) != size || rounded(size*(1+4e-16)) != size || rounded(size*(1-4e-16)) != size {
			t.Errorf("%v is rounded to %v, or what is near it to something else", size, rounded(size))
		}
	}
}
