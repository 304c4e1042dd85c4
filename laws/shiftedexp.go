package laws

// ShiftedExp is a constant Delta >= 0 (seconds) plus an exponential law of rate
// Mu > 0 (per second). Valid range is [Delta, +∞).
//
//	S(x) = exp(-μ (x-Δ))
type ShiftedExp struct{ Delta, Mu float64 }

// Validate returns an error unless Delta >= 0 and Mu > 0, both finite.
func (l ShiftedExp) Validate() error {
	return check("shiftedexp", nonNegative("delta", l.Delta), positive("mu", l.Mu))
}

func (l ShiftedExp) excess() Exponential { return Exponential{Mu: l.Mu} }

// CDF returns 1-exp(-μ(x-Δ)), 0 for x <= Δ.
func (l ShiftedExp) CDF(x float64) float64 { return l.excess().CDF(x - l.Delta) }

// Survival returns exp(-μ(x-Δ)), 1 for x <= Δ.
func (l ShiftedExp) Survival(x float64) float64 { return l.excess().Survival(x - l.Delta) }

// Quantile returns Δ-log(1-u)/μ.
func (l ShiftedExp) Quantile(u float64) float64 { return l.Delta + l.excess().Quantile(u) }

// InvSurvival returns Δ-log(q)/μ.
func (l ShiftedExp) InvSurvival(q float64) float64 { return l.Delta + l.excess().InvSurvival(q) }

// LogPDF returns log(μ)-μ(x-Δ), -Inf for x < Δ.
func (l ShiftedExp) LogPDF(x float64) float64 { return l.excess().LogPDF(x - l.Delta) }

// Mean returns Δ+1/μ.
func (l ShiftedExp) Mean() float64 { return l.Delta + 1/l.Mu }

// Variance returns 1/μ².
func (l ShiftedExp) Variance() float64 { return 1 / (l.Mu * l.Mu) }

// String returns the spec shiftedexp:delta=…,mu=….
func (l ShiftedExp) String() string { return spec("shiftedexp", "delta", l.Delta, "mu", l.Mu) }

// residual is exponential once the constant is over.
func (l ShiftedExp) residual(age float64) Law {
	if age >= l.Delta {
		return l.excess()
	}
	return ShiftedExp{Delta: l.Delta - age, Mu: l.Mu}
}

// minimum of n copies keeps the constant and has rate nμ.
func (l ShiftedExp) minimum(n int) Law {
	return ShiftedExp{Delta: l.Delta, Mu: l.Mu * float64(n)}
}

// orderMean returns Δ + (H_n - H_{n-k})/μ.
func (l ShiftedExp) orderMean(k, n int) float64 { return l.Delta + l.excess().orderMean(k, n) }
