// Package pods runs attempts as pods of a Kubernetes cluster: an executor of the live loop whose attempts read from and
// write to a store (live/store).
//
// What happens to pods comes from a watch, and a pod is judged by what it looks like, not by what has changed: events
// that are lost, late or told twice make no difference. An attempt's pod has a name of its own in the run, so it cannot
// be made twice. A pod that has ended badly by itself is a failure of its attempt. One that was deleted, evicted or
// turned away by somebody else, or whose node is gone, is a lost machine: nobody is to blame. What the API server
// cannot do now is tried again.
//
// It differs from live/kube, which reconciles Kubernetes' own Jobs and keeps no journal: here the run is the engine's.
package pods
