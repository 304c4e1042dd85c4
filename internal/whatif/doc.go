// Package whatif simulates jobs that are over as they came, under another policy, on other slots, or with another
// deadline.
//
// Jobs arrive when they did. An attempt of a stage takes as long as the law of that job's own attempts says: the
// estimate of Kaplan and Meier, in which an attempt that lost to a clone, or that the policy ended, counts as cut off.
// All policies meet the same draws. What cannot be known is left as it was: jobs that another policy would have let
// fail, users who would have submitted earlier, and the same task that is slow in every attempt.
package whatif
