// Package kube runs batch/v1 Jobs of a Kubernetes cluster under Tailcut's core and policies: it is the controller of
// every Job whose spec.managedBy is tailcut.dev/controller. An attempt is a pod.
//
// Jobs that share slots have one core (run.go, member.go), whose machines are seats; a Job alone has as many as
// spec.parallelism allows pods at once. The facts that the core gets are translated from what the pods show (sight.go).
// Nothing is kept outside the API server: a run is rebuilt from Jobs and pods by living through their past in virtual
// time. What the Job API promises its users, status, conditions and limits, is computed without the core (tally.go),
// and the controller carries both out (reconcile.go). A Job's pool (place.go, pool.go) is that of a SlotPool
// (slotpool.go, poolstatus.go) or its own.
//
// The package does not place pods, which is the scheduler's business, and it does not know any policy: the command
// gives it a function that makes them. See docs/howto/kubernetes.md and docs/decisions.
package kube
