package sched

// Policy decides which tasks get attempts. The core calls it from one goroutine, in a fixed order:
//
//	Observe, once per fact and once per consequence of a fact; the view already holds it
//	Decide, once per call of Advance, after its last Observe; again if it has cancelled jobs, after Observe of what follows
//
// A policy keeps what it needs to answer in O(log n) per event, allocates nothing once warm, and depends on nothing but
// these calls and its parameters. While an attempt's end is being observed its task may still stand as running without
// an attempt: what becomes of it is the next consequence. Its own orders are not observed: the view holds them as soon
// as they are given.
type Policy interface {
	Observe(v *View, ev *Event)
	Decide(v *View, act *Actions)
}
