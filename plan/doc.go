// Package plan answers when to replicate the stragglers of a batch job, how often, and
// whether to keep or to kill their originals, from the law of one attempt's duration or
// from a sample of durations.
//
// It holds the mathematics of Wang, Joshi and Wornell, "Efficient Straggler Replication in
// Large-scale Parallel Computing" (single-fork policies), with the printed slips corrected.
// A policy is (n, s, r, keep|kill): n tasks start at time 0, and when k = n-s of them are
// done each of the rest gets r new attempts beside its original, or r+1 in its place.
//
//	symbol  here
//	n       tasks
//	s = pn  Policy.Stragglers, always an integer: n(1-p) in doubles misses k for one pair in five
//	r       Policy.Clones
//	F, Fb   CDF and Survival of a laws.Law, G_j the CDF at the j-th value of a sample
//	T1      the time of the fork, X_{k:n}
//	Y, S_t  the rest of a straggler's life after a fork at t, and its survival
//	T       latency, seconds, when the last task is done
//	C       cost, machine seconds per task
//
// # Methods
//
// An [Evaluator] turns a [Rule] into an [Outcome]. [Exact] is the finite-n truth; [Theorem1],
// [ClosedForm] and [Bootstrap] are what the paper prints, as it prints them or corrected;
// [Simulate] rolls the dice. [Exact.Grid] evaluates every policy at once, and [Optimise]
// picks from a grid. [Assess] adds deviations and a quantile, exact where that is possible.
//
// Beside the single fork there are other rules: several [Forks], a [Timeout], and what systems do: [Spark], [Flink],
// [Hadoop]. When a task deserves a clone by these is stated in package rule, for the policies too. Whether a figure is
// exact the [Assessment] says.
//
// # Deadlines
//
// For jobs that have to be done by a time a [Work] tells the probability that one is (PoCD), [ChainPoCD] that of a job
// of several stages, [Joint] divides slots among many, and [Chronos] weighs three ways to use clones against their
// price.
//
// # What it is not
//
// It knows no cluster, no slots, no scheduler and no file formats, and it is pure: no clock,
// no I/O, no goroutine. A grid is evaluated in blocks so that a caller may spread it over cores.
package plan
