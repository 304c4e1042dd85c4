package policy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestErrorLaw: two halves of normal laws are found again.
func TestErrorLaw(t *testing.T) {
	for _, want := range []struct{ mode, low, high float64 }{{0, 0.5, 0.5}, {0.2, 0.8, 0.3}, {-1, 0.2, 0.6}, {0, 0.1, 0.1}} {
		r := rand.New(rand.NewPCG(3, 5))
		var l errorLaw
		for range 4000 {
			e := math.Abs(r.NormFloat64())
			if r.Float64() < want.low/(want.low+want.high) {
				e *= -want.low
			} else {
				e *= want.high
			}
			l.add(max(-mostError, min(mostError, want.mode+e)), 0.9999)
		}
		l.fit()
		mode, low, high := l.law(0, 1)
		if math.Abs(mode-want.mode) > 0.15 || math.Abs(low-want.low) > 0.1 || math.Abs(high-want.high) > 0.1 {
			t.Errorf("mode %.2f, deviations %.2f and %.2f, want %+v", mode, low, high, want)
		}
	}
}

// A report is wrong by 1+e, e normal with a deviation of a half, and says at least a hundredth: then one that promises
// much is not far off.
func TestErrorLawOfNormalErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 6))
	var l errorLaw
	var sum, sqrs float64
	const n = 2000
	for range n {
		e := math.Log(max(0.01, 1+0.5*r.NormFloat64()))
		l.add(e, 0.999)
		sum += e / n
		sqrs += e * e / n
	}
	_, low, high := l.law(0, 1)
	if sd := math.Sqrt(sqrs - sum*sum); high > 0.5*sd || low < high {
		t.Errorf("deviations %.2f and %.2f, of all %.2f", low, high, sd)
	}
}

func TestErrorLawOfNothing(t *testing.T) {
	var l errorLaw
	mode, low, high := l.law(0, trustError)
	if math.Abs(mode) > 1e-9 || math.Abs(low/trustError-1) > 0.1 || math.Abs(low-high) > 1e-9 {
		t.Errorf("mode %v, deviations %v and %v, want 0 and %v", mode, low, high, trustError)
	}
	if _, low, _ := l.law(-0.5*trustError*trustError, trustError); math.Abs(low/trustError-math.Sqrt(0.5)) > 0.1 {
		t.Errorf("of half the variance: %v", low)
	}
}
