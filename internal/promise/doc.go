// Package promise says when jobs will have ended, and keeps account of how often that came true.
//
// A promise is made by playing the rest of all jobs on, many times: a core is restored from a snapshot of the real one,
// under the policy that the real one has, and attempts last as long as is known of their stages. The quantiles of a
// job's ends are its promise. What is known is what earlier jobs of the name took, and what this one has taken so far;
// where neither is known, nothing is promised. Jobs that will be submitted are drawn from those that were lately.
//
// It is a function of the state and of a seed. It does no I/O and knows no clock but to bound its own work.
package promise
