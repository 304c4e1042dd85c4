// Package policy holds the published scheduling and redundancy policies, one per file, and the registry that names
// them.
//
// A policy sees only sched.View and gives orders only through sched.Actions; it does not know whether a simulator or a
// live engine drives it. Where the papers leave a reading open, the choice is a parameter or is stated at the top of
// the policy's file.
//
// What several policies need is in files of its own: order.go (which job gets a free slot, by fifo, fair or srpt; a
// policy about redundancy takes it as its parameter "order" and only adds clones), place.go (machines for clones),
// watch.go (running attempts in order of start), percentile.go, heap.go, stages.go.
//
// To add one: write its file with an [Entry], and add the entry to the list in registry.go. The contract battery of the
// package's tests then runs it like all others, and go test ./policy -run TestDocs -rewrite adds it to
// docs/policies.md.
package policy
