// Package policy holds the published scheduling and redundancy policies, one per file, and the registry that names them.
//
// A policy sees only sched.View and gives orders only through sched.Actions; it does not know whether a simulator or a live engine
// drives it. Where the papers leave a reading open, the choice is a parameter or is stated at the top of the policy's file.
//
// To add one: write its file with an [Entry], and add the entry to the list in registry.go. The contract battery of the package's tests
// then runs it like all others.
package policy
