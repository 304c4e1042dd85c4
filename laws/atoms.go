package laws

// Atom is a value that a law takes with positive probability.
type Atom struct {
	Value    float64
	Mass     float64 // P(X = Value) > 0
	CDF      float64 // P(X <= Value)
	Survival float64 // P(X > Value)
}

// Atoms returns the atoms of l in increasing order if they are all of it, as of a sample or of
// a two-point law, and nil otherwise. The slice is the caller's.
func Atoms(l Law) []Atom {
	var out []Atom
	below, above := 0.0, 1.0
	for _, a := range atomsOf(l) {
		mass := a.cdf - below
		if above <= 0.5 {
			mass = above - a.survival
		}
		if mass > 0 {
			out = append(out, Atom{Value: a.value, Mass: mass, CDF: a.cdf, Survival: a.survival})
		}
		below, above = a.cdf, a.survival
	}
	return out
}
