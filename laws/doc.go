// Package laws holds the laws of durations and what is computed from them:
// distribution functions and their inverses that stay exact deep in both
// tails, moments, residual lives, minima, maxima and means of order statistics.
//
// A straggler is by definition an event of the upper tail, and the fastest of
// several clones one of the lower tail. A law that answers 1-CDF where the
// survival is 1e-40 is useless here, so each law states its survival and the
// inverse of its survival on their own, and everything derived from laws picks
// whichever side of the median keeps its digits.
//
// A value of a law is a float64: seconds when the law is that of a duration,
// and a pure number when it is that of a factor. The package never mixes the
// two and never rounds to a clock's tick.
//
// The package is pure. It has no clock, no I/O, no goroutine and no source of
// random numbers: [Sample] is handed its uniform number by the caller, so that
// a draw is a function of what it is for.
//
// # Conventions
//
// The elementary laws are plain structs, and a composite literal is a law as
// soon as its parameters are in the domain that its type states; Validate says
// whether they are. Outside that domain the answers are meaningless, but no
// method panics. Laws made of other laws have constructors.
//
// Of every law, with F its distribution function and S = 1-F its survival:
//
//	CDF(x)         = P(X <= x)          CDF(-Inf) = 0, CDF(+Inf) = 1
//	Survival(x)    = P(X > x)
//	Quantile(u)    = inf{x : F(x) >= u} Quantile(0) is the lower end of the support
//	InvSurvival(q) = inf{x : S(x) <= q} InvSurvival(0) is the upper end of the support
//
// Quantile and InvSurvival are NaN outside [0, 1], and every function of a
// NaN is NaN. A moment that diverges is +Inf; the variance is +Inf whenever the
// second moment is, even if the mean diverges as well.
//
// # From samples to laws
//
// [Fit] and [FitAll] fit laws by maximum likelihood, and [Fitted.Test] says how well;
// [Hill] and [TailIndex] look at the tail; [KaplanMeier] estimates a law from
// durations of which some were cut off, such as those of killed attempts. [Attraction] and
// [Norming] say what maxima tend to.
//
// # What it is not
//
// It is not a general library of statistics: a law is here because a duration
// may follow it. It does not decide anything; package plan does.
package laws
