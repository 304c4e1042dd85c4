// Package overlap simulates the overlapping tandem queue: jobs pass a map station and a shuffle station, and a job may
// be shuffled while it is still mapped, as far as its data exist. The simulation is fluid and event-driven, without
// time steps.
//
// Source: Lin, Zhang, Wierman, Tan, "Joint Optimization of Overlapping Phases in MapReduce", IFIP Performance 2013 (the
// paper in the comments of this package). Comments name each reading that the paper leaves open.
//
// Time is in seconds, sizes are in seconds of a whole station: both stations work at rate 1. A policy gives every
// present job a map rate and a shuffle rate, the rates of a station sum to 1 at most, and the fraction of a job that is
// shuffled never exceeds the fraction that is mapped. Rates change only when a job arrives, when its map work, its
// shuffle work or its backlog ends; the simulator jumps from one of these events to the next. The backlog of a job is
// what is mapped and not shuffled yet.
//
// The arithmetic is floating point. Remaining sizes that decide who goes first are rounded to 36 bits: those that are
// closer than 2^-35 (3e-11) of themselves can count as ties, which arrival decides. So what is equal by the rule ties
// although sums of it have been rounded, and what is unequal by less ties, too. Tests compare with rational arithmetic
// where sizes and times are multiples of 1/64: completions agree within 1e-9 s, under weighted processor sharing within
// 1e-7 s. Of other sizes no more is promised than that nothing but rounding and these ties departs from the rules.
//
// [Sim] takes jobs one at a time and holds only those that are present, so memory depends on the queue and not on the
// number of jobs. The package knows jobs as two numbers; jobs with tasks, slots and machines are the business of
// packages sched and policy.
package overlap
