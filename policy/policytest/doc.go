// Package policytest holds a policy to what every policy promises. A policy of one's own passes it in a test of a few
// lines, as those of package policy do:
//
//	func TestPatience(t *testing.T) {
//		policytest.Run(t, &patience, "after=1s", "order=fair")
//	}
//
// Beside that there is World, a cluster in virtual time in which attempts last as long as a test says, and Story, a
// hand-worked example from a paper.
package policytest
