// Package policy holds the published scheduling and redundancy policies, one per file, and the registry that names
// them.
//
// A policy sees only sched.View and gives orders only through sched.Actions; it does not know whether a simulator or a
// live engine drives it. Where the papers leave a reading open, the choice is a parameter or is stated at the top of
// the policy's file.
//
// What policies are made of is in package kit. A policy about redundancy takes an order of jobs, which says who gets a
// free slot, as its parameter "order", and only adds clones.
//
// A program adds a policy of its own with [Register]; docs/howto/new-policy.md shows one. To add one here, write its
// file with an [Entry], and add the entry to the list in registry.go. The battery of package policytest then runs it
// like all others, and go test ./policy -run TestDocs -rewrite adds it to docs/reference/policies.md.
package policy
