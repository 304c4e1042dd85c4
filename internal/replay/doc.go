// Package replay plays what a log tells again, in the simulator, on the slots that there were: first as it happened,
// which shows how far the simulator can be trusted, then under other rules. How a log becomes a workload:
// docs/decisions/0041-a-log-is-replayed-on-its-slots.md.
package replay
