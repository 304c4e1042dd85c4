// Package kit holds what scheduling and redundancy policies are made of, for those of package policy and for those of
// others. It holds no policy, and it registers none.
//
//	for                                                            there is
//	what a policy is called and which parameters it takes          Entry, Param, Args
//	the next task of the next job, and its machine                 Order, by fifo, fair or srpt
//	the place of a job in an order, in a heap of one's own         Ranking, Standing, Workload
//	a machine on which a task does not run, or has never run       Elsewhere, Places
//	which site a task starts at                                    Placer, Order.PlacedBy
//	running attempts by start, so that the oldest says when to wake Lists
//	the same where nobody asks for more than the oldest            Oldest
//	the time that an attempt has left, by its reports              Ends
//	attempts that report nothing new                               Silence
//	what is known of each open stage, in memory that is used again PerStage
//	a law of a stage's durations                                   StageLaw, Pareto
//	jobs, stages or rows by a key that changes                     Heap, Rising, Falling
//	a median, any percentile                                       Median, Percentile
//	decisions at the beginning of each slot of time                Clock, or Splitter if it is about shares
//
// Everything here is for one policy under one core: nothing may be copied once in use, nothing locks. Structures keep
// their memory, so that a policy made of them allocates nothing once tables have their size. Where no cost is given
// an event costs O(1), or O(log n) where it changes a heap of n.
package kit
