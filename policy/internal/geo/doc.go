// Package geo holds what policies that choose between sites have in common: a profiler of how slow sites and links are,
// delay scheduling, batches of tasks that become runnable together, and the transport problem of sending them to sites
// of limited room. It holds no policy.
package geo
