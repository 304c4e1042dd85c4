package laws

import (
	"slices"
)

// KolmogorovSmirnov returns sup |F_n(x) - F(x)| of a sample and a continuous law. The values need no order.
func KolmogorovSmirnov(values []float64, l Law) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := float64(len(sorted))
	var d float64
	for i, x := range sorted {
		F := l.CDF(x)
		d = max(d, F-float64(i)/n, float64(i+1)/n-F)
	}
	return d
}

// AndersonDarling returns A² of a sample and a continuous law, which weighs the tails more than the distance of
// Kolmogorov and Smirnov does ("A test of goodness of fit", JASA 49, 1954); +Inf if a value is outside the support or
// at its end. The values need no order.
//
//	A² = -n - Σ (2i-1)/n (log F(x_i) + log S(x_{n+1-i}))
func AndersonDarling(values []float64, l Law) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	var sum float64
	for i, x := range sorted {
		y := sorted[n-1-i]
		sum += float64(2*i+1) * (logOf(l.CDF(x), l.Survival(x)) + logOf(l.Survival(y), l.CDF(y)))
	}
	return -float64(n) - sum/float64(n)
}

// Goodness is how well a fitted law fits the sample that it was fitted to.
type Goodness struct {
	KolmogorovSmirnov, AndersonDarling float64
	// The probabilities that a sample of the fitted law, fitted anew, is as far from its fit or farther. A small one
	// refutes the law; a large one does not prove it.
	KolmogorovSmirnovP, AndersonDarlingP float64
}

// Test returns how well the law fits complete values. A law that was fitted to a sample is nearer to it than the law
// that the sample is from, and tables for known laws are then wrong; so the probabilities are those of the parametric
// bootstrap: rounds >= 1 samples are drawn from the fitted law, with uniform numbers in (0, 1) from next, and fitted
// themselves. Their error is about 1/(2√rounds).
//
// Shifted exponential and Pareto laws begin at the least value, which is left out of A².
func (f Fitted) Test(values []float64, rounds int, next func() float64) Goodness {
	g := Goodness{KolmogorovSmirnov: KolmogorovSmirnov(values, f.Law), AndersonDarling: f.andersonDarling(values)}
	ks, ad := 1, 1
	sample := make([]float64, len(values))
	for range rounds {
		for i := range sample {
			sample[i] = Sample(f.Law, next())
		}
		again, err := f.family.fit(Complete(sample))
		if err != nil { // such a sample fits nothing: as far as can be
			ks, ad = ks+1, ad+1
			continue
		}
		fitted := Fitted{Law: again, family: f.family}
		if KolmogorovSmirnov(sample, again) >= g.KolmogorovSmirnov {
			ks++
		}
		if fitted.andersonDarling(sample) >= g.AndersonDarling {
			ad++
		}
	}
	g.KolmogorovSmirnovP, g.AndersonDarlingP = float64(ks)/float64(rounds+1), float64(ad)/float64(rounds+1)
	return g
}

func (f Fitted) andersonDarling(values []float64) float64 {
	if !f.family.fromLeast {
		return AndersonDarling(values, f.Law)
	}
	least := slices.Min(values)
	rest := slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return x == least })
	return AndersonDarling(rest, f.Law)
}
